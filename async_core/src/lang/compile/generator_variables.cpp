// Variables: locals, captured ones, globals, and the scopes that own them.
#include "generator.hpp"

namespace heddle::lang {

using ast::node_kind;

void generator::read_variable(const ast::variable& var, int dest, source_span span, bool peek) {
    const auto d = static_cast<unsigned>(dest);
    if (var.owner == &source_) {
        const auto slot = static_cast<unsigned>(var.slot);
        if (!var.in_cell()) {
            if (slot != d) emit(instruction::abc(op::move, d, slot), span);
        } else if (peek) {
            emit(instruction::abc(op::cell_peek, d, slot), span);
        } else {
            emit(instruction::abc(op::cell_get, d, slot,
                                  static_cast<unsigned>(name_index(var.name))),
                 span);
        }
        return;
    }
    if (!var.in_cell() && var.self == &source_) {
        emit(instruction::abc(op::self, d), span);
        return;
    }
    const unsigned index = capture_index(var);
    if (!var.in_cell()) emit(instruction::abc(op::up_get, d, index), span);
    else if (peek) emit(instruction::abc(op::up_cell_peek, d, index), span);
    else
        emit(instruction::abc(op::up_cell_get, d, index,
                              static_cast<unsigned>(name_index(var.name))),
             span);
}

void generator::local(const node& n, int dest) {
    mark give_back(*this);
    const int r = dest == nowhere ? allocate() : dest;
    const bool may_be_unbound = !n.children.empty();
    if (!may_be_unbound) {
        if (dest != nowhere) read_variable(*n.var, r, n.span, false);
        return;
    }
    // Not bound on every way here: the binding further out holds then.
    read_variable(*n.var, r, n.span, true);
    const std::size_t bound =
        emit(instruction::ad(op::jump_bound, static_cast<unsigned>(r), 0), n.span);
    to(*n.children[0], r);
    patch(bound, here());
}

void generator::store_variable(const ast::variable& var, int source, source_span span) {
    const auto s = static_cast<unsigned>(source);
    if (var.owner == &source_) {
        const auto slot = static_cast<unsigned>(var.slot);
        if (var.in_cell()) emit(instruction::abc(op::cell_set, slot, s), span);
        else if (slot != s) emit(instruction::abc(op::move, slot, s), span);
        return;
    }
    emit(instruction::abc(op::up_cell_set, capture_index(var), s), span);
}

/// True for nodes that write their register only once all their operands have been read.
bool generator::is_plain(const node& n) {
    return n.kind == node_kind::constant || n.kind == node_kind::builtin_call ||
           n.kind == node_kind::make_lambda;
}

void generator::bind(const node& n, int dest) {
    mark give_back(*this);
    const ast::variable& var = *n.var;
    if (var.owner == &source_ && !var.in_cell() && is_plain(*n.children[0])) {
        to(*n.children[0], var.slot);
        if (dest != nowhere && dest != var.slot) {
            emit(instruction::abc(op::move, static_cast<unsigned>(dest),
                                  static_cast<unsigned>(var.slot)),
                 n.span);
        }
        return;
    }
    const int r = dest == nowhere ? allocate() : dest;
    to(*n.children[0], r);
    store_variable(var, r, n.span);
}

void generator::assign(const node& n, int dest) {
    if (n.children.size() == 1) {
        bind(n, dest);
        return;
    }
    // The variable may not be bound here: then set! goes to the binding further out.
    mark give_back(*this);
    const int r = dest == nowhere ? allocate() : dest;
    to(*n.children[0], r);
    const int probe = allocate();
    read_variable(*n.var, probe, n.span, true);
    const std::size_t bound =
        emit(instruction::ad(op::jump_bound, static_cast<unsigned>(probe), 0), n.span);
    to(*n.children[1], probe);
    const std::size_t done = emit(instruction::ad(op::jump, 0, 0), n.span);
    patch(bound, here());
    store_variable(*n.var, r, n.span);
    patch(done, here());
}

void generator::define_global(const node& n, int dest) {
    mark give_back(*this);
    const int r = dest == nowhere ? anywhere(*n.children[0]) : dest;
    if (dest != nowhere) to(*n.children[0], r);
    const op code = n.kind == node_kind::define_global ? op::global_define : op::global_update;
    if (code == op::global_define) realm_.note_definition(n.index, n.span);
    emit(instruction::ad(code, static_cast<unsigned>(r), static_cast<std::int32_t>(n.index)),
         n.span);
}

/// Registers for the variables that a scope's body binds later.
void generator::clear_variables(const node& n) {
    const ast::variable* environment = nullptr;
    for (ast::variable* var : n.cleared) {
        var->slot = allocate();
        if (!var->environment.empty()) {
            environment = var; // of the cells, which come first
            continue;
        }
        const auto slot = static_cast<unsigned>(var->slot);
        if (var->conditional || var->in_cell())
            emit(instruction::abc(op::load_unbound, slot), n.span);
        if (var->in_cell()) emit(instruction::abc(op::cell_make, slot), n.span);
    }
    if (environment) make_environment(*environment, n.span);
}

/// A list of what evals in a scope see: each of them hands on the list alone, however many names
/// there are.
void generator::make_environment(const ast::variable& holder, source_span span) {
    if (failure_) return;
    mark give_back(*this);
    const int first = next_;
    for (const ast::variable* held : holder.environment) {
        pay(span);
        const auto r = static_cast<unsigned>(allocate());
        if (!held) {
            emit(instruction::ad(op::load_const, r, constant_index(value())), span);
        } else if (held->owner == &source_) {
            emit(instruction::abc(op::move, r, static_cast<unsigned>(held->slot)), span);
        } else {
            emit(instruction::abc(op::up_get, r, capture_index(*held)), span);
        }
    }
    emit(
        instruction::abc(op::list, static_cast<unsigned>(holder.slot), static_cast<unsigned>(first),
                         static_cast<unsigned>(holder.environment.size())),
        span);
}

/// A chain of them, as a `let*` with many bindings makes, takes no native frames.
void generator::scope(const node& outermost, int dest, bool is_tail) {
    mark give_back(*this);
    const node* n = &outermost;
    for (;; n = n->children.back()) {
        for (std::size_t i = 0; i < n->variables.size() && !failure_; ++i) {
            pay(n->children[i]->span);
            const int r = fresh(*n->children[i]);
            n->variables[i]->slot = r;
            if (n->variables[i]->in_cell())
                emit(instruction::abc(op::cell_make, static_cast<unsigned>(r)), n->span);
        }
        clear_variables(*n);
        if (failure_ || n->children.back()->kind != node_kind::scope) break;
    }
    if (is_tail) tail(*n->children.back());
    else to(*n->children.back(), dest);
}

} // namespace heddle::lang
