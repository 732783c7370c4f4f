// Errors that a handler has: what `catch` sees of one, and how it goes on.
#include "interpreter.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

namespace heddle::lang {

namespace {

constexpr std::size_t steps_of_a_line = 4; ///< of a trace that is described

[[nodiscard]] caught_error& caught_in(const value& slot) noexcept {
    return *static_cast<caught_error*>(host_of(slot));
}

/// The map of one error, without its causes.
value describe_alone(realm& realm, const error& failure) {
    heap& memory = realm.memory();
    const auto* payload = dynamic_cast<const script_payload*>(failure.info().payload.get());
    value created = value::empty_map();
    const auto put = [&](std::string_view key, value item) {
        created = map_put(memory, std::move(created), key, std::move(item));
    };
    const auto place = [&](source_span span) -> value {
        const source_place at = realm.sources().place_of(span);
        if (at.line == 0) return {};
        value described = map_put(memory, value::empty_map(), "file", make_string(memory, at.file));
        described = map_put(memory, std::move(described), "line", value::integer(at.line));
        return map_put(memory, std::move(described), "column", value::integer(at.column));
    };
    put("kind", make_string(memory, error_kind_name(failure)));
    put("reason",
        payload && !payload->reason.empty() ? make_string(memory, payload->reason) : value());
    value whole = whole_message_of(failure);
    put("message", whole.is_nil() ? make_string(memory, failure.message()) : std::move(whole));
    put("span", place(failure.info().span));
    value stack = value::empty_list();
    for (const trace_entry& entry : failure.info().trace) {
        value line = map_put(memory, value::empty_map(), "what", make_string(memory, entry.what));
        line = map_put(memory, std::move(line), "span", place(entry.where));
        stack = list_push_back(memory, std::move(stack), std::move(line));
    }
    put("stack", std::move(stack));
    put("data", payload ? payload->data : value());
    put("result", payload ? payload->result : value());
    return created;
}

} // namespace

/// What it takes to describe an error.
std::uint64_t interpreter::steps_to_describe(const error& failure) noexcept {
    constexpr std::size_t bytes_of_a_step =
        work_meter::bytes_of_a_unit * work_meter::units_of_a_step;
    std::uint64_t steps = 0;
    for (const error* each = &failure; each; each = each->info().cause.get())
        steps += steps_of_a_line * (1 + each->info().trace.size()) +
                 each->message().size() / bytes_of_a_step;
    return steps;
}

/// op::catch_value: a map for each line of the trace, paid for with the handlers.
void interpreter::catch_value(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    const error& failure = caught_in(R[i.b]).failure;
    unwound_ += steps_to_describe(failure);
    R[i.a] = describe_error(*f_.realm_, failure);
}

/// op::catch_matches.
void interpreter::catch_matches(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    const error& failure = caught_in(R[i.b]).failure;
    const value& wanted = R[i.c];
    const std::string_view name = wanted.is(kind::symbol)   ? symbol_name(wanted)
                                  : wanted.is(kind::string) ? string_bytes(wanted)
                                                            : std::string_view();
    R[i.a] = value::boolean(name == error_kind_name(failure) ||
                            (name == "SexpEvaluationError" && is_evaluation_error(failure)));
}

/// op::rethrow.
interpreter::next interpreter::rethrow(std::size_t base, instruction i) {
    value& slot = f_.stack_[base + i.a];
    if (i.x != 0) end_cleanup();
    // Moved: what another one shares would be copied for the next handler.
    const bool last = slot.target()->references == 1;
    error& caught = caught_in(slot).failure;
    error failure = last ? std::move(caught) : caught;
    slot.set_nil();
    return unwind(std::move(failure));
}

/// op::rethrow_within: the line that a `%within` adds to the trace is "in round 3 of loop".
interpreter::next interpreter::rethrow_within(std::size_t base, instruction i) {
    const value* R = f_.stack_ + base;
    error failure = caught_in(R[i.a]).failure;
    if (!is_complete(failure)) {
        std::string line(string_bytes(top().code->constants[i.c]));
        const value& number = R[i.b];
        if (i.x != 2 && number.is_integer())
            line += " " + std::to_string(number.as_integer() + i.x);
        failure = std::move(failure).with_trace(std::move(line));
    }
    return unwind(std::move(failure));
}

value describe_error(realm& realm, const error& failure) {
    value causes = value::empty_list();
    for (const error* each = failure.info().cause.get(); each; each = each->info().cause.get())
        causes = list_push_back(realm.memory(), std::move(causes), describe_alone(realm, *each));
    return map_put(realm.memory(), describe_alone(realm, failure), "causes", std::move(causes));
}

} // namespace heddle::lang
