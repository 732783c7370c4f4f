// What whole answers and stream chunks of Chat Completions have in common.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include "common/json_reader.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::providers::openai {

/// Appends the text of a `content`: a string, or parts of which those of type text count.
void append_content(std::string& out, const json::value& content);

/// Appends what servers of reasoning models put beside the text of a message or delta. It becomes
/// one part, which nobody wants back.
void append_reasoning(ports::chat_response& response, const json::object& message);

[[nodiscard]] ports::finish_reason read_finish(std::string_view text) noexcept;

/// Nothing when `usage` is not an object with counts.
[[nodiscard]] std::optional<ports::token_usage> read_usage(const json::value* usage);

} // namespace heddle::providers::openai
