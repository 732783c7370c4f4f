// JSON of values that go into prompts and messages.
#pragma once

#include <heddle/lang/json_bridge.hpp>

#include <cstddef>
#include <string>

namespace heddle::tasks {

/// A small value that contains the same part twice at each of 40 levels has no JSON of a usable
/// size, and writing it does not give way to other branches.
inline constexpr std::size_t max_message_json = std::size_t{8} * 1024 * 1024;

/// As lang::value_to_json, for what is sent or shown. Errors: also limit_exceeded beyond
/// max_message_json bytes.
[[nodiscard]] inline result<std::string> message_json(const lang::value& v) {
    lang::json_write_options options;
    options.max_bytes = max_message_json;
    return lang::value_to_json(v, options);
}

} // namespace heddle::tasks
