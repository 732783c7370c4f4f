#include "template_text.hpp"

#include "display_text.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/tasks/definition/effective_context.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using tasks::task_template;

[[nodiscard]] json::array texts(const std::vector<std::string>& all) {
    return json::array(all.begin(), all.end());
}

[[nodiscard]] json::value json_or_text(const std::string& text) {
    boost::system::error_code broken;
    json::value read = json::parse(text, broken);
    return broken ? json::value(text) : read;
}

template <class Value>
void put(json::object& into, std::string_view name, const std::optional<Value>& given) {
    if (given) into[name] = *given;
}
void put(json::object& into, std::string_view name, const std::string& text) {
    if (!text.empty()) into[name] = text;
}
void put(json::object& into, std::string_view name, json::array all) {
    if (!all.empty()) into[name] = std::move(all);
}
void put(json::object& into, std::string_view name, json::object part) {
    if (!part.empty()) into[name] = std::move(part);
}

[[nodiscard]] json::array inputs_of(const task_template& one) {
    json::array made;
    for (const tasks::task_input& input : one.inputs) {
        json::object each{{"name", input.name}};
        put(each, "type", input.type);
        put(each, "from", input.from);
        put(each, "description", input.description);
        if (input.optional) each["optional"] = true;
        if (input.default_json) each["default"] = json_or_text(*input.default_json);
        made.push_back(std::move(each));
    }
    return made;
}

[[nodiscard]] json::object context_of(const task_template& one) {
    json::object made;
    const tasks::context_management& asked = one.context;
    if (asked.inherit_context)
        made["inherit_context"] = json::string(tasks::to_string(*asked.inherit_context));
    put(made, "accumulate_data", asked.accumulate_data);
    if (asked.accumulation_format) {
        made["accumulation_format"] = json::string(tasks::to_string(*asked.accumulation_format));
    }
    if (asked.fresh_context) made["fresh_context"] = *asked.fresh_context ? "enabled" : "disabled";
    return made;
}

[[nodiscard]] json::object files_of(const task_template& one) {
    json::object made;
    if (!one.files) return made;
    switch (one.files->from) {
    case tasks::file_paths_source::kind::literal: made["path"] = texts(one.files->paths); break;
    case tasks::file_paths_source::kind::command: made["command"] = one.files->text; break;
    case tasks::file_paths_source::kind::description: made["description"] = one.files->text; break;
    case tasks::file_paths_source::kind::context_description:
        made["context_query"] = one.files->text;
        break;
    }
    return made;
}

[[nodiscard]] json::object limits_of(const task_template& one) {
    json::object made;
    put(made, "max_turns", one.limits.max_turns);
    put(made, "max_context", one.limits.max_context);
    put(made, "max_output", one.limits.max_output);
    put(made, "max_tokens_total", one.limits.max_tokens_total);
    put(made, "max_cost_usd", one.limits.max_cost_usd);
    return made;
}

[[nodiscard]] json::object history_of(const task_template& one) {
    json::object made;
    put(made, "use_session_history", one.history.use_session_history);
    put(made, "history_turns_to_include", one.history.history_turns_to_include);
    put(made, "record_in_session_history", one.history.record_in_session_history);
    return made;
}

[[nodiscard]] std::string shown(const json::value& item) {
    // heddle-check: allow raw-json (a part of a text)
    return item.is_string() ? std::string(item.get_string()) : json::serialize(item);
}

} // namespace

json::object template_json(const task_template& one) {
    json::object made{{"name", one.name}, {"type", one.type}, {"subtype", one.subtype}};
    put(made, "file", one.source);
    put(made, "description", one.description);
    if (one.declares_inputs) made["inputs"] = inputs_of(one);
    put(made, "returns", one.returns);
    put(made, "provider", one.provider);
    put(made, "model", one.model);
    put(made, "temperature", one.temperature);
    put(made, "max_tokens", one.max_tokens);
    if (one.timeout) made["timeout"] = std::chrono::duration<double>(*one.timeout).count();
    put(made, "retries", one.retries);
    const json::value parameters = json::parse(tasks::parameters_json(one.parameters));
    for (const auto& [name, item] : parameters.get_object()) made[name] = item;
    if (one.output.json) {
        json::object format{{"type", "json"}};
        if (!one.output.schema.empty()) format["schema"] = json_or_text(one.output.schema);
        made["output_format"] = std::move(format);
    }
    put(made, "criteria", one.criteria);
    put(made, "tools", texts(one.tools));
    put(made, "context_management", context_of(one));
    put(made, "file_paths", files_of(one));
    json::object relevance;
    for (const auto& input : one.relevance) relevance[input.name] = input.include;
    put(made, "context_relevance", std::move(relevance));
    json::object assembly;
    put(assembly, "primary_elements", texts(one.assembly.primary));
    put(assembly, "secondary_elements", texts(one.assembly.secondary));
    put(assembly, "excluded_elements", texts(one.assembly.excluded));
    put(made, "context_assembly", std::move(assembly));
    put(made, "history_config", history_of(one));
    put(made, "resource_limits", limits_of(one));
    put(made, "output_slot", one.output_slot);
    put(made, "input_source", one.input_source);
    if (one.manual_xml) made["manual_xml"] = true;
    if (one.disable_reparsing) made["disable_reparsing"] = true;
    put(made, "system", one.system);
    put(made, "instructions", one.instructions);
    return made;
}

std::string template_text(const task_template& one) {
    std::string made;
    for (const auto& [key, item] : template_json(one)) {
        const std::string name(key);
        if (name == "type") continue; // all are atomic
        made += name + ":";
        if (name == "inputs") {
            made += "\n";
            for (const tasks::task_input& input : one.inputs) {
                made += "  " + input.name + (input.optional ? " (optional)" : "");
                if (!input.description.empty())
                    made += ": " + utf8::printable_line(input.description);
                if (input.default_json)
                    made += ", else " + utf8::printable_line(*input.default_json);
                made += "\n";
            }
            continue;
        }
        const std::string text = shown(item);
        if (text.find('\n') == std::string::npos) {
            made += " " + utf8::printable_line(text) + "\n";
            continue;
        }
        made += "\n";
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            made += "  " + utf8::printable_line(text.substr(at, end - at)) + "\n";
            at = end + 1;
        }
    }
    return made;
}

} // namespace heddle::cli
