#include "tasks/definition/field_clauses.hpp"
#include "tasks/definition/file_paths_clause.hpp"
#include "tasks/definition/parameter_list.hpp"
#include "tasks/definition/source_form.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/tasks/definition/effective_context.hpp>
#include <heddle/tasks/definition/field_values.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace heddle::tasks {

namespace {

class defatom_parser {
public:
    explicit defatom_parser(source_form form) : form_(std::move(form)) {}

    result<task_template> parse();

private:
    using reader = result<void> (defatom_parser::*)(const source_form& clause);
    struct special_row {
        std::string_view name;
        reader read;
    };
    static const std::array<special_row, 4> specials;

    [[nodiscard]] error fail(source_span where, std::string_view clause, std::string what) const;
    /// The error of a part, with the name of the clause in front.
    [[nodiscard]] error fail_in(const source_form& clause, const error& inner) const;
    [[nodiscard]] result<source_form> only_value(const source_form& clause) const;

    result<void> read_clause(const source_form& clause);
    result<void> read_plain(const source_form& clause, const task_field& field);
    result<void> read_params(const source_form& clause);
    result<void> read_output(const source_form& clause);
    result<void> read_files(const source_form& clause);
    result<void> read_relevance(const source_form& clause);
    result<void> read_request_setting(const source_form& clause,
                                      const lang::request_setting& setting);

    source_form form_;
    task_template template_;
    source_span context_span_;
    std::set<std::string_view> seen_; ///< names of fields and of settings of requests
};

const std::array<defatom_parser::special_row, 4> defatom_parser::specials{{
    {"inputs", &defatom_parser::read_params},
    {"output_format", &defatom_parser::read_output},
    {"file_paths", &defatom_parser::read_files},
    {"context_relevance", &defatom_parser::read_relevance},
}};

error defatom_parser::fail(source_span where, std::string_view clause, std::string what) const {
    std::string message = "defatom";
    if (!template_.name.empty()) message += " " + template_.name;
    message += ": ";
    if (!clause.empty()) message += std::string(clause) + " ";
    return error(lang::errc::evaluation, message + what).with_span(where);
}

error defatom_parser::fail_in(const source_form& clause, const error& inner) const {
    const error_info& info = inner.info();
    return fail(info.span, clause[0].text(), info.message).with_hint(info.hint);
}

result<source_form> defatom_parser::only_value(const source_form& clause) const {
    if (clause.size() == 2) return clause[1];
    error wrong = fail(clause.span, clause[0].text(),
                       "must have exactly one value, not " + std::to_string(clause.size() - 1));
    if (clause.size() > 2 && clause[1].is_string())
        wrong = std::move(wrong).with_hint("write \\\" for a quote inside a string");
    return wrong;
}

result<void> defatom_parser::read_plain(const source_form& clause, const task_field& field) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    if (field.name == "context_management") context_span_ = clause.span;
    if (field.member.shape == field_shape::group) {
        auto done = read_group(field, given.unquoted(), template_);
        if (!done) return fail_in(clause, done.error());
        return {};
    }
    auto read = read_field(field, given.unquoted());
    if (!read) return fail_in(clause, read.error());
    store(field.member.of_template(template_), *std::move(read));
    template_.given.add(field, given.span);
    return {};
}

result<void> defatom_parser::read_params(const source_form& clause) {
    template_.declares_inputs = true;
    HEDDLE_TRY(template_.inputs, read_parameters(clause, "defatom " + template_.name));
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
            template_.output.json = content.text() == "json";
        } else if (pair[0].text() == "schema" && !has_schema) {
            has_schema = true;
            if (content.is_string() || content.is_symbol()) {
                template_.output.schema = content.text();
            } else {
                auto json = form_to_json(content);
                if (!json) {
                    return fail(content.span, "output_format", "schema " + json.error().message());
                }
                template_.output.schema = std::move(*json);
            }
        } else return bad(pair);
    }
    if (!typed) return fail(clause.span, "output_format", "has no type: ((type \"json\"))");
    if (has_schema && !template_.output.json) {
        return fail(clause.span, "output_format", "has a schema, so its type must be \"json\"");
    }
    return {};
}

