#include "generator.hpp"

#include "last_use.hpp"
#include "leftovers.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/errors.hpp>

#include <algorithm>
#include <limits>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr int max_registers = 60'000;
constexpr std::size_t max_instructions = 2'000'000;

/// What a function counts as memory.
std::size_t size_of(const function& code) {
    std::size_t bytes = sizeof(function) + code.name.size() + code.doc.size();
    bytes += code.code.capacity() * sizeof(instruction);
    bytes += code.places.capacity() * sizeof(source_span);
    bytes += code.constants.capacity() * sizeof(value);
    bytes += code.functions.capacity() * sizeof(const function*);
    bytes += code.captures.capacity() * sizeof(capture);
    bytes += code.handlers.capacity() * sizeof(handler);
    for (const std::string& name : code.parameter_names) bytes += sizeof(name) + name.size();
    return bytes;
}

} // namespace

generator::generator(realm& realm, const ast::lambda& source, generator* parent, compile_work* work,
                     bool hidden)
    : realm_(realm), source_(source), parent_(parent), work_(work), hidden_(hidden) {}

void generator::too_large(const char* what) {
    if (failure_) return;
    failure_ = error(errc::limit, std::string("a function has too many ") + what)
                   .with_hint("split it, or build long lists with append or read them from data")
                   .with_span(source_.span);
}

int generator::allocate() {
    if (next_ >= max_registers) {
        too_large("values at once");
        return 0;
    }
    const int result = next_++;
    out_->registers = std::max<std::uint16_t>(out_->registers, static_cast<std::uint16_t>(next_));
    return result;
}

std::size_t generator::emit(instruction i, source_span span) {
    if (out_->code.size() >= max_instructions) {
        // A `finally` is compiled for both ways out, so nested ones double.
        too_large("instructions");
        return out_->code.size() - 1;
    }
    if (work_) {
        work_->take(sizeof(instruction) + sizeof(source_span));
        if (auto stop = work_->add(1); stop && !failure_) failure_ = std::move(stop);
    }
    out_->code.push_back(i);
    out_->places.push_back(span);
    return out_->code.size() - 1;
}

std::size_t generator::emit_wide(instruction i, std::int32_t d, source_span span) {
    emit(i, span);
    return emit(instruction::ad(op::jump, 0, d), span);
}

void generator::patch(std::size_t jump, std::size_t target) {
    out_->code[jump].d = static_cast<std::int32_t>(target) - static_cast<std::int32_t>(jump + 1);
}

void generator::patch(const std::vector<std::size_t>& jumps, std::size_t target) {
    for (const std::size_t jump : jumps) patch(jump, target);
}

void generator::jump_back(std::size_t target, source_span span) {
    patch(emit(instruction::ad(op::loop, 0, 0), span), target);
}

int generator::constant_index(const value& v) {
    auto& constants = out_->constants;
    const std::size_t from = constants.size() > 32 ? constants.size() - 32 : 0;
    for (std::size_t i = from; i < constants.size(); ++i) {
        if (constants[i].identical(v)) return static_cast<int>(i);
    }
    constants.push_back(v);
    if (constants.size() >= 0xFFFF) too_large("constants");
    return static_cast<int>(constants.size() - 1);
}

int generator::name_index(const std::string& name) {
    return constant_index(realm_.memory().symbol(name));
}

std::uint16_t generator::capture_index(const ast::variable& var) {
    if (auto known = captured_.find(&var); known != captured_.end()) return known->second;
    capture result;
    if (!parent_) { // code given to eval: its surroundings come as cells
        result = {capture::from::captured, static_cast<std::uint16_t>(var.slot)};
    } else if (var.owner == &parent_->source_) {
        result = {capture::from::local, static_cast<std::uint16_t>(var.slot)};
    } else if (!var.in_cell() && var.self == &parent_->source_) {
        result = {capture::from::self, 0};
    } else {
        result = {capture::from::captured, parent_->capture_index(var)};
    }
    const auto index = static_cast<std::uint16_t>(out_->captures.size());
    out_->captures.push_back(result);
    captured_.emplace(&var, index);
    if (out_->captures.size() >= 0xFFFF) too_large("captured variables");
    return index;
}

