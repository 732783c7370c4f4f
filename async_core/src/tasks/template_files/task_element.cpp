#include "tasks/template_files/task_element.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include "tasks/template_files/element_reading.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>

namespace heddle::tasks {

namespace {

constexpr double longest_timeout = 1e8; ///< seconds

class task_reader {
public:
    task_reader(const xml_element& element, template_draft& draft,
                std::vector<lang::problem>& problems)
        : element_(element), draft_(draft), t_(draft.made), read_(problems) {}

    void run() {
        t_.description.clear(); // "" until it is known that the file gives none
        read_attributes();
        read_.no_text(element_);
        for (const xml_element& child : element_.children) read_child(child);
        if (!draft_.in_template && !draft_.parts.contains("description") && t_.ref.empty()) {
            read_.tell("missing", element_.span, "<task> has no <description>",
                       "add one, or put the task into a <template>, whose name then serves");
        }
        check_returns();
    }

private:
    using reader = void (task_reader::*)(const xml_element&);
    struct row {
        std::string_view name;
        reader read;
    };
    static const std::array<row, 23> rows;

    void read_attributes() {
        read_.only_attributes(element_, {"type", "subtype", "ref", "name"});
        if (const xml_attribute* type = element_.attribute("type")) {
            t_.type = std::string(ascii::trim(type->text));
            draft_.parts["type"] = type->text_span;
        } else if (!draft_.in_template) {
            read_.tell("missing", element_.span, "<task> has no type", "write type=\"atomic\"");
        }
        if (const xml_attribute* subtype = element_.attribute("subtype")) {
            t_.subtype = std::string(ascii::trim(subtype->text));
            draft_.has_subtype = true;
            draft_.parts["subtype"] = subtype->text_span;
        }
        if (const xml_attribute* ref = element_.attribute("ref")) {
            t_.ref = std::string(ascii::trim(ref->text));
            draft_.parts["ref"] = ref->text_span;
            if (t_.ref.empty()) read_.tell("missing", ref->name_span, "ref names no template");
        }
        if (const xml_attribute* name = element_.attribute("name")) {
            if (draft_.in_template) {
                read_.tell("unknown-attribute", name->name_span,
                           "the name stands at the <template>, not at its <task>");
            } else {
                t_.name = std::string(ascii::trim(name->text));
                draft_.name_span = name->text_span;
            }
        }
    }

    void read_child(const xml_element& child) {
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [&](const row& each) { return each.name == child.name; });
        const lang::request_setting* setting =
            found == rows.end() ? lang::find_request_setting(child.name) : nullptr;
        if (setting && lang::snake_name(*setting) != child.name) setting = nullptr;
        if (found == rows.end() && !setting) {
            std::vector<std::string> names;
            for (const row& each : rows) names.emplace_back(each.name);
            for (const auto& each : lang::request_settings())
                names.push_back(lang::snake_name(each));
            return read_.unknown_element(child, "task", names);
        }
        if (!draft_.parts.try_emplace(child.name, element_reading::place(child)).second) {
            return read_.tell("repeated", child.span, "<" + child.name + "> is given twice");
        }
        if (setting) return read_request_setting(child, *setting);
        (this->*found->read)(child);
    }

    void read_request_setting(const xml_element& child, const lang::request_setting& setting) {
        read_.only_attributes(child, {});
        const auto text = read_.text(child);
        if (!text) return;
        if (set_parameter_from_text(t_.parameters, setting, *text)) return;
        read_.tell("bad-value", element_reading::place(child),
                   "<" + child.name + "> must be " + std::string(setting.expected));
    }

    // Texts.

    void block(const xml_element& child, std::string& into, source_span* place = nullptr) {
        read_.only_attributes(child, {"xml:space"});
        read_.no_children(child);
        into = text_block(child);
        if (into.empty()) {
            read_.tell("missing", child.span, "<" + child.name + "> is empty");
        }
        if (place) *place = element_reading::place(child);
    }
    void word(const xml_element& child, std::string& into) {
        read_.only_attributes(child, {});
        into = read_.text(child).value_or(std::string());
    }
    void read_description(const xml_element& child) { block(child, t_.description); }
    void read_instructions(const xml_element& child) {
        block(child, t_.instructions, &t_.instructions_span);
    }
    void read_system(const xml_element& child) { block(child, t_.system, &t_.system_span); }
    void read_criteria(const xml_element& child) { block(child, t_.criteria); }
    void read_model(const xml_element& child) { word(child, t_.model); }
    void read_provider(const xml_element& child) { word(child, t_.provider); }
    void read_output_slot(const xml_element& child) { word(child, t_.output_slot); }
    void read_input_source(const xml_element& child) { word(child, t_.input_source); }

