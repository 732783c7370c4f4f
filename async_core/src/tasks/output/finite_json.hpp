// JSON as the language reads it: without numbers that no float holds.
#pragma once

#include <heddle/base/error.hpp>

#include <boost/json/value.hpp>

#include <cstddef>
#include <string_view>

namespace heddle::tasks {

/// One JSON text of at most `max_depth` levels. Boost.JSON alone reads 1e400 as infinity, which no
/// JSON text can hold, so that it would fail where it is written again.
/// Errors: invalid_argument with what is wrong, without the text.
[[nodiscard]] result<boost::json::value> parse_finite_json(std::string_view text,
                                                           std::size_t max_depth = 32);

} // namespace heddle::tasks
