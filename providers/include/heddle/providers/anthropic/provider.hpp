// Anthropic's Messages API.
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

namespace anthropic {

/// What the header anthropic-version says. 2026-10-21 takes the key as a bearer token and knows no
/// temperature, top_p and top_k; 2023-06-01 takes it as x-api-key, and a budget for thinking.
enum class api_version : std::uint8_t { v2026_10_21, v2023_06_01 };

inline constexpr std::string_view default_base_url = "https://api.anthropic.com";

struct options : call_options {
    std::string name = "anthropic"; ///< what users write before the colon; errors begin with it
    /// http or https, host, port, path prefix; "/v1" at its end may be left out.
    std::string base_url{default_base_url};
    secret api_key; ///< blanks and line ends around it are cut off; empty: none is sent
    api_version version = api_version::v2026_10_21;
    /// The service wants max_tokens in each request: this one where the request has none, with the
    /// budget for thinking on top.
    std::int64_t default_max_tokens = 8192;
};

} // namespace anthropic

/// The codec alone: name, base URL, key and what follows them in `options` are used.
/// System messages, wherever they stand, become the `system` of the request; messages of one side
/// in a row become one message, so that the results of parallel calls are together. What the
/// service cannot take is an error: seed, JSON without a schema, and, by version, the sampling
/// settings or a budget for thinking. Source: docs.anthropic.com/en/api/messages.
/// Errors: llm_errc::configuration for a base URL that cannot be used.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_anthropic_codec(anthropic::options options);

/// Makes a provider over `http`. Does not connect.
/// `http`, `loop` and `log` outlive it.
/// Errors: llm_errc::configuration for a base URL that cannot be used, a key that cannot be put
/// into a header, and a missing key for api.anthropic.com. No error shows the key.
/// Threads: the result belongs to the shard of `loop`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_anthropic_provider(
    ports::http_port& http, anthropic::options options, coro::event_loop& loop, log_port& log);

} // namespace heddle::providers
