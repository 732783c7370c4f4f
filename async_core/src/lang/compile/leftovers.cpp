#include "leftovers.hpp"

#include "operands.hpp"

#include <algorithm>

namespace heddle::lang {

namespace {

/// What an instruction may leave in its registers.
enum class effect : std::uint8_t { nothing, first, all };

effect effect_of(op code) {
    switch (code) {
    case op::nop:
    case op::load_int:
    case op::load_unbound:
    case op::cell_set:
    case op::up_cell_set:
    case op::global_define:
    case op::global_update:
    case op::jump:
    case op::loop:
    case op::jump_false:
    case op::jump_true:
    case op::jump_bound:
    case op::jump_lt:
    case op::jump_le:
    case op::jump_num_eq:
    case op::jump_lt_i:
    case op::jump_le_i:
    case op::jump_gt_i:
    case op::jump_ge_i:
    case op::jump_num_eq_i:
    case op::jump_equal:
    case op::jump_unless_clauses:
    case op::add: // numbers are no objects
    case op::sub:
    case op::mul:
    case op::add_i:
    case op::sub_i:
    case op::mul_i:
    case op::logic_not:
    case op::is_empty:
    case op::length:
    case op::tail_call:
    case op::tail_call_global:
    case op::return_value: return effect::nothing;
    case op::load_const:
    case op::move:
    case op::take:
    case op::cell_make:
    case op::cell_get:
    case op::cell_peek:
    case op::up_get:
    case op::up_cell_get:
    case op::up_cell_peek:
    case op::global_get:
    case op::dynamic_get:
    case op::closure:
    case op::self:
    case op::cons:
    case op::first:
    case op::rest:
    case op::nth:
    case op::list:
    case op::call:
    case op::call_global:
    case op::call_builtin:
    case op::call_update:
    case op::call_effect: return effect::first;
    default: return effect::all; // rare: everything that they name, to be safe
    }
}

} // namespace

std::uint16_t registers_to_clear(const function& code, const std::vector<bool>& moved_on) {
    std::size_t end =
        code.required + std::size_t{code.optional} + (code.has_rest ? 1U : 0U); // parameters
    for (const handler& h : code.handlers) end = std::max<std::size_t>(end, h.slot + 1U);
    for (std::size_t i = 0; i < code.code.size(); ++i) {
        const instruction& now = code.code[i];
        const bool wide = !second_word(describe(now.code).operands).empty();
        switch (effect_of(now.code)) {
        case effect::nothing: break;
        case effect::first:
            if (!moved_on[i]) end = std::max<std::size_t>(end, now.a + 1U);
            break;
        case effect::all: return code.registers;
        }
        if (wide) ++i; // the second word is no instruction
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
        if (effect_of(now.code) == effect::all) return false;
        const std::string_view operands = describe(now.code).operands;
        const std::string_view second = second_word(operands);
        const bool jumps = operands.ends_with("J") || second == "J";
        if (jumps && (second.empty() ? now.d : code.code[i + 1].d) < 0) return false;
        if (!second.empty()) ++i;
    }
    return true;
}

} // namespace heddle::lang
