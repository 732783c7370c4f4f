// The batch endpoint of Gemini.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/gemini/provider.hpp>

#include <memory>

namespace heddle::providers {

/// Batches with their requests inline. Source: ai.google.dev/gemini-api/docs/batch-api.
/// Takes the options of the service's calls, and has their address, key and format. Does not
/// connect. `http` and `log` outlive the result. Errors: as make_gemini_provider.
[[nodiscard]] result<std::unique_ptr<batch_endpoint>> make_gemini_batches(ports::http_port& http,
                                                                          gemini::options options,
                                                                          log_port& log);

} // namespace heddle::providers
