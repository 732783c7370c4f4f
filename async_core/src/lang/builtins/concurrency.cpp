// Builtins of concurrency, and what its forms and the prelude check with.
#include "lang/builtins/results.hpp"
#include "lang/print/described.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

/// A TypeError about the part of a form that the first argument names: "timeout" for argument 1 of
/// the form, "retry: backoff" for a clause of it.
value fail_in_form(native_call& call, const value& form, std::string_view expected,
                   const value& given) {
    if (!form.is(kind::string)) return call.fail_type(1, "a string", form);
    const std::string_view part = string_bytes(form);
    if (part.find(' ') != std::string_view::npos) {
        return call.fail(error(errc::type, std::string(part) + " must be " + std::string(expected) +
                                               ", not " + described(given))
                             .with_origin(error_origin::script));
    }
    builtin row = call.row();
    row.name = part;
    native_call named(call.memory(), row, call.work());
    named.fail_type(1, expected, given);
    return call.fail(*std::move(named.failure()));
}

value seconds(native_call& call, std::span<value> a) {
    const double given = a[1].is_integer() ? static_cast<double>(a[1].as_integer())
                         : a[1].is_real()  ? a[1].as_real()
                                           : -1;
    if (given >= 0) return a[1];
    return fail_in_form(call, a[0], "a non-negative number of seconds", a[1]);
}

value attempts(native_call& call, std::span<value> a) {
    if (a[1].is_integer() && a[1].as_integer() >= 1) return a[1];
    return fail_in_form(call, a[0], "an integer of at least 1", a[1]);
}

bool is_named(const value& names, std::string_view wanted) {
    if (!names.is(kind::list)) return false;
    const auto items = list_items(names);
    return std::any_of(items.begin(), items.end(), [&](const value& each) {
        return each.is(kind::string) && string_bytes(each) == wanted;
    });
}

/// Whether a failure of a budget is left alone: no attempt can succeed until somebody raises the
/// budget. Who means that it may, as with a budget inside of the attempt, names it.
bool ends_at_budget(const value& names, const value& failed) {
    return is_failed_result(failed) && is_used_up(failed) &&
           !is_named(names, "RESOURCE_EXHAUSTION");
}

/// (%retries-error? names kind reason result): no names mean every error.
value retries_error(native_call&, std::span<value> a) {
    if (ends_at_budget(a[0], a[3])) return value::boolean(false);
    if (a[0].is_nil()) return value::boolean(true);
    return value::boolean(std::any_of(a.begin() + 1, a.begin() + 3, [&](const value& each) {
        return each.is(kind::string) && is_named(a[0], string_bytes(each));
    }));
}

/// (%retries-value? names v): v is a FAILED TaskResult for a reason that is named.
value retries_value(native_call&, std::span<value> a) {
    if (!is_failed_result(a[1]) || ends_at_budget(a[0], a[1])) return value::boolean(false);
    return value::boolean(a[0].is_nil() || is_named(a[0], failed_reason(a[1])));
}

constexpr auto pure = builtin_kind::pure;
constexpr auto control = builtin_kind::control;

constexpr builtin rows[] = {
    {"%attempts", "form n", 2, 2, pure, &attempts, "n, if it is a count of attempts.", "",
     "concurrency"},
    {"%retries-error?", "names kind reason result", 4, 4, pure, &retries_error,
     "Whether retry tries again after such an error.", "", "concurrency"},
    {"%retries-value?", "names value", 2, 2, pure, &retries_value,
     "Whether retry tries again after such a value.", "", "concurrency"},
    {"%second-run", "join", 1, 1, control, nullptr, "Notes that a hedge runs twice.", "",
     "concurrency"},
    {"%seconds", "form n", 2, 2, pure, &seconds, "n, if it is a number of seconds.", "",
     "concurrency"},
    {"await", "future", 1, 1, control, nullptr,
     "Waits for a spawned computation to end, and returns its value or raises its error.",
     "(await (spawn (+ 1 2))) => 3", "concurrency"},
    {"cancel", "future", 1, 1, control, nullptr,
     "Cancels a spawned computation; true if it had not ended yet.", "(cancel (spawn 1)) => false",
     "concurrency"},
    {"semaphore", "n", 1, 1, control, nullptr,
     "n permits, which (with-permit s body…) acquires and releases.",
     "(with-permit (semaphore 2) 'done) => 'done", "concurrency"},
};

} // namespace

std::span<const builtin> concurrency_builtins() noexcept { return rows; }

} // namespace heddle::lang
