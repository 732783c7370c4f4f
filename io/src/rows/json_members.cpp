#include "rows/json_members.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace heddle::rows {

namespace {

namespace json = boost::json;

std::string cell_of_value(const json::value& value) {
    if (const json::string* text = value.if_string()) return {text->data(), text->size()};
    if (value.is_null()) return {};
    return json::serialize(value);
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
    json::parse_options options;
    options.max_depth = 1000;
    const json::value value =
        json::parse(json::string_view(text.data(), text.size()), failure, {}, options);
    const json::object* members = failure ? nullptr : value.if_object();
    if (!members) return cells;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (const json::value* found = members->if_contains(names[i]))
            cells[i] = cell_of_value(*found);
    return cells;
}

} // namespace heddle::rows
