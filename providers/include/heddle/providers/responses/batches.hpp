// The batch endpoint of OpenAI, for Responses.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <memory>

namespace heddle::providers {

/// As make_openai_batches, for Responses.
/// Takes the options of the service's calls, and has their address, key and format. Does not
/// connect. `http` and `log` outlive the result. Errors: as make_responses_provider.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_responses_batches(
    ports::http_port& http, responses::options options, log_port& log);

} // namespace heddle::providers
