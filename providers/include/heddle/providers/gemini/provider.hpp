// Google's Gemini API (generateContent).
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::providers {

namespace gemini {

enum class api_version : std::uint8_t { v1, v1beta };

inline constexpr std::string_view default_base_url = "https://generativelanguage.googleapis.com";

struct options : call_options {
    std::string name = "gemini"; ///< what users write before the colon; errors begin with it
    /// http or https, host, port, path prefix. A version at its end goes before `version`.
    std::string base_url{default_base_url};
    secret api_key; ///< blanks and line ends around it are cut off; empty: none is sent
    api_version version = api_version::v1;
};

} // namespace gemini

/// The codec alone: name, base URL, key and what follows them in `options` are used.
/// System messages, wherever they stand, become the systemInstruction; messages of one side in a
/// row become one turn. Schemas are sent as JSON Schema, or as the service's own kind of schema
/// where the type at their top is in capitals. Extra parameters of the generation (topK,
/// mediaResolution…) go into generationConfig, others (safetySettings, cachedContent…) beside it.
/// What the service cannot take is an error: parallel_tool_calls switched off, effort and budget
/// together. Source: ai.google.dev/api/generate-content.
/// Errors: llm_errc::configuration for a base URL that cannot be used.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_gemini_codec(gemini::options options);

/// Makes a provider over `http`. Does not connect.
/// `http`, `loop` and `log` outlive it.
/// Errors: llm_errc::configuration for a base URL that cannot be used, a key that cannot be put
/// into a header, and a missing key for generativelanguage.googleapis.com. No error shows the key.
/// Threads: the result belongs to the shard of `loop`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_gemini_provider(
    ports::http_port& http, gemini::options options, coro::event_loop& loop, log_port& log);

} // namespace heddle::providers
