#include "tasks/template_files/template_draft.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/tasks/definition/task_fields.hpp>

#include "tasks/template_files/element_reading.hpp"
#include "tasks/template_files/task_element.hpp"

#include <algorithm>

namespace heddle::tasks {

namespace {

class file_reader {
public:
    explicit file_reader(std::vector<lang::problem>& problems)
        : problems_(problems), read_(problems) {}

    file_drafts run(const xml_element& root) {
        if (is_definition(root)) {
            read_definition(root);
        } else if (root.name == "tasks" || root.name == "templates") {
            read_.only_attributes(root, {});
            read_.no_text(root);
            for (const xml_element& child : root.children) {
                if (is_definition(child)) read_definition(child);
                else read_.unknown_element(child, root.name, {"task", "template", "call"});
            }
        } else {
            read_.report(
                "unknown-element", root.span, "<" + root.name + "> defines no task",
                "a file holds <task>, <template> or <call>, or several of them in <tasks>");
        }
        return std::move(drafts_);
    }

private:
    [[nodiscard]] static bool is_definition(const xml_element& element) noexcept {
        return element.name == "task" || element.name == "template" || element.name == "call";
    }

    void read_definition(const xml_element& element) {
        if (element.name == "call") return read_call(element);
        template_draft draft;
        draft.span = draft.name_span = element.span;
        if (element.name == "template") read_template(element, draft);
        else read_task_element(element, draft, problems_);
        drafts_.templates.push_back(std::move(draft));
    }

    /// A value that may be an attribute or a child element. Null when it is neither.
    struct named_value {
        std::string text;
        source_span place;
    };
    std::optional<named_value> value_of(const xml_element& element, std::string_view name) {
        std::optional<named_value> found;
        if (const xml_attribute* given = element.attribute(name)) {
            found = named_value{std::string(ascii::trim(given->text)), given->text_span};
        }
        for (const xml_element& child : element.children) {
            if (child.name != name) continue;
            if (found) {
                read_.report("repeated", child.span, std::string(name) + " is given twice");
                continue;
            }
            read_.only_attributes(child, {});
            read_.no_children(child);
            found =
                named_value{std::string(ascii::trim(child.text)), element_reading::place(child)};
        }
        return found;
    }

    void read_template(const xml_element& element, template_draft& draft) {
        draft.in_template = true;
        read_.only_attributes(element, {"name", "params", "returns"});
        read_.no_text(element);
        const auto name = value_of(element, "name");
        const auto params = value_of(element, "params");
        const auto returns = value_of(element, "returns");
        if (name && !name->text.empty()) {
            draft.declared.name = name->text;
            draft.name_span = name->place;
        } else {
            read_.report("missing", element.span, "<template> has no name");
        }
        if (params) read_params(params->text, params->place, draft);
        if (returns) {
            draft.declared.returns = returns->text;
            draft.parts["returns"] = returns->place;
            draft.declared.given.add(*find_clause({}, "returns"), returns->place);
        }
        const xml_element* body = nullptr;
        for (const xml_element& child : element.children) {
            if (child.name == "task" && !body) body = &child;
            else if (child.name == "task") {
                read_.report("repeated", child.span, "<template> holds a second <task>");
            } else if (child.name != "name" && child.name != "params" && child.name != "returns") {
                read_.unknown_element(child, "template", {"name", "params", "returns", "task"});
            }
        }
        if (!body) return read_.report("missing", element.span, "<template> holds no <task>");
        read_task_element(*body, draft, problems_);
        if (!params && !draft.declared.declares_inputs) {
            read_.report("missing", element.span, "<template> has no params",
                         "write params=\"\" for a template that takes none");
        }
    }

    void read_params(const std::string& text, source_span place, template_draft& draft) {
        draft.declared.declares_inputs = true;
        draft.parts["params"] = place;
        draft.declared.given.add(*find_clause({}, "params"), place);
        std::vector<std::string> names = comma_list(text);
        // heddle-check: allow cut-text (a list; too many: reported)
        names.resize(std::min(names.size(), template_limits::max_inputs + 1));
        for (std::string& name : names) {
            draft.inputs.try_emplace(name, place);
            task_input& input = draft.declared.inputs.emplace_back();
            input.name = std::move(name);
        }
    }

    void read_call(const xml_element& element) {
        read_.only_attributes(element, {"template", "name"});
        read_.no_text(element);
        call_draft draft;
        draft.span = draft.target_span = element.span;
        if (const auto target = value_of(element, "template"); target && !target->text.empty()) {
            draft.call.template_name = target->text;
            draft.target_span = target->place;
        } else {
            read_.report("missing", element.span, "<call> names no template",
                         "write <call template=\"NAME\">");
        }
        if (const xml_attribute* name = element.attribute("name")) {
            draft.call.name = std::string(ascii::trim(name->text));
            if (!is_input_name(draft.call.name)) {
                read_.report("bad-name", name->text_span,
                             "the name of a call must be an identifier, not '" +
                                 utf8::shortened(draft.call.name, 80) + "'");
            }
        }
        for (const xml_element& child : element.children) {
            if (child.name == "arg") read_argument(child, draft);
            else if (child.name != "template") {
                read_.unknown_element(child, "call", {"template", "arg"});
            }
        }
        drafts_.calls.push_back(std::move(draft));
    }

    /// name="…" of the element, or name=value in its text.
    void read_argument(const xml_element& child, call_draft& draft) {
        read_.only_attributes(child, {"name", "xml:space"});
        read_.no_children(child);
        template_argument argument;
        argument.text = text_block(child);
        if (const xml_attribute* name = child.attribute("name")) {
            argument.name = std::string(ascii::trim(name->text));
        } else if (const std::size_t equals = argument.text.find('=');
                   equals != std::string::npos) {
            const std::string_view text = argument.text;
            const std::string_view parameter = text.substr(0, equals);
            const std::string_view given = text.substr(equals + 1);
            // A sentence with = in it is a text.
            const bool quoted = given.starts_with('"') || given.starts_with('\'');
            const bool word = !given.empty() && given.find_first_of(" \t\n=") == given.npos;
            if (is_input_name(parameter) && (quoted || word)) {
                const std::string kept(given);
                argument.name = parameter;
                argument.text = kept;
            }
        }
        draft.arguments.push_back(element_reading::place(child));
        draft.call.arguments.push_back(std::move(argument));
    }

    std::vector<lang::problem>& problems_;
    element_reading read_;
    file_drafts drafts_;
};

} // namespace

source_span template_draft::place_of(std::string_view part, std::string_view item) const {
    if (part == "name") return name_span;
    if (part == "inputs" && !item.empty()) {
        if (const auto found = inputs.find(item); found != inputs.end()) return found->second;
    }
    if (!item.empty()) {
        const auto found = parts.find(std::string(part) + "/" + std::string(item));
        if (found != parts.end()) return found->second;
    }
    if (const auto found = parts.find(part); found != parts.end()) return found->second;
    return span;
}

file_drafts read_definitions(const xml_element& root, std::vector<lang::problem>& problems) {
    return file_reader(problems).run(root);
}

} // namespace heddle::tasks
