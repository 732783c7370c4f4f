// Anthropic's Messages API.
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

namespace anthropic {

/// The value of the header anthropic-version. 2026-10-21 takes the key as a bearer token and has no
/// temperature, top_p and top_k; 2023-06-01 takes it as x-api-key and has a budget for thinking.
enum class api_version : std::uint8_t { v2026_10_21, v2023_06_01 };

inline constexpr std::string_view default_base_url = "https://api.anthropic.com";

struct options : call_options {
    std::string name = "anthropic"; ///< what users write before the colon; errors begin with it
    /// http or https, host, port, path prefix; a trailing "/v1" is optional.
    std::string base_url{default_base_url};
    secret api_key; ///< surrounding blanks and line ends are removed; empty: none is sent
    api_version version = api_version::v2026_10_21;
    /// The service requires max_tokens: the value for requests that set none, plus the budget for
    /// thinking.
    std::int64_t default_max_tokens = 8192;
};

} // namespace anthropic

/// Creates only the codec. Uses name, base URL, key and the members after them of `options`. All
/// system messages become the `system` of the request; consecutive messages of one side become one
/// message, so that the results of parallel calls are together. Errors for what the service does
/// not support: seed, JSON without a schema, and, by version, the sampling settings or a budget for
/// thinking. Source: docs.anthropic.com/en/api/messages.
/// Errors: llm_errc::configuration for an invalid base URL.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_anthropic_codec(anthropic::options options);

/// Creates a provider over `http`. Does not connect.
/// `http` and `log` outlive it.
/// Errors: llm_errc::configuration for an invalid base URL, a key that a header cannot contain, and
/// a missing key for api.anthropic.com. No error shows the key.
/// Threads: the result belongs to the shard of `http`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_anthropic_provider(
    ports::http_port& http, anthropic::options options, log_port& log);

/// This kind of service, for configurations. Included in service_adapters().
[[nodiscard]] const service_adapter& anthropic_adapter() noexcept;

} // namespace heddle::providers
