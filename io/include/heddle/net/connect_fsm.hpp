// The order and times of connection attempts: a pure state machine (after RFC 8305, simplified).
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace heddle::net {

enum class connect_step : std::uint8_t {
    wait,     ///< attempts are in progress
    try_next, ///< start an attempt with next_index()
    succeed,  ///< close the other attempts
    fail      ///< no address is left
};

/// Tries addresses in order; the next one starts when an attempt fails, or when the newest has
/// taken longer than the stagger. The first to connect wins.
class connect_fsm {
public:
    using time_point = coro::clock::time_point;

    connect_fsm(std::size_t addresses, std::chrono::milliseconds stagger) noexcept
        : addresses_(addresses), stagger_(stagger) {}

    [[nodiscard]] connect_step start() noexcept;
    /// The driver has started the requested attempt. Result: always `wait`.
    [[nodiscard]] connect_step begun(time_point now) noexcept;
    /// An attempt failed; also one that failed at once, without begun().
    [[nodiscard]] connect_step attempt_failed(bool was_begun) noexcept;
    [[nodiscard]] connect_step attempt_connected() noexcept;
    [[nodiscard]] connect_step timed(time_point now) noexcept;

    /// Index of the address to try, valid after try_next.
    [[nodiscard]] std::size_t next_index() const noexcept { return next_ - 1; }
    /// When timed() must be called; time_point::max(): never.
    [[nodiscard]] time_point next_time() const noexcept;

private:
    [[nodiscard]] connect_step try_another() noexcept;

    std::size_t addresses_;
    std::chrono::milliseconds stagger_;
    std::size_t next_ = 0;    ///< number of addresses tried
    std::size_t pending_ = 0; ///< attempts in progress
    time_point newest_{};
    bool over_ = false;
};

} // namespace heddle::net
