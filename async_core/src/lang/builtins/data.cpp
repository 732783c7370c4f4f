#include <heddle/lang/builtin.hpp>

#include <heddle/lang/equality.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/support.hpp"
#include "lang/json/json_writing.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

/// An error of the JSON bridge in the name of the builtin that met it.
[[nodiscard]] value fail_json(native_call& call, const error& failure) {
    const bool limit =
        failure.code() == errc::limit || failure.code() == heddle::errc::limit_exceeded;
    return call.fail(error(limit ? errc::limit : errc::evaluation,
                           std::string(call.row().name) + ": " + failure.message())
                         .with_origin(error_origin::script));
}

value json_parse(native_call& call, arguments_span a) {
    const auto text = string_argument(call, a, 0);
    if (!text) return {};
    if (!call.expect(text->size() / work_meter::bytes_of_a_unit)) return {};
    json_read_options options;
    options.work = &call.work();
    options.is_valid_text = true;
    auto parsed = json_to_value(call.memory(), *text, options);
    if (!parsed) return fail_json(call, parsed.error());
    return *std::move(parsed);
}

value json_string(native_call& call, arguments_span a) {
    json_write_options options;
    options.max_bytes = value::max_length - 1;
    if (a.size() == 2) {
        const auto indent = count_argument(call, a, 1);
        if (!indent) return {};
        if (*indent > 16) return call.fail_evaluation("an indent over 16 is not for reading");
        options.indent = static_cast<unsigned>(*indent);
    }
    const std::size_t used = call.memory().used();
    const std::size_t limit = call.memory().limit();
    if (used < limit) options.max_bytes = std::min(options.max_bytes, limit - used);
    text_builder text(call.work());
    if (auto failure = write_json(text, a[0], options)) return fail_json(call, *failure);
    return made_text(call, std::move(text));
}

value equal(native_call& call, arguments_span a) {
    const auto same = values_equal(a[0], a[1], call.work());
    return same ? value::boolean(*same) : value();
}

value negate(native_call&, arguments_span a) { return value::boolean(!a[0].truthy()); }

value type_of(native_call& call, arguments_span a) {
    if (a[0].is_nil()) return call.memory().symbol("null"); // no program can write the symbol nil
    const host_object* host = host_of(a[0]);
    return call.memory().symbol(host ? host->type_name() : kind_name(a[0].type()));
}

value is_boolean(native_call&, arguments_span a) { return value::boolean(a[0].is_boolean()); }
value is_string(native_call&, arguments_span a) { return value::boolean(a[0].is(kind::string)); }
value is_symbol(native_call&, arguments_span a) { return value::boolean(a[0].is(kind::symbol)); }

value is_procedure(native_call&, arguments_span a) {
    const host_object* host = host_of(a[0]);
    return value::boolean(a[0].is(kind::closure) || a[0].is(kind::builtin) ||
                          (host && host->callable()));
}

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "data");
}

constexpr std::string_view equality_summary =
    "True when both have the same structure: 1 equals 1.0, true equals 1, symbols are compared "
    "by name, a symbol never equals a string, maps are compared regardless of the order of their "
    "keys, functions by identity.";

constexpr builtin rows[] = {
    row("json-parse", "s", 1, 1, json_parse,
        "The value of a JSON text: objects are maps, arrays lists, null is nil.",
        "(json-parse \"[1, 2.5, null]\") => '(1 2.5 nil)"),
    row("json-string", "x [indent]", 1, 2, json_string,
        "x as JSON, on one line, or indented by that many spaces per level. Symbols are written "
        "as strings; a function, or a float that is not a number, is an error.",
        "(json-string (dict \"a\" '(1 2.0 nil))) => \"{\\\"a\\\":[1,2.0,null]}\""),
    row("eq?", "a b", 2, 2, equal, equality_summary,
        "(eq? '(1 2) (list 1 2)) => true\n(eq? 'a \"a\") => false"),
    row("equal?", "a b", 2, 2, equal, equality_summary, "(equal? 1 1.0) => true"),
    constant_time(row("not", "x", 1, 1, negate,
                      "True when x is nil, false, 0, 0.0, \"\", () or the empty map; else false.",
                      "(not 0) => true\n(not '(1)) => false")),
    constant_time(row(
        "type-of", "x", 1, 1, type_of,
        "A symbol: null, boolean, integer, float, string, symbol, list, map, function, builtin, "
        "or what the host calls its objects.",
        "(type-of 1.5) => 'float\n(type-of \"\") => 'string\n(type-of nil) => 'null")),
    constant_time(row("boolean?", "x", 1, 1, is_boolean, "True for true and false.",
                      "(boolean? false) => true")),
    constant_time(
        row("string?", "x", 1, 1, is_string, "True for strings.", "(string? \"a\") => true")),
    constant_time(
        row("symbol?", "x", 1, 1, is_symbol, "True for symbols.", "(symbol? 'a) => true")),
    constant_time(row("procedure?", "x", 1, 1, is_procedure,
                      "True for what can be called: functions, builtins, tasks and tools.",
                      "(procedure? first) => true\n(procedure? 'first) => false")),
};

} // namespace

std::span<const builtin> data_builtins() noexcept { return rows; }

} // namespace heddle::lang
