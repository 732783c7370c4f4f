#include "notation.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace heddle::conformance {

namespace {

namespace json = boost::json;
using lang::kind;

[[nodiscard]] std::string text(const json::value& v) { return v.as_string().c_str(); }

/// The only member of an object when it has that name.
[[nodiscard]] const json::value* only(const json::value& v, const char* name) {
    const json::object* object = v.if_object();
    return object && object->size() == 1 ? object->if_contains(name) : nullptr;
}

[[nodiscard]] std::string plain_key(std::string_view key) {
    std::string text;
    for (const char c : key) {
        if (c != '_' && c != '-') text += static_cast<char>(std::tolower(c));
    }
    return text;
}

[[nodiscard]] const lang::value* find_key(const lang::value& map, std::string_view key) {
    for (const lang::map_entry& entry : lang::map_entries(map)) {
        if (plain_key(lang::string_bytes(entry.key)) == plain_key(key)) return &entry.item;
    }
    return nullptr;
}

[[nodiscard]] bool result_matches(const json::object& wanted, const lang::value& given) {
    if (!given.is(kind::map)) return false;
    const lang::value* notes = lang::map_find(given, "notes");
    for (const auto& [name, field] : wanted) {
        const std::string_view key(name.data(), name.size());
        const lang::value* found = lang::map_find(given, key);
        if (key == "parseError") {
            found = notes ? lang::map_find(*notes, "parseError") : nullptr;
            if (!found || found->is_nil()) return false;
        } else if (key == "reason") {
            if (failed_reason(given) != text(field)) return false;
        } else if (!found || !matches(field, *found)) return false;
    }
    return true;
}

} // namespace

lang::value to_value(lang::heap& memory, const json::value& notation) {
    switch (notation.kind()) {
    case json::kind::null: return {};
    case json::kind::bool_: return lang::value::boolean(notation.get_bool());
    case json::kind::int64: return lang::value::integer(notation.get_int64());
    case json::kind::uint64: return lang::value::real(static_cast<double>(notation.get_uint64()));
    case json::kind::double_: return lang::value::real(notation.get_double());
    case json::kind::string: return lang::make_string(memory, text(notation));
    case json::kind::array: {
        lang::value result = lang::value::empty_list();
        for (const json::value& element : notation.get_array()) {
            result = lang::list_push_back(memory, std::move(result), to_value(memory, element));
        }
        return result;
    }
    case json::kind::object: break;
    }
    if (const json::value* name = only(notation, "sym")) return memory.symbol(text(*name));
    const json::value* inside = only(notation, "map");
    lang::value result = lang::value::empty_map();
    for (const auto& [name, item] : (inside ? *inside : notation).as_object()) {
        result = lang::map_put(memory, std::move(result),
                               std::string_view(name.data(), name.size()), to_value(memory, item));
    }
    return result;
}

bool matches(const json::value& wanted, const lang::value& given) {
    const auto number = [&](double expected) {
        return (given.is_integer() && static_cast<double>(given.as_integer()) == expected) ||
               (given.is_real() && given.as_real() == expected);
    };
    switch (wanted.kind()) {
    case json::kind::null: return given.is_nil();
    case json::kind::bool_: return given.is_boolean() && given.as_boolean() == wanted.get_bool();
    case json::kind::int64:
        return given.is_integer() ? given.as_integer() == wanted.get_int64()
                                  : number(static_cast<double>(wanted.get_int64()));
    case json::kind::uint64: return number(static_cast<double>(wanted.get_uint64()));
    case json::kind::double_: return number(wanted.get_double());
    case json::kind::string:
        return given.is(kind::string) && lang::string_bytes(given) == text(wanted);
    case json::kind::array: {
        if (!given.is(kind::list) || given.length() != wanted.get_array().size()) return false;
        const auto items = lang::list_items(given);
        return std::equal(items.begin(), items.end(), wanted.get_array().begin(),
                          [](const lang::value& v, const json::value& w) { return matches(w, v); });
    }
    case json::kind::object: break;
    }
    if (const json::value* name = only(wanted, "sym")) {
        return given.is(kind::symbol) && lang::symbol_name(given) == text(*name);
    }
    if (only(wanted, "fn")) {
        const lang::host_object* object = lang::host_of(given);
        return given.is(kind::closure) || given.is(kind::builtin) || (object && object->callable());
    }
    if (const json::value* fields = only(wanted, "result")) {
        return result_matches(fields->as_object(), given);
    }
    const json::value* inside = only(wanted, "map");
    return inputs_match(inside ? *inside : wanted, given);
}

bool inputs_match(const json::value& wanted, const lang::value& given) {
    const json::object& fields = wanted.as_object();
    if (!given.is(kind::map) || given.length() != fields.size()) return false;
    return std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
        const lang::value* found = find_key(given, {field.key().data(), field.key().size()});
        return found && matches(field.value(), *found);
    });
}

std::string shown(const lang::value& v) {
    lang::print_options options;
    options.max_bytes = 400;
    return lang::print_value(v, options);
}

bool is_kind(const std::string& wanted, const error& failure) {
    if (wanted == "AnyError") return true;
    if (wanted.starts_with("TaskError:")) {
        const auto* payload =
            dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
        return payload && payload->reason == wanted.substr(10);
    }
    if (wanted == "SexpEvaluationError") return lang::is_evaluation_error(failure);
    return lang::error_kind_name(failure) == wanted;
}

std::string failed_reason(const lang::value& v) {
    if (!tasks::is_failed_result(v)) return {};
    const error failure = tasks::task_error_of(v);
    return dynamic_cast<const lang::script_payload&>(*failure.info().payload).reason;
}

} // namespace heddle::conformance
