// OpenAI Responses, and compatible services.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/common/service_adapter.hpp>

#include <memory>
#include <string>

namespace heddle::providers {

namespace responses {

struct options : call_options {
    std::string name = "openai-responses"; ///< what users write before the colon
    /// http or https, host, port, path prefix; one trailing slash is ignored. No query, no user.
    std::string base_url = "https://api.openai.com/v1";
    secret api_key;           ///< surrounding blanks and line ends are removed; empty: none is sent
    std::string organization; ///< openai-organization, unless empty
    std::string project;      ///< openai-project, unless empty
    /// Whether a single message of the user is sent as a string; false: always as a list.
    bool short_input = true;
    /// Whether the service stores nothing: reasoning is returned encrypted, and sent with the next
    /// request (`store` false, `include` reasoning.encrypted_content).
    bool encrypted_reasoning = false;
};

} // namespace responses

/// Creates only the codec. Uses name, base URL, key and the members after them of `options`. System
/// messages at the beginning become `instructions`. An extra parameter `previous_response_id`
/// continues from what the service has stored. Errors for what the service does not support: seed,
/// stop strings, a number of tokens for reasoning.
/// Source: platform.openai.com/docs/api-reference/responses.
/// Errors: llm_errc::configuration for an invalid base URL.
[[nodiscard]] result<std::unique_ptr<chat_codec>> make_responses_codec(responses::options options);

/// Creates a provider over `http`. Does not connect.
/// `http` and `log` outlive it.
/// Errors: llm_errc::configuration for an invalid base URL, a key that a header cannot contain, and
/// a missing key for api.openai.com. No error shows the key.
/// Threads: the result belongs to the shard of `http`.
[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_responses_provider(
    ports::http_port& http, responses::options options, log_port& log);

/// This kind of service, for configurations. Included in service_adapters().
[[nodiscard]] const service_adapter& responses_adapter() noexcept;

} // namespace heddle::providers