result<function_ref> generator::run() {
    function_ref owner(new function);
    out_ = const_cast<function*>(owner.get());
    out_->name = source_.name;
    out_->doc = source_.doc;
    out_->span = source_.span;
    out_->library = realm_.compiling_library();
    out_->hidden = hidden_;
    out_->required = source_.required;
    out_->optional = source_.optional;
    out_->has_rest = source_.has_rest;
    for (ast::variable* parameter : source_.parameters) {
        parameter->slot = allocate();
        out_->parameter_names.push_back(parameter->name);
    }
    for (const ast::variable* parameter : source_.parameters) {
        if (parameter->in_cell())
            emit(instruction::abc(op::cell_make, static_cast<unsigned>(parameter->slot)),
                 source_.span);
    }
    if (source_.futures) body_with_futures();
    else tail(*source_.body);
    if (failure_) return *failure_;
    moved_on_.resize(out_->code.size());
    out_->cleared = registers_to_clear(*out_, moved_on_);
    if (auto stop = move_last_uses(*out_, work_)) return *std::move(stop);
    mark_updates(*out_);
    out_->leaf = is_leaf(*out_);
    out_->code.shrink_to_fit();
    out_->places.shrink_to_fit();
    out_->charge.set(realm_.memory(), size_of(*out_));
    return owner;
}

// ---------------------------------------------------------------- values

void generator::tail(const node& n) {
    switch (n.kind) {
    case node_kind::branch_if: branch_if(n, nowhere, true); return;
    case node_kind::sequence: sequence(n, nowhere, true); return;
    case node_kind::all_of:
    case node_kind::any_of: short_circuit(n, nowhere, true); return;
    case node_kind::scope: scope(n, nowhere, true); return;
    case node_kind::call: call(n, nowhere, true); return;
    case node_kind::either_call: either_call(n, nowhere, true); return;
    case node_kind::eval_code: eval_code(n, nowhere, true); return;
    case node_kind::named_loop: named_loop(n, nowhere, true); return;
    case node_kind::loop_again: loop_again(n); return;
    default: break;
    }
    mark give_back(*this);
    const int r = anywhere(n);
    emit(instruction::abc(op::return_value, static_cast<unsigned>(r)), n.span);
}

int generator::fresh(const node& n) {
    const int r = allocate();
    to(n, r);
    return r;
}

int generator::anywhere(const node& n) {
    if (n.kind == node_kind::local && n.children.empty() && n.var->owner == &source_ &&
        !n.var->in_cell())
        return n.var->slot;
    return fresh(n);
}

