// The rate that a service takes, learned from its refusals.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

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
    [[nodiscard]] double after_call(double min_calls, double largest) noexcept {
        calls_ += 1;
        if (calls_ < (min_calls > needed_ ? min_calls : needed_)) return 0;
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

/// So many calls go between steps of growth that the one refusal which ends a round of them stays
/// far below one in two hundred.
inline constexpr double calls_in_step = 400;

/// A 429, the first since the last cooldown.
struct pace_refusal {
    std::uint64_t number = 0; ///< of the call, counted from 1 as they were let go
    coro::clock::time_point sent{};
    /// When the service takes the next one, if it said so.
    std::optional<coro::clock::time_point> promised;
    /// Nothing from before the last cooldown was still under way after it, so what was let in since
    /// is all that was paid for.
    bool undisturbed = false;
};

/// Requests per second for a service that does not say what it takes. Knows nothing, and holds
/// nothing back, until the first 429.
///
/// Two facts carry it. From one refusal to the next the bucket over there is empty at both ends, so
/// what was let in between, by the time that passed, is its rate, whatever pauses and bursts lay
/// between; where the service promises a time for the next call, the promises are exact marks, and
/// a single call between two of them tells the rate. And a bucket of known size that was full at
/// some moment still bounds the rate from below by what it let in since. What neither explains is a
/// window that refills all at once: there the last pace that held is the best guess.
/// Threads: as any value.
class learned_pace {
public:
    using time_point = coro::clock::time_point;
    explicit learned_pace(std::chrono::milliseconds ramp) noexcept
        : max_ramp_(std::chrono::duration<double>(ramp).count()) {}

    [[nodiscard]] bool active() const noexcept { return rate_ > 0; }
    [[nodiscard]] double per_second() const noexcept { return rate_; }
    void refill(time_point now) noexcept;
    [[nodiscard]] bool fits() const noexcept { return !active() || level_ >= 1 - rounding; }
    [[nodiscard]] time_point fits_at(time_point now) const noexcept;

    /// One goes. `held_back`: it had to wait for this pace.
    void take(time_point now, bool held_back) noexcept;
    /// Takes back take() of a call that was never sent.
    void give_back(std::uint64_t number) noexcept;
    /// Nobody waits: what passes now says little about the limit.
    void not_pressed() noexcept { pressed_ = false; }

    /// False until the second refusal has shown what the first could not.
    [[nodiscard]] bool is_sure() const noexcept { return !unsure_; }
    void refused_first(const pace_refusal& of) noexcept;
    /// Every other 429.
    void refused_too(std::uint64_t number) noexcept {
        if (number > last_refused_) refused_ += 1;
    }
    /// How many were let in since the last refusal, of those before `number`.
    [[nodiscard]] double let_in(std::uint64_t number) const noexcept;
    /// After a 429 without a time: when it is worth a try. In seconds.
    [[nodiscard]] double worth_a_try() const noexcept;
    /// Nothing goes before `at`, and then one.
    void resume(time_point at) noexcept;

private:
    static constexpr double rounding = 1e-6;
    static constexpr double unbounded = std::numeric_limits<double>::infinity();

    /// What one refusal tells.
    struct interval {
        double calls = 0;     // let in since the one before
        double span = 0;      // seconds, over there
        bool precise = false; // between two promises
        double pace = 0;      // that was held
    };
    void begin(const pace_refusal& of, double calls) noexcept;
    void still_refused(const pace_refusal& of) noexcept;
    void refine(const pace_refusal& of, double calls) noexcept;
    [[nodiscard]] interval interval_of(const pace_refusal& of, double calls) const noexcept;
    void bound(const interval& seen, time_point sent) noexcept;
    [[nodiscard]] double from_promises(const interval& seen) noexcept;
    [[nodiscard]] double from_many(const interval& seen, bool promised) noexcept;
    [[nodiscard]] double from_few(const interval& seen, time_point sent) noexcept;
    [[nodiscard]] double from_idle(const interval& seen, time_point sent) noexcept;
    [[nodiscard]] double at_least(const interval& seen) noexcept;
    void anchor_anew(time_point at) noexcept;
    [[nodiscard]] double pool(const interval& seen) noexcept;
    [[nodiscard]] double pool_anew(double calls, double rate) noexcept;
    void plan_growth(const interval& seen, bool undisturbed) noexcept;
    void end_step(time_point now) noexcept;
    [[nodiscard]] bool looks_like_window(double pace) const noexcept;
    [[nodiscard]] double gained_since_resumed(double seconds) const noexcept;

    double max_ramp_;
    double ramp_ = 0; // seconds in which the pace is taken up again after a cooldown
    double rate_ = 0; // per second; 0: nothing learned
    double level_ = 0;
    double credit_ = 0; // what filled over there while we paused
    time_point last_{};
    time_point resumed_{};

    bool begun_ = false;
    bool pressed_ = true;
    bool unsure_ = true; // the bucket over there was full when the first interval began
    double burst_ = 0;   // let in before the first refusal: more than the bucket holds
    std::uint64_t last_refused_ = 0;
    time_point refused_at_{}; // the first refusal of the last cooldown
    time_point empty_at_{};   // the last one
    std::optional<time_point> promised_;
    double refused_ = 0; // in the present interval

    double pooled_calls_ = 0; // what the estimate rests on
    double pooled_span_ = 0;
    double trust_ = 0;    // of the last estimate, in calls
    double fallback_ = 0; // the estimate that was not taken, because a better pace had held
    time_point anchor_{}; // the first refusal: the bucket was empty
    double anchored_calls_ = 0;
    double above_ = 0; // bounds of the rate since then, per second
    double below_ = unbounded;
    double pause_ = 0; // seconds that passed after a refusal until one got through, lately

    double step_calls_ = 0; // since the pace last changed
    time_point step_began_{};
    double sustained_ = 0; // the pace before the last step of growth
    double floor_ = 0;     // what a bucket of that size must have refilled
    careful_growth growth_;
};

} // namespace heddle::providers::limits
