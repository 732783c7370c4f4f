#include "tasks/definition/field_clauses.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace heddle::tasks {

namespace {

using shape = field_shape;

[[nodiscard]] error refused(source_span where, std::string what) {
    return error(lang::errc::evaluation, std::move(what)).with_span(where);
}

[[nodiscard]] error unfit(const task_field& field, const source_form& given) {
    return refused(given.span, "must be " + expected_of(field) + ", not " + given.shown());
}

[[nodiscard]] std::optional<field_value> number_of(const task_field& field,
                                                   const lang::value& given) {
    if (given.is_integer()) {
        if (field.member.shape == shape::whole) return given.as_integer();
        return static_cast<double>(given.as_integer());
    }
    if (field.member.shape == shape::whole || !given.is_real() || !std::isfinite(given.as_real())) {
        return std::nullopt;
    }
    return given.as_real();
}

[[nodiscard]] result<std::vector<std::string>> names_of(const task_field& field,
                                                        const source_form& given) {
    if (!given.is_list()) return unfit(field, given);
    std::vector<std::string> strings;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const source_form each = given[i];
        const auto word = word_of(each);
        if (!word || word->empty()) {
            return refused(each.span, "must hold names, not " + each.shown());
        }
        strings.emplace_back(*word);
    }
    return strings;
}

[[nodiscard]] result<field_value> choice_of(const task_field& field, const source_form& given) {
    const auto word = word_of(given);
    const auto found =
        word ? std::find(field.words.begin(), field.words.end(), *word) : field.words.end();
    if (found != field.words.end()) {
        return field_value(field_word{static_cast<std::size_t>(found - field.words.begin())});
    }
    const std::vector<std::string> words(field.words.begin(), field.words.end());
    return unfit(field, given).with_hint(lang::suggest_names(word.value_or(""), words));
}

/// Calls read(name, value, place) for each entry of a list of pairs or of a map.
template <class Read>
[[nodiscard]] result<void> each_setting(const source_form& given, Read read) {
    if (given.content.is(lang::kind::map)) {
        for (const lang::map_entry& entry : lang::map_entries(given.content)) {
            HEDDLE_CHECK(read(lang::string_bytes(entry.key), source_form{entry.item, given.span},
                              given.span));
        }
        return {};
    }
    for (std::size_t i = 0; given.is_list() && i < given.size(); ++i) {
        const source_form pair = given[i];
        if (!pair.is_list() || pair.size() != 2 || !word_of(pair[0])) {
            return refused(given.span, "must be a list of (name value), not " + given.shown());
        }
        HEDDLE_CHECK(read(pair[0].text(), pair[1].unquoted(), pair.span));
    }
    if (given.is_list() || given.content.is_nil()) return {};
    return refused(given.span, "must be a list of (name value) or a map, not " + given.shown());
}

/// What members of a template or of a call are reached by.
[[nodiscard]] std::optional<field_ref> member_of(const task_field& field, task_template& into) {
    if (!field.member.of_template) return std::nullopt;
    return field.member.of_template(into);
}
[[nodiscard]] std::optional<field_ref> member_of(const task_field& field, task_settings& into) {
    if (!field.member.of_settings) return std::nullopt;
    return field.member.of_settings(into);
}

template <class Settings>
[[nodiscard]] result<void> read_settings(const task_field& group, const source_form& given,
                                         Settings& into) {
    std::vector<const task_field*> seen;
    const auto read = [&](std::string_view written, const source_form& content,
                          source_span where) -> result<void> {
        const task_field* field = find_clause(group.name, snake_case(written));
        const auto member = field ? member_of(*field, into) : std::nullopt;
        if (!member) {
            constexpr bool is_definition = std::is_same_v<Settings, task_template>;
            return refused(where, "has no setting '" + std::string(written) + "'")
                .with_hint(is_definition
                               ? unknown_clause_hint(group.name, snake_case(written))
                               : known_names_hint(written, clause_names(group.name), "settings"));
        }
        const std::string name(field->name);
        if (std::find(seen.begin(), seen.end(), field) != seen.end()) {
            return refused(where, "has " + name + " twice");
        }
        seen.push_back(field);
        if (content.content.is_nil()) return {};
        auto outcome = read_field(*field, content);
        if (!outcome) {
            const error_info& info = outcome.error().info();
            return refused(info.span, name + " " + info.message).with_hint(info.hint);
        }
        store(*member, *std::move(outcome));
        if constexpr (std::is_same_v<Settings, task_template>) into.given.add(*field, where);
        return {};
    };
    return each_setting(given, read);
}

} // namespace

std::string snake_case(std::string_view name) {
    std::string text;
    for (const char c : name) {
        if (ascii::is_upper(c)) {
            if (!text.empty() && text.back() != '_') text += '_';
            text += ascii::to_lower(c);
        } else text += c == '-' ? '_' : c;
    }
    return text;
}

std::optional<std::string_view> word_of(const source_form& given) {
    if (!given.is_symbol() && !given.is_string()) return std::nullopt;
    return given.text();
}

result<field_value> read_field(const task_field& field, const source_form& given) {
    switch (field.member.shape) {
    case shape::block:
    case shape::word:
        if (!given.is_string()) return unfit(field, given);
        if (field.member.shape == shape::word && given.text().empty()) return unfit(field, given);
        if (given.text().size() > template_limits::max_text) {
            return refused(given.span, "is too long");
        }
        return field_value(std::string(given.text()));
    case shape::number:
    case shape::whole:
    case shape::seconds: {
        auto outcome = number_of(field, given.content);
        if (!outcome || !is_in_range(field, *outcome)) return unfit(field, given);
        return *std::move(outcome);
    }
    case shape::flag: {
        if (given.content.is_boolean()) return field_value(given.content.as_boolean());
        const auto word = word_of(given);
        if (word != "true" && word != "false") return unfit(field, given);
        return field_value(word == "true");
    }
    case shape::choice: return choice_of(field, given);
    case shape::names: {
        HEDDLE_TRY(auto result, names_of(field, given));
        return field_value(std::move(result));
    }
    case shape::group:
    case shape::requests:
    case shape::special: break;
    }
    return refused(given.span, "has a form of its own");
}

result<void> read_group(const task_field& group, const source_form& given, task_template& into) {
    return read_settings(group, given, into);
}

result<void> read_group(const task_field& group, const source_form& given, task_settings& into) {
    return read_settings(group, given, into);
}

std::string unknown_clause_hint(std::string_view group, std::string_view written) {
    const task_field* meant = find_misplaced(group, written);
    if (!meant)
        return known_names_hint(written, clause_names(group),
                                group.empty() ? "clauses" : "settings");
    const std::string clause = "(" + std::string(clause_name(*meant)) + " …)";
    return meant->group.empty() ? "write " + clause + " as a clause of the task"
                                : "write it inside " + std::string(meant->group) + ": (" +
                                      std::string(meant->group) + " (" + clause + "))";
}

std::string known_names_hint(std::string_view written, const std::vector<std::string>& known,
                             std::string_view kind) {
    std::string hint = lang::suggest_names(written, known);
    if (hint.empty()) hint = std::string(kind) + ": " + ascii::join(known, ", ");
    return hint;
}

} // namespace heddle::tasks
