// The scripted model in process: no socket, no key.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
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

/// Makes a model of rules. Delays take the loop's time and can be cancelled; faults become the
/// errors that a real service's answer of the same status becomes, and are retried alike.
/// `loop` and `log` outlive it. `rules` is never null and may be shared by providers and servers of
/// one shard. Threads: the shard's only.
[[nodiscard]] std::unique_ptr<ports::llm_port> make_provider(std::shared_ptr<engine> rules,
                                                             provider_options options,
                                                             coro::event_loop& loop, log_port& log);

} // namespace heddle::scripted
