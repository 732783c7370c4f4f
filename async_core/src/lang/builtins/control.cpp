// Builtins of control, and the prelude's own.
#include "lang/builtins/support.hpp"
#include "lang/print/described.hpp"
#include "lang/print/form_text.hpp"
#include "lang/value/data_check.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

/// Pays for the copy of what an error keeps of a text. False: the builtin has to stop.
[[nodiscard]] bool spend_on_error_text(native_call& call, std::string_view text) {
    return call.spend_bytes(std::min(text.size(), max_error_text));
}

value raise_user_error(native_call& call, std::span<value> arguments) {
    if (!arguments[0].is(kind::string)) return call.fail_type(1, "a string", arguments[0]);
    if (!spend_on_error_text(call, string_bytes(arguments[0]))) return {};
    auto payload = std::make_shared<script_payload>();
    if (const auto data = arguments.subspan(1); !data.empty()) {
        auto copy = reserved_copy_of_list(call, data, {data.size(), 0});
        if (!copy) return {};
        payload->data = *std::move(copy);
    } else {
        payload->data = value::empty_list();
    }
    return call.fail(error_with_message(errc::user, arguments[0], std::move(payload)));
}

/// What an error keeps of it.
[[nodiscard]] std::string text_of(const value& map, std::string_view key) {
    const value* found = map_find(map, key);
    if (!found || found->is_nil()) return {};
    return found->is(kind::string) ? utf8::shortened(string_bytes(*found), max_error_text)
                                   : shown(*found);
}

/// (raise e): what `catch` bound, raised anew.
value raise_again(native_call& call, std::span<value> arguments) {
    const value& caught = arguments[0];
    if (!caught.is(kind::map) || !map_find(caught, "kind") || !map_find(caught, "message"))
        return call.fail_type(1, "an error that catch has bound", caught);
    value message = *map_find(caught, "message");
    if (!message.is(kind::string)) message = make_string(call.memory(), text_of(caught, "message"));
    if (!spend_on_error_text(call, string_bytes(message))) return {};
    auto payload = std::make_shared<script_payload>();
    if (const value* data = map_find(caught, "data")) payload->data = *data;
    if (const value* result = map_find(caught, "result")) payload->result = *result;
    payload->reason = text_of(caught, "reason");
    error failure =
        error_with_message(errc_of_kind(text_of(caught, "kind")), message, std::move(payload));
    if (const value* place = map_find(caught, "span"); place && place->is(kind::map)) {
        std::string where;
        for (const std::string_view part : {"file", "line", "column"}) {
            where += (where.empty() ? "" : ":") + text_of(*place, part);
        }
        failure = std::move(failure).with_trace("first raised at " + where);
    }
    return call.fail(std::move(failure));
}

value fresh_symbol(native_call& call, std::span<value> arguments) {
    std::string_view prefix = "g";
    if (!arguments.empty()) {
        if (arguments[0].is(kind::symbol)) prefix = symbol_name(arguments[0]);
        else if (arguments[0].is(kind::string)) prefix = string_bytes(arguments[0]);
        else return call.fail_type(1, "a string or a symbol", arguments[0]);
    }
    if (!check_symbol_length(call, prefix.size()) || !call.spend_bytes(prefix.size())) return {};
    return call.memory().fresh_symbol(prefix);
}

value loop_count(native_call& call, std::span<value> arguments) {
    const auto refuse = [&](const std::string& given) {
        return call.fail(error(errc::evaluation,
                               "loop: the count must be a non-negative integer, not " + given));
    };
    if (!arguments[0].is_integer()) {
        return refuse(described(arguments[0]));
    }
    if (arguments[0].as_integer() < 0) return refuse(std::to_string(arguments[0].as_integer()));
    return arguments[0];
}

/// (%spliced xs): what follows ,@ in a quasiquote.
value spliced(native_call& call, std::span<value> arguments) {
    if (arguments[0].is(kind::list)) return arguments[0];
    return call.fail(
        error(errc::type, ",@ must be followed by a list, not " + described(arguments[0])));
}

/// (%type-error who index expected given): a TypeError in the name of a prelude function.
value type_error(native_call& call, std::span<value> arguments) {
    if (!arguments[0].is(kind::string)) return call.fail_type(1, "a string", arguments[0]);
    if (!arguments[1].is_integer()) return call.fail_type(2, "an integer", arguments[1]);
    if (!arguments[2].is(kind::string)) return call.fail_type(3, "a string", arguments[2]);
    builtin row = call.row();
    row.name = string_bytes(arguments[0]);
    native_call named(call.memory(), row, call.work());
    named.fail_type(static_cast<std::size_t>(arguments[1].as_integer()), string_bytes(arguments[2]),
                    arguments[3]);
    error refused = *std::move(named.failure());
    const bool function = arguments[3].is(kind::closure) || arguments[3].is(kind::builtin);
    if (function && arguments[1].as_integer() > 1 && string_bytes(arguments[2]) == "a list")
        refused = std::move(refused).with_hint("the function comes first");
    return call.fail(std::move(refused));
}