result<void> defatom_parser::read_files(const source_form& clause) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    auto read = read_file_paths(given.unquoted());
    if (!read) return fail_in(clause, read.error());
    template_.files = *std::move(read);
    return {};
}

/// ((goal true) (hints false))
result<void> defatom_parser::read_relevance(const source_form& clause) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    const source_form pairs = given.unquoted();
    if (pairs.content.is_nil()) return {};
    const auto bad = [&](const source_form& part) {
        return fail(part.span, clause[0].text(),
                    "must be a list of (name value), not " + part.shown());
    };
    if (!pairs.is_list()) return bad(pairs);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const source_form pair = pairs[i];
        if (!pair.is_list() || pair.size() != 2 || !word_of(pair[0])) return bad(pair);
        const std::string name(pair[0].text());
        const source_form content = pair[1].unquoted();
        if (!content.content.is_boolean()) {
            return fail(content.span, clause[0].text(),
                        name + " must be true or false, not " + content.shown());
        }
        template_.relevance.push_back({name, content.content.as_boolean()});
    }
    return {};
}

result<void> defatom_parser::read_request_setting(const source_form& clause,
                                                  const lang::request_setting& setting) {
    HEDDLE_TRY(const source_form given, only_value(clause));
    const auto json = form_to_json(given.unquoted());
    auto done =
        json ? set_parameter(template_.parameters, setting, *json) : result<void>(json.error());
    if (done) return {};
    return fail(given.span, clause[0].text(),
                "must be " + std::string(setting.expected) + ", not " + given.shown());
}

result<void> defatom_parser::read_clause(const source_form& clause) {
    if (!clause.is_list() || clause.size() == 0 || !clause[0].is_symbol()) {
        return fail(clause.span, {}, "each clause must be (name value…), not " + clause.shown());
    }
    const std::string_view written = clause[0].text();
    const task_field* field = find_clause({}, written);
    const lang::request_setting* setting = field ? nullptr : lang::find_request_setting(written);
    if (!field && !setting) {
        return fail(clause.span, {}, "there is no clause '" + std::string(written) + "'")
            .with_hint(unknown_clause_hint({}, written));
    }
    if (!seen_.insert(field ? field->name : setting->name).second) {
        return fail(clause.span, written, "is given twice");
    }
    if (setting) return read_request_setting(clause, *setting);
    template_.given.add(*field, clause.span);
    const auto special =
        std::find_if(specials.begin(), specials.end(),
                     [&](const special_row& row) { return row.name == field->name; });
    if (special != specials.end()) return (this->*special->read)(clause);
    return read_plain(clause, *field);
}

result<task_template> defatom_parser::parse() {
    template_.span = form_.span;
    if (!form_.is_list() || form_.size() < 2 || !form_[1].is_symbol()) {
        return fail(form_.span, {}, "expects a name, (params …) and (instructions \"…\")");
    }
    template_.name = form_[1].text();
    for (std::size_t i = 2; i < form_.size(); ++i) HEDDLE_CHECK(read_clause(form_[i]));
    if (auto fits = check_context_layer(template_.subtype, template_.context); !fits) {
        return fail(context_span_, "context_management", fits.error().message())
            .with_hint(fits.error().info().hint);
    }
    if (!seen_.contains("inputs")) return fail(form_.span, {}, "has no (params …) clause");
    if (!seen_.contains("instructions")) {
        return fail(form_.span, {}, "has no (instructions \"…\") clause");
    }
    return std::move(template_);
}

} // namespace

result<task_template> parse_defatom(const lang::value& form, source_span span) {
    return defatom_parser(source_form{form, span}).parse();
}

} // namespace heddle::tasks
