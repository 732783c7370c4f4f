// One limit per minute that the user has set.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::providers::limits {

/// Keeps every 60 s below a number, in any case: it counts what was sent recently, in slots of a
/// quarter of a second, and admits nothing that would raise the count above the limit. What is
/// admitted and not sent yet, because its connection is still being opened, counts until it is
/// sent, and from then on as sent at that time. One more second covers delays on the way to the
/// service. Within that, calls are spread: after a pause, the amount of `burst` may go at once, and
/// the rest at the pace that the count allows, so that a burst is compensated evenly in the minute
/// after it, and not by a pause at its end.
/// Complexity: O(1) for what is admitted, O(slots) for what waits. Threads: as any value.
class minute_limit {
public:
    using time_point = coro::clock::time_point;

    /// `per_minute` > 0.
    minute_limit(std::int64_t per_minute, std::chrono::milliseconds burst, time_point now);

    /// From now on the smaller of the two applies.
    void tighten(std::int64_t per_minute) noexcept;

    void refill(time_point now) noexcept;
    /// More than the limit passes when nothing else was sent, and nothing passes in the minute
    /// after it.
    [[nodiscard]] bool fits(double amount) const noexcept {
        return level_ >= at_once(amount) - rounding && room() >= counted(amount) - rounding;
    }
    /// When it fits if there is no event before. `now`: as at the last refill.
    [[nodiscard]] time_point fits_at(double amount, time_point now) const noexcept;
    /// A lower bound of the time at which level() has grown by `missing`.
    [[nodiscard]] time_point earliest(double missing, time_point now) const noexcept;

    /// When an amount that is taken counts as sent.
    enum class sending : std::uint8_t { now, later };
    /// Time: as at the last refill. `later`: when sent() is called.
    void take(double amount, sending when = sending::now) noexcept;
    /// An amount that was taken for later is sent now, as at the last refill. `before`: it is sent
    /// again, and has counted since that time.
    void sent(double amount, std::optional<time_point> before = std::nullopt) noexcept;
    /// Corrects an amount that was taken or sent at `sent` by `change`.
    void correct(double change, time_point sent) noexcept;
    /// The service refused although there was room: no burst.
    void drain() noexcept;

    /// The amount that may be used at once.
    [[nodiscard]] double level() const noexcept { return level_ < room() ? level_ : room(); }
    [[nodiscard]] double per_second() const noexcept { return limit_ / 60; }
    [[nodiscard]] double limit() const noexcept { return limit_; }

private:
    static constexpr double rounding = 1e-6;
    static constexpr std::chrono::milliseconds slot_length{250};
    /// 61 s, and the current slot.
    static constexpr std::size_t slots = 245;

    [[nodiscard]] double room() const noexcept { return limit_ - count_; }
    [[nodiscard]] double counted(double amount) const noexcept {
        return amount < limit_ ? amount : limit_;
    }
    [[nodiscard]] double at_once(double amount) const noexcept {
        return amount < capacity_ ? amount : capacity_;
    }
    [[nodiscard]] double& in_slot(std::int64_t number) noexcept {
        return sent_[static_cast<std::size_t>(number) % slots];
    }
    [[nodiscard]] double in_slot(std::int64_t number) const noexcept {
        return sent_[static_cast<std::size_t>(number) % slots];
    }
    [[nodiscard]] bool holds(std::int64_t slot) const noexcept {
        return slot <= slot_ && slot_ - slot < static_cast<std::int64_t>(slots);
    }
    void use(double limit) noexcept;
    void advance(std::int64_t to) noexcept;
    void choose_pace() noexcept;
    /// The amount in a slot. What is not sent yet is treated as sent now: it cannot expire sooner.
    [[nodiscard]] double leaving(std::int64_t number) const noexcept {
        return in_slot(number) + (number == slot_ ? unsent_ : 0);
    }

    double burst_seconds_;
    double limit_ = 0;    // in 60 s
    double capacity_ = 0; // maximum that may go at once
    double level_ = 0;
    double pace_ = 0;  // per second, of refilling
    double count_ = 0; // with unsent_
    double unsent_ = 0;
    double last_amount_ = 1;
    std::int64_t slot_ = 0; // the current one
    time_point last_{};
    std::vector<double> sent_;
};

} // namespace heddle::providers::limits
