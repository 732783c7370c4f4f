// One limit per minute that the user has set.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::providers::limits {

/// Keeps any 60 s below a number, whatever else happens: it counts what was sent lately, in slots
/// of a quarter of a second, and lets nothing pass that would bring the count above the limit. What
/// was let through and not sent yet, because its connection is still being made, counts until it is
/// sent, and from then on as sent at that time. What the way to the service delays is covered by a
/// second more. Within that, calls are spread: after
/// a pause so much may go at once as `burst` is worth, and the rest at the pace that the count will
/// bear, so that a burst is paid for evenly in the minute after it, and not by silence at its end.
/// Complexity: O(1) for what passes, O(slots) for what waits. Threads: as any value.
class minute_limit {
public:
    using time_point = coro::clock::time_point;

    /// `per_minute` > 0.
    minute_limit(std::int64_t per_minute, std::chrono::milliseconds burst, time_point now);

    /// The smaller of the two holds from now on.
    void tighten(std::int64_t per_minute) noexcept;

    void refill(time_point now) noexcept;
    /// More than the limit passes when nothing else was sent, and nothing passes in the minute after
    /// it.
    [[nodiscard]] bool fits(double amount) const noexcept {
        return level_ >= at_once(amount) - rounding && room() >= counted(amount) - rounding;
    }
    /// When it fits if nothing else happens. `now` as at the last refill.
    [[nodiscard]] time_point fits_at(double amount, time_point now) const noexcept;
    /// A lower bound for so much more than level().
    [[nodiscard]] time_point earliest(double missing, time_point now) const noexcept;

    /// When something that is taken counts as sent.
    enum class sending : std::uint8_t { now, later };
    /// Time as at the last refill. `later`: sent() tells when.
    void take(double amount, sending when = sending::now) noexcept;
    /// What was taken for later is sent: now, as at the last refill. `before`: it is sent again,
    /// and counted from that time until now.
    void sent(double amount, std::optional<time_point> before = std::nullopt) noexcept;
    /// What was taken, or told by sent(), at `sent` turns out to be so much more (less: negative).
    void correct(double change, time_point sent) noexcept;
    /// The service refused although there was room: no burst.
    void drain() noexcept;

    /// What may go at once.
    [[nodiscard]] double level() const noexcept { return level_ < room() ? level_ : room(); }
    [[nodiscard]] double per_second() const noexcept { return limit_ / 60; }
    [[nodiscard]] double limit() const noexcept { return limit_; }

private:
    static constexpr double rounding = 1e-6;
    static constexpr std::chrono::milliseconds slot_length{250};
    /// 61 s, and the slot that has begun.
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
    /// What lies in a slot. What is not sent yet is treated as if sent now: it cannot leave sooner.
    [[nodiscard]] double leaving(std::int64_t number) const noexcept {
        return in_slot(number) + (number == slot_ ? unsent_ : 0);
    }

    double burst_seconds_;
    double limit_ = 0;    // in 60 s
    double capacity_ = 0; // the most that may go at once
    double level_ = 0;
    double pace_ = 0;  // per second, of refilling
    double count_ = 0; // with unsent_
    double unsent_ = 0;
    double last_amount_ = 1;
    std::int64_t slot_ = 0; // the present one
    time_point last_{};
    std::vector<double> sent_;
};

} // namespace heddle::providers::limits
