#include "batch/rows/row_binding.hpp"

#include "inputs.hpp"

#include <heddle/lang/code.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

using lang::value;

std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
        text += (text.empty() ? "" : ", ") + names[i];
    return names.size() > shown ? text + ", …" : text;
}

bool takes_whole_row(const lang::function& code) {
    const std::vector<std::string>& parameters = code.parameter_names;
    return parameters.size() == 1 && parameters.front() == "row" && !code.has_rest;
}

/// What is wrong with the columns of a row.
error columns_error(const std::vector<std::string>& missing,
                    const std::vector<std::string>& unknown,
                    const std::vector<std::string>& columns,
                    const std::vector<std::string>& parameters) {
    std::string message;
    std::string hint;
    if (!missing.empty()) {
        message = "the row has no column " + list_of(missing) + ", which main needs";
        hint = "its columns are: " + list_of(columns);
        const std::string near = lang::suggest_names(missing.front(), columns);
        if (!near.empty()) hint += "; " + near;
        hint += "; one value for all rows: --input " + missing.front() + "=…";
    }
    if (!unknown.empty()) {
        message += (message.empty() ? "" : "; ");
        message += "main has no parameter " + list_of(unknown);
        if (hint.empty()) hint = "its parameters are: " + list_of(parameters);
    }
    return error(errc::invalid_argument, std::move(message)).with_hint(std::move(hint));
}

} // namespace

result<void> row_binding::check_inputs(host::session& session, const value& main) const {
    HEDDLE_TRY(const named_inputs given, read_inputs(session.memory(), inputs, std::nullopt));
    const std::vector<std::string>& parameters = lang::closure_of(main)->code->parameter_names;
    std::vector<std::string> unknown;
    for (const auto& each : given) {
        if (std::find(parameters.begin(), parameters.end(), each.first) == parameters.end())
            unknown.push_back(each.first);
    }
    if (!unknown.empty()) return columns_error({}, unknown, {}, parameters);
    return {};
}

std::vector<std::string> row_binding::needed_columns(host::session& session,
                                                     const value& main) const {
    const lang::function& code = *lang::closure_of(main)->code;
    const std::vector<std::string>& parameters = code.parameter_names;
    std::vector<std::string> needed;
    if (takes_whole_row(code)) return needed;
    const auto given = read_inputs(session.memory(), inputs, std::nullopt);
    for (std::size_t i = 0; i < code.required && i < parameters.size(); ++i) {
        const bool there =
            given && std::any_of(given->begin(), given->end(),
                                 [&](const auto& each) { return each.first == parameters[i]; });
        if (!there) needed.push_back(parameters[i]);
    }
    return needed;
}

result<std::vector<value>> row_binding::bind(host::session& session, const value& main,
                                             std::string_view row_json) const {
    lang::heap& memory = session.memory();
    lang::json_read_options trusted;
    trusted.is_valid_text = true;
    HEDDLE_TRY(value row, lang::json_to_value(memory, row_json, trusted));
    const lang::function& code = *lang::closure_of(main)->code;
    const std::vector<std::string>& parameters = code.parameter_names;
    if (takes_whole_row(code)) return std::vector<value>{std::move(row)};
    HEDDLE_TRY(named_inputs given, read_inputs(memory, inputs, std::nullopt));
    std::erase_if(given, [&](const auto& each) { return lang::map_find(row, each.first); });
    std::vector<std::string> columns;
    std::vector<std::string> unknown;
    for (const lang::map_entry& entry : lang::map_entries(row)) {
        std::string name(lang::string_bytes(entry.key));
        const bool taken =
            std::find(parameters.begin(), parameters.end(), name) != parameters.end();
        if (taken) given.emplace_back(name, entry.item);
        else if (strict && name != id_column) unknown.push_back(name);
        columns.push_back(std::move(name));
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < code.required && i < parameters.size(); ++i) {
        const bool there = std::any_of(given.begin(), given.end(), [&](const auto& each) {
            return each.first == parameters[i];
        });
        if (!there) missing.push_back(parameters[i]);
    }
    if (!missing.empty() || !unknown.empty())
        return columns_error(missing, unknown, columns, parameters);
    return bind_inputs(main, given);
}

} // namespace heddle::cli