void generator::to(const node& n, int dest) {
    if (failure_) return;
    switch (n.kind) {
    case node_kind::constant:
        if (dest == nowhere) return;
        if (n.constant.is_integer() &&
            n.constant.as_integer() >= std::numeric_limits<std::int32_t>::min() &&
            n.constant.as_integer() <= std::numeric_limits<std::int32_t>::max()) {
            emit(instruction::ad(op::load_int, static_cast<unsigned>(dest),
                                 static_cast<std::int32_t>(n.constant.as_integer())),
                 n.span);
        } else {
            emit(instruction::ad(op::load_const, static_cast<unsigned>(dest),
                                 constant_index(n.constant)),
                 n.span);
        }
        return;
    case node_kind::local: local(n, dest); return;
    case node_kind::global: {
        mark give_back(*this);
        const int r = dest == nowhere ? allocate() : dest;
        emit(instruction::ad(op::global_get, static_cast<unsigned>(r),
                             static_cast<std::int32_t>(n.index)),
             n.span);
        return;
    }
    case node_kind::dynamic: {
        mark give_back(*this);
        const int r = dest == nowhere ? allocate() : dest;
        emit(instruction::abc(op::dynamic_get, static_cast<unsigned>(r), 0, 0, n.flag), n.span);
        return;
    }
    case node_kind::bind_local: bind(n, dest); return;
    case node_kind::set_local: assign(n, dest); return;
    case node_kind::define_global:
    case node_kind::update_global: define_global(n, dest); return;
    case node_kind::branch_if: branch_if(n, dest, false); return;
    case node_kind::sequence: sequence(n, dest, false); return;
    case node_kind::all_of:
    case node_kind::any_of: short_circuit(n, dest, false); return;
    case node_kind::scope: scope(n, dest, false); return;
    case node_kind::make_lambda: closure(n, dest); return;
    case node_kind::call: call(n, dest, false); return;
    case node_kind::builtin_call: builtin_call(n, dest); return;
    case node_kind::effect_call: effect_call(n, dest); return;
    case node_kind::clause_call: clause_call(n, dest); return;
    case node_kind::either_call: either_call(n, dest, false); return;
    case node_kind::repeat: repeat(n, dest); return;
    case node_kind::while_loop: while_loop(n, dest); return;
    case node_kind::named_loop: named_loop(n, dest, false); return;
    case node_kind::loop_again: loop_again(n); return;
    case node_kind::protect: protect(n, dest); return;
    case node_kind::within: within(n, dest); return;
    case node_kind::with_settings: with_settings(n, dest); return;
    case node_kind::join_scope: join_scope(n, dest); return;
    case node_kind::branch: branch(n, dest); return;
    case node_kind::spawn: spawn(n, dest); return;
    case node_kind::with_permit: with_permit(n, dest); return;
    case node_kind::eval_code: eval_code(n, dest, false); return;
    }
}

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
    const node* target = n.children[1];
    std::vector<std::size_t> done;
    while (target->kind == node_kind::local && !target->children.empty()) {
        read_variable(*target->var, probe, n.span, true);
        const std::size_t bound =
            emit(instruction::ad(op::jump_bound, static_cast<unsigned>(probe), 0), n.span);
        const std::size_t skip = emit(instruction::ad(op::jump, 0, 0), n.span);
        patch(bound, here());
        store_variable(*target->var, r, n.span);
        done.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
        patch(skip, here());
        target = target->children[0];
    }
    if (target->kind == node_kind::local) store_variable(*target->var, r, n.span);
    else if (target->kind == node_kind::global) {
        emit(instruction::ad(op::global_update, static_cast<unsigned>(r),
                             static_cast<std::int32_t>(target->index)),
             n.span);
    } else {
        to(*target, probe); // raises that the name is unbound
    }
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

// ---------------------------------------------------------------- control

void generator::jump_when(const node& n, bool sense, std::vector<std::size_t>& jumps) {
    if (failure_) return;
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
        if (is_tail) {
            tail(*n->children[1]);
        } else {
            to(*n->children[1], dest);
            ends.push_back(emit(instruction::ad(op::jump, 0, 0), n->span));
        }
        patch(to_else, here());
        n = n->children[2];
        if (n->kind == node_kind::branch_if) continue;
        if (is_tail) tail(*n);
        else to(*n, dest);
        break;
    }
    patch(ends, here());
}

void generator::sequence(const node& n, int dest, bool is_tail) {
    for (std::size_t i = 0; i + 1 < n.children.size(); ++i) to(*n.children[i], nowhere);
    if (is_tail) tail(*n.children.back());
    else to(*n.children.back(), dest);
}

void generator::short_circuit(const node& n, int dest, bool is_tail) {
    mark give_back(*this);
    const int r = dest == nowhere ? allocate() : dest;
    const op skip = n.kind == node_kind::all_of ? op::jump_false : op::jump_true;
    std::vector<std::size_t> end;
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

/// Registers for the variables that a scope's body binds later.
void generator::clear_variables(const node& n) {
    for (ast::variable* var : n.cleared) {
        var->slot = allocate();
        const auto slot = static_cast<unsigned>(var->slot);
        if (var->conditional || var->in_cell())
            emit(instruction::abc(op::load_unbound, slot), n.span);
        if (var->in_cell()) emit(instruction::abc(op::cell_make, slot), n.span);
    }
}

/// A chain of them, as a `let*` with many bindings makes, takes no native frames.
void generator::scope(const node& outermost, int dest, bool is_tail) {
    mark give_back(*this);
    const node* n = &outermost;
    for (;; n = n->children.back()) {
        for (std::size_t i = 0; i < n->variables.size() && !failure_; ++i) {
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
