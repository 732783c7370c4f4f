// Calls off the fast path, settings and names.
#include "extents.hpp"
#include "future.hpp"
#include "interpreter.hpp"
#include "with_settings.hpp"

#include "lang/builtins/arithmetic.hpp"
#include "lang/print/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace heddle::lang {

namespace {

std::string name_of(const function& code) {
    return code.name.empty() ? "a function" : "'" + code.name + "'";
}

error arity_error(const std::string& who, std::size_t least, std::size_t most, std::size_t given) {
    std::string expected = std::to_string(least);
    if (most == SIZE_MAX) expected = "at least " + expected;
    else if (most != least) expected += " to " + std::to_string(most);
    return error(errc::arity,
                 who + " expects " + expected +
                     (least == 1 && (most == 1 || most == SIZE_MAX) ? " argument" : " arguments") +
                     ", got " + std::to_string(given));
}

} // namespace

source_span interpreter::innermost_place(const fiber& of) {
    // The innermost place in the program's own text, also below the branch that runs: where the
    // prelude and the library are means nothing to a user. A branch that has only their code and a
    // stack of its own has no place; its join has one when it raises the error.
    for (std::size_t k = of.frames_.size(); k > 0; --k) {
        const frame& at = of.frames_[k - 1];
        if (at.code->hidden) {
            if (at.tail_calls != 0) return {at.tail_calls, at.tail_calls + 1};
            continue;
        }
        const auto next = static_cast<std::size_t>(at.at - at.code->code.data());
        return next == 0 ? at.code->span : at.code->places[next - 1];
    }
    return {};
}

/// A tail call puts `callee` in place of the code of a frame.
void interpreter::note_tail_call(frame& self, const function& callee) noexcept {
    const function& caller = *self.code;
    if (callee.hidden) {
        if (caller.hidden) return;
        const auto next = static_cast<std::size_t>(self.at - caller.code.data());
        self.tail_calls = next == 0 ? caller.span.begin : caller.places[next - 1].begin;
    } else {
        if (caller.hidden) self.tail_calls = 0;
        self.tail_calls += self.tail_calls != UINT32_MAX;
    }
}

void interpreter::make_function(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    const function& code = *f_.frames_.back().code->functions[static_cast<std::uint32_t>(i.d)];
    value result = new_closure(code);
    value* captured = closure_of(result)->captured();
    for (const capture& each : code.captures) {
        switch (each.where) {
        case capture::from::local: *captured = R[each.index]; break;
        case capture::from::captured: *captured = closure_of(R[-1])->captured()[each.index]; break;
        case capture::from::self: *captured = R[-1]; break;
        }
        ++captured;
    }
    R[i.a] = std::move(result);
}

// ---------------------------------------------------------------- calls

interpreter::next interpreter::call_value(std::size_t at, std::size_t count, bool tail) {
    const value& callee = f_.stack_[at];
    switch (callee.type()) {
    case kind::closure: return enter_closure(at, count, tail);
    case kind::builtin: {
        const builtin& row = callee.as_builtin();
        if (count < row.min_arguments ||
            (row.max_arguments != builtin::any_number && count > row.max_arguments))
            return raise_arity(row, count);
        if (row.how == builtin_kind::control) return call_control(row, at, count, tail);
        if (row.how == builtin_kind::pure) {
            return run_pure(row, {at, at + 1, count, builtin_place::arguments::clear});
        }
        effect_request request;
        request.row = &row;
        for (std::size_t k = 1; k <= count; ++k)
            request.arguments.push_back(std::move(f_.stack_[at + k]));
        return request_effect(std::move(request), at);
    }
    case kind::host:
        if (host_of(callee)->callable()) {
            if (host_of(callee)->at_once()) return call_at_once(callee, at, count, {});
            effect_request request;
            request.callee = callee;
            for (std::size_t k = 1; k <= count; ++k)
                request.arguments.push_back(std::move(f_.stack_[at + k]));
            return request_effect(std::move(request), at);
        }
        [[fallthrough]];
    default: {
        std::string what = callee.is_nil()
                               ? "nil"
                               : shown(callee) + ": it is " +
                                     with_article(kind_name(callee.type())) + ", not a function";
        return raise(error(errc::evaluation, "cannot call " + what));
    }
    }
}

