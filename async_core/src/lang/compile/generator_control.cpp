// Conditions, branches and sequences.
#include "generator.hpp"

#include <heddle/lang/builtin.hpp>

#include <string_view>

namespace heddle::lang {

using ast::node_kind;

void generator::jump_when(const node& n, bool sense, std::vector<std::size_t>& jumps) {
    if (failure_) return;
    pay(n.span);
    const skippable skips(*this);
    if (n.kind == node_kind::constant) {
        if (n.constant.truthy() == sense)
            jumps.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
        return;
    }
    const bool conjunction = n.kind == node_kind::all_of;
    if (conjunction || n.kind == node_kind::any_of) {
        // `and` jumps to false at the first false part; `or` to true at the first true one.
        const bool shortcut = !conjunction;
        if (sense == shortcut) {
            for (const node* part : n.children) jump_when(*part, sense, jumps);
            return;
        }
        std::vector<std::size_t> past;
        for (std::size_t i = 0; i + 1 < n.children.size(); ++i)
            jump_when(*n.children[i], shortcut, past);
        jump_when(*n.children.back(), sense, jumps);
        patch(past, here());
        return;
    }
    mark give_back(*this);
    if (n.kind == node_kind::builtin_call) {
        const std::string_view name = n.row->name;
        if (name == "not" && n.children.size() == 1) {
            jump_when(*n.children[0], !sense, jumps);
            return;
        }
        if (n.children.size() == 2) {
            struct comparison {
                std::string_view name;
                op registers;
                bool swapped;
                op immediate;
            };
            static constexpr comparison table[] = {{"<", op::jump_lt, false, op::jump_lt_i},
                                                   {"<=", op::jump_le, false, op::jump_le_i},
                                                   {">", op::jump_lt, true, op::jump_gt_i},
                                                   {">=", op::jump_le, true, op::jump_ge_i},
                                                   {"=", op::jump_num_eq, false, op::jump_num_eq_i},
                                                   {"eq?", op::jump_equal, false, op::jump},
                                                   {"equal?", op::jump_equal, false, op::jump}};
            for (const comparison& row : table) {
                if (row.name != name) continue;
                const auto small = small_integer(*n.children[1]);
                if (small && row.immediate != op::jump) {
                    const int left = anywhere(*n.children[0]);
                    jumps.push_back(
                        emit_wide(instruction::abc(row.immediate, static_cast<unsigned>(left),
                                                   static_cast<std::uint16_t>(*small), 0, sense),
                                  0, n.span));
                    return;
                }
                auto [left, right] = two_operands(n);
                if (row.swapped) std::swap(left, right);
                jumps.push_back(
                    emit_wide(instruction::abc(row.registers, static_cast<unsigned>(left),
                                               static_cast<unsigned>(right), 0, sense),
                              0, n.span));
                return;
            }
        }
    }
    const int r = anywhere(n);
    jumps.push_back(
        emit(instruction::ad(sense ? op::jump_true : op::jump_false, static_cast<unsigned>(r), 0),
             n.span));
}

/// A chain of them, as a `cond` with many clauses makes, takes no native frames.
void generator::branch_if(const node& first, int dest, bool is_tail) {
    std::vector<std::size_t> ends;
    for (const node* n = &first; !failure_;) {
        std::vector<std::size_t> to_else;
        jump_when(*n->children[0], false, to_else);
        {
            const skippable skips(*this);
            if (is_tail) {
                tail(*n->children[1]);
            } else {
                to(*n->children[1], dest);
                ends.push_back(emit(instruction::ad(op::jump, 0, 0), n->span));
            }
        }
        patch(to_else, here());
        n = n->children[2];
        if (n->kind == node_kind::branch_if) continue;
        const skippable skips(*this);
        if (is_tail) tail(*n);
        else to(*n, dest);
        break;
    }
    patch(ends, here());
}

void generator::sequence(const node& n, int dest, bool is_tail) {
    for (std::size_t i = 0; i + 1 < n.children.size(); ++i) {
        pay(n.children[i]->span);
        to(*n.children[i], nowhere);
    }
    if (is_tail) tail(*n.children.back());
    else to(*n.children.back(), dest);
}

void generator::short_circuit(const node& n, int dest, bool is_tail) {
    mark give_back(*this);
    const int r = dest == nowhere ? allocate() : dest;
    const op skip = n.kind == node_kind::all_of ? op::jump_false : op::jump_true;
    std::vector<std::size_t> end;
    const skippable skips(*this);
    for (std::size_t i = 0; i < n.children.size(); ++i) {
        const bool last = i + 1 == n.children.size();
        if (last && is_tail) {
            tail(*n.children[i]);
        } else {
            to(*n.children[i], r);
            if (!last)
                end.push_back(emit(instruction::ad(skip, static_cast<unsigned>(r), 0), n.span));
        }
    }
    if (!is_tail || end.empty()) {
        patch(end, here());
        return;
    }
    patch(end, here());
    emit(instruction::abc(op::return_value, static_cast<unsigned>(r)), n.span);
}

} // namespace heddle::lang
