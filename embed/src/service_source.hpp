// What workflows need around them, for one event loop.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/setup/service_set.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <memory>
#include <string>

namespace heddle::embed {

/// Models, prices, files, memory and imports of one shard. Outlives the engines that use it.
/// Threads: the loop's only.
class shard_services {
public:
    virtual ~shard_services() = default;
    /// Adds what tasks need.
    virtual void add_to(tasks::task_system_parts& parts) = 0;
    /// Adds what the language needs.
    virtual void add_to(host::engine_parts& parts) = 0;
    /// Where a program finds its imports; null: nowhere. `file`: its path, or empty.
    [[nodiscard]] virtual std::unique_ptr<host::import_port> imports_of(
        const std::string& file) = 0;
    /// Bounds of a call that sets none.
    [[nodiscard]] virtual host::run_options bounds() const = 0;
    /// What heddle.toml configures; null: nothing.
    [[nodiscard]] virtual setup::service_set* configured() noexcept = 0;
    /// A digest of what besides a program decides what its calls ask for: templates, models and
    /// their settings. Empty without a journal.
    [[nodiscard]] virtual const std::string& settings_digest() const noexcept = 0;
    /// Waits until all connections are closed. No call is in progress.
    [[nodiscard]] virtual coro::task<void> close() = 0;
};

/// Makes the services of each shard. Threads: any; one at a time.
class service_source {
public:
    virtual ~service_source() = default;
    /// `loop` and `log` outlive the result. `first`: those of the first shard, which outlive the
    /// calls of this one: they send the requests to configured services, so that all shards share
    /// limits, cache and connections. Null: this is the first. Errors: invalid_argument or
    /// llm_errc::configuration for settings that cannot be used.
    [[nodiscard]] virtual result<std::unique_ptr<shard_services>> make(
        coro::event_loop& loop, log_port& log, shard_services* first) const = 0;
};

} // namespace heddle::embed
