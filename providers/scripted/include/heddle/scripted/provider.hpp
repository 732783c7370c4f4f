// The scripted model in process: no socket, no key.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/retry.hpp>
#include <heddle/scripted/engine.hpp>

#include <memory>
#include <string>

namespace heddle::scripted {

struct provider_options {
    std::string name = "scripted";
    providers::retry_options retry;
};

/// Creates a model from rules. Delays use the time of the loop and can be cancelled; faults become
/// the same errors as responses of a real service with the same status, and are retried in the same
/// way.
/// `log` outlives it. `rules` is never null and may be shared by providers and servers of one
/// shard. Threads: the shard's only.
[[nodiscard]] std::unique_ptr<ports::llm_port> make_provider(std::shared_ptr<engine> rules,
                                                             provider_options options,
                                                             log_port& log);

} // namespace heddle::scripted
