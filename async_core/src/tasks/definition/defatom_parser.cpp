#include "tasks/definition/context_clauses.hpp"
#include "tasks/definition/parameter_list.hpp"
#include "tasks/definition/source_form.hpp"
#include "tasks/definition/template_clauses.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/definition/effective_context.hpp>
#include <heddle/tasks/definition/task_template.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace heddle::tasks {

namespace {

/// Hyphen and underscore are the same in the name of a clause.
[[nodiscard]] std::string clause_name(std::string_view written) {
    std::string name(written);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

class defatom_parser {
public:
    defatom_parser(source_form form) : form_(std::move(form)) {}

    result<task_template> parse();

private:
    using reader = result<void> (defatom_parser::*)(const source_form& clause);
    struct row {
        std::string_view name;
        reader read;
    };
    static const std::array<row, 23> rows;

    [[nodiscard]] error fail(source_span where, std::string_view clause, std::string what) const;
    [[nodiscard]] result<source_form> only_value(const source_form& clause) const;
    [[nodiscard]] result<std::string> text_of(const source_form& clause) const;
    [[nodiscard]] result<double> number_of(const source_form& clause) const;
    [[nodiscard]] result<std::int64_t> whole_of(const source_form& clause, std::int64_t least,
                                                std::int64_t most) const;

    result<void> read_params(const source_form& clause);
    result<void> read_instructions(const source_form& clause);
    result<void> read_system(const source_form& clause);
    result<void> read_description(const source_form& clause);
    result<void> read_subtype(const source_form& clause);
    result<void> read_model(const source_form& clause);
    result<void> read_provider(const source_form& clause);
    result<void> read_criteria(const source_form& clause);
    result<void> read_temperature(const source_form& clause);
    result<void> read_max_tokens(const source_form& clause);
    result<void> read_timeout(const source_form& clause);
    result<void> read_retries(const source_form& clause);
    result<void> read_output(const source_form& clause);
    result<void> read_tools(const source_form& clause);
    template <class T>
    result<void> read_settings(const source_form& clause, T& into,
                               result<T> (*read)(const source_form&)) const;
    result<void> read_history(const source_form& clause);
    result<void> read_context(const source_form& clause);
    result<void> read_files(const source_form& clause);
    result<void> read_relevance(const source_form& clause);
    result<void> read_assembly(const source_form& clause);
    result<void> read_limits(const source_form& clause);
    result<void> read_returns(const source_form& clause);
    result<void> read_disable_reparsing(const source_form& clause);
    result<void> read_manual_xml(const source_form& clause);
    result<void> read_request_setting(const source_form& clause,
                                      const lang::request_setting& setting);
    [[nodiscard]] static std::vector<std::string> clause_names();

    source_form form_;
    task_template made_;
    source_span context_span_;
    std::set<std::string_view> settings_seen_;
};

const std::array<defatom_parser::row, 23> defatom_parser::rows{{
    {"params", &defatom_parser::read_params},
    {"instructions", &defatom_parser::read_instructions},
    {"system", &defatom_parser::read_system},
    {"description", &defatom_parser::read_description},
    {"subtype", &defatom_parser::read_subtype},
    {"model", &defatom_parser::read_model},
    {"provider", &defatom_parser::read_provider},
    {"criteria", &defatom_parser::read_criteria},
    {"temperature", &defatom_parser::read_temperature},
    {"max_tokens", &defatom_parser::read_max_tokens},
    {"timeout", &defatom_parser::read_timeout},
    {"retries", &defatom_parser::read_retries},
    {"output_format", &defatom_parser::read_output},
    {"tools", &defatom_parser::read_tools},
    {"history_config", &defatom_parser::read_history},
    {"context_management", &defatom_parser::read_context},
    {"file_paths", &defatom_parser::read_files},
    {"context_relevance", &defatom_parser::read_relevance},
    {"context_assembly", &defatom_parser::read_assembly},
    {"resource_limits", &defatom_parser::read_limits},
    {"returns", &defatom_parser::read_returns},
    {"disable_reparsing", &defatom_parser::read_disable_reparsing},
    {"manual_xml", &defatom_parser::read_manual_xml},
}};

error defatom_parser::fail(source_span where, std::string_view clause, std::string what) const {
    std::string message = "defatom";
    if (!made_.name.empty()) message += " " + made_.name;
    message += ": ";
    if (!clause.empty()) message += std::string(clause) + " ";
    return error(lang::errc::evaluation, message + what).with_span(where);
}

result<source_form> defatom_parser::only_value(const source_form& clause) const {
    if (clause.size() == 2) return clause[1];
    error wrong = fail(clause.span, clause[0].text(),
                       "must have exactly one value, not " + std::to_string(clause.size() - 1));
    if (clause.size() > 2 && clause[1].is_string())
        wrong = std::move(wrong).with_hint("write \\\" for a quote inside a string");
    return wrong;
}

result<std::string> defatom_parser::text_of(const source_form& clause) const {
    HEDDLE_TRY(const source_form content, only_value(clause));
    if (!content.is_string()) {
        return fail(content.span, clause[0].text(), "must be a string, not " + content.shown());
    }
    if (content.text().size() > template_limits::max_text) {
        return fail(content.span, clause[0].text(), "is too long");
    }
    return std::string(content.text());
}

result<double> defatom_parser::number_of(const source_form& clause) const {
    HEDDLE_TRY(const source_form content, only_value(clause));
    if (content.content.is_integer()) return static_cast<double>(content.content.as_integer());
    if (content.content.is_real() && std::isfinite(content.content.as_real())) {
        return content.content.as_real();
    }
    return fail(content.span, clause[0].text(), "must be a number, not " + content.shown());
}

result<std::int64_t> defatom_parser::whole_of(const source_form& clause, std::int64_t least,
                                              std::int64_t most) const {
    HEDDLE_TRY(const source_form content, only_value(clause));
    if (content.content.is_integer() && content.content.as_integer() >= least &&
        content.content.as_integer() <= most) {
        return content.content.as_integer();
    }
    return fail(content.span, clause[0].text(),
                "must be a whole number from " + std::to_string(least) + " to " +
                    std::to_string(most) + ", not " + content.shown());
}

result<void> defatom_parser::read_params(const source_form& clause) {
    made_.declares_inputs = true;
    HEDDLE_TRY(made_.inputs, read_parameters(clause, "defatom " + made_.name));
    return {};
}

result<void> defatom_parser::read_instructions(const source_form& clause) {
    HEDDLE_TRY(made_.instructions, text_of(clause));
    made_.instructions_span = clause[1].span;
    return {};
}

result<void> defatom_parser::read_system(const source_form& clause) {
    HEDDLE_TRY(made_.system, text_of(clause));
    made_.system_span = clause[1].span;
    return {};
}

result<void> defatom_parser::read_description(const source_form& clause) {
    HEDDLE_TRY(made_.description, text_of(clause));
    return {};
}

result<void> defatom_parser::read_subtype(const source_form& clause) {
    HEDDLE_TRY(made_.subtype, text_of(clause));
    if (made_.subtype.empty()) return fail(clause.span, "subtype", "must not be empty");
    return {};
}

result<void> defatom_parser::read_model(const source_form& clause) {
    HEDDLE_TRY(made_.model, text_of(clause));
    return {};
}

result<void> defatom_parser::read_provider(const source_form& clause) {
    HEDDLE_TRY(made_.provider, text_of(clause));
    return {};
}

result<void> defatom_parser::read_criteria(const source_form& clause) {
    HEDDLE_TRY(made_.criteria, text_of(clause));
    return {};
}

result<void> defatom_parser::read_temperature(const source_form& clause) {
    HEDDLE_TRY(const double given, number_of(clause));
    if (given < 0 || given > 10) return fail(clause.span, "temperature", "must be from 0 to 10");
    made_.temperature = given;
    return {};
}

result<void> defatom_parser::read_max_tokens(const source_form& clause) {
    HEDDLE_TRY(made_.max_tokens, whole_of(clause, 1, 1'000'000'000));
    return {};
}

result<void> defatom_parser::read_timeout(const source_form& clause) {
    HEDDLE_TRY(const double seconds, number_of(clause));
    if (!(seconds > 0) || seconds > 1e8) {
        return fail(clause.span, "timeout", "must be a number of seconds above 0");
    }
    made_.timeout = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
    return {};
}

result<void> defatom_parser::read_retries(const source_form& clause) {
    HEDDLE_TRY(const std::int64_t count, whole_of(clause, 0, template_limits::max_retries));
    made_.retries = static_cast<std::uint32_t>(count);
    return {};
}

result<void> defatom_parser::read_output(const source_form& clause) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    const source_form pairs = given.unquoted();
    const auto bad = [&](const source_form& part) {
        return fail(part.span, "output_format",
                    "must be ((type \"json\") (schema …)), not " + part.shown());
    };
    if (!pairs.is_list()) return bad(pairs);
    bool typed = false;
    bool has_schema = false;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const source_form pair = pairs[i];
        if (!pair.is_list() || pair.size() != 2 || !pair[0].is_symbol()) return bad(pair);
        const source_form content = pair[1].unquoted();
        if (pair[0].text() == "type" && !typed) {
            const bool known = (content.is_string() || content.is_symbol()) &&
                               (content.text() == "json" || content.text() == "text");
            if (!known) {
                return fail(content.span, "output_format",
                            "type must be \"json\" or \"text\", not " + content.shown());
            }
            typed = true;
            made_.output.json = content.text() == "json";
        } else if (pair[0].text() == "schema" && !has_schema) {
            has_schema = true;
            if (content.is_string() || content.is_symbol()) {
                made_.output.schema = content.text();
            } else {
                auto json = form_to_json(content);
                if (!json) {
                    return fail(content.span, "output_format", "schema " + json.error().message());
                }
                made_.output.schema = std::move(*json);
            }
        } else return bad(pair);
    }
    if (!typed) return fail(clause.span, "output_format", "has no type: ((type \"json\"))");
    if (has_schema && !made_.output.json) {
        return fail(clause.span, "output_format", "has a schema, so its type must be \"json\"");
    }
    made_.output_span = clause.span;
    return {};
}

result<void> defatom_parser::read_tools(const source_form& clause) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    const source_form names = given.unquoted();
    if (!names.is_list()) {
        return fail(names.span, "tools", "must be a list of names, not " + names.shown());
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const source_form name = names[i];
        if (!name.is_symbol() && !name.is_string()) {
            return fail(name.span, "tools", "must hold names, not " + name.shown());
        }
        made_.tools.emplace_back(name.text());
    }
    return {};
}

/// The one value of a clause, read by `read`; its errors get the name of the clause.
template <class T>
result<void> defatom_parser::read_settings(const source_form& clause, T& into,
                                           result<T> (*read)(const source_form&)) const {
    HEDDLE_TRY(const source_form given, only_value(clause));
    auto made = read(given.unquoted());
    if (!made) {
        const error_info& info = made.error().info();
        return fail(info.span, clause[0].text(), info.message).with_hint(info.hint);
    }
    into = *std::move(made);
    return {};
}

result<void> defatom_parser::read_history(const source_form& clause) {
    return read_settings(clause, made_.history, &read_history_config);
}

result<void> defatom_parser::read_context(const source_form& clause) {
    context_span_ = clause.span;
    return read_settings(clause, made_.context, &read_context_management);
}

result<void> defatom_parser::read_files(const source_form& clause) {
    file_paths_source made;
    HEDDLE_CHECK(read_settings(clause, made, &read_file_paths));
    made_.files = std::move(made);
    return {};
}

result<void> defatom_parser::read_relevance(const source_form& clause) {
    return read_settings(clause, made_.relevance, &read_context_relevance);
}

result<void> defatom_parser::read_assembly(const source_form& clause) {
    return read_settings(clause, made_.assembly, &read_context_assembly);
}

result<void> defatom_parser::read_limits(const source_form& clause) {
    return read_settings(clause, made_.limits, &read_resource_limits);
}

result<void> defatom_parser::read_returns(const source_form& clause) {
    HEDDLE_TRY(made_.returns, text_of(clause));
    return {};
}

result<void> defatom_parser::read_disable_reparsing(const source_form& clause) {
    return read_settings(clause, made_.disable_reparsing, &read_flag);
}

result<void> defatom_parser::read_manual_xml(const source_form& clause) {
    return read_settings(clause, made_.manual_xml, &read_flag);
}

result<void> defatom_parser::read_request_setting(const source_form& clause,
                                                  const lang::request_setting& setting) {
    if (!settings_seen_.insert(setting.name).second) {
        return fail(clause.span, clause[0].text(), "is given twice");
    }
    HEDDLE_TRY(const source_form given, only_value(clause));
    const auto json = form_to_json(given.unquoted());
    auto done = json ? set_parameter(made_.parameters, setting, *json) : result<void>(json.error());
    if (done) return {};
    return fail(given.span, clause[0].text(),
                "must be " + std::string(setting.expected) + ", not " + given.shown());
}

/// As they are written, those that most tasks need first.
std::vector<std::string> defatom_parser::clause_names() {
    std::vector<std::string> all{"params",
                                 "instructions",
                                 "description",
                                 "subtype",
                                 "model",
                                 "provider",
                                 "system",
                                 "temperature",
                                 "max-tokens",
                                 "timeout",
                                 "output_format",
                                 "criteria",
                                 "history_config",
                                 "context_management",
                                 "file_paths",
                                 "tools",
                                 "retries",
                                 "resource_limits",
                                 "context_relevance",
                                 "context_assembly",
                                 "returns",
                                 "disable_reparsing",
                                 "manual_xml"};
    for (const lang::request_setting& each : lang::request_settings()) {
        if (std::find(all.begin(), all.end(), each.name) == all.end()) all.emplace_back(each.name);
    }
    return all;
}

result<task_template> defatom_parser::parse() {
    made_.span = form_.span;
    if (!form_.is_list() || form_.size() < 2 || !form_[1].is_symbol()) {
        return fail(form_.span, {}, "expects a name, (params …) and (instructions \"…\")");
    }
    made_.name = form_[1].text();
    std::array<bool, rows.size()> seen{};
    for (std::size_t i = 2; i < form_.size(); ++i) {
        const source_form clause = form_[i];
        if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) {
            return fail(clause.span, {},
                        "each clause must be (name value…), not " + clause.shown());
        }
        const std::string name = clause_name(clause[0].text());
        const auto found = std::find_if(rows.begin(), rows.end(),
                                        [&](const row& known) { return known.name == name; });
        if (found == rows.end()) {
            if (const lang::request_setting* setting = lang::find_request_setting(name)) {
                HEDDLE_CHECK(read_request_setting(clause, *setting));
                continue;
            }
            const std::string written(clause[0].text());
            std::string hint = lang::suggest_names(written, clause_names());
            if (hint.empty()) hint = "clauses: " + ascii::join(clause_names(), ", ");
            return fail(clause.span, {}, "there is no clause '" + written + "'")
                .with_hint(std::move(hint));
        }
        bool& was_seen = seen[static_cast<std::size_t>(found - rows.begin())];
        if (was_seen) return fail(clause.span, clause[0].text(), "is given twice");
        was_seen = true;
        HEDDLE_CHECK((this->*found->read)(clause));
    }
    if (auto fits = check_context_layer(made_.subtype, made_.context); !fits) {
        return fail(context_span_, "context_management", fits.error().message())
            .with_hint(fits.error().info().hint);
    }
    if (!seen[0]) return fail(form_.span, {}, "has no (params …) clause");
    if (!seen[1]) return fail(form_.span, {}, "has no (instructions \"…\") clause");
    return std::move(made_);
}

} // namespace

result<task_template> parse_defatom(const lang::value& form, source_span span) {
    return defatom_parser(source_form{form, span}).parse();
}

} // namespace heddle::tasks