    // Flags and numbers; their ranges are checked with the rules of all templates.

    void read_manual_xml(const xml_element& child) {
        t_.manual_xml = read_.boolean(child).value_or(false);
    }
    void read_disable_reparsing(const xml_element& child) {
        t_.disable_reparsing = read_.boolean(child).value_or(false);
    }
    void read_temperature(const xml_element& child) { t_.temperature = read_.number(child); }
    void read_max_tokens(const xml_element& child) { t_.max_tokens = read_.whole(child); }
    void read_retries(const xml_element& child) {
        const auto given = read_.whole(child);
        if (!given) return;
        constexpr std::int64_t most = template_limits::max_retries;
        if (*given < 0 || *given > most) {
            return read_.tell("bad-value", element_reading::place(child),
                              "<retries> must be from 0 to " + std::to_string(most));
        }
        t_.retries = static_cast<std::uint32_t>(*given);
    }
    void read_timeout(const xml_element& child) {
        const auto seconds = read_.number(child);
        if (!seconds) return;
        if (!(*seconds > 0) || *seconds > longest_timeout) {
            return read_.tell("bad-value", element_reading::place(child),
                              "<timeout> must be a number of seconds above 0");
        }
        t_.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(*seconds));
    }

    // The rest.

    void read_output_format(const xml_element& child) {
        read_.only_attributes(child, {"type", "schema"});
        read_.no_children(child);
        t_.output_span = child.span;
        const xml_attribute* type = child.attribute("type");
        if (!type) {
            read_.tell("missing", child.span, "<output_format> has no type",
                       "write type=\"json\" or type=\"text\"");
        } else {
            const auto which =
                read_.choice("type", ascii::trim(type->text), type->text_span, {"text", "json"});
            t_.output.json = which == std::size_t{1};
        }
        const std::string_view inside = ascii::trim(child.text);
        const xml_attribute* schema = child.attribute("schema");
        if (schema && !inside.empty()) {
            return read_.tell("repeated", child.inside, "the schema is given twice");
        }
        // With a type that is wrong, what the schema means is not known.
        if (!type || (!t_.output.json && ascii::trim(type->text) != "text")) return;
        if (schema) {
            t_.output.schema = std::string(ascii::trim(schema->text));
            draft_.parts["output_format"] = schema->text_span;
            if (t_.output.schema.empty()) {
                read_.tell("missing", schema->name_span, "schema is empty");
            }
        } else {
            t_.output.schema = std::string(inside);
        }
    }

    /// A group of elements, each at most once.
    template <class Read>
    void group(const xml_element& child, std::vector<std::string> known, Read&& read_part) {
        read_.only_attributes(child, {});
        read_.no_text(child);
        std::vector<std::string_view> seen;
        for (const xml_element& part : child.children) {
            if (std::find(known.begin(), known.end(), part.name) == known.end()) {
                read_.unknown_element(part, child.name, known);
                continue;
            }
            if (std::find(seen.begin(), seen.end(), part.name) != seen.end()) {
                read_.tell("repeated", part.span, "<" + part.name + "> is given twice");
                continue;
            }
            seen.push_back(part.name);
            draft_.parts[child.name + "/" + part.name] = element_reading::place(part);
            read_part(part);
        }
        if (child.children.empty()) {
            read_.tell("missing", child.span, "<" + child.name + "> is empty");
        }
    }

    void read_context_management(const xml_element& child) {
        context_management& made = t_.context;
        group(child, {"inherit_context", "accumulate_data", "accumulation_format", "fresh_context"},
              [&](const xml_element& part) {
                  if (part.name == "inherit_context") {
                      const auto which = read_.choice(part, {"full", "subset", "none"});
                      if (which) made.inherit_context = static_cast<inherit_mode>(*which);
                  } else if (part.name == "accumulate_data") {
                      made.accumulate_data = read_.boolean(part);
                  } else if (part.name == "accumulation_format") {
                      const auto which = read_.choice(part, {"notes_only", "full_output"});
                      if (which) made.accumulation_format = static_cast<accumulation>(*which);
                  } else if (const auto which = read_.choice(part, {"disabled", "enabled"})) {
                      made.fresh_context = *which == 1;
                  }
              });
    }

