// Conditions, branches and sequences.
#include "generator.hpp"

#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <string_view>

namespace heddle::lang {

using ast::node_kind;

/// A chain of conditions in last place, as a `cond` of tests makes, takes no native frames.
void generator::jump_when(const node& first, bool sense, std::vector<std::size_t>& jumps) {
    std::vector<std::size_t> past; // of all that end here
    const node* at = &first;
    unsigned unpaid = 0; // the most at a place from where the rest is skipped
    for (; !failure_; at = at->children.back()) {
        pay(at->span);
        unpaid = std::max(unpaid, unpaid_);
        const bool conjunction = at->kind == node_kind::all_of;
        const bool negation = at->kind == node_kind::builtin_call && at->children.size() == 1 &&
                              at->row->name == "not";
        if (!conjunction && !negation && at->kind != node_kind::any_of) break;
        if (negation) {
            sense = !sense;
            continue;
        }
        // `and` jumps to false at the first false part; `or` to true at the first true one.
        const bool shortcut = !conjunction;
        for (std::size_t i = 0; i + 1 < at->children.size(); ++i)
            jump_when(*at->children[i], shortcut, sense == shortcut ? jumps : past);
    }
    jump_when_simple(*at, sense, jumps);
    patch(past, here());
    unpaid_ = std::max(unpaid_, unpaid);
}

void generator::jump_when_simple(const node& n, bool sense, std::vector<std::size_t>& jumps) {
    if (failure_) return;
    if (n.kind == node_kind::constant) {
        if (n.constant.truthy() == sense)
            jumps.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
        return;
    }
    mark give_back(*this);
    if (n.kind == node_kind::builtin_call) {
        const std::string_view name = n.row->name;
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
void generator::conditional(const node& first, int dest, bool is_tail) {
    const mark give_back(*this);
    std::vector<std::size_t> ends;   // behind all: the value is in `dest`
    std::vector<std::size_t> values; // of `and` and `or` in tail position: it is in `held`
    int held = nowhere;
    unsigned unpaid = 0; // the most before an `and` or `or`
    const node* n = &first;
    while (!failure_ && is_conditional(*n)) {
        if (n->kind == node_kind::branch_if) {
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
        } else {
            const op skip = n->kind == node_kind::all_of ? op::jump_false : op::jump_true;
            if (is_tail && held == nowhere) held = allocate();
            if (!is_tail && dest == nowhere) dest = allocate();
            const int r = is_tail ? held : dest;
            if (n != &first) pay(n->span);
            unpaid = std::max(unpaid, unpaid_);
            for (std::size_t i = 0; i + 1 < n->children.size(); ++i) {
                to(*n->children[i], r);
                (is_tail ? values : ends)
                    .push_back(emit(instruction::ad(skip, static_cast<unsigned>(r), 0), n->span));
            }
        }
        n = n->children.back();
    }
    {
        const skippable skips(*this);
        if (is_tail) tail(*n);
        else to(*n, dest);
    }
    patch(ends, here());
    unpaid_ = std::max(unpaid_, unpaid);
    if (values.empty()) return;
    patch(values, here());
    emit(instruction::abc(op::return_value, static_cast<unsigned>(held)), first.span);
}

void generator::sequence(const node& n, int dest, bool is_tail) {
    for (std::size_t i = 0; i + 1 < n.children.size(); ++i) {
        pay(n.children[i]->span);
        to(*n.children[i], nowhere);
    }
    if (is_tail) tail(*n.children.back());
    else to(*n.children.back(), dest);
}

} // namespace heddle::lang
