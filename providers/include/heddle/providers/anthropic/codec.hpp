// Anthropic's Messages API on the wire: requests to bytes, bytes to answers. No I/O.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heddle::providers::anthropic {

/// What the header anthropic-version says. 2026-10-21 takes the key as a bearer token and knows no
/// temperature, top_p and top_k; 2023-06-01 takes it as x-api-key, and a budget for thinking.
enum class api_version : std::uint8_t { v2026_10_21, v2023_06_01 };

struct codec_options {
    std::string name = "anthropic";
    std::string prefix; ///< of the base URL's path: goes before /v1/messages
    secret api_key;     ///< none is sent if empty
    api_version version = api_version::v2026_10_21;
    /// The service wants max_tokens in each request: this one where the request has none, with the
    /// budget for thinking on top.
    std::int64_t default_max_tokens = 8192;
    std::size_t max_depth = 64; ///< of the JSON of answers
    std::size_t max_tool_calls = 256;
};

/// System messages, wherever they stand, become the `system` of the request; messages of one side
/// in a row become one message, so that the results of parallel calls are together. What the
/// service cannot take is an error: seed, answers that are JSON without a schema, and, by version,
/// the sampling settings or a budget for thinking. Source: docs.anthropic.com/en/api/messages.
[[nodiscard]] std::unique_ptr<chat_codec> make_codec(codec_options options);

} // namespace heddle::providers::anthropic
