// OpenAI Chat Completions, and every service that speaks the same.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/coro/event_loop.hpp>
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

/// `compatible` leaves out what other servers of this format do not know: max_tokens is used in
/// place of max_completion_tokens, and no `refusal: null` goes back in assistant messages.
/// `mistral` is that one with random_seed for seed and without stream_options, which its server
/// refuses; it tells the usage without being asked.
enum class wire_dialect : std::uint8_t { openai, compatible, mistral };

struct options : call_options {
    std::string name = "openai"; ///< what users write before the colon, and what errors begin with
    /// http or https, host, port, path prefix; one trailing slash is ignored. No query, no user.
    std::string base_url{default_base_url};
    secret api_key;           ///< blanks and line ends around it are cut off; empty: none is sent
    std::string organization; ///< openai-organization, unless empty
    std::string project;      ///< openai-project, unless empty
    /// Empty: `openai` for api.openai.com, `compatible` for all others.
    std::optional<wire_dialect> dialect;
    /// Ask for the usage at the end of a stream; some old servers refuse requests that do.
    bool stream_usage = true;
};

} // namespace openai

/// The codec alone: name, base URL, key and what follows them in `options` are used.
/// Errors: llm_errc::configuration for a base URL that cannot be used.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_openai_codec(openai::options options);

/// Makes a provider over `http`. Does not connect.
/// `http`, `loop` and `log` outlive it.
/// Errors: llm_errc::configuration for a base URL that cannot be used, a key that cannot be put
/// into a header, and a missing key for api.openai.com. No error shows the key.
/// Threads: the result belongs to the shard of `loop`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_openai_provider(
    ports::http_port& http, openai::options options, coro::event_loop& loop, log_port& log);

} // namespace heddle::providers
