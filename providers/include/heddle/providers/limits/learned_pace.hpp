// The rate that a service takes, learned from its refusals.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>

namespace heddle::providers::limits {

/// Raises a value in small steps that double while nothing speaks against them.
class careful_growth {
public:
    /// A step is due after `calls` that the present value held back; the first adds `first`.
    void restart(double calls, double first) noexcept {
        needed_ = calls;
        next_ = first;
        calls_ = 0;
    }
    /// To be called for each call that the present value held back. How much to add, mostly 0.
    [[nodiscard]] double after_call(double least_calls, double largest) noexcept {
        calls_ += 1;
        if (calls_ < (least_calls > needed_ ? least_calls : needed_)) return 0;
        calls_ = 0;
        const double step = next_ < largest ? next_ : largest;
        next_ = 2 * step;
        return step;
    }

private:
    double needed_ = 0;
    double next_ = 0;
    double calls_ = 0;
};

/// So many calls go between steps of growth that the one refusal which ends a round of them stays far
/// below one in two hundred.
inline constexpr double calls_in_step = 400;

/// Requests per second for a service that says nothing of its limits. Knows nothing, and holds
/// nothing back, until the first 429. From one refusal to the next the bucket over there is empty at
/// both ends: what was let in between, by the time that passed, is its rate, whatever pauses and
/// bursts lay between. Threads: as any value.
class learned_pace {
public:
    using time_point = coro::clock::time_point;
    explicit learned_pace(std::chrono::milliseconds ramp) noexcept
        : ramp_(std::chrono::duration<double>(ramp).count()) {}

    [[nodiscard]] bool active() const noexcept { return rate_ > 0; }
    [[nodiscard]] double per_second() const noexcept { return rate_; }
    void refill(time_point now) noexcept;
    [[nodiscard]] bool fits() const noexcept { return !active() || level_ >= 1; }
    [[nodiscard]] time_point fits_at(time_point now) const noexcept;

    /// One goes. `held_back`: it had to wait for this pace.
    void take(time_point now, bool held_back) noexcept;
    /// Takes back take() of a call that was never sent.
    void give_back(std::uint64_t number) noexcept;
    /// Nobody waits: what passes now says little about the limit.
    void not_pressed() noexcept { pressed_ = false; }

    /// A 429, the first since the last cooldown. `number` and `sent`: of the call that it answers,
    /// counted from 1 as they were let go. The next goes at `resume`.
    void refused_first(std::uint64_t number, time_point sent, time_point resume) noexcept;
    /// Every other 429.
    void refused_too(std::uint64_t number) noexcept {
        if (number > interval_from_) refused_ += 1;
    }

private:
    void estimate(double measured, double calls, double rate_before) noexcept;
    [[nodiscard]] double filling_rate(time_point now) const noexcept;

    double ramp_;
    double rate_ = 0; // per second; 0: nothing learned
    double estimate_ = 0;
    double trust_ = 0; // the calls that the estimate rests on
    double level_ = 0;
    double credit_ = 0; // what filled over there while we paused
    time_point last_{};
    time_point resumed_{};

    bool begun_ = false;
    bool pressed_ = true;
    bool unsure_ = true; // the bucket over there was full when the first interval began
    std::uint64_t interval_from_ = 0;
    time_point interval_began_{};
    double refused_ = 0; // in the present interval
    careful_growth growth_;
};

} // namespace heddle::providers::limits