/// (%fail part…): an evaluation error in the words of a prelude function.
value raise_evaluation_error(native_call& call, std::span<value> arguments) {
    std::string message;
    for (const value& part : arguments)
        message += part.is(kind::string) ? utf8::shortened(string_bytes(part), max_error_text)
                                         : shown(part);
    return call.fail(error(errc::evaluation, std::move(message)));
}

/// (%shown x): a value as error messages show it.
value shown_value(native_call& call, std::span<value> arguments) {
    return make_string(call.memory(), described(arguments[0]));
}

/// (%sandbox-value v): only data leaves a sandbox.
value sandbox_value(native_call& call, std::span<value> arguments) {
    if (arguments[0].is(kind::list) && !call.expect(arguments[0].length())) return arguments[0];
    const auto data = is_data(arguments[0], call.work());
    if (!data || *data) return arguments[0];
    return call.fail(
        error(errc::permission, "sandbox: only data may leave, not " + shown(arguments[0]))
            .with_hint("a function made inside would act outside: call it inside the "
                       "sandbox and return its value"));
}

constexpr auto any = builtin::any_number;
constexpr auto pure = builtin_kind::pure;
constexpr auto control = builtin_kind::control;

constexpr builtin rows[] = {
    {"%eval-rest", "forms internal", 2, 2, control, nullptr,
     "Compiles and runs the rest of a program.", "", "control"},
    {"%eval-source", "text name", 2, 2, control, nullptr, "Runs a text as a program.", "",
     "control"},
    {"%fail", "part…", 1, any, pure, &raise_evaluation_error, "Raises an evaluation error.", "",
     "control"},
    {"%library", "name", 1, 1, control, nullptr, "Finds a library to import.", "", "control"},
    {"%library-done", "name value", 2, 2, control, nullptr, "Notes an imported library.", "",
     "control"},
    {"%loop-count", "n", 1, 1, pure, &loop_count, "The count of a loop, checked.", "", "control"},
    {"%run-library", "name", 1, 1, control, nullptr, "Runs a library of the language.", "",
     "control"},
    {"%out-of-reach", "name forbidden", 2, 2, control, nullptr, "Raises PermissionError.", "",
     "control"},
    {"%sandbox-value", "x", 1, 1, pure, &sandbox_value, "x, if it is data.", "", "control"},
    {"%shown", "x", 1, 1, pure, &shown_value, "x as error messages show it.", "", "control"},
    {"%spliced", "xs", 1, 1, pure, &spliced, "A list to put in a quasiquote, checked.", "",
     "control"},
    {"%type-error", "who index expected given", 4, 4, pure, &type_error, "Raises a TypeError.", "",
     "control"},
    {"apply", "f x… xs", 2, any, control, nullptr,
     "Calls f with the leading arguments and then the elements of the list xs.",
     "(apply + 1 2 '(3 4)) => 10", "lists"},
    {"error", "message data…", 1, any, pure, &raise_user_error,
     "Raises a UserError; `catch` finds the data under `data`.",
     "(try (error \"no\" 7) (catch (e) (get e 'data))) => '(7)", "control"},
    {"eval", "x [names]", 1, 2, control, nullptr,
     "Runs the code x in the enclosing scope or, with a map of names, with only the builtins and "
     "the map.",
     "(eval '(+ 1 2)) => 3\n(eval '(* x x) (dict 'x 7)) => 49", "code"},
    {"gensym", "[prefix]", 0, 1, pure, &fresh_symbol, "A symbol that equals no other.",
     "(symbol? (gensym)) => true", "code"},
    {"help", "[name]", 0, 1, control, nullptr,
     "The documentation of a name or function as text; without an argument, all names.",
     "(string-starts-with? (help 'map) \"(map f items more…)\") => true", "code"},
    {"macroexpand", "x", 1, 1, control, nullptr, "The code x once no macro is at its head.",
     "(macroexpand '(+ 1 2)) => '(+ 1 2)", "code"},
    {"parse", "text", 1, 1, control, nullptr,
     "The one expression of a text, as data. Anything else is a SexpSyntaxError.",
     "(parse \"(+ 1 2)\") => '(+ 1 2)\n(eval (parse \"(+ 1 2)\")) => 3", "code"},
    constant_time(
        {"raise", "e", 1, 1, pure, &raise_again,
         "Raises an error that catch has bound again, with its kind, reason and data.",
         "(try (try (error \"no\" 7) (catch (e) (raise e))) (catch (e 'UserError) (get e 'data))) => "
         "'(7)",
         "control"}),
    {"read-all", "text", 1, 1, control, nullptr, "The list of all expressions of a text, as data.",
     "(read-all \"1 (a b) c\") => '(1 (a b) c)", "code"},
};

} // namespace

std::span<const builtin> control_builtins() noexcept { return rows; }

} // namespace heddle::lang