interpreter::next interpreter::raise_arity(const builtin& row, std::size_t given) {
    const bool any = row.max_arguments == builtin::any_number;
    return raise(arity_error(std::string(row.name), row.min_arguments,
                             any ? SIZE_MAX : row.max_arguments, given));
}

interpreter::next interpreter::raise_arity(const closure_object& callee, std::size_t given) {
    const function& code = *callee.code;
    const std::size_t positional = code.required + std::size_t{code.optional};
    error wrong =
        arity_error(name_of(code), code.required, code.has_rest ? SIZE_MAX : positional, given);
    if (!code.hidden) wrong = std::move(wrong).with_trace("the function", code.span);
    return raise(std::move(wrong));
}

/// Any number of arguments: optional ones are filled with nil, surplus ones gathered in the rest.
interpreter::next interpreter::enter_closure(std::size_t at, std::size_t count, bool tail) {
    const closure_object& callee = *closure_of(f_.stack_[at]);
    if (callee.confined() && !is_at_home(callee)) return call_confined(at, count, tail);
    const function* code = callee.code;
    const std::size_t positional = code->required + code->optional;
    if (count < code->required || (count > positional && !code->has_rest))
        return raise_arity(callee, count);
    const std::size_t base = at + 1;
    f_.reserve(base + std::max<std::size_t>({code->registers, count, positional + 1}));
    value* R = f_.stack_ + base;
    if (code->has_rest) {
        value rest = value::empty_list();
        if (count > positional) {
            rest = make_list(memory_, std::span<const value>(R + positional, count - positional));
            for (std::size_t k = positional; k < count; ++k) R[k].set_nil();
        }
        R[positional] = std::move(rest);
    }
    for (std::size_t k = count; k < positional; ++k) R[k].set_nil();
    return start_frame(at, tail);
}

/// Begins the function at `at`, whose parameters are in their places above it.
interpreter::next interpreter::start_frame(std::size_t at, bool tail) {
    const function* code = closure_of(f_.stack_[at])->code;
    const std::size_t positional = code->required + code->optional;
    const std::size_t base = at + 1;
    if (tail && !f_.frames_.empty()) {
        frame& self = top();
        value* own = f_.stack_ + self.base;
        const std::uint32_t old_registers = self.code->registers;
        const std::size_t arguments = positional + (code->has_rest ? 1 : 0);
        note_tail_call(self, *code);
        own[-1] = std::move(f_.stack_[at]);
        for (std::size_t k = 0; k < arguments; ++k) own[k] = std::move(f_.stack_[base + k]);
        for (std::size_t k = arguments; k < old_registers; ++k) own[k].set_nil();
        f_.reserve(self.base + code->registers);
        self.code = code;
        self.at = code->code.data();
    } else {
        f_.frames_.push_back(code->code.data(), code, static_cast<std::uint32_t>(base));
    }
    if (fuel_ > 1) {
        --fuel_;
        return next::go_on;
    }
    fuel_ = 0;
    return check_slice();
}

interpreter::next interpreter::request_effect(effect_request request, std::size_t dest) {
    if (auto refused = refuse_in_sandbox(request)) return raise(*std::move(refused));
    if (auto overlong = overlong_cleanup()) return end_overlong(*std::move(overlong));
    request.span = here();
    request.ordinal = next_ordinal();
    f_.request_ = std::make_unique<effect_request>(std::move(request));
    f_.result_slot_ = static_cast<std::uint32_t>(dest);
    count_effect_of_cleanup();
    return send_request();
}

