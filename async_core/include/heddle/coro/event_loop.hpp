// One shard's loop: executor, clock and timers.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/coro/loop_address.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/timer_wheel.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace heddle::coro {

/// What the waiting operations of a shard share, on top of an io_context that the host owns (that
/// of a server, or one for a single run). Timers have a resolution of 1 ms and never fire early.
/// They fire in the order of their times; those with equal times fire in the order in which they
/// were scheduled.
/// Lifetime: outlives all coroutines started on it; the io_context outlives it.
/// Threads: one thread runs the io_context; only its executor and its address may be used from
/// others (coro::run_on).
class event_loop {
public:
    /// How time passes.
    enum class time : std::uint8_t {
        real,
        virtual_ ///< only by run(): to the next timer when idle: docs/reference/determinism.md
    };

    explicit event_loop(boost::asio::io_context& context, time passes = time::real);
    ~event_loop();
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;

    [[nodiscard]] executor get_executor() const noexcept { return executor_; }
    [[nodiscard]] boost::asio::io_context& context() const noexcept { return context_; }
    /// For other threads, which may keep it longer than the loop.
    [[nodiscard]] const loop_address& address() const noexcept { return address_; }
    [[nodiscard]] clock::time_point now() const noexcept {
        return passes_ == time::real ? clock::now() : virtual_now_;
    }
    /// The time of day. With virtual time it begins at 2000-01-01 00:00 UTC.
    [[nodiscard]] std::chrono::system_clock::time_point time_of_day() const noexcept;
    [[nodiscard]] time passes() const noexcept { return passes_; }

    /// Runs everything until nothing is left to do: io_context::run() with real time. With virtual
    /// time, whenever nothing is ready the clock jumps to the next timer; it ends when there is
    /// none, even if coroutines are parked forever. Waiting for the outside (a socket, a file read
    /// on another thread) does not hold the clock. Must not be called from a handler.
    void run();
    /// With virtual time, advances the clock by `spent`, the length of work that was done. With
    /// real time, does nothing.
    void pass(clock::duration spent) noexcept;

    /// Calls node.on_timer() on the loop once `at` has come. Replaces an earlier schedule.
    void schedule(timer_node& node, clock::time_point at);

    /// Lets io_context::run() return when no timer is left. Call it at the end of a unit of work.
    /// (A timer that is unscheduled leaves the clock armed, so that the usual schedule and
    /// unschedule of each call costs nothing.)
    void settle() noexcept;

private:
    void arm();
    void run_virtual();
    [[nodiscard]] std::uint64_t tick_of(clock::time_point at) const noexcept;
    [[nodiscard]] std::uint64_t order_of(clock::time_point at) const noexcept;

    struct driver; // the asio timer and the guard that outlives a pending wait
    boost::asio::io_context& context_;
    executor executor_;
    loop_address address_;
    time passes_;
    clock::time_point epoch_;
    clock::time_point virtual_now_;
    timer_wheel wheel_;
    std::shared_ptr<driver> driver_;
};

} // namespace heddle::coro
