#include "tasks/template_files/task_element.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include "tasks/output/finite_json.hpp"
#include "tasks/template_files/field_element.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>

namespace heddle::tasks {

namespace {

constexpr std::array<std::string_view, 2> output_types{"text", "json"};
constexpr std::array<std::string_view, 4> file_sources{"literal", "command", "description",
                                                       "context_description"};

class task_reader {
public:
    task_reader(const xml_element& element, template_draft& draft,
                std::vector<lang::problem>& problems)
        : element_(element), draft_(draft), t_(draft.declared), read_(problems) {}

    void run() {
        t_.description.clear(); // "" until it is known that the file has none
        read_attributes();
        read_.no_text(element_);
        for (const xml_element& child : element_.children) read_child(child);
        if (!draft_.in_template && !draft_.parts.contains("description") && t_.ref.empty()) {
            read_.report("missing", element_.span, "<task> has no <description>",
                         "add one, or put the task into a <template>, whose name then serves");
        }
        check_returns();
    }

private:
    using reader = void (task_reader::*)(const xml_element&);
    struct special_row {
        std::string_view name;
        reader read;
    };
    static const std::array<special_row, 5> specials;

    void read_attributes() {
        read_.only_attributes(element_, {"type", "subtype", "ref", "name"});
        if (const xml_attribute* type = element_.attribute("type")) {
            t_.type = std::string(ascii::trim(type->text));
            draft_.parts["type"] = type->text_span;
        } else if (!draft_.in_template) {
            read_.report("missing", element_.span, "<task> has no type", "write type=\"atomic\"");
        }
        if (const xml_attribute* subtype = element_.attribute("subtype")) {
            t_.subtype = std::string(ascii::trim(subtype->text));
            note("subtype", subtype->text_span);
            draft_.parts["subtype"] = subtype->text_span;
        }
        if (const xml_attribute* ref = element_.attribute("ref")) {
            t_.ref = std::string(ascii::trim(ref->text));
            draft_.parts["ref"] = ref->text_span;
            if (t_.ref.empty()) read_.report("missing", ref->name_span, "ref names no template");
        }
        if (const xml_attribute* name = element_.attribute("name")) {
            if (draft_.in_template) {
                read_.report("unknown-attribute", name->name_span,
                             "the name belongs to the <template>, not to its <task>");
            } else {
                t_.name = std::string(ascii::trim(name->text));
                draft_.name_span = name->text_span;
            }
        }
    }

    void note(std::string_view clause, source_span span) {
        t_.given.add(*find_clause({}, clause), span);
    }

    void read_child(const xml_element& child) {
        const task_field* field = find_element({}, child.name);
        const lang::request_setting* setting =
            field ? nullptr : lang::find_request_setting(child.name);
        if (setting && lang::snake_name(*setting) != child.name) setting = nullptr;
        if (!field && !setting) return read_.unknown_setting(child, {});
        if (!draft_.parts.try_emplace(child.name, element_reading::place(child)).second) {
            return read_.report("repeated", child.span, "<" + child.name + "> is given twice");
        }
        if (setting) return read_request_setting(child, *setting);
        t_.given.add(*field, element_reading::place(child));
        const auto special =
            std::find_if(specials.begin(), specials.end(),
                         [&](const special_row& each) { return each.name == child.name; });
        if (special != specials.end()) return (this->*special->read)(child);
        if (field->member.shape == field_shape::group) return read_group(child, *field);
        read_plain(child, *field);
    }

    void read_plain(const xml_element& child, const task_field& field) {
        t_.given.add(field, element_reading::place(child));
        if (auto read = read_field_element(field, child, read_))
            store(field.member.of_template(t_), *std::move(read));
    }

    /// Elements, each at most once.
    void read_group(const xml_element& child, const task_field& group) {
        read_.only_attributes(child, {});
        read_.no_text(child);
        std::vector<const task_field*> seen;
        for (const xml_element& part : child.children) {
            const task_field* field = find_element(group.name, part.name);
            if (!field) {
                read_.unknown_setting(part, group.name);
                continue;
            }
            if (std::find(seen.begin(), seen.end(), field) != seen.end()) {
                read_.report("repeated", part.span, "<" + part.name + "> is given twice");
                continue;
            }
            seen.push_back(field);
            draft_.parts[child.name + "/" + part.name] = element_reading::place(part);
            read_plain(part, *field);
        }
        if (child.children.empty()) {
            read_.report("missing", child.span, "<" + child.name + "> is empty");
        }
    }