/// op::call_effect.
interpreter::next interpreter::call_effect(std::size_t base, instruction i, const builtin& row) {
    value* first = f_.stack_ + base + i.b;
    effect_request request;
    request.row = &row;
    request.arguments.assign(std::move_iterator(first), std::move_iterator(first + i.c));
    return request_effect(std::move(request), base + i.a);
}

interpreter::next interpreter::call_clauses(std::size_t at, std::size_t count, const value& names) {
    value callee = f_.stack_[at];
    if (callee.is(kind::symbol) || callee.is(kind::string)) {
        const std::string_view name =
            callee.is(kind::symbol) ? symbol_name(callee) : string_bytes(callee);
        auto info = f_.realm_->host().find_operator(memory_, name);
        if (!info) return raise(f_.realm_->unbound_error(name));
        callee = std::move(info->callable);
    }
    const host_object* object = host_of(callee);
    if (!object || !object->callable()) {
        return raise(
            error(errc::evaluation,
                  "only a task or a tool can be called with clauses (name expression), not " +
                      shown(callee)));
    }
    if (object->at_once()) return call_at_once(std::move(callee), at, count, names);
    effect_request request;
    request.callee = std::move(callee);
    request.names = names;
    for (std::size_t k = 1; k <= count; ++k)
        request.arguments.push_back(std::move(f_.stack_[at + k]));
    return request_effect(std::move(request), at);
}

/// The host computes it as a builtin: no effect, no wait. A sandbox refuses it as an effect.
interpreter::next interpreter::call_at_once(value callee, std::size_t at, std::size_t count,
                                            const value& names) {
    if (limits()) {
        effect_request request;
        request.callee = callee;
        if (auto refused = refuse_in_sandbox(request)) return raise(*std::move(refused));
    }
    const builtin& row = host_of(callee)->at_once()->row;
    // Holds the callee, whose place the names take: it may take turns.
    const native_code run = [callee](native_call& call, std::span<value> arguments) {
        return host_of(callee)->at_once()->run(call, arguments);
    };
    f_.stack_[at] = names;
    return run_native(row, run, {at, at, count + 1, builtin_place::arguments::clear});
}

bool interpreter::reads_as_clauses(const value& callee, const value& names) {
    const host_object* object = host_of(callee);
    if (!object) return false;
    const auto info = f_.realm_->host().describe_callable(*object);
    if (!info) return false;
    if (info->is_tool || !info->declares_inputs) return true;
    const auto items = list_items(names);
    return std::all_of(items.begin(), items.end(), [&](const value& name) {
        const std::string_view key = symbol_name(name);
        return f_.realm_->host().is_reserved_key(key) ||
               std::find(info->inputs.begin(), info->inputs.end(), key) != info->inputs.end();
    });
}

bool interpreter::global_lookup(std::size_t dest, std::uint32_t index) {
    const std::string name(f_.realm_->global_name(index));
    // The program defines the name, but has not come to it: it still means what it did.
    if (const auto known = f_.realm_->find_prelude_global(name)) {
        f_.stack_[dest] = f_.realm_->global(*known);
        return true;
    }
    if (const builtin* row = find_builtin(name)) {
        f_.stack_[dest] = value::of_builtin(*row);
        return true;
    }
    if (const auto info = f_.realm_->host().find_operator(memory_, name)) {
        f_.stack_[dest] = info->callable;
        return true;
    }
    failure_ = unbound_global(index);
    return false;
}

/// The error about a global that has no value, or none yet.
error interpreter::unbound_global(std::uint32_t index) const {
    error failure = f_.realm_->unbound_error(f_.realm_->global_name(index));
    const source_span later = f_.realm_->definition_of(index);
    const source_span now = here();
    if (!now.known() || later.begin <= now.begin) return failure;
    const source_place place = f_.realm_->sources().place_of(later);
    if (place.line == 0 || place.file != f_.realm_->sources().place_of(now).file) return failure;
    return std::move(failure).with_hint("it is defined further down, at line " +
                                        std::to_string(place.line) +
                                        "; move the definition up, or this below it");
}

