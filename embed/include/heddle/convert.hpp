// Conversion of C++ types to JSON and back.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/convert_scalars.hpp>

#include <heddle/convert_choices.hpp>
#include <heddle/convert_chrono.hpp>
#include <heddle/convert_containers.hpp>
#include <heddle/convert_described.hpp>
#include <heddle/json.hpp>
#include <heddle/json_conversion.hpp>
#include <heddle/json_place.hpp>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace HEDDLE_PUBLIC heddle {

// | C++                                         | JSON                                            |
// |---------------------------------------------|-------------------------------------------------|
// | bool, integers, floating point, std::string | the same; a number out of range is an error     |
// | std::optional                               | null, or missing from an object                 |
// | sequences, std::array, tuples, pairs, sets  | array                                           |
// | maps from std::string                       | object                                          |
// | std::variant                                | the first alternative that fits                 |
// | durations                                   | number of seconds                               |
// | times of the system clock                   | RFC 3339: "2026-11-23T14:23:03.5Z"              |
// | structs described by Boost.Describe         | object with the public members, those of bases  |
// |                                             | included; unknown and missing ones are errors   |
// | enums described by Boost.Describe           | the name of the enumerator                      |
// | heddle::json                                | itself                                          |
// | what heddle::json_conversion specialises    | what the specialisation returns                 |

/// Converts a value to JSON. `name`: the name of the whole value in errors.
/// Errors: invalid_argument with the path, for what JSON cannot express: NaN, infinities, strings
/// that are not UTF-8, unsigned integers above 2^63-1; limit_exceeded for heddle::json nested
/// deeper than 512 levels.
template <class T>
[[nodiscard]] result<json> try_to_json(const T& value, std::string_view name = {}) {
    std::optional<error> failure;
    json written;
    {
        const read_options options{.name = name};
        written = detail::converter_of<T>::write(value, json_place(options, failure));
    }
    if (failure) return *std::move(failure);
    return written;
}

/// Like try_to_json; throws error_exception in place of an error.
template <class T>
[[nodiscard]] json to_json(const T& value) {
    return try_to_json<T>(value).value();
}

/// Converts JSON to T.
/// Errors: invalid_argument with the path, what was expected and what was found:
/// `orders[3].price: expected a number but found the string "12"`.
template <class T>
[[nodiscard]] result<T> from_json(const json& value, const read_options& options = {}) {
    std::optional<error> failure;
    std::optional<T> read = detail::converter_of<T>::read(value, json_place(options, failure));
    if (failure) return *std::move(failure);
    return *std::move(read);
}

} // namespace heddle
