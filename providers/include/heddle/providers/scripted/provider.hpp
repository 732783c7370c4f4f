// The scripted model in process: no socket, no key.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/retry.hpp>
#include <heddle/providers/scripted/engine.hpp>

#include <memory>
#include <string>

namespace heddle::providers {

namespace scripted {

struct provider_options {
    std::string name = "scripted";
    retry_options retry;
};

} // namespace scripted

/// Makes a model of rules. Delays take the loop's time and can be cancelled; faults become the
/// errors that a real service's answer of the same status becomes, and are retried alike.
/// `loop` and `log` outlive it. `rules` is never null and may be shared by providers and servers of
/// one shard. Threads: the shard's only.
[[nodiscard]] std::unique_ptr<ports::llm_port> make_scripted_provider(
    std::shared_ptr<scripted::engine> rules, scripted::provider_options options,
    coro::event_loop& loop, log_port& log);

} // namespace heddle::providers
