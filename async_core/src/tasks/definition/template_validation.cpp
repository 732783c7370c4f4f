#include <heddle/tasks/definition/template_validation.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/definition/effective_context.hpp>
#include <heddle/tasks/definition/field_values.hpp>
#include <heddle/tasks/output/output_schema.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include "tasks/definition/command_place.hpp"
#include "tasks/definition/schema_requirements.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace heddle::tasks {

namespace {

using std::string_view;

constexpr std::size_t max_name_length = 200;
constexpr std::size_t max_reported = 50; ///< unknown placeholders of one text
constexpr std::size_t max_listed = 1000; ///< tools, relevances
constexpr std::size_t max_paths = 10'000;

/// Result types a template may declare, as output_format has them.
constexpr std::array<string_view, 9> result_types{"text",     "string",   "object", "array",  "[]",
                                                  "string[]", "number[]", "number", "boolean"};

[[nodiscard]] bool has_blank(string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point point = utf8::decode(text, at);
        if (utf8::is_control(point.value) || utf8::is_space(point.value)) return true;
        at += point.bytes;
    }
    return false;
}

class validator {
public:
    validator(const task_template& declared, const validation_options& options)
        : t_(declared), options_(options) {}

    std::vector<template_violation> run() {
        check_names();
        check_inputs();
        check_texts();
        if (t_.files && t_.files->from != file_paths_source::kind::literal &&
            t_.files->from != file_paths_source::kind::command) {
            check_text("file_paths", t_.files->text);
        }
        check_command();
        check_output();
        check_model();
        check_ranges();
        check_context();
        check_lists();
        return std::move(found_);
    }

private:
    void report(string_view code, std::string part, std::string item, std::string message,
                std::string hint = {}) {
        found_.push_back({lang::severity::error,
                          code,
                          std::move(part),
                          std::move(item),
                          std::move(message),
                          std::move(hint),
                          {}});
    }

    void check_names() {
        if (!is_task_name(t_.name)) {
            report(
                "bad-name", "name", {},
                t_.name.empty() ? "there is none"
                                : "'" + utf8::shortened(t_.name, 80) + "' cannot be called",
                "a name is written without blanks, brackets, quotes, ; and , and is not a number");
        }
        if (t_.type != "atomic") {
            report("bad-value", "type", {}, "must be \"atomic\", not \"" + t_.type + "\"",
                   "steps are composed in the language, not in templates");
        }
        if (t_.subtype.empty() || has_blank(t_.subtype) || t_.subtype.size() > max_name_length) {
            report("bad-name", "subtype", {}, "must be one word");
        }
        if (!t_.ref.empty() && t_.ref == t_.name) {
            report("bad-ref", "ref", {}, "refers to the task itself");
        }
    }

    void check_inputs() {
        if (t_.inputs.size() > template_limits::max_inputs) {
            return report("too-large", "inputs", {}, "are too many");
        }
        for (const task_input& input : t_.inputs) {
            if (std::find(names_.begin(), names_.end(), input.name) != names_.end()) {
                report("repeated", "inputs", input.name, "contain '" + input.name + "' twice");
                continue;
            }
            if (!is_input_name(input.name)) {
                report(
                    "bad-name", "inputs", input.name,
                    "contain '" + utf8::shortened(input.name, 80) + "', which is not an identifier",
                    "begin with a letter or _, and use letters, digits, _ and -");
            }
            names_.push_back(input.name);
        }
        for (const task_input& input : t_.inputs) {
            if (input.from.empty()) continue;
            const bool taken =
                std::find(names_.begin(), names_.end(), input.from) != names_.end() &&
                input.from != input.name;
            if (taken || !is_input_name(input.from)) {
                report("bad-name", "inputs", input.name,
                       "take '" + input.name + "' from '" + utf8::shortened(input.from, 80) +
                           "', which is " + (taken ? "an input of its own" : "not an identifier"));
            }
        }
    }

    /// Placeholders: reports each that is not an input, and the first that cannot be read.
    void check_text(const std::string& part, const std::string& text) {
        if (text.size() > template_limits::max_text)
            return report("too-large", part, {}, "is too long");
        const auto code = prompt_template::compile(text, nullptr);
        if (!code) {
            return report("bad-placeholder", part, {}, code.error().message(),
                          code.error().info().hint);
        }
        if (!t_.declares_inputs && t_.inputs.empty()) return;
        std::size_t reported = 0;
        for (const std::string& name : code->names()) {
            if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
            if (++reported > max_reported) {
                return report("unknown-placeholder", part, {},
                              "more placeholders are not declared inputs");
            }
            std::string hint = lang::suggest_names(name, names_);
            if (hint.empty()) {
                hint = names_.empty() ? "it declares none; \\{{ writes the braces themselves"
                                      : "declare it, or write \\{{ for the braces themselves";
            }
            report("unknown-placeholder", part, name,
                   "{{" + name + "}}: '" + name + "' is not one of the declared inputs",
                   std::move(hint));
        }
    }

