// The only place where a coroutine of heddle parks.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/handler_memory.hpp>
#include <heddle/coro/task.hpp>

#include <optional>

namespace heddle::coro {

enum class wake : std::uint8_t { notified, cancelled, timed_out };

/// Parks one coroutine until notify(), cancellation or the deadline of its context, whichever is
/// first. Everything that waits without a socket is built on it: sleep, semaphore, join, limiter.
/// A notify() before wait() is kept (one). Resumption is always posted, never inline.
/// Lifetime: must not be destroyed while a coroutine is parked in it. Threads: the shard's only.
class wait_point final : private cancel_hook, private timer_node {
public:
    wait_point() = default;

    /// Cancellation: returns wake::cancelled; a notification that came first wins.
    [[nodiscard]] task<wake> wait(call_context context);
    /// Wakes the waiter, or makes the next wait return at once.
    void notify() noexcept;
    [[nodiscard]] bool waiting() const noexcept { return handler_.has_value(); }
    /// Destroys the coroutine that is parked, if there is one: its loop is destroyed. This may
    /// destroy the object itself, if that coroutine owns it.
    void drop() noexcept;

private:
    void on_cancel(cancel_reason reason) noexcept override;
    void on_timer() noexcept override;
    void finish(wake outcome) noexcept;

    std::optional<task_handler> handler_;
    handler_memory<1, 128> memory_; ///< for the wake-up, which must not fail
    event_loop* loop_ = nullptr;
    wake outcome_ = wake::notified;
    bool notified_ = false;
};

/// Waits until `at`. Result: cancelled, or the deadline error when context.until comes first.
[[nodiscard]] task<result<void>> sleep_until(call_context context, clock::time_point at);

/// Lets everything else that is ready run first.
[[nodiscard]] task<void> yield_now(event_loop& loop);

} // namespace heddle::coro
