#include "tasks/tools/value_check.hpp"

#include "tasks/definition/command_place.hpp"

#include "tasks/call/call_overrides.hpp"
#include "tasks/output/message_json.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/task_fields.hpp>
#include <heddle/tasks/definition/template_validation.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace heddle::tasks {

namespace {

namespace json = boost::json;
using lang::value;
using lang::value_refusal;

[[nodiscard]] value_refusal refusal(const error& failure) {
    return {lang::severity::error, "wrong-type", failure.message(), failure.info().hint};
}

/// The schema of each clause alone: what else a call must give is not known here.
[[nodiscard]] std::map<std::string, output_schema, std::less<>> clause_schemas(
    const std::string& input_schema) {
    std::map<std::string, output_schema, std::less<>> by_name;
    boost::system::error_code unreadable;
    const json::value read = parse_json(input_schema, unreadable, output_schema::max_json_depth);
    const json::object* whole = unreadable ? nullptr : read.if_object();
    const json::value* all = whole ? whole->if_contains("properties") : nullptr;
    if (!all || !all->is_object()) return by_name;
    for (const auto& [name, property] : all->get_object()) {
        json::object one{{"type", "object"}, {"properties", json::object{{name, property}}}};
        for (const char* shared : {"$defs", "definitions"}) {
            if (const json::value* found = whole->if_contains(shared)) one[shared] = *found;
        }
        if (auto schema = output_schema::compile(json::serialize(one)))
            by_name.emplace(std::string(name), *std::move(schema));
    }
    return by_name;
}

/// A tool that checks its values itself is asked with the clause alone, and a text for each of the
/// others that it needs.
[[nodiscard]] std::optional<value_refusal> refusal_by_tool(lang::realm& realm,
                                                           const registered_tool& tool,
                                                           std::string_view clause,
                                                           const value& given) {
    lang::heap& memory = realm.memory();
    value inputs = value::empty_map();
    for (const std::string& name : tool.required)
        inputs = lang::map_put(memory, std::move(inputs), name, lang::make_string(memory, "x"));
    const auto before = tool.declared.check_values(inputs);
    if (!before) return std::nullopt; // the sample is what is refused
    inputs = lang::map_put(memory, std::move(inputs), clause, given);
    const auto good = tool.declared.check_values(inputs);
    if (!good) return refusal(good.error());
    // Nothing replaces places in what a program computes; in a text for a model they may be meant.
    if (clause != "command" || !given.is(lang::kind::string)) return std::nullopt;
    const auto place = place_in_command(lang::string_bytes(given));
    if (!place) return std::nullopt;
    return value_refusal{
        lang::severity::warning, "placeholder-in-command",
        std::string(*place) + " in a command is not replaced",
        "put the command together: (list \"program\" argument) runs without a shell"};
}

} // namespace

std::function<std::optional<value_refusal>(std::string_view, const value&)> refusal_by_schema(
    lang::realm& realm, std::string tool, const std::string& input_schema) {
    return [&realm, tool = std::move(tool), schemas = clause_schemas(input_schema)](
               std::string_view clause, const value& given) -> std::optional<value_refusal> {
        const auto schema = schemas.find(clause);
        if (schema == schemas.end()) return std::nullopt;
        lang::heap& memory = realm.memory();
        const auto written = message_json(lang::map_put(memory, value::empty_map(), clause, given));
        if (!written) return refusal(written.error());
        const auto plain = lang::json_to_value(memory, *written);
        if (!plain) return std::nullopt;
        auto wrong = schema->second.check(*plain, *written, "its input");
        if (!wrong) return std::nullopt;
        return value_refusal{
            lang::severity::error, "wrong-type", tool + ": " + std::move(wrong->message), {}};
    };
}

lang::task_signature signature_of_tool(lang::realm& realm,
                                       std::shared_ptr<const registered_tool> tool) {
    lang::task_signature signature;
    signature.is_tool = true;
    signature.inputs = tool->clauses;
    signature.required = tool->required;
    signature.open = tool->open;
    if (!tool->declared.check_values) {
        signature.refuses =
            refusal_by_schema(realm, tool->declared.name, tool->declared.input_schema);
        return signature;
    }
    signature.refuses = [&realm, tool](std::string_view clause, const value& given) {
        return refusal_by_tool(realm, *tool, clause, given);
    };
    return signature;
}

/// Without declared inputs, a call must give what the prompts use.
[[nodiscard]] static std::vector<std::string> names_in_prompts(const task_template& declared) {
    std::vector<std::string> names;
    const std::string& asked =
        declared.instructions.empty() ? declared.description : declared.instructions;
    for (const std::string* text : {&asked, &declared.system}) {
        const auto prompt = prompt_template::compile(*text, nullptr);
        if (!prompt) continue;
        for (const std::string& name : prompt->names()) {
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

lang::task_signature signature_of_task(std::shared_ptr<const task_template> declared) {
    lang::task_signature signature;
    signature.open = !declared->declares_inputs;
    const bool aider = is_aider_subtype(declared->subtype);
    for (const task_input& input : declared->inputs) {
        signature.inputs.push_back(input.name);
        const bool filled = input.optional || input.default_json || !input.from.empty() ||
                            (aider && input.name == task_description_input);
        if (!filled) signature.required.push_back(input.name);
    }
    for (const task_input& input : declared->inputs) {
        if (!input.from.empty()) signature.inputs.push_back(input.from);
    }
    if (signature.open) signature.required = names_in_prompts(*declared);
    signature.reserved = call_names();
    signature.refuses = [declared, inputs = signature.inputs](
                            std::string_view clause,
                            const value& given) -> std::optional<value_refusal> {
        const bool input = std::find(inputs.begin(), inputs.end(), clause) != inputs.end();
        if (input || !is_reserved_call_key(clause)) return std::nullopt;
        call_overrides scratch;
        const auto read = set_override(scratch, *declared, clause, given, {});
        if (read) return std::nullopt;
        return refusal(read.error());
    };
    return signature;
}

} // namespace heddle::tasks