    void check_texts() {
        for (const task_field& field : task_fields()) {
            const auto text = field.placeholders ? value_of(field, t_) : std::nullopt;
            if (text) check_text(std::string(field.name), std::get<std::string>(*text));
        }
    }

    /// An input may come from a model: it never becomes a part of a command.
    void check_command() {
        if (!t_.files || t_.files->from != file_paths_source::kind::command) return;
        const auto place = place_in_command(t_.files->text);
        if (!place) return;
        report("placeholder-in-command", "file_paths", std::string(*place),
               std::string(*place) + " in a command is not replaced",
               "compute the paths in the workflow and give (files paths)");
        found_.back().level = lang::severity::warning;
    }

    void check_output() {
        if (!t_.output.json && !t_.output.schema.empty()) {
            report("bad-value", "output_format", {}, "has a schema, so its type must be \"json\"");
        }
        schema_place wrong;
        const auto schema = options_.schema_is_read
                                ? result<output_schema>(output_schema())
                                : output_schema::compile(t_.output.schema, &wrong);
        if (!schema) {
            report("bad-schema", "output_format", {}, schema.error().message(),
                   schema.error().info().hint);
            found_.back().inside = std::move(wrong);
        } else if (!options_.schema_is_read) {
            check_requirements();
        }
        if (t_.returns.empty()) return;
        if (!is_result_type(t_.returns)) {
            report("bad-value", "returns", {},
                   "has the unknown type '" + utf8::shortened(t_.returns, 80) + "'",
                   "types: text, string, object, array, [], string[], number[], number, boolean");
        } else if (t_.output.json && is_basic(t_.output.schema) &&
                   !same_type(t_.returns, t_.output.schema)) {
            report("bad-value", "returns", {},
                   "is " + t_.returns + ", but output_format is " + t_.output.schema);
        }
    }
    /// The model must write such a member, of which it knows only the name.
    void check_requirements() {
        for (const undescribed_name& each : undescribed_names(t_.output.schema)) {
            std::string hint = lang::suggest_names(each.name, each.properties);
            if (hint.empty()) hint = "add it to properties, or remove it from required";
            report("undescribed-property", "output_format", each.name,
                   "requires '" + utf8::shortened(each.name, 80) +
                       "', which is not in the properties of its schema",
                   std::move(hint));
            found_.back().level = lang::severity::warning;
            found_.back().inside.pointer = each.pointer;
        }
    }
    [[nodiscard]] static bool is_basic(const std::string& schema) {
        return std::find(result_types.begin() + 1, result_types.end(), schema) !=
               result_types.end();
    }
    [[nodiscard]] static bool same_type(string_view left, string_view right) noexcept {
        const auto plain = [](string_view name) {
            return name == "[]"     ? string_view("array")
                   : name == "text" ? string_view("string")
                                    : name;
        };
        return plain(left) == plain(right) ||
               (plain(left) == "array" && plain(right).ends_with("[]"));
    }

    void check_model() {
        for (const auto& [part, text] :
             {std::pair<const char*, const std::string&>{"model", t_.model},
              {"provider", t_.provider}}) {
            if (has_blank(text) || text.size() > max_name_length) {
                return report("bad-value", part, {}, "must be an identifier without white space");
            }
        }
        if (!options_.model_problem || (t_.model.empty() && t_.provider.empty())) return;
        std::string why = options_.model_problem(t_.model, t_.provider);
        if (why.empty()) return;
        report("unknown-model", t_.model.empty() ? "provider" : "model", {},
               "cannot be asked: " + std::move(why));
        if (!options_.strict_models) found_.back().level = lang::severity::warning;
    }

    void check_ranges() {
        for (const task_field& field : task_fields()) {
            const auto given = has_range(field) ? value_of(field, t_) : std::nullopt;
            if (!given || is_in_range(field, *given)) continue;
            const bool alone = field.group.empty();
            const std::string name(field.name);
            report("bad-value", alone ? name : std::string(field.group),
                   alone ? std::string() : name,
                   (alone ? "" : name + " ") + "must be " + expected_of(field));
        }
    }

