// What the encoders of requests have in common.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "common/json_writer.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers {

/// llm_errc::invalid_request, not retryable.
[[nodiscard]] error invalid_request(std::string message);

/// True if `name` is one of `names`.
[[nodiscard]] bool is_among(std::string_view name,
                            std::initializer_list<std::string_view> names) noexcept;

/// Writes the member unless it is absent. Errors: invalid_request when it is not finite.
[[nodiscard]] result<void> write_finite(json_writer& out, std::string_view key,
                                        std::string_view shown, std::optional<double> value);

/// Errors: invalid_request when the parameter is not JSON, or names a member of the request that
/// has a setting of its own (`own`).
[[nodiscard]] result<void> check_extra(const ports::extra_parameter& parameter, bool own);

/// The arguments of a call that goes back to the model, which must be an object; none at all are
/// "{}". Errors: invalid_request, which names the tool.
[[nodiscard]] result<std::string_view> arguments_of(const ports::tool_call& call);

/// Errors: invalid_request when the parameters of a tool are not a JSON object.
[[nodiscard]] result<void> check_parameters(const ports::tool_spec& tool, json_memo& known);

/// True for the id of an item of OpenAI Responses, which stands where others have a signature: it
/// means nothing to them, and they refuse what they have not signed.
[[nodiscard]] bool is_item_id(std::string_view signature) noexcept;

/// A little too much rather than one reallocation of a long prompt.
[[nodiscard]] std::size_t expected_size(const ports::chat_request& request) noexcept;

/// Appends one segment of a path; everything but letters, digits and -._~ is percent-encoded.
void append_path_segment(std::string& out, std::string_view segment);

} // namespace heddle::providers
