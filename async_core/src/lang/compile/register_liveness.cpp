#include "register_liveness.hpp"

#include "operands.hpp"

#include <algorithm>

namespace heddle::lang {

std::uint16_t registers_to_clear(const function& code, const std::vector<bool>& moved_on) {
    std::size_t end =
        code.required + std::size_t{code.optional} + (code.has_rest ? 1U : 0U); // parameters
    for (const handler& h : code.handlers) end = std::max<std::size_t>(end, h.slot + 1U);
    for (std::size_t i = 0; i < code.code.size();) {
        const instruction& now = code.code[i];
        const op_description& known = describe(now.code);
        if (known.may_leave_any()) return code.registers;
        if (!known.leaves_nothing() && !moved_on[i]) end = std::max<std::size_t>(end, now.a + 1U);
        i += known.words();
    }
    return static_cast<std::uint16_t>(std::min<std::size_t>(end, code.registers));
}

bool is_leaf(const function& code) {
    if (!code.handlers.empty()) return false;
    for (std::size_t i = 0; i < code.code.size();) {
        const op_description& known = describe(code.code[i].code);
        if (known.may_leave_any() || known.may_stop()) return false;
        if (const auto target = jump_target(code, i); target && *target <= i) return false;
        i += known.words();
    }
    return true;
}

} // namespace heddle::lang
