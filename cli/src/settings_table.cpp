#include "settings_table.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/tasks/definition/field_values.hpp>

namespace heddle::cli {

namespace {

using tasks::field_shape;
using tasks::task_field;

constexpr std::string_view begin_line = "<!-- settings -->\n";
constexpr std::string_view end_line = "<!-- end of settings -->\n";

[[nodiscard]] std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

[[nodiscard]] std::string element_of(const task_field& field) {
    if (!field.in_files) return {};
    const std::string own = code("<" + std::string(field.name) + ">");
    if (field.group.empty()) return own;
    return own + " in " + code("<" + std::string(field.group) + ">");
}

[[nodiscard]] std::string clause_of(std::string_view name) {
    return code("(" + std::string(name) + " …)");
}

[[nodiscard]] std::string calls_of(const task_field& field) {
    std::vector<std::string> strings;
    for (const std::string_view name : field.in_calls) {
        if (!name.empty()) strings.push_back(clause_of(name));
    }
    return ascii::join(strings, ", ");
}

[[nodiscard]] std::string value_of(const task_field& field) {
    switch (field.member.shape) {
    case field_shape::group:
    case field_shape::special: return {};
    case field_shape::choice: {
        std::vector<std::string> words;
        for (const std::string_view word : field.words) words.push_back(code(word));
        return ascii::join(words, ", ");
    }
    default: return tasks::expected_of(field);
    }
}

[[nodiscard]] std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += cell.empty() ? " |" : " " + cell + " |";
    return row + "\n";
}

/// The settings of requests have a page of their own.
[[nodiscard]] std::string request_row() {
    std::vector<std::string> elements;
    for (const auto* each : tasks::other_request_settings())
        elements.push_back(code("<" + lang::snake_name(*each) + ">"));
    return row_of({ascii::join(elements, ", "), "the same, with hyphens", "", "",
                   "[Settings of requests](tasks.md#settings-of-requests); in a file several stop "
                   "strings are a JSON list, extra parameters a JSON object"});
}

} // namespace

std::string settings_table() {
    std::string table =
        row_of({"element", "clause of `defatom`", "clause of a call", "value", "meaning"}) +
        "|---|---|---|---|---|\n";
    for (const task_field& field : tasks::task_fields()) {
        if (field.member.shape == field_shape::requests) {
            table += request_row();
            continue;
        }
        const std::string clause = field.in_definitions ? clause_of(clause_name(field)) : "";
        table += row_of({element_of(field), clause, calls_of(field), value_of(field),
                         std::string(field.documentation)});
    }
    return table;
}

result<std::string> with_settings_table(std::string page) {
    const std::size_t begin = page.find(begin_line);
    const std::size_t end = begin == std::string::npos ? begin : page.find(end_line, begin);
    if (end == std::string::npos) {
        return error(errc::invalid_argument,
                     "the page has no lines <!-- settings --> and <!-- end of settings -->");
    }
    const std::size_t from = begin + begin_line.size();
    page.replace(from, end - from, "\n" + settings_table() + "\n");
    return page;
}

} // namespace heddle::cli
