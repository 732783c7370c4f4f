// Bounded concurrency, first come first served.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <deque>

namespace heddle::coro {

/// Counts permits. Waiters are served in order; a cancelled or timed-out waiter leaves the queue
/// without a permit. Threads: the shard's only.
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
    class waiter;
    std::size_t free_;
    std::deque<waiter*> queue_;
};

/// Takes over a permit that the caller has acquired, and releases it at the end of the scope.
class held_permit {
public:
    explicit held_permit(semaphore& owner) noexcept : owner_(owner) {}
    held_permit(const held_permit&) = delete;
    held_permit& operator=(const held_permit&) = delete;
    ~held_permit() { owner_.release(); }

private:
    semaphore& owner_;
};

} // namespace heddle::coro
