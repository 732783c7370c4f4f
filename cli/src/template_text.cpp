#include "template_text.hpp"

#include "json_or_text.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/definition/field_values.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using tasks::task_template;

[[nodiscard]] json::array texts(const std::vector<std::string>& all) {
    return json::array(all.begin(), all.end());
}

void put(json::object& into, std::string_view name, const std::string& text) {
    if (!text.empty()) into[name] = text;
}
void put(json::object& into, std::string_view name, json::object part) {
    if (!part.empty()) into[name] = std::move(part);
}

[[nodiscard]] json::array inputs_of(const task_template& one) {
    json::array list;
    for (const tasks::task_input& input : one.inputs) {
        json::object each{{"name", input.name}};
        put(each, "type", input.type);
        put(each, "from", input.from);
        put(each, "description", input.description);
        if (input.optional) each["optional"] = true;
        if (input.default_json) each["default"] = json_or_text(*input.default_json);
        list.push_back(std::move(each));
    }
    return list;
}

[[nodiscard]] json::object files_of(const task_template& one) {
    json::object members;
    if (!one.files) return members;
    switch (one.files->from) {
    case tasks::file_paths_source::kind::literal: members["path"] = texts(one.files->paths); break;
    case tasks::file_paths_source::kind::command: members["command"] = one.files->text; break;
    case tasks::file_paths_source::kind::description:
        members["description"] = one.files->text;
        break;
    case tasks::file_paths_source::kind::context_description:
        members["context_query"] = one.files->text;
        break;
    }
    return members;
}

[[nodiscard]] json::object format_of(const task_template& one) {
    json::object members;
    if (!one.output.json) return members;
    members["type"] = "json";
    if (!one.output.schema.empty()) members["schema"] = json_or_text(one.output.schema);
    return members;
}

[[nodiscard]] json::object relevance_of(const task_template& one) {
    json::object members;
    for (const auto& input : one.relevance) members[input.name] = input.include;
    return members;
}

void put_special(json::object& into, std::string_view name, const task_template& one) {
    if (name == "inputs" && one.declares_inputs) into[name] = inputs_of(one);
    else if (name == "output_format") put(into, name, format_of(one));
    else if (name == "file_paths") put(into, name, files_of(one));
    else if (name == "context_relevance") put(into, name, relevance_of(one));
}

void put_parameters(json::object& into, const task_template& one) {
    const json::value parameters = json_or_text(tasks::parameters_json(one.parameters));
    const json::object* const members = parameters.if_object();
    if (!members) return;
    for (const auto& [name, item] : *members) into[name] = item;
}

[[nodiscard]] json::value json_of(const tasks::task_field& field, const tasks::field_value& given) {
    const auto make = [&](const auto& content) -> json::value {
        using type = std::remove_cvref_t<decltype(content)>;
        if constexpr (std::is_same_v<type, tasks::field_word>) {
            return json::string(field.words[content.index]);
        } else if constexpr (std::is_same_v<type, std::vector<std::string>>) {
            return texts(content);
        } else if constexpr (std::is_same_v<type, std::string>) {
            return json::string(content);
        } else {
            return content;
        }
    };
    return std::visit(make, given);
}

void put_field(json::object& into, const tasks::task_field& field, const task_template& one) {
    if (field.member.shape == tasks::field_shape::requests) return put_parameters(into, one);
    if (field.member.shape == tasks::field_shape::special) {
        return put_special(into, field.name, one);
    }
    const auto given = tasks::value_of(field, one);
    if (!given) return;
    if (field.group.empty()) {
        into[field.name] = json_of(field, *given);
        return;
    }
    json::value& group = into[field.group];
    if (!group.is_object()) group = json::object();
    group.get_object()[field.name] = json_of(field, *given);
}

[[nodiscard]] std::string shown(const json::value& item) {
    return item.is_string() ? std::string(item.get_string()) : setup::json_text(item);
}

} // namespace

json::object template_json(const task_template& one) {
    json::object members{{"name", one.name}, {"type", one.type}, {"subtype", one.subtype}};
    put(members, "file", one.source);
    // What is sent comes last: it can be long.
    const auto is_prompt = [](const tasks::task_field& field) {
        return field.name == "instructions" || field.name == "system";
    };
    for (const bool prompts : {false, true}) {
        for (const tasks::task_field& field : tasks::task_fields()) {
            if (is_prompt(field) == prompts) put_field(members, field, one);
        }
    }
    return members;
}

std::string template_text(const task_template& one) {
    std::string out;
    for (const auto& [key, item] : template_json(one)) {
        const std::string name(key);
        if (name == "type") continue; // all are atomic
        out += name + ":";
        if (name == "inputs") {
            out += "\n";
            for (const tasks::task_input& input : one.inputs) {
                out += "  " + input.name + (input.optional ? " (optional)" : "");
                if (!input.description.empty())
                    out += ": " + utf8::printable_line(input.description);
                if (input.default_json)
                    out += ", else " + utf8::printable_line(*input.default_json);
                out += "\n";
            }
            continue;
        }
        const std::string text = shown(item);
        if (text.find('\n') == std::string::npos) {
            out += " " + utf8::printable_line(text) + "\n";
            continue;
        }
        out += "\n";
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            out += "  " + utf8::printable_line(text.substr(at, end - at)) + "\n";
            at = end + 1;
        }
    }
    return out;
}

} // namespace heddle::cli
