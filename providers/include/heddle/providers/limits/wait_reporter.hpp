// Log lines about calls that a limiter delays.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/deadline.hpp>
#include <heddle/providers/limits/limiter_fsm.hpp>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace heddle::providers::limits {

/// The cause of a delay, as a clause: "the limit of requests (60 a minute) is used up".
[[nodiscard]] std::string hold_text(limiter_hold hold, const limiter_counters& figures);

/// Logs what calls of one model of one account wait for, and how long: a warning if a wait is
/// longer than a few seconds, once for each cause; and a debug line at most every ten seconds.
/// Threads: as any value.
class wait_reporter {
public:
    using time_point = coro::clock::time_point;
    static constexpr std::chrono::seconds long_wait{3};
    static constexpr std::chrono::seconds between_lines{10};

    /// `log` outlives it. `whom`: the model and its service, for the log lines.
    wait_reporter(log_port& log, std::string whom) : log_(log), whom_(std::move(whom)) {}

    /// Call it when calls are left waiting.
    void left_waiting(const limiter_fsm& machine, time_point now) {
        const limiter_hold hold = machine.hold();
        const bool timed = machine.wake_at() != time_point::max() && !machine.may_be_sooner();
        const bool warns = timed && !warned_[static_cast<std::size_t>(hold)] &&
                           machine.wake_at() - now >= long_wait;
        if (warns || (now >= next_line_ && log_.enabled(log_level::debug))) {
            write(machine, now, warns);
        }
    }

private:
    void write(const limiter_fsm& machine, time_point now, bool warns);

    log_port& log_;
    std::string whom_;
    std::array<bool, limiter_holds> warned_{};
    time_point next_line_{};
};

} // namespace heddle::providers::limits
