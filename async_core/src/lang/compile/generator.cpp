#include "generator.hpp"

#include "last_use.hpp"
#include "register_liveness.hpp"

#include "lang/realm/eval_site.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <limits>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr int max_registers = 60'000;
constexpr std::size_t max_instructions = 2'000'000;
constexpr unsigned max_unpaid = 64; ///< quick instructions between two safe points

/// What an instruction takes, compared with a quick one.
unsigned weight_of(op code) noexcept {
    switch (code) {
    case op::call:
    case op::call_global:
    case op::call_builtin:
    case op::list:
    case op::cons:
    case op::closure:
    case op::cell_make:
    case op::settings_push:
    case op::join_begin:
    case op::future_make: return 4;
    default: return 1;
    }
}

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

/// Whether a cycle may lead through a constant. What the reader has made holds only what was
/// written, and never grows: it is what programs have for constants, unless they make code.
bool may_close_cycle(const value& constant) {
    switch (constant.type()) {
    case kind::list:
        return constant.is_object() && !static_cast<const list_object*>(constant.target())->places;
    case kind::host: return !host_as<eval_site>(constant);
    case kind::map:
    case kind::closure: return constant.is_object();
    default: return false;
    }
}

bool may_close_cycle(const function& code) {
    return std::any_of(code.constants.begin(), code.constants.end(),
                       [](const value& each) { return may_close_cycle(each); }) ||
           std::any_of(code.functions.begin(), code.functions.end(),
                       [](const function* each) { return each->may_close_cycle; });
}

} // namespace

generator::generator(realm& realm, const ast::lambda& source, generator* parent, compile_work* work,
                     bool hidden)
    : realm_(realm), source_(source), parent_(parent), work_(work), hidden_(hidden),
      cleanups_(parent ? parent->cleanups_ : 0) {}

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
        work_->at(span);
        work_->take(sizeof(instruction) + sizeof(source_span));
        if (auto stop = work_->add(1); stop && !failure_)
            failure_ = limit_at(*std::move(stop), span);
    }
    out_->code.push_back(i);
    out_->places.push_back(span);
    unpaid_ += weight_of(i.code);
    return out_->code.size() - 1;
}

/// A safe point in long code that has no loop: a jump to the next instruction counts as a step.
void generator::pay(source_span span) {
    if (unpaid_ < max_unpaid) return;
    emit(instruction::ad(op::loop, 0, 0), span);
    unpaid_ = 0;
}

/// A call of a function with many registers looks at each of them, however little of its code it
/// executes: steps at the beginning pay for that. Jumps are relative, so the code may move.
void generator::pay_for_registers() {
    constexpr std::size_t registers_of_a_step = 128;
    constexpr std::size_t few = 1024;
    if (out_->registers < few) return;
    const std::size_t steps = out_->registers / registers_of_a_step;
    out_->code.insert(out_->code.begin(), steps, instruction::ad(op::loop, 0, 0));
    out_->places.insert(out_->places.begin(), steps, source_.span);
    moved_on_.insert(moved_on_.begin(), steps, false);
    for (handler& each : out_->handlers) {
        each.begin += static_cast<std::uint32_t>(steps);
        each.end += static_cast<std::uint32_t>(steps);
        each.target += static_cast<std::uint32_t>(steps);
    }
}

/// Whether a value is computed by a few builtins. There is no safe point among them: what is read
/// and set in one expression is not set by another branch meanwhile, and maps change in place.
bool generator::is_short(const node& n) {
    constexpr std::size_t max_nodes = 32;
    std::size_t left = max_nodes;
    const auto fits = [&left](const auto& self, const node& each) -> bool {
        if (left-- == 0) return false;
        switch (each.kind) {
        case node_kind::constant:
        case node_kind::local:
        case node_kind::global: return true;
        case node_kind::builtin_call: break;
        default: left = 0; return false;
        }
        return std::all_of(each.children.begin(), each.children.end(),
                           [&](const node* child) { return self(self, *child); });
    };
    return fits(fits, n);
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
        result = {capture::from::captured, static_cast<std::uint32_t>(var.slot)};
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
    function_ref owner(new function(realm_.memory()));
    out_ = const_cast<function*>(owner.get());
    out_->name = source_.name;
    out_->doc = source_.doc;
    out_->span = source_.span;
    out_->from_prelude = realm_.compiling_prelude();
    out_->hidden = hidden_;
    out_->required = source_.required;
    out_->optional = source_.optional;
    out_->has_rest = source_.has_rest;
    for (ast::variable* parameter : source_.parameters) {
        parameter->slot = allocate();
        if (failure_) return *failure_;
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
    pay_for_registers();
    // Each of these looks at all of the code.
    const auto pass = [this] {
        constexpr std::size_t instructions_of_a_unit = 32;
        return work_ ? work_->add(out_->code.size() / instructions_of_a_unit) : std::nullopt;
    };
    out_->cleared = registers_to_clear(*out_, moved_on_);
    if (auto stop = pass()) return *std::move(stop);
    if (auto stop = move_last_uses(*out_, work_)) return *std::move(stop);
    mark_updates(*out_);
    if (auto stop = pass()) return *std::move(stop);
    out_->leaf = is_leaf(*out_);
    out_->may_close_cycle = may_close_cycle(*out_);
    if (auto stop = pass()) return *std::move(stop);
    out_->code.shrink_to_fit();
    if (auto stop = pass()) return *std::move(stop);
    out_->places.shrink_to_fit();
    out_->charge.set(realm_.memory(), size_of(*out_));
    return owner;
}

// ---------------------------------------------------------------- values

void generator::tail(const node& n) {
    if (failure_) return; // the rest of a long chain would be walked on native frames
    switch (n.kind) {
    case node_kind::branch_if:
    case node_kind::all_of:
    case node_kind::any_of: conditional(n, nowhere, true); return;
    case node_kind::sequence: sequence(n, nowhere, true); return;
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
    if (!is_short(n)) pay(n.span);
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
    case node_kind::branch_if:
    case node_kind::all_of:
    case node_kind::any_of: conditional(n, dest, false); return;
    case node_kind::sequence: sequence(n, dest, false); return;
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

} // namespace heddle::lang
