// The rate that a service accepts, learned from its refusals.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace heddle::providers::limits {

/// Raises a value in small steps, which double as long as they succeed.
class careful_growth {
public:
    /// A step is due after `calls` calls that the current value delayed; the first step adds
    /// `first`.
    void restart(double calls, double first) noexcept {
        needed_ = calls;
        next_ = first;
        calls_ = 0;
    }
    /// Call it for each call that the current value delayed. Result: how much to add, usually 0.
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

/// Calls between steps of growth: enough that the one refusal which ends a round of steps is far
/// less than one in two hundred calls.
inline constexpr double calls_in_step = 400;

/// A 429, the first since the last cooldown.
struct pace_refusal {
    std::uint64_t number = 0; ///< number of the call, counted from 1 in the order of admission
    coro::clock::time_point sent{};
    /// When the service accepts the next call, if it named a time.
    std::optional<coro::clock::time_point> promised;
    /// No call from before the last cooldown was in flight after it, so the calls admitted since
    /// then are all that count.
    bool undisturbed = false;
};

/// Requests per second for a service that does not announce its limit. Delays nothing until the
/// first 429.
///
/// It relies on two facts. At two successive refusals the bucket of the service is empty, so the
/// calls admitted in between, divided by the time, are its rate, whatever pauses and bursts there
/// were; if the service names the time of the next call, these times are exact, and a single call
/// between two of them determines the rate. And a bucket of known size that was full at some time
/// bounds the rate from below by what it admitted since then. Neither explains a window that
/// refills all at once: there the last pace without refusals is the best estimate.
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

    /// A call is sent. `held_back`: it had to wait for this pace.
    void take(time_point now, bool held_back) noexcept;
    /// Undoes take() of a call that was never sent.
    void give_back(std::uint64_t number) noexcept;
    /// No call waits: the calls sent now reveal little about the limit.
    void not_pressed() noexcept { pressed_ = false; }

    /// False until the second refusal: the first one does not determine a rate.
    [[nodiscard]] bool is_sure() const noexcept { return !unsure_; }
    void refused_first(const pace_refusal& of) noexcept;
    /// All other 429s.
    void refused_too(std::uint64_t number) noexcept {
        if (number > last_refused_) refused_ += 1;
    }
    /// Number of calls before `number` that were admitted since the last refusal.
    [[nodiscard]] double let_in(std::uint64_t number) const noexcept;
    /// After a 429 without a time: seconds until an attempt is useful.
    [[nodiscard]] double worth_a_try() const noexcept;
    /// No call goes before `at`, and then one.
    void resume(time_point at) noexcept;

private:
    static constexpr double rounding = 1e-6;
    static constexpr double unbounded = std::numeric_limits<double>::infinity();

    /// The information from one refusal.
    struct interval {
        double calls = 0;     // admitted since the previous one
        double span = 0;      // seconds, at the service
        bool precise = false; // between two promises
        double pace = 0;      // that was in effect
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
    double ramp_ = 0; // seconds in which the pace is resumed after a cooldown
    double rate_ = 0; // per second; 0: nothing learned
    double level_ = 0;
    double credit_ = 0; // what was refilled at the service during a pause
    time_point last_{};
    time_point resumed_{};

    bool begun_ = false;
    bool pressed_ = true;
    bool unsure_ = true; // the bucket of the service was full when the first interval began
    double burst_ = 0;   // admitted before the first refusal: more than the size of the bucket
    std::uint64_t last_refused_ = 0;
    time_point refused_at_{}; // the first refusal of the last cooldown
    time_point empty_at_{};   // the last one
    std::optional<time_point> promised_;
    double refused_ = 0; // in the current interval

    double pooled_calls_ = 0; // basis of the estimate
    double pooled_span_ = 0;
    double trust_ = 0;    // of the last estimate, in calls
    double fallback_ = 0; // the estimate that was not used, because a higher pace had worked
    time_point anchor_{}; // the first refusal: the bucket was empty
    double anchored_calls_ = 0;
    double above_ = 0; // bounds of the rate since then, per second
    double below_ = unbounded;
    double pause_ = 0; // recent seconds from a refusal to the next success

    double step_calls_ = 0; // since the pace last changed
    time_point step_began_{};
    double sustained_ = 0; // the pace before the last step of growth
    double floor_ = 0;     // what a bucket of that size must have refilled
    careful_growth growth_;
};

} // namespace heddle::providers::limits
