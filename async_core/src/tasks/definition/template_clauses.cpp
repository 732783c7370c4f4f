#include "tasks/definition/template_clauses.hpp"

#include "tasks/definition/context_clauses.hpp"

#include <heddle/lang/errors.hpp>

#include <cmath>

namespace heddle::tasks {

namespace {

[[nodiscard]] error refused(source_span where, std::string what) {
    return error(lang::errc::evaluation, std::move(what)).with_span(where);
}

/// Calls read(name, value, place) for each (name value).
template <class Read>
[[nodiscard]] result<void> each_pair(const source_form& given, Read read) {
    if (given.content.is_nil()) return {};
    const auto bad = [&](const source_form& part) {
        return refused(part.span, "must be a list of (name value), not " + part.shown());
    };
    if (!given.is_list()) return bad(given);
    for (std::size_t i = 0; i < given.size(); ++i) {
        const source_form pair = given[i];
        if (!pair.is_list() || pair.size() != 2) return bad(pair);
        const source_form head = pair[0];
        if (!head.is_symbol() && !head.is_string()) return bad(pair);
        HEDDLE_CHECK(read(std::string(head.text()), pair[1].unquoted(), pair.span));
    }
    return {};
}

[[nodiscard]] result<std::int64_t> whole_of(const std::string& name, const source_form& given) {
    if (given.content.is_integer()) return given.content.as_integer();
    return refused(given.span, name + " must be a whole number, not " + given.shown());
}

[[nodiscard]] result<double> number_of(const std::string& name, const source_form& given) {
    if (given.content.is_integer()) return static_cast<double>(given.content.as_integer());
    if (given.content.is_real() && std::isfinite(given.content.as_real())) {
        return given.content.as_real();
    }
    return refused(given.span, name + " must be a number, not " + given.shown());
}

template <class T>
[[nodiscard]] result<void> set_once(const std::string& name, std::optional<T>& into, result<T> read,
                                    source_span where) {
    if (!read) return std::move(read).error();
    if (into) return refused(where, "says " + name + " twice");
    into = *read;
    return {};
}

[[nodiscard]] result<std::vector<std::string>> names_of(const std::string& name,
                                                        const source_form& given) {
    std::vector<std::string> made;
    if (!given.is_list()) {
        return refused(given.span, name + " must be a list of names, not " + given.shown());
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        const source_form each = given[i];
        if ((!each.is_symbol() && !each.is_string()) || each.text().empty()) {
            return refused(each.span, name + " must hold names, not " + each.shown());
        }
        made.emplace_back(each.text());
    }
    return made;
}

} // namespace

result<bool> read_flag(const source_form& given) {
    if (given.content.is_boolean()) return given.content.as_boolean();
    return refused(given.span, "must be true or false, not " + given.shown());
}

result<resource_limits> read_resource_limits(const source_form& given) {
    resource_limits made;
    const auto read = [&](const std::string& written, const source_form& content,
                          source_span where) -> result<void> {
        const std::string name = snake_case(written);
        if (name == "max_turns") {
            return set_once(name, made.max_turns, whole_of(name, content), where);
        }
        if (name == "max_context") {
            return set_once(name, made.max_context, number_of(name, content), where);
        }
        if (name == "max_output") {
            return set_once(name, made.max_output, whole_of(name, content), where);
        }
        if (name == "max_tokens_total") {
            return set_once(name, made.max_tokens_total, whole_of(name, content), where);
        }
        if (name == "max_cost_usd") {
            return set_once(name, made.max_cost_usd, number_of(name, content), where);
        }
        return refused(where, "has no setting '" + written + "'")
            .with_hint("settings: max_turns max_context max_output max_tokens_total max_cost_usd");
    };
    HEDDLE_CHECK(each_pair(given, read));
    return made;
}

result<std::vector<context_relevance_input>> read_context_relevance(const source_form& given) {
    std::vector<context_relevance_input> made;
    const auto read = [&](std::string name, const source_form& content,
                          source_span) -> result<void> {
        auto include = read_flag(content);
        if (!include) {
            return refused(content.span, name + " " + include.error().message());
        }
        made.push_back({std::move(name), *include});
        return {};
    };
    HEDDLE_CHECK(each_pair(given, read));
    return made;
}

result<context_assembly> read_context_assembly(const source_form& given) {
    context_assembly made;
    const auto read = [&](const std::string& written, const source_form& content,
                          source_span where) -> result<void> {
        const std::string name = snake_case(written);
        std::vector<std::string>* into = name == "primary_elements"     ? &made.primary
                                         : name == "secondary_elements" ? &made.secondary
                                         : name == "excluded_elements"  ? &made.excluded
                                                                        : nullptr;
        if (!into) {
            return refused(where, "has no setting '" + written + "'")
                .with_hint("settings: primary_elements secondary_elements excluded_elements");
        }
        if (!into->empty()) return refused(where, "says " + name + " twice");
        HEDDLE_TRY(*into, names_of(name, content));
        return {};
    };
    HEDDLE_CHECK(each_pair(given, read));
    return made;
}

} // namespace heddle::tasks