    void read_request_setting(const xml_element& child, const lang::request_setting& setting) {
        read_.only_attributes(child, {});
        const auto text = read_.text(child);
        if (!text) return;
        if (set_parameter_from_text(t_.parameters, setting, *text)) return;
        std::string expected = expected_in_text(setting);
        if (lang::fits(setting, *text)) expected += " whose numbers a float can hold";
        read_.unfit(child, expected, *text);
    }

    void read_output_format(const xml_element& child) {
        read_.only_attributes(child, {"type", "schema"});
        read_.no_children(child);
        const xml_attribute* type = child.attribute("type");
        if (!type) {
            read_.report("missing", child.span, "<output_format> has no type",
                         "write type=\"json\" or type=\"text\"");
        } else {
            const auto which =
                read_.choice("type", ascii::trim(type->text), type->text_span, output_types);
            t_.output.json = which == std::size_t{1};
        }
        const std::string_view inside = ascii::trim(child.text);
        const xml_attribute* schema = child.attribute("schema");
        if (schema && !inside.empty()) {
            return read_.report("repeated", child.inside, "the schema is given twice");
        }
        // With a type that is wrong, what the schema means is not known.
        if (!type || (!t_.output.json && ascii::trim(type->text) != "text")) return;
        if (schema) {
            t_.output.schema = std::string(ascii::trim(schema->text));
            draft_.parts["output_format"] = schema->text_span;
            if (t_.output.schema.empty()) {
                read_.report("missing", schema->name_span, "schema is empty");
            }
        } else {
            t_.output.schema = std::string(inside);
        }
    }

    void read_file_paths(const xml_element& child) {
        using kind = file_paths_source::kind;
        read_.only_attributes(child, {"source"});
        read_.no_text(child);
        file_paths_source file;
        if (const xml_attribute* source = child.attribute("source")) {
            const auto which =
                read_.choice("source", ascii::trim(source->text), source->text_span, file_sources);
            if (!which) return;
            file.from = static_cast<kind>(*which);
        }
        const std::string_view wanted = file.from == kind::literal       ? "path"
                                        : file.from == kind::command     ? "command"
                                        : file.from == kind::description ? "description"
                                                                         : "context_query";
        bool found = false;
        for (const xml_element& part : child.children) {
            if (part.name != wanted) {
                read_.report("unknown-element", part.span,
                             "<" + part.name + "> in <file_paths>, whose source is " +
                                 std::string(file_sources[static_cast<std::size_t>(file.from)]),
                             "write <" + std::string(wanted) + "> instead");
            } else if (found && file.from != kind::literal) {
                read_.report("repeated", part.span, "<" + part.name + "> is given twice");
            } else {
                read_.only_attributes(part, {});
                const std::string text = read_.text(part).value_or(std::string());
                if (file.from == kind::literal) file.paths.push_back(text);
                else {
                    file.text = text;
                    draft_.parts["file_paths"] = element_reading::place(part);
                }
            }
            found = found || part.name == wanted;
        }
        if (!found) {
            return read_.report("missing", child.span,
                                "<file_paths> holds no <" + std::string(wanted) + ">");
        }
        // What is empty was reported.
        const bool reported =
            file.from == kind::literal
                ? std::find(file.paths.begin(), file.paths.end(), "") != file.paths.end()
                : file.text.empty();
        if (!reported) t_.files = std::move(file);
    }

    void read_inputs(const xml_element& child) {
        read_.only_attributes(child, {});
        read_.no_text(child);
        const bool by_params = t_.declares_inputs;
        std::vector<std::string> seen;
        for (const xml_element& part : child.children) {
            if (part.name != "input") {
                read_.unknown_element(part, "inputs", {"input"});
                continue;
            }
            task_input input = read_input(part);
            const xml_attribute* named = part.attribute("name");
            const source_span place = named ? named->text_span : part.span;
            if (!named) continue;
            if (std::find(seen.begin(), seen.end(), input.name) != seen.end()) {
                read_.report("repeated", place, "the input '" + input.name + "' is given twice");
                continue;
            }
            seen.push_back(input.name);
            if (seen.size() > template_limits::max_inputs + 1) break; // reported with the rules
            draft_.inputs[input.name] = place;
            add_input(std::move(input), by_params, place);
        }
        if (child.children.empty()) {
            read_.report("missing", child.span, "<inputs> holds no <input>");
        }
        t_.declares_inputs = true;
    }

