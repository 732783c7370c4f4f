// Loops.
#include "generator.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

using ast::node_kind;

void generator::repeat(const node& n, int dest) {
    mark give_back(*this);
    const int count = allocate();
    const int asked = fresh(*n.children[0]);
    const value check = value::of_builtin(*find_builtin("%loop-count"));
    emit_wide(instruction::abc(op::call_builtin, static_cast<unsigned>(count),
                               static_cast<unsigned>(asked), 1),
              constant_index(check), n.children[0]->span);
    const int i = allocate();
    emit(instruction::ad(op::load_int, static_cast<unsigned>(i), 0), n.span);
    // The value goes through a register of its own: `dest` may be read by the body.
    const int last = dest == nowhere ? nowhere : allocate();
    if (last != nowhere)
        emit(instruction::ad(op::load_const, static_cast<unsigned>(last),
                             constant_index(value::empty_list())),
             n.span);
    const std::size_t start = here();
    const std::size_t end = emit_wide(
        instruction::abc(op::jump_lt, static_cast<unsigned>(i), static_cast<unsigned>(count), 0, 0),
        0, n.span);
    const skippable body(*this);
    to(*n.children[1], last);
    emit(instruction::abc(op::add_i, static_cast<unsigned>(i), static_cast<unsigned>(i), 1),
         n.span);
    jump_back(start, n.span);
    const std::size_t body_end = here() - 2; // before the counter is raised
    patch(end, here());
    // The range begins with the second word of the comparison: a loop at the start of the body then
    // has an instruction of the range before it, and no round pays for one.
    label_errors(end, body_end, make_string(realm_.memory(), "in round"), i, 1, n.span);
    if (last != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(last)),
             n.span);
}

void generator::while_loop(const node& n, int dest) {
    mark give_back(*this);
    const int last = dest == nowhere ? nowhere : allocate();
    if (last != nowhere)
        emit(instruction::ad(op::load_const, static_cast<unsigned>(last), constant_index(value())),
             n.span);
    // The condition is at the end: one jump per turn.
    const std::size_t first = emit(instruction::ad(op::jump, 0, 0), n.span);
    const std::size_t start = here();
    const skippable body(*this);
    to(*n.children[1], last);
    patch(first, here());
    std::vector<std::size_t> again;
    jump_when(*n.children[0], true, again);
    patch(again, start);
    if (last != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(last)),
             n.span);
}

void generator::named_loop(const node& n, int dest, bool is_tail) {
    mark give_back(*this);
    ast::loop_label& label = *n.label;
    for (std::size_t i = 0; i < label.variables.size(); ++i) {
        const int r = fresh(*n.children[i]);
        label.variables[i]->slot = r;
    }
    label.start = here();
    for (const ast::variable* var : label.variables) {
        if (var->in_cell())
            emit(instruction::abc(op::cell_make, static_cast<unsigned>(var->slot)), n.span);
    }
    clear_variables(n);
    if (is_tail) {
        tail(*n.children.back());
        return;
    }
    // `dest` may be a variable that the body reads before the loop ends.
    const int last = dest == nowhere ? nowhere : allocate();
    to(*n.children.back(), last);
    if (last != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(last)),
             n.span);
}

/// The variables that an expression reads or sets. False: it may be any. Chains of scopes nest
/// deeper than the text: no native frames.
bool generator::collect_mentions(const node& whole, variable_set& mentioned) {
    std::vector<const node*> left{&whole};
    while (!left.empty()) {
        const node& n = *left.back();
        left.pop_back();
        // One would have to look inside of a function.
        if (n.kind == node_kind::make_lambda || n.kind == node_kind::protect) return false;
        if (n.var) mentioned.insert(n.var);
        left.insert(left.end(), n.children.begin(), n.children.end());
    }
    return true;
}

void generator::loop_again(const node& n) {
    mark give_back(*this);
    const auto& variables = n.label->variables;
    const std::size_t count = variables.size();
    // Which variables the values behind their own still read.
    std::vector<bool> read_later(count, false);
    variable_set mentioned;
    bool any = false;
    for (std::size_t i = count; i-- != 0;) {
        read_later[i] = any || mentioned.contains(variables[i]);
        if (i != 0 && !any) any = !collect_mentions(*n.children[i], mentioned);
    }
    std::vector<std::pair<int, int>> moves; // from, to
    for (std::size_t i = 0; i < count; ++i) {
        const node& next = *n.children[i];
        const ast::variable& var = *variables[i];
        if (next.kind == node_kind::local && next.var == &var && !var.in_cell() &&
            next.children.empty())
            continue;
        if (!var.in_cell() && !read_later[i] && is_plain(next)) to(next, var.slot);
        else moves.emplace_back(fresh(next), var.slot);
    }
    for (const auto& [from, slot] : moves) {
        emit(instruction::abc(op::move, static_cast<unsigned>(slot), static_cast<unsigned>(from)),
             n.span);
    }
    jump_back(n.label->start, n.span);
}

} // namespace heddle::lang
