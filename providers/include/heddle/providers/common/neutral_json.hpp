// Requests and answers as JSON of our own, the same for every service.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>

#include <string>
#include <string_view>

namespace heddle::providers {

/// Appends all that is asked, as one JSON object with its members in a fixed order: equal requests
/// give equal texts. What is not asked of the service (`scheduling`) is left out.
void append_request_json(std::string& out, const ports::chat_request& request);

/// Appends the whole answer but `attempts`, as one JSON object.
void append_response_json(std::string& out, const ports::chat_response& response);

/// Reads what append_response_json wrote; members that are not there keep their defaults, unknown
/// ones are skipped. Errors: invalid_argument for text that is no such object.
[[nodiscard]] result<ports::chat_response> read_response_json(std::string_view text);

} // namespace heddle::providers
