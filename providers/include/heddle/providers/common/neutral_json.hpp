// Requests and responses as JSON, the same for every service.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>

#include <string>
#include <string_view>

namespace heddle::providers {

/// Appends a request as one JSON object with its members in a fixed order, so that equal requests
/// have equal texts. Members that are not sent (`scheduling`) are omitted.
void append_request_json(std::string& out, const ports::chat_request& request);

/// Appends a response without `attempts`, as one JSON object.
void append_response_json(std::string& out, const ports::chat_response& response);

/// Reads a text of append_response_json; absent members keep their defaults, unknown ones are
/// skipped. Errors: invalid_argument for a text that is not such an object.
[[nodiscard]] result<ports::chat_response> read_response_json(std::string_view text);

} // namespace heddle::providers