    void read_history_config(const xml_element& child) {
        history_config& made = t_.history;
        group(child,
              {"use_session_history", "history_turns_to_include", "record_in_session_history"},
              [&](const xml_element& part) {
                  if (part.name == "use_session_history") {
                      made.use_session_history = read_.boolean(part);
                  } else if (part.name == "record_in_session_history") {
                      made.record_in_session_history = read_.boolean(part);
                  } else made.history_turns_to_include = read_.whole(part);
              });
    }

    void read_resource_limits(const xml_element& child) {
        resource_limits& made = t_.limits;
        group(child, {"max_turns", "max_context", "max_output", "max_tokens_total", "max_cost_usd"},
              [&](const xml_element& part) {
                  if (part.name == "max_turns") made.max_turns = read_.whole(part);
                  else if (part.name == "max_context") made.max_context = read_.number(part);
                  else if (part.name == "max_output") made.max_output = read_.whole(part);
                  else if (part.name == "max_cost_usd") made.max_cost_usd = read_.number(part);
                  else made.max_tokens_total = read_.whole(part);
              });
    }

    void read_context_assembly(const xml_element& child) {
        context_assembly& made = t_.assembly;
        group(child, {"primary_elements", "secondary_elements", "excluded_elements"},
              [&](const xml_element& part) {
                  read_.only_attributes(part, {});
                  std::vector<std::string> names = comma_list(read_.text(part).value_or(""));
                  if (std::find(names.begin(), names.end(), "") != names.end()) {
                      read_.tell("bad-value", element_reading::place(part),
                                 "<" + part.name + "> has an empty name between its commas");
                  }
                  (part.name == "primary_elements"     ? made.primary
                   : part.name == "secondary_elements" ? made.secondary
                                                       : made.excluded) = std::move(names);
              });
    }

    void read_file_paths(const xml_element& child) {
        using kind = file_paths_source::kind;
        read_.only_attributes(child, {"source"});
        read_.no_text(child);
        file_paths_source made;
        if (const xml_attribute* source = child.attribute("source")) {
            const auto which =
                read_.choice("source", ascii::trim(source->text), source->text_span,
                             {"literal", "command", "description", "context_description"});
            if (!which) return;
            made.from = static_cast<kind>(*which);
        }
        const std::string_view wanted = made.from == kind::literal       ? "path"
                                        : made.from == kind::command     ? "command"
                                        : made.from == kind::description ? "description"
                                                                         : "context_query";
        bool found = false;
        for (const xml_element& part : child.children) {
            if (part.name != wanted) {
                read_.tell("unknown-element", part.span,
                           "<" + part.name + "> in <file_paths>, whose source is " +
                               std::string(source_name(made.from)),
                           "it holds <" + std::string(wanted) + ">");
            } else if (found && made.from != kind::literal) {
                read_.tell("repeated", part.span, "<" + part.name + "> is given twice");
            } else {
                read_.only_attributes(part, {});
                const std::string text = read_.text(part).value_or(std::string());
                if (made.from == kind::literal) made.paths.push_back(text);
                else {
                    made.text = text;
                    draft_.parts["file_paths"] = element_reading::place(part);
                }
            }
            found = found || part.name == wanted;
        }
        if (!found) {
            return read_.tell("missing", child.span,
                              "<file_paths> holds no <" + std::string(wanted) + ">");
        }
        // What is empty was told.
        const bool told =
            made.from == kind::literal
                ? std::find(made.paths.begin(), made.paths.end(), "") != made.paths.end()
                : made.text.empty();
        if (!told) t_.files = std::move(made);
    }

