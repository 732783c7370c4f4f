#include "tasks/definition/parameter_list.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>

#include <boost/json/array.hpp>
#include <boost/json/error.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::array known_types{
    parameter_type{"", "", ""},
    parameter_type{"any", "", ""},
    parameter_type{"string", "string", ""},
    parameter_type{"text", "string", ""},
    parameter_type{"str", "string", ""},
    parameter_type{"integer", "integer", ""},
    parameter_type{"int", "integer", ""},
    parameter_type{"number", "number", ""},
    parameter_type{"float", "number", ""},
    parameter_type{"boolean", "boolean", ""},
    parameter_type{"bool", "boolean", ""},
    parameter_type{"array", "array", ""},
    parameter_type{"list", "array", ""},
    parameter_type{"string[]", "array", "string"},
    parameter_type{"integer[]", "array", "integer"},
    parameter_type{"number[]", "array", "number"},
    parameter_type{"boolean[]", "array", "boolean"},
    parameter_type{"object[]", "array", "object"},
    parameter_type{"object", "object", ""},
    parameter_type{"map", "object", ""},
    parameter_type{"dict", "object", ""},
};

constexpr std::array<const char*, 12> listed_types{"string",    "integer",  "number",    "boolean",
                                                   "array",     "string[]", "integer[]", "number[]",
                                                   "boolean[]", "object[]", "object",    "any"};

[[nodiscard]] bool is_whole(const json::value& given) {
    return given.is_int64() || given.is_uint64() ||
           (given.is_double() && std::trunc(given.get_double()) == given.get_double());
}

/// nil means no value. An empty list may be meant as an empty map.
[[nodiscard]] bool has_type(const json::value& given, std::string_view schema,
                            std::string_view items) {
    if (schema.empty() || given.is_null()) return true;
    if (schema == "string") return given.is_string();
    if (schema == "integer") return is_whole(given);
    if (schema == "number") return given.is_number();
    if (schema == "boolean") return given.is_bool();
    const json::array* list = given.if_array();
    if (schema == "object") return given.is_object() || (list && list->empty());
    return list && std::all_of(list->begin(), list->end(),
                               [&](const json::value& each) { return has_type(each, items, ""); });
}

class parameter_reader {
public:
    explicit parameter_reader(const std::string& definer) : definer_(definer) {}

    result<task_input> read(const source_form& param) const {
        task_input input;
        if (param.is_symbol()) {
            input.name = param.text();
            HEDDLE_CHECK(check_name(param, input.name));
            return input;
        }
        if (!param.is_list() || param.size() == 0 || !param[0].is_symbol()) {
            return fail(param.span, "must hold names or lists (name type \"description\"), not " +
                                        param.shown());
        }
        input.name = param[0].text();
        HEDDLE_CHECK(check_name(param, input.name));
        std::size_t at = 1;
        if (at < param.size() && param[at].is_symbol() && param[at].text() == "optional") {
            input.optional = true;
            ++at;
        }
        const std::size_t type_at = at;
        if (at < param.size() && param[at].is_symbol()) input.type = param[at++].text();
        // Brackets are parentheses to the reader: string[] comes as string ().
        if (at < param.size() && !input.type.empty() && param[at].is_list() &&
            param[at].size() == 0) {
            input.type += "[]";
            ++at;
        }
        const parameter_type* type = find_parameter_type(input.type);
        if (!type) return unknown_type(param[type_at].span, input);
        // The description and the default may stand in either order.
        for (; at < param.size(); ++at) {
            const source_form part = param[at];
            if (part.is_string() && input.description.empty()) input.description = part.text();
            else if (part.is_list() && part.size() == 2 && part[0].is_symbol() &&
                     part[0].text() == "default" && !input.default_json) {
                HEDDLE_CHECK(read_default(part[1], input, *type));
            } else if (part.is_symbol() && part.text() == "optional") {
                return fail(part.span, "has 'optional' behind the type of '" + input.name +
                                           "': it belongs before the type")
                    .with_hint("write (" + input.name + " optional " + input.type + ")");
            } else {
                return fail(part.span, "has a part of '" + input.name +
                                           "' that cannot be read: " + part.shown());
            }
        }
        return input;
    }

    [[nodiscard]] error fail(source_span where, const std::string& what) const {
        return error(lang::errc::evaluation, definer_ + ": params " + what).with_span(where);
    }

private:
    result<void> check_name(const source_form& param, const std::string& name) const {
        if (!name.starts_with('&') && name != ".") return {};
        return fail(param.span, "has '" + name + "', which is not the name of a parameter")
            .with_hint("write (name optional) for a parameter that may be missing");
    }

    [[nodiscard]] error unknown_type(source_span where, const task_input& input) const {
        const std::vector<std::string> types(listed_types.begin(), listed_types.end());
        std::string hint = lang::suggest_names(input.type, types);
        if (hint.empty()) {
            for (const std::string& each : types) hint += (hint.empty() ? "types: " : ", ") + each;
        }
        return fail(where,
                    "declares '" + input.name + "' with the unknown type '" + input.type + "'")
            .with_hint(std::move(hint));
    }

    result<void> read_default(const source_form& given, task_input& input,
                              const parameter_type& type) const {
        const source_form content = given.unquoted();
        const bool quoted = !content.content.identical(given.content);
        if (!quoted && (content.is_symbol() || (content.is_list() && content.size() != 0))) {
            return fail(given.span, "must give '" + input.name +
                                        "' a literal as its default, not " + given.shown())
                .with_hint("quote a list: (default '(1 2))");
        }
        auto json = form_to_json(content);
        if (!json) {
            return fail(given.span,
                        "has a default of '" + input.name + "' that " + json.error().message());
        }
        boost::system::error_code unreadable;
        const json::value read = parse_json(*json, unreadable, max_default_depth);
        if (unreadable) {
            const std::string why =
                unreadable == json::error::too_deep
                    ? "is nested more than " + std::to_string(max_default_depth) + " levels deep"
                    : "cannot be read as JSON: " + unreadable.message();
            return fail(given.span, "has a default of '" + input.name + "' that " + why);
        }
        if (!has_type(read, type.schema, type.items)) {
            return fail(given.span, "declares '" + input.name + "' of type '" + input.type +
                                        "' the default " + given.shown());
        }
        input.default_json = std::move(*json);
        input.optional = true;
        return {};
    }

    const std::string& definer_;
};

} // namespace

const parameter_type* find_parameter_type(std::string_view written) noexcept {
    const auto known =
        std::find_if(known_types.begin(), known_types.end(),
                     [&](const parameter_type& row) { return row.written == written; });
    return known == known_types.end() ? nullptr : &*known;
}

result<std::vector<task_input>> read_parameters(const source_form& clause,
                                                const std::string& definer) {
    const parameter_reader reader(definer);
    if (clause.size() - 1 > template_limits::max_inputs) {
        return reader.fail(clause.span, "has too many parameters");
    }
    std::vector<task_input> inputs;
    for (std::size_t i = 1; i < clause.size(); ++i) {
        HEDDLE_TRY(task_input input, reader.read(clause[i]));
        for (const task_input& other : inputs) {
            if (other.name == input.name) {
                return reader.fail(clause[i].span, "names '" + input.name + "' twice");
            }
        }
        inputs.push_back(std::move(input));
    }
    return inputs;
}

} // namespace heddle::tasks
