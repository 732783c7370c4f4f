// What the calls of models of one workflow use.
#pragma once

#include "shard_counters.hpp"

#include <heddle/tasks/call/task_observer.hpp>

namespace heddle::embed {

/// Observes the session of one call. Threads: the shard's only.
class call_meter final : public tasks::task_observer {
public:
    /// `shard` outlives it.
    explicit call_meter(shard_counters& shard) : shard_(shard) {}

    void on_task_started(const tasks::task_started& event) noexcept override;
    void on_task_finished(const tasks::task_finished& event) noexcept override;
    void on_budget_wait(bool waits) noexcept override;
    void on_limit_wait(bool waits) noexcept override;

    [[nodiscard]] const usage& used() const noexcept { return used_; }

private:
    shard_counters& shard_;
    usage used_;
};

} // namespace heddle::embed
