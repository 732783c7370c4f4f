// A local copy of one limit of an account.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/providers/limits/limit_shape.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace heddle::providers::limits {

/// A copy of the count that a service keeps: of a token bucket or a fixed window, as its headers
/// imply. Calls take their demand in advance. Reports of the service correct the copy, which
/// compensates other users of the account, differently counted calls and a wrong first estimate.
/// Delays nothing until a limit is known, but remembers earlier calls, so that the first reading
/// can be placed. Threads: as any value.
class rate_bucket {
public:
    using time_point = coro::clock::time_point;

    struct settings {
        double reserve = 0;        ///< the part of a bucket that is not used
        double window_reserve = 0; ///< the same of a window
    };
    /// The record of take() about a call, for observe().
    struct mark {
        double level = 0;
        double taken = 0;
        double undone = 0;
        bool counted = true; ///< false: undo() was called for it
    };

    explicit rate_bucket(settings chosen) noexcept : settings_(chosen) {}

    /// Whether the service has reported a limit.
    [[nodiscard]] bool active() const noexcept { return rate_ > 0; }
    /// Whether it has also reported when the limit is back: the times here are not a mere guess.
    [[nodiscard]] bool timed() const noexcept { return timed_; }

    void refill(time_point now) noexcept;
    /// An amount above the capacity fits if the bucket is full, and leaves a debt.
    [[nodiscard]] bool fits(double amount) const noexcept {
        return !active() || level_ >= needed(amount) - rounding;
    }
    /// When it fits if there is no event before. `now`: as at the last refill.
    [[nodiscard]] time_point fits_at(double amount, time_point now) const noexcept;

    /// A lower bound of the time at which `missing` more is available, whatever is returned.
    [[nodiscard]] time_point earliest(double missing, time_point now) const noexcept;

    [[nodiscard]] mark take(double amount) noexcept {
        level_ -= amount;
        taken_ += amount;
        return {level_ - corrected_, taken_, undone_};
    }
    /// Less was used than taken.
    void give_back(double amount) noexcept;
    /// The call was never counted: it was refused, or not sent.
    void undo(double amount, mark& of) noexcept;
    /// The service refused although there was enough: it is empty.
    void drain() noexcept;

    /// `of`: what take() returned for the call of the response; `sent`: its time. `uncounted`: how
    /// much of the demand of calls in flight the service may not have counted yet (output).
    void observe(const limit_reading& reported, double uncounted, const mark& of, time_point sent,
                 time_point now) noexcept;

    [[nodiscard]] double level() const noexcept { return level_; }
    [[nodiscard]] double capacity() const noexcept { return capacity_; }
    [[nodiscard]] double per_second() const noexcept { return rate_; }
    [[nodiscard]] double limit() const noexcept { return limit_; }
    [[nodiscard]] double period() const noexcept;

private:
    static constexpr double rounding = 1e-6;
    [[nodiscard]] double needed(double amount) const noexcept {
        return amount < capacity_ ? amount : capacity_;
    }
    void use(const limit_reading& seen) noexcept;
    void pass_window(time_point now) noexcept;
    [[nodiscard]] bool is_window() const noexcept { return active() && shape_.is_window(); }
    void correct(double change) noexcept;
    void clip() noexcept;

    settings settings_;
    limit_shape shape_;
    double rate_ = 0;                                           // per second; 0: no limit known
    double limit_ = 0;                                          // as the service reports it
    double reserved_ = 0;                                       // of it
    std::int64_t named_ = 0;                                    // the limit in the last reading
    double capacity_ = std::numeric_limits<double>::infinity(); // maximum that may go at once
    double level_ = 0;
    double corrected_ = 0; // all corrections so far: what marks are relative to
    double taken_ = 0;     // total ever taken
    double undone_ = 0;    // of that
    time_point last_{};
    std::optional<time_point> window_ends_;
    /// When all is refilled except what was taken since, according to the service.
    std::optional<time_point> full_at_;
    double taken_at_reading_ = 0;
    bool timed_ = false; ///< a reset was named
};

} // namespace heddle::providers::limits
