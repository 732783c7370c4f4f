// Ollama's /api/chat.
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

namespace ollama {

inline constexpr std::string_view default_base_url = "http://127.0.0.1:11434";

/// Returns the URL of an address. Without a scheme, it is "host", "host:port" or ":port" with an
/// optional path, as in OLLAMA_HOST; defaults are http, this machine, and port 11434. An empty
/// address is the default URL. A URL is returned unchanged: http://host means port 80. Pure;
/// threads: any.
[[nodiscard]] std::string complete_address(std::string address);

struct options : call_options {
    std::string name = "ollama"; ///< what users write before the colon; errors begin with it
    std::string base_url{default_base_url}; ///< or an address that complete_address() completes
    secret api_key;                         ///< sent as a bearer token; local servers need none
};

} // namespace ollama

/// Creates only the codec. Uses name, base URL and key of `options`.
/// Extra parameters become `options` (num_ctx, top_k…), except keep_alive and similar ones.
/// Reasoning can be switched on and off, or have an effort; a budget of tokens only switches it on.
/// Errors for what the service does not support: a tool that must be called, parallel_tool_calls
/// switched off. Source: docs.ollama.com/api.
/// Errors: llm_errc::configuration for an invalid base URL.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_ollama_codec(ollama::options options);

/// Creates a provider over `http`. Does not connect.
/// `http` and `log` outlive it.
/// Errors: llm_errc::configuration for an invalid base URL, a key that a header cannot contain, and
/// a missing key for ollama.com. No error shows the key.
/// Threads: the result belongs to the shard of `http`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_ollama_provider(
    ports::http_port& http, ollama::options options, log_port& log);

/// This kind of service, for configurations. Included in service_adapters().
[[nodiscard]] const service_adapter& ollama_adapter() noexcept;

} // namespace heddle::providers