error interpreter::frozen_global(std::uint32_t index) const {
    for (std::size_t k = f_.frames_.size(); k > 1; --k) {
        const frame& at = f_.frames_[k - 1];
        if (at.code->name != "%import-file") continue;
        const frame& caller = f_.frames_[k - 2];
        const auto next_index = static_cast<std::size_t>(caller.at - caller.code->code.data());
        source_span import;
        if (at.tail_calls != 0) import = {at.tail_calls, at.tail_calls + 1};
        else if (next_index != 0) import = caller.code->places[next_index - 1];
        const source_location place = f_.realm_->sources().locate(import);
        if (place.line == 0) break;
        return error(errc::evaluation,
                     place.file + ":" + std::to_string(place.line) + ":" +
                         std::to_string(place.column) +
                         ": the file that is imported here, inside of a function, defines '" +
                         std::string(f_.realm_->global_name(index)) +
                         "', and a row or call must leave nothing for the next one")
            .with_hint("write the import at the top level of " + place.file + ", and only there");
    }
    return error(errc::evaluation,
                 "the global '" + std::string(f_.realm_->global_name(index)) +
                     "' cannot be changed here: each row or call begins with the program as it was "
                     "loaded, and must leave nothing for the next one")
        .with_hint("define it in a 'let' inside of a function, or return what is to be kept");
}

bool interpreter::slow_arithmetic(char operation, const value& left, const value& right,
                                  value& dest) {
    const std::string_view name(&operation, 1);
    native_call call(memory_, *find_builtin(name), work_);
    value result = arithmetic(call, operation, left, right);
    if (call.failure()) {
        failure_ = std::move(call.failure());
        return false;
    }
    dest = std::move(result);
    return true;
}

std::optional<bool> interpreter::slow_compare(comparison how, const value& left,
                                              const value& right) {
    const std::optional<int> order = compare_numbers(left, right);
    if (!order) {
        static constexpr std::array<std::string_view, 5> names{"<", "<=", ">", ">=", "="};
        const std::string_view name = names[static_cast<std::size_t>(how)];
        const auto is_number = [](const value& v) {
            return v.is_integer() || v.is_real() || v.is_boolean();
        };
        const bool first = !is_number(left);
        native_call call(memory_, *find_builtin(name), work_);
        call.fail_type(first ? 1 : 2, "a number", first ? left : right);
        failure_ = std::move(call.failure());
        return std::nullopt;
    }
    if (*order == 2) return false; // NaN
    switch (how) {
    case comparison::lt: return *order < 0;
    case comparison::le: return *order <= 0;
    case comparison::gt: return *order > 0;
    case comparison::ge: return *order >= 0;
    case comparison::num_eq: return *order == 0;
    }
    return false;
}

/// op::settings_push: the scope of a form's body.
bool interpreter::push_settings(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    const value& operand = R[i.b];
    result<scope_ref> opened = f_.scope_;
    switch (static_cast<scope_kind>(i.x)) {
    case scope_kind::settings: {
        free_work checks; // bounded, so it is done at once, and then counts
        opened = open_settings(*f_.realm_, f_.scope_, operand, checks);
        work_.note(checks.done());
        if (work_.over()) look_at_next_step();
        break;
    }
    case scope_kind::sandbox: opened = open_sandbox(operand); break;
    case scope_kind::receiver:
        opened = f_.scope_.open(memory_, [&](dynamic_scope& scope) { scope.receiver = operand; });
        break;
    case scope_kind::confined:
        opened = scope_of(host_ref<sandbox_policy>::from_value(closure_of(operand)->policy()));
        break;
    case scope_kind::config:
        opened =
            f_.scope_.open(memory_, [&](dynamic_scope& scope) { scope.loop_config = operand; });
        break;
    }
    if (!opened) {
        failure_ = std::move(opened).error();
        return false;
    }
    R[i.a] = f_.scope_.as_value();
    move_to(*std::move(opened));
    return true;
}

} // namespace heddle::lang
