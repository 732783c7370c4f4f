// The batch endpoint of OpenAI, for Chat Completions.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <memory>

namespace heddle::providers {

/// Uploads a file of lines. Source: platform.openai.com/docs/api-reference/batch.
/// Takes the options of the service's calls, and has their address, key and format. Does not
/// connect. `http` and `log` outlive the result. Errors: as make_openai_provider.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_openai_batches(ports::http_port& http,
                                                                          openai::options options,
                                                                          log_port& log);

} // namespace heddle::providers
