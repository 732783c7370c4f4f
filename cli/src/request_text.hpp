// Requests to models as text.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <string>

namespace heddle::cli {

/// How much of a request is shown, in bytes.
struct request_text_bounds {
    std::size_t one = 4000;  ///< of a message, a schema or a description
    std::size_t all = 16000; ///< of all of them
};
/// All of a request.
inline constexpr request_text_bounds whole_request{SIZE_MAX, SIZE_MAX};

/// The settings of a request that are set, in one line, with the names of heddle.toml:
/// "temperature 0.2, max_tokens 300"; empty: none.
[[nodiscard]] std::string settings_text(const ports::chat_request& request);

/// Messages, tools and schema: a heading for each, such as "system:", and its text below, indented.
/// The result may hold control characters of the request. A part that exceeds the bounds is
/// truncated, followed by the number of bytes that are left out.
[[nodiscard]] std::string request_text(const ports::chat_request& request,
                                       const request_text_bounds& bounds);

} // namespace heddle::cli