    /// With params the inputs only say more about them: a template sees nothing else.
    void add_input(task_input input, bool by_params, source_span place) {
        const auto declared =
            std::find_if(t_.inputs.begin(), t_.inputs.end(),
                         [&](const task_input& each) { return each.name == input.name; });
        if (!by_params) t_.inputs.push_back(std::move(input));
        else if (declared != t_.inputs.end()) *declared = std::move(input);
        else {
            read_.report("unknown-input", place,
                         "the input '" + input.name + "' is not one of the template's params",
                         "add it to params");
        }
    }

    task_input read_input(const xml_element& part) {
        read_.only_attributes(part, {"name", "from", "type", "optional", "default"});
        read_.no_children(part);
        task_input input;
        input.description = text_block(part);
        if (const xml_attribute* name = part.attribute("name")) {
            input.name = std::string(ascii::trim(name->text));
        } else {
            read_.report("missing", part.span, "<input> has no name");
        }
        if (const xml_attribute* from = part.attribute("from")) {
            input.from = std::string(ascii::trim(from->text));
        }
        if (const xml_attribute* type = part.attribute("type")) {
            input.type = std::string(ascii::trim(type->text));
        }
        if (const xml_attribute* optional = part.attribute("optional")) {
            input.optional =
                read_.boolean("optional", optional->text, optional->text_span).value_or(false);
        }
        if (const xml_attribute* given = part.attribute("default")) read_default(*given, input);
        return input;
    }

    void read_default(const xml_attribute& given, task_input& input) {
        const auto json = parse_finite_json(given.text);
        if (!json) {
            return read_.report(
                "bad-value", given.text_span,
                "the default of '" + input.name + "' is not JSON: " + json.error().message(),
                "write a string as default='\"text\"'");
        }
        input.default_json = boost::json::serialize(*json);
        input.optional = true;
    }

    void read_context_relevance(const xml_element& child) {
        read_.only_attributes(child, {});
        read_.no_text(child);
        for (const xml_element& part : child.children) {
            if (part.name != "input") {
                read_.unknown_element(part, "context_relevance", {"input"});
                continue;
            }
            read_.only_attributes(part, {"name", "include"});
            read_.no_children(part);
            read_.no_text(part);
            context_relevance_input input;
            const xml_attribute* name = part.attribute("name");
            const xml_attribute* include = part.attribute("include");
            if (!name || !include) {
                read_.report("missing", part.span,
                             std::string("<input> has no ") + (name ? "include" : "name"),
                             "write <input name=\"…\" include=\"true\"/>");
                continue;
            }
            input.name = std::string(ascii::trim(name->text));
            input.include =
                read_.boolean("include", include->text, include->text_span).value_or(true);
            draft_.parts["context_relevance/" + input.name] = name->text_span;
            t_.relevance.push_back(std::move(input));
        }
    }

    /// Names with commas, or <tool> elements.
    void read_tools(const xml_element& child) {
        read_.only_attributes(child, {});
        if (child.children.empty()) {
            t_.tools = comma_list(read_.text(child).value_or(std::string()));
            return;
        }
        read_.no_text(child);
        for (const xml_element& part : child.children) {
            if (part.name != "tool") {
                read_.unknown_element(part, "tools", {"tool"});
                continue;
            }
            read_.only_attributes(part, {});
            if (auto name = read_.text(part)) {
                draft_.parts["tools/" + *name] = element_reading::place(part);
                t_.tools.push_back(*std::move(name));
            }
        }
    }

    /// A text declared beside a type that no text is.
    void check_returns() {
        const auto output = draft_.parts.find("output_format");
        if (t_.returns.empty() || output == draft_.parts.end() || t_.output.json) return;
        if (t_.returns == "text" || t_.returns == "string") return;
        read_.report(
            "bad-value", draft_.parts.at("returns"),
            "returns is " + utf8::shortened(t_.returns, 80) + ", but output_format is text");
        t_.returns.clear();
    }

    const xml_element& element_;
    template_draft& draft_;
    task_template& t_;
    element_reading read_;
};

const std::array<task_reader::special_row, 5> task_reader::specials{{
    {"inputs", &task_reader::read_inputs},
    {"output_format", &task_reader::read_output_format},
    {"file_paths", &task_reader::read_file_paths},
    {"context_relevance", &task_reader::read_context_relevance},
    {"tools", &task_reader::read_tools},
}};

} // namespace

void read_task_element(const xml_element& element, template_draft& draft,
                       std::vector<lang::problem>& problems) {
    task_reader(element, draft, problems).run();
}

} // namespace heddle::tasks
