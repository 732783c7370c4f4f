// One limit per minute of an account, followed from this side.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <optional>

namespace heddle::providers::limits {

/// What the headers of one answer say about one limit.
struct limit_reading {
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::optional<std::chrono::milliseconds> reset; ///< until all of it is back
};

/// A copy of the token bucket that a service keeps: it fills evenly and pays for calls as they go.
/// What the service says of its own bucket corrects the copy, so that other users of the account,
/// calls that were counted differently and a wrong first guess all even out. Does nothing until a
/// limit is known. Threads: as any value.
class rate_bucket {
public:
    using time_point = coro::clock::time_point;

    /// `burst`: how much time's worth may go at once. `reserve`: the part that is left untouched.
    rate_bucket(std::chrono::milliseconds burst, double reserve) noexcept
        : burst_(std::chrono::duration<double>(burst).count()), reserve_(reserve) {}

    /// A limit that is known beforehand; it stays the most that is used.
    void set_limit(std::int64_t per_minute, time_point now) noexcept;
    [[nodiscard]] bool active() const noexcept { return rate_ > 0; }

    void refill(time_point now) noexcept;
    /// More than fits in at all passes when the bucket is full, and leaves a debt.
    [[nodiscard]] bool fits(double amount) const noexcept {
        return !active() || level_ >= needed(amount);
    }
    /// When it fits if nothing else happens. `now` as at the last refill.
    [[nodiscard]] time_point fits_at(double amount, time_point now) const noexcept;

    /// Takes the amount; gives a mark for observe().
    [[nodiscard]] double take(double amount) noexcept {
        if (!active()) return 0;
        level_ -= amount;
        return level_ - corrected_;
    }
    void give_back(double amount) noexcept;
    /// The service refused although there was enough: it is empty.
    void drain() noexcept;

    /// `taken_by_others`: what calls that are still under way have taken, this one left out;
    /// `uncounted`: how much of that the service may not have counted yet (output). `mark`: what
    /// take() gave for the call that is answered; empty when the limit was not known then.
    void observe(const limit_reading& told, double taken_by_others, double uncounted,
                 std::optional<double> mark, time_point now) noexcept;

    [[nodiscard]] double level() const noexcept { return level_; }
    [[nodiscard]] double capacity() const noexcept { return capacity_; }
    [[nodiscard]] double per_second() const noexcept { return rate_; }

private:
    [[nodiscard]] double needed(double amount) const noexcept {
        return amount < capacity_ ? amount : capacity_;
    }
    void use_rate(double limit, double period) noexcept;
    void learn_period(const limit_reading& seen) noexcept;
    void clip() noexcept;

    double burst_;
    double reserve_;
    double rate_ = 0;     // per second; 0: no limit known
    double capacity_ = 0; // the most that may go at once
    double level_ = 0;
    double corrected_ = 0; // all corrections so far: what marks are relative to
    double known_limit_ = 0;
    double seen_limit_ = 0;
    double period_ = 60; // seconds in which the limit fills
    double voted_period_ = 0;
    std::int64_t voted_missing_ = 0;
    int votes_ = 0;
    bool observed_ = false;
    time_point last_{};
};

} // namespace heddle::providers::limits