    void check_context() {
        const auto fits = check_context_layer(t_.subtype, t_.context);
        if (fits) return;
        report("context-conflict", "context_management", {}, fits.error().message(),
               fits.error().info().hint);
    }

    void check_lists() {
        if (t_.files) {
            const bool literal = t_.files->from == file_paths_source::kind::literal;
            const auto& paths = t_.files->paths;
            const bool empty =
                literal ? paths.empty() || std::find(paths.begin(), paths.end(), "") != paths.end()
                        : t_.files->text.empty();
            if (empty) report("bad-value", "file_paths", {}, "has an empty path, query or command");
            if (paths.size() > max_paths) report("too-large", "file_paths", {}, "are too many");
        }
        if (t_.tools.size() > max_listed) report("too-large", "tools", {}, "are too many");
        for (std::size_t i = 0; i < t_.tools.size() && i < max_listed; ++i) {
            const std::string& tool = t_.tools[i];
            if (!is_task_name(tool)) {
                report("bad-name", "tools", tool,
                       "contain '" + utf8::shortened(tool, 80) + "', which is not a tool name");
            } else if (std::find(t_.tools.begin(),
                                 t_.tools.begin() + static_cast<std::ptrdiff_t>(i),
                                 tool) != t_.tools.begin() + static_cast<std::ptrdiff_t>(i)) {
                report("repeated", "tools", tool, "contain '" + tool + "' twice");
            }
        }
        std::vector<string_view> reported;
        for (const context_relevance_input& input : t_.relevance) {
            if (std::find(reported.begin(), reported.end(), input.name) != reported.end()) {
                report("repeated", "context_relevance", input.name,
                       "names '" + input.name + "' twice");
            } else if (!names_.empty() &&
                       std::find(names_.begin(), names_.end(), input.name) == names_.end()) {
                report("unknown-input", "context_relevance", input.name,
                       "names '" + input.name + "', which is not one of the declared inputs",
                       lang::suggest_names(input.name, names_));
            }
            if (reported.size() < max_listed) reported.push_back(input.name);
        }
    }

    const task_template& t_;
    const validation_options& options_;
    std::vector<std::string> names_; ///< of the inputs
    std::vector<template_violation> found_;
};

} // namespace

std::vector<template_violation> validate_template(const task_template& declared,
                                                  const validation_options& options) {
    return validator(declared, options).run();
}

std::string violation_text(const template_violation& violation) {
    const bool own = violation.code == "bad-placeholder" || violation.code == "bad-schema" ||
                     violation.code == "unknown-placeholder" ||
                     violation.code == "context-conflict" ||
                     violation.code == "placeholder-in-command" || violation.part == "name";
    return violation.part + (own ? ": " : " ") + violation.message;
}

error violation_error(const task_template& declared, const template_violation& violation) {
    source_span where = declared.span;
    for (const task_field& field : task_fields()) { // the fields of a group follow it
        const bool meant = field.group.empty()
                               ? field.name == violation.part
                               : field.group == violation.part && field.name == violation.item;
        const source_span place = meant ? declared.given.span_of(field) : source_span();
        if (place.known()) where = place;
    }
    error failure(lang::errc::evaluation,
                  "task " + declared.name + ": " + violation_text(violation));
    if (!violation.hint.empty()) failure = std::move(failure).with_hint(violation.hint);
    return std::move(failure).with_span(where);
}

bool is_result_type(string_view text) noexcept {
    return std::find(result_types.begin(), result_types.end(), text) != result_types.end();
}

bool is_aider_subtype(string_view subtype) noexcept {
    return subtype == "aider_automatic" || subtype == "aider_interactive";
}

bool is_task_name(string_view text) noexcept {
    if (text.empty() || text.size() > max_name_length || !utf8::is_valid(text)) return false;
    if (text == "true" || text == "false" || text == "nil" || text.starts_with('#')) return false;
    if (has_blank(text) || text.find_first_of("()[]\"';,`{}") != string_view::npos) return false;
    double number = 0;
    const string_view digits = text.substr(text.front() == '+' ? 1 : 0);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return digits.empty() || read.ptr != digits.data() + digits.size();
}

bool is_input_name(string_view text) noexcept {
    if (text.find_first_of(".:=") != string_view::npos || !is_task_name(text)) return false;
    const char first = text.front();
    return !ascii::is_digit(first) && first != '-' && first != '+';
}

} // namespace heddle::tasks
