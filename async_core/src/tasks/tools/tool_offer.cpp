#include "tasks/tools/tool_offer.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

constexpr std::size_t max_wire_name_length = 64;
constexpr std::string_view subtask_prefix = "subtask:";

/// Services allow letters, digits, - and _; heddle's names have colons and more.
[[nodiscard]] std::string wire_name_of(std::string_view name,
                                       const std::vector<offered_tool>& others) {
    std::string text;
    for (const char c : utf8::prefix(name, max_wire_name_length - 4)) {
        const bool plain = ascii::is_letter(c) || ascii::is_digit(c) || c == '_' || c == '-';
        text += plain ? c : '_';
    }
    const std::string base = text;
    const auto taken = [&] {
        return std::any_of(others.begin(), others.end(),
                           [&](const offered_tool& one) { return one.wire_name == text; });
    };
    for (unsigned next = 2; taken(); ++next) text = base + "_" + std::to_string(next);
    return text;
}

/// Types of inputs are words of people; those that JSON Schema has too are passed on.
[[nodiscard]] std::string_view json_type(std::string_view written) noexcept {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> known{{
        {"string", "string"},
        {"text", "string"},
        {"integer", "integer"},
        {"int", "integer"},
        {"number", "number"},
        {"float", "number"},
        {"boolean", "boolean"},
        {"bool", "boolean"},
        {"list", "array"},
        {"array", "array"},
        {"map", "object"},
        {"object", "object"},
    }};
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& row) { return row.first == written; });
    return found == known.end() ? std::string_view() : found->second;
}

[[nodiscard]] std::string schema_of(const task_template& declared) {
    json::object properties;
    json::array required;
    for (const task_input& input : declared.inputs) {
        json::object one;
        if (const std::string_view type = json_type(input.type); !type.empty()) one["type"] = type;
        if (!input.description.empty()) one["description"] = input.description;
        properties[input.name] = std::move(one);
        if (!input.optional) required.emplace_back(input.name);
    }
    json::object whole{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) whole["required"] = std::move(required);
    if (declared.declares_inputs) whole["additionalProperties"] = false;
    return json::serialize(whole);
}

constexpr std::string_view subtask_schema = R"({"type":"object","properties":{
"type":{"type":"string","enum":["atomic"]},
"description":{"type":"string","description":"what the subtask is to do"},
"inputs":{"type":"object","description":"values for the inputs of the template"},
"name":{"type":"string","description":"name of the template, when it is known"},
"subtype":{"type":"string"},
"template_hints":{"type":"array","items":{"type":"string"}},
"context_management":{"type":"object"},
"max_depth":{"type":"integer","minimum":0},
"file_paths":{"type":"array","items":{"type":"string"}}},
"required":["type","description","inputs"],"additionalProperties":false})";

constexpr std::string_view named_subtask_schema = R"({"type":"object","properties":{
"description":{"type":"string","description":"what the subtask is to do"},
"inputs":{"type":"object","description":"values for the inputs of the template"},
"file_paths":{"type":"array","items":{"type":"string"}}},
"required":["description","inputs"],"additionalProperties":false})";

[[nodiscard]] offered_tool subtask_tool(std::string_view name, ports::tool_spec& spec) {
    offered_tool tool;
    tool.what = offered_tool::kind::subtask;
    tool.name = name;
    if (name.starts_with(subtask_prefix)) tool.hint = name.substr(subtask_prefix.size());
    spec.parameters_json = tool.hint.empty() ? subtask_schema : named_subtask_schema;
    spec.description =
        tool.hint.empty()
            ? "Runs a subtask and returns its result. The template is chosen by "
              "name, by subtype, or by the description and the hints."
            : "Runs a subtask of the kind '" + tool.hint + "' and returns its result.";
    spec.strict = false;
    return tool;
}

} // namespace

result<std::vector<offered_tool>> offer_tools(const compiled_task& task, const task_registry& tasks,
                                              const tool_registry& tools,
                                              std::vector<ports::tool_spec>& specs) {
    std::vector<offered_tool> list;
    for (const std::string& name : task.declared.tools) {
        offered_tool one;
        ports::tool_spec spec;
        if (auto tool = tools.find(name)) {
            const registered_tool& known = *lang::host_as<tool_callable>(tool->callable)->get();
            one.name = name;
            one.callable = tool->callable;
            spec.description = known.declared.description;
            spec.parameters_json = known.declared.input_schema.empty()
                                       ? std::string(R"({"type":"object"})")
                                       : known.declared.input_schema;
            spec.strict = known.schema.fits_strict_mode();
        } else if (const registered_task* found = tasks.find(name)) {
            one.what = offered_tool::kind::task;
            one.name = name;
            one.callable = found->callable;
            spec.description = found->task->declared.description;
            spec.parameters_json = schema_of(found->task->declared);
            spec.strict = false;
        } else if (name == spawn_subtask_name || name.starts_with(subtask_prefix)) {
            one = subtask_tool(name, spec);
        } else {
            std::vector<std::string> known{std::string(spawn_subtask_name)};
            tasks.collect_names(known);
            tools.collect_names(known);
            return task_failed(task_failure_reason::configuration_error,
                               "task " + task.declared.name + ": there is no tool or task '" +
                                   name + "' to offer to the model")
                .with_hint(lang::suggest_names(name, known));
        }
        one.wire_name = wire_name_of(one.name, list);
        spec.name = one.wire_name;
        specs.push_back(std::move(spec));
        list.push_back(std::move(one));
    }
    return list;
}

} // namespace heddle::tasks
