// Ollama's /api/chat on the wire: requests to bytes, bytes to answers. No I/O.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace heddle::providers::ollama {

struct codec_options {
    std::string name = "ollama";
    std::string prefix;         ///< of the base URL's path: goes before /api/chat
    secret api_key;             ///< sent as a bearer token; a server of one's own needs none
    std::size_t max_depth = 64; ///< of the JSON of answers
    std::size_t max_line = 4 * 1024 * 1024; ///< of a streamed answer
    std::size_t max_tool_calls = 256;
};

/// Extra parameters become `options` (num_ctx, top_k…), but for keep_alive and its like. Reasoning
/// can be switched on and off, or given an effort; a budget of tokens only switches it on. What the
/// service cannot take is an error: a tool that must be called, parallel_tool_calls switched off.
/// Source: docs.ollama.com/api.
[[nodiscard]] std::unique_ptr<chat_codec> make_codec(codec_options options);

} // namespace heddle::providers::ollama
