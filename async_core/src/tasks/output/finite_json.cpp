#include "tasks/output/finite_json.hpp"

#include <heddle/base/json_parser.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::tasks {

namespace {

namespace json = boost::json;

/// Recursion is bounded by the depth that was read.
bool is_finite(const json::value& given) {
    if (const double* number = given.if_double()) return std::isfinite(*number);
    if (const json::array* items = given.if_array()) {
        return std::all_of(items->begin(), items->end(), is_finite);
    }
    if (const json::object* members = given.if_object()) {
        return std::all_of(members->begin(), members->end(),
                           [](const auto& member) { return is_finite(member.value()); });
    }
    return true;
}

} // namespace

result<json::value> parse_finite_json(std::string_view text, std::size_t max_depth) {
    boost::system::error_code unreadable;
    json::value read = parse_json(text, unreadable, max_depth);
    if (unreadable) return error(errc::invalid_argument, unreadable.message());
    if (!is_finite(read)) {
        return error(errc::invalid_argument, "a number is larger than any float");
    }
    return read;
}

} // namespace heddle::tasks
