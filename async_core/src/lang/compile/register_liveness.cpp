#include "register_liveness.hpp"

#include "operands.hpp"

#include <algorithm>

namespace heddle::lang {

std::uint16_t registers_to_clear(const function& code, const std::vector<bool>& moved_on) {
    std::size_t end =
        code.required + std::size_t{code.optional} + (code.has_rest ? 1U : 0U); // parameters
    for (const handler& h : code.handlers) end = std::max<std::size_t>(end, h.slot + 1U);
    for (std::size_t i = 0; i < code.code.size(); ++i) {
        const instruction& now = code.code[i];
        const op_description known = describe(now.code);
        if (known.may_leave_any()) return code.registers;
        if (!known.leaves_nothing() && !moved_on[i]) end = std::max<std::size_t>(end, now.a + 1U);
        if (!second_word(known.operands).empty()) ++i; // the second word is not an instruction
    }
    return static_cast<std::uint16_t>(std::min<std::size_t>(end, code.registers));
}

bool is_leaf(const function& code) {
    if (!code.handlers.empty()) return false;
    for (std::size_t i = 0; i < code.code.size(); ++i) {
        const instruction& now = code.code[i];
        switch (now.code) {
        case op::call:
        case op::call_global:
        case op::tail_call:
        case op::tail_call_global:
        case op::call_effect:
        case op::loop: return false;
        default: break;
        }
        const op_description known = describe(now.code);
        if (known.may_leave_any()) return false;
        const std::string_view second = second_word(known.operands);
        const bool jumps = known.operands.ends_with("J") || second == "J";
        if (jumps && (second.empty() ? now.d : code.code[i + 1].d) < 0) return false;
        if (!second.empty()) ++i;
    }
    return true;
}

} // namespace heddle::lang
