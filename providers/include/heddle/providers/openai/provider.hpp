// OpenAI Chat Completions, and compatible services.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace heddle::providers {

namespace openai {

inline constexpr std::string_view default_base_url = "https://api.openai.com/v1";

/// `compatible` omits what other servers of this format do not support: it uses max_tokens in place
/// of max_completion_tokens, and sends no `refusal: null` in assistant messages. `mistral` also has
/// random_seed for seed, and no stream_options, which its server refuses; the server reports the
/// usage anyway.
enum class wire_dialect : std::uint8_t { openai, compatible, mistral };

struct options : call_options {
    std::string name = "openai"; ///< what users write before the colon, and what errors begin with
    /// http or https, host, port, path prefix; one trailing slash is ignored. No query, no user.
    std::string base_url{default_base_url};
    secret api_key;           ///< surrounding blanks and line ends are removed; empty: none is sent
    std::string organization; ///< openai-organization, unless empty
    std::string project;      ///< openai-project, unless empty
    /// Empty: `openai` for api.openai.com, `compatible` for all others.
    std::optional<wire_dialect> dialect;
    /// Whether to request the usage at the end of a stream, which some old servers refuse.
    bool stream_usage = true;
};

} // namespace openai

/// Creates only the codec. Uses name, base URL, key and the members after them of `options`.
/// Errors: llm_errc::configuration for an invalid base URL.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_openai_codec(openai::options options);

/// Creates a provider over `http`. Does not connect.
/// `http` and `log` outlive it.
/// Errors: llm_errc::configuration for an invalid base URL, a key that a header cannot contain, and
/// a missing key for api.openai.com. No error shows the key.
/// Threads: the result belongs to the shard of `http`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_openai_provider(
    ports::http_port& http, openai::options options, log_port& log);

} // namespace heddle::providers