    [[nodiscard]] static std::string_view source_name(file_paths_source::kind from) noexcept {
        switch (from) {
        case file_paths_source::kind::literal: return "literal";
        case file_paths_source::kind::command: return "command";
        case file_paths_source::kind::description: return "description";
        case file_paths_source::kind::context_description: return "context_description";
        }
        return {};
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
            task_input made = read_input(part);
            const xml_attribute* named = part.attribute("name");
            const source_span place = named ? named->text_span : part.span;
            if (!named) continue;
            if (std::find(seen.begin(), seen.end(), made.name) != seen.end()) {
                read_.tell("repeated", place, "the input '" + made.name + "' is given twice");
                continue;
            }
            seen.push_back(made.name);
            if (seen.size() > template_limits::max_inputs + 1) break; // told with the rules
            draft_.inputs[made.name] = place;
            add_input(std::move(made), by_params, place);
        }
        if (child.children.empty()) {
            read_.tell("missing", child.span, "<inputs> holds no <input>");
        }
        t_.declares_inputs = true;
    }

    /// With params the inputs only say more about them: a template sees nothing else.
    void add_input(task_input made, bool by_params, source_span place) {
        const auto declared =
            std::find_if(t_.inputs.begin(), t_.inputs.end(),
                         [&](const task_input& each) { return each.name == made.name; });
        if (!by_params) t_.inputs.push_back(std::move(made));
        else if (declared != t_.inputs.end()) *declared = std::move(made);
        else {
            read_.tell("unknown-input", place,
                       "the input '" + made.name + "' is not one of the template's params",
                       "add it to params");
        }
    }

    task_input read_input(const xml_element& part) {
        read_.only_attributes(part, {"name", "from", "type", "optional", "default"});
        read_.no_children(part);
        task_input made;
        made.description = text_block(part);
        if (const xml_attribute* name = part.attribute("name")) {
            made.name = std::string(ascii::trim(name->text));
        } else {
            read_.tell("missing", part.span, "<input> has no name");
        }
        if (const xml_attribute* from = part.attribute("from")) {
            made.from = std::string(ascii::trim(from->text));
        }
        if (const xml_attribute* type = part.attribute("type")) {
            made.type = std::string(ascii::trim(type->text));
        }
        if (const xml_attribute* optional = part.attribute("optional")) {
            made.optional =
                read_.boolean("optional", optional->text, optional->text_span).value_or(false);
        }
        if (const xml_attribute* given = part.attribute("default")) read_default(*given, made);
        return made;
    }

    void read_default(const xml_attribute& given, task_input& made) {
        boost::system::error_code unreadable;
        const auto json = boost::json::parse(given.text, unreadable);
        if (unreadable) {
            return read_.tell(
                "bad-value", given.text_span,
                "the default of '" + made.name + "' is no JSON: " + unreadable.message(),
                "a text is written default='\"text\"'");
        }
        made.default_json = boost::json::serialize(json);
        made.optional = true;
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
            context_relevance_input made;
            const xml_attribute* name = part.attribute("name");
            const xml_attribute* include = part.attribute("include");
            if (!name || !include) {
                read_.tell("missing", part.span,
                           std::string("<input> has no ") + (name ? "include" : "name"),
                           "write <input name=\"…\" include=\"true\"/>");
                continue;
            }
            made.name = std::string(ascii::trim(name->text));
            made.include =
                read_.boolean("include", include->text, include->text_span).value_or(true);
            draft_.parts["context_relevance/" + made.name] = name->text_span;
            t_.relevance.push_back(std::move(made));
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
        read_.tell(
            "bad-value", draft_.parts.at("returns"),
            "returns says " + utf8::shortened(t_.returns, 80) + ", but the output_format text");
        t_.returns.clear();
    }

    const xml_element& element_;
    template_draft& draft_;
    task_template& t_;
    element_reading read_;
};

const std::array<task_reader::row, 23> task_reader::rows{{
    {"description", &task_reader::read_description},
    {"provider", &task_reader::read_provider},
    {"model", &task_reader::read_model},
    {"instructions", &task_reader::read_instructions},
    {"system", &task_reader::read_system},
    {"output_slot", &task_reader::read_output_slot},
    {"input_source", &task_reader::read_input_source},
    {"output_format", &task_reader::read_output_format},
    {"context_management", &task_reader::read_context_management},
    {"file_paths", &task_reader::read_file_paths},
    {"inputs", &task_reader::read_inputs},
    {"context_relevance", &task_reader::read_context_relevance},
    {"context_assembly", &task_reader::read_context_assembly},
    {"manual_xml", &task_reader::read_manual_xml},
    {"disable_reparsing", &task_reader::read_disable_reparsing},
    {"criteria", &task_reader::read_criteria},
    {"temperature", &task_reader::read_temperature},
    {"max_tokens", &task_reader::read_max_tokens},
    {"timeout", &task_reader::read_timeout},
    {"retries", &task_reader::read_retries},
    {"history_config", &task_reader::read_history_config},
    {"tools", &task_reader::read_tools},
    {"resource_limits", &task_reader::read_resource_limits},
}};

} // namespace

void read_task_element(const xml_element& element, template_draft& draft,
                       std::vector<lang::problem>& problems) {
    task_reader(element, draft, problems).run();
}

} // namespace heddle::tasks
