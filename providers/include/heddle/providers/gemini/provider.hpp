// Google's Gemini API (generateContent).
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/common/service_adapter.hpp>

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
    /// http or https, host, port, path prefix. A version at its end takes precedence over
    /// `version`.
    std::string base_url{default_base_url};
    secret api_key; ///< surrounding blanks and line ends are removed; empty: none is sent
    api_version version = api_version::v1;
};

} // namespace gemini

/// Creates only the codec. Uses name, base URL, key and the members after them of `options`. All
/// system messages become the systemInstruction; consecutive messages of one side become one turn.
/// Schemas are sent as JSON Schema, or in the format of the service if their outermost type is in
/// capitals. Extra parameters of the generation (topK, mediaResolution…) go into generationConfig,
/// others (safetySettings, cachedContent…) next to it. Errors for what the service does not
/// support: parallel_tool_calls switched off, effort and budget together. Source:
/// ai.google.dev/api/generate-content.
/// Errors: llm_errc::configuration for an invalid base URL.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_gemini_codec(gemini::options options);

/// Creates a provider over `http`. Does not connect.
/// `http` and `log` outlive it.
/// Errors: llm_errc::configuration for an invalid base URL, a key that a header cannot contain, and
/// a missing key for generativelanguage.googleapis.com. No error shows the key.
/// Threads: the result belongs to the shard of `http`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_gemini_provider(
    ports::http_port& http, gemini::options options, log_port& log);

/// This kind of service, for configurations. Included in service_adapters().
[[nodiscard]] const service_adapter& gemini_adapter() noexcept;

} // namespace heddle::providers
