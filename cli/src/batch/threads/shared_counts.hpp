// Counts of the model calls of several threads.
#pragma once

#include "call_counts.hpp"

#include <mutex>

namespace heddle::cli {

/// As call_counts. Threads: any. What was counted before something was posted to another thread is
/// in what that thread reads then.
class shared_counts final : public tasks::task_observer {
public:
    [[nodiscard]] call_counts read() const {
        const std::lock_guard held(mutex_);
        return counts_;
    }

    void on_task_started(const tasks::task_started& event) noexcept override {
        const std::lock_guard held(mutex_);
        counts_.on_task_started(event);
    }
    void on_task_finished(const tasks::task_finished& event) noexcept override {
        const std::lock_guard held(mutex_);
        counts_.on_task_finished(event);
    }
    void on_budget_wait(bool waits) noexcept override {
        const std::lock_guard held(mutex_);
        counts_.on_budget_wait(waits);
    }
    void on_limit_wait(bool waits) noexcept override {
        const std::lock_guard held(mutex_);
        counts_.on_limit_wait(waits);
    }

private:
    mutable std::mutex mutex_;
    call_counts counts_;
};

} // namespace heddle::cli
