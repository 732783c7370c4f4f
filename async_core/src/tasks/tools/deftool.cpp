#include "tasks/tools/deftool.hpp"

#include "tasks/definition/parameter_list.hpp"
#include "tasks/definition/source_form.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/map.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::string_view usage =
    "write (deftool name (params (p type \"what\")…) (description \"…\") body…)";

[[nodiscard]] json::object schema_of(const task_input& input) {
    json::object members;
    if (const parameter_type* known = find_parameter_type(input.type)) {
        if (!known->schema.empty()) members["type"] = known->schema;
        if (!known->items.empty()) members["items"] = json::object{{"type", known->items}};
    }
    if (!input.description.empty()) members["description"] = input.description;
    if (input.default_json) {
        boost::system::error_code unreadable;
        json::value given = parse_json(*input.default_json, unreadable, max_default_depth);
        if (!unreadable) members["default"] = std::move(given);
    }
    return members;
}

/// The JSON Schema of the clauses of a call.
[[nodiscard]] std::string schema_of(const std::vector<task_input>& inputs) {
    json::object properties;
    json::array required;
    for (const task_input& input : inputs) {
        properties[input.name] = schema_of(input);
        if (!input.optional) required.emplace_back(input.name);
    }
    json::object whole{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) whole["required"] = std::move(required);
    whole["additionalProperties"] = false;
    return json::serialize(whole);
}

/// Runs the body. The parts are the session's: it ends after every call.
coro::task<result<lang::value>> run_body(std::shared_ptr<const tool_definition> definition,
                                         lang::value body, tool_call call) {
    lang::heap& memory = call.session.memory();
    std::vector<lang::value> arguments;
    arguments.reserve(definition->inputs.size());
    for (const task_input& input : definition->inputs) {
        if (const lang::value* given = lang::map_find(call.inputs, input.name)) {
            arguments.push_back(*given);
        } else if (input.default_json) {
            auto content = lang::json_to_value(memory, *input.default_json);
            if (!content) co_return std::move(content).error();
            arguments.push_back(*std::move(content));
        } else arguments.emplace_back();
    }
    result<lang::value> ended = co_await call.session.call_within(
        std::move(body), std::move(arguments), std::move(call.scope), call.context);
    if (!ended) {
        co_return std::move(ended).error().with_trace("in tool " + definition->name, call.span);
    }
    co_return ended;
}

} // namespace

result<tool_definition> parse_deftool(const lang::value& form, source_span span) {
    const source_form whole{form, span};
    tool_definition definition;
    definition.span = span;
    const auto fail = [&](source_span where, const std::string& what) {
        return error(
                   lang::errc::evaluation,
                   "deftool" + (definition.name.empty() ? "" : " " + definition.name) + ": " + what)
            .with_span(where)
            .with_hint(std::string(usage));
    };
    if (!whole.is_list() || whole.size() < 2 || !whole[1].is_symbol()) {
        return fail(span, "expects a name");
    }
    definition.name = whole[1].text();
    const std::string definer = "deftool " + definition.name;
    bool has_params = false;
    bool has_description = false;
    for (std::size_t i = 2; i < whole.size(); ++i) {
        const source_form clause = whole[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) break;
        if (clause[0].text() == "params" && !has_params) {
            has_params = true;
            HEDDLE_TRY(definition.inputs, read_parameters(clause, definer));
        } else if (clause[0].text() == "description" && !has_description) {
            has_description = true;
            if (clause.size() != 2 || !clause[1].is_string() || clause[1].text().empty()) {
                return fail(clause.span, "description must be one non-empty string");
            }
            definition.description = clause[1].text();
        } else break;
    }
    if (!has_params || !has_description) {
        return fail(span, "(params …) and (description \"…\") come before the body");
    }
    definition.input_schema = schema_of(definition.inputs);
    return definition;
}

tool make_language_tool(tool_definition definition, lang::value body) {
    tool result;
    result.name = definition.name;
    result.description = definition.description;
    result.input_schema = definition.input_schema;
    const auto shared = std::make_shared<const tool_definition>(std::move(definition));
    result.body = std::make_shared<const lang::value>(std::move(body));
    result.run = [shared, kept = result.body](tool_call call) {
        return run_body(shared, *kept, std::move(call));
    };
    return result;
}

} // namespace heddle::tasks
