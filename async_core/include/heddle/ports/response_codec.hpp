// Requests as digests and responses as bytes, for journals.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/ports/run_journal.hpp>

#include <string>
#include <string_view>

namespace heddle::ports {

/// Distinguishes requests by all that they ask of `provider`, and by nothing else (not by their
/// scheduling). The same in every process. Not a defence against forged requests.
[[nodiscard]] digest128 digest_of(const chat_request& request, std::string_view provider);

/// All of a response, in a form of its own with a version.
[[nodiscard]] std::string encode_response(const chat_response& response);
/// Errors: io_error for bytes that encode_response has not written.
[[nodiscard]] result<chat_response> decode_response(std::string_view bytes);

} // namespace heddle::ports
