#include "rows/json_members.hpp"

#include <heddle/base/json_parser.hpp>
#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>
#include <utility>

namespace heddle::rows {

namespace {

namespace json = boost::json;

/// As JSON, with numbers as people write them: 0.5, where Boost.JSON has 5E-1.
void append_json(std::string& out, const json::value& value) {
    const auto append_all = [&out](const auto& items, auto append_one) {
        bool first = true;
        for (const auto& each : items) {
            if (!std::exchange(first, false)) out += ',';
            append_one(each);
        }
    };
    if (const double* number = value.if_double()) {
        const std::string text = std::isfinite(*number) ? number_text(*number) : "null";
        out += text;
        if (text.find_first_not_of("-0123456789") == std::string::npos) out += ".0";
    } else if (const json::array* items = value.if_array()) {
        out += '[';
        append_all(*items, [&out](const json::value& each) { append_json(out, each); });
        out += ']';
    } else if (const json::object* members = value.if_object()) {
        out += '{';
        append_all(*members, [&out](const json::key_value_pair& each) {
            append_json_string(out, each.key());
            out += ':';
            append_json(out, each.value());
        });
        out += '}';
    } else {
        out += json::serialize(value);
    }
}

std::string cell_of_value(const json::value& value) {
    if (const json::string* text = value.if_string()) return {text->data(), text->size()};
    std::string cell;
    if (!value.is_null()) append_json(cell, value);
    return cell;
}

} // namespace

std::string cell_of(std::string_view text) {
    if (text.empty() || text == "null") return {};
    if (text.front() != '"') return std::string(text); // its numbers as they are
    json::error_code failure;
    const json::value value = json::parse(json::string_view(text.data(), text.size()), failure);
    return failure ? std::string(text) : cell_of_value(value);
}

std::vector<std::optional<std::string>> cells_of(std::string_view text,
                                                 const std::vector<std::string>& names) {
    std::vector<std::optional<std::string>> cells(names.size());
    if (names.empty() || text.empty() || text.front() != '{') return cells;
    json::error_code failure;
    constexpr std::size_t max_depth = 1000;
    const json::value value = parse_json(text, failure, max_depth);
    const json::object* members = failure ? nullptr : value.if_object();
    if (!members) return cells;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (const json::value* found = members->if_contains(names[i]))
            cells[i] = cell_of_value(*found);
    return cells;
}

} // namespace heddle::rows
