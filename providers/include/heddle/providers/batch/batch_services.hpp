// The batch endpoints of the services that have one.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <memory>

namespace heddle::providers {

// Each takes the options of the service's calls, and has their address, key and format. Does not
// connect. `http` and `log` outlive the result. Errors: as the function that makes the provider.

/// Uploads a file of lines. Source: platform.openai.com/docs/api-reference/batch.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_openai_batches(ports::http_port& http,
                                                                          openai::options options,
                                                                          log_port& log);
/// As make_openai_batches, for Responses.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_responses_batches(
    ports::http_port& http, responses::options options, log_port& log);
/// Message Batches. Source: docs.anthropic.com/en/api/creating-message-batches.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_anthropic_batches(
    ports::http_port& http, anthropic::options options, log_port& log);
/// Batches with their requests inline. Source: ai.google.dev/gemini-api/docs/batch-api.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_gemini_batches(ports::http_port& http,
                                                                          gemini::options options,
                                                                          log_port& log);

} // namespace heddle::providers
