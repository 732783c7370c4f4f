// Message Batches of Anthropic.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>

#include <memory>

namespace heddle::providers {

/// Source: docs.anthropic.com/en/api/creating-message-batches.
/// Takes the options of the service's calls, and has their address, key and format. Does not
/// connect. `http` and `log` outlive the result. Errors: as make_anthropic_provider.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_anthropic_batches(
    ports::http_port& http, anthropic::options options, log_port& log);

} // namespace heddle::providers
