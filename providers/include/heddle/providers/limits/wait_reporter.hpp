// Log lines about calls that a limiter holds back.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/deadline.hpp>
#include <heddle/providers/limits/limiter_fsm.hpp>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace heddle::providers::limits {

/// What holds a call back, as a clause: "the limit of requests (60 a minute) is used up".
[[nodiscard]] std::string hold_text(limiter_hold hold, const limiter_counters& figures);

/// Says who waits for what and how long, for one model of one account: a warning when a wait is
/// longer than a few seconds, once for each cause; and a debug line every ten seconds at most.
/// Threads: as any value.
class wait_reporter {
public:
    using time_point = coro::clock::time_point;
    static constexpr std::chrono::seconds long_wait{3};
    static constexpr std::chrono::seconds between_lines{10};

    /// `log` outlives it. `whom`: the model and its service, as lines are to name them.
    wait_reporter(log_port& log, std::string whom) : log_(log), whom_(std::move(whom)) {}

    /// To be called when calls have been left waiting.
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
