// Bounded concurrency, first come first served.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <deque>

namespace heddle::coro {

/// Counts permits. Waiters are served in order; a cancelled or timed-out waiter leaves its place
/// and takes no permit with it. Threads: the shard's only.
class semaphore {
public:
    explicit semaphore(std::size_t permits) : free_(permits) {}
    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;

    /// Errors: cancelled, or deadline passed, while waiting.
    [[nodiscard]] task<result<void>> acquire(call_context context);
    [[nodiscard]] bool try_acquire() noexcept;
    void release() noexcept;
    [[nodiscard]] std::size_t available() const noexcept { return free_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }

private:
    struct waiter {
        wait_point point;
        bool granted = false;
    };
    std::size_t free_;
    std::deque<waiter*> queue_;
};

} // namespace heddle::coro
