#include <heddle/providers/limits/minute_limit.hpp>

#include "time_spans.hpp"

#include <algorithm>

namespace heddle::providers::limits {

namespace {

constexpr double minute = 60;
constexpr std::int64_t highest_limit = 1'000'000'000'000'000;
/// Of the average: it never comes to a halt, because the count holds anyway.
constexpr double slowest_share = 0.1;
/// A call that is so large a part of the limit changes the pace at once, others with the next slot.
constexpr double large_share = 1.0 / 64;

template <class Length>
std::int64_t slot_of(coro::clock::time_point when, Length length) noexcept {
    return std::chrono::floor<std::chrono::milliseconds>(when.time_since_epoch()) / length;
}

template <class Length>
coro::clock::time_point start_of(std::int64_t slot, Length length) noexcept {
    return coro::clock::time_point(length * slot);
}

} // namespace

minute_limit::minute_limit(std::int64_t per_minute, std::chrono::milliseconds burst, time_point now)
    : burst_seconds_(seconds(burst)), slot_(slot_of(now, slot_length)), last_(now), sent_(slots) {
    use(static_cast<double>(std::clamp<std::int64_t>(per_minute, 1, highest_limit)));
    level_ = capacity_;
    choose_pace();
}

void minute_limit::use(double limit) noexcept {
    limit_ = limit;
    // Never less than one call's worth of a count of calls.
    capacity_ = std::clamp(limit * burst_seconds_ / minute, 1.0, limit);
}

void minute_limit::tighten(std::int64_t per_minute) noexcept {
    const auto limit = static_cast<double>(std::max<std::int64_t>(per_minute, 1));
    if (limit >= limit_) return;
    use(limit);
    level_ = std::min(level_, capacity_);
    choose_pace();
}

void minute_limit::refill(time_point now) noexcept {
    if (now <= last_) return;
    level_ = std::min(level_ + pace_ * seconds(now - last_), capacity_);
    last_ = now;
    const std::int64_t slot = slot_of(now, slot_length);
    if (slot != slot_) advance(slot);
}

void minute_limit::advance(std::int64_t to) noexcept {
    const auto span = static_cast<std::int64_t>(slots);
    for (std::int64_t each = std::max(slot_ + 1, to - span + 1); each <= to; ++each) {
        in_slot(each) = 0;
    }
    slot_ = to;
    choose_pace();
    // Nothing was sent for a minute: nothing is owed to any 60 s, whatever a call has used.
    if (count_ <= rounding) level_ = capacity_;
}

/// The highest pace that the count will bear until all that was sent lately has left it.
void minute_limit::choose_pace() noexcept {
    const auto span = static_cast<std::int64_t>(slots);
    const double whole = seconds(slot_length) * static_cast<double>(slots);
    count_ = unsent_; // anew: sums of many small numbers drift
    for (const double each : sent_) count_ += each;
    // So much more will have gone when the next call is due that does not fit any more.
    const double beyond = std::min(last_amount_, limit_) - level_;
    double left = room() + beyond;
    double pace = limit_ / whole;
    for (std::int64_t each = slot_ - span + 1; each <= slot_; ++each) {
        const double leaves = leaving(each);
        if (leaves <= 0) continue;
        const double until = seconds(start_of(each + span, slot_length) - last_);
        if (until > 0) pace = std::min(pace, left / until);
        left += leaves;
    }
    pace_ = std::max(pace, slowest_share * limit_ / whole);
}

coro::clock::time_point minute_limit::fits_at(double amount, time_point now) const noexcept {
    if (fits(amount)) return now;
    time_point fits = now;
    if (const double short_of = at_once(amount) - level_; short_of > rounding) {
        const auto all_left = start_of(slot_ + static_cast<std::int64_t>(slots), slot_length);
        fits = std::max(now, std::min(now + span_of(short_of / pace_), all_left));
    }
    double missing = counted(amount) - room();
    if (missing <= rounding) return fits;
    const auto span = static_cast<std::int64_t>(slots);
    for (std::int64_t each = slot_ - span + 1; each <= slot_; ++each) {
        missing -= leaving(each);
        if (missing > rounding) continue;
        return std::max(fits, start_of(each + span, slot_length));
    }
    return std::max(fits, start_of(slot_ + span, slot_length));
}

coro::clock::time_point minute_limit::earliest(double missing, time_point now) const noexcept {
    const double whole = seconds(slot_length) * static_cast<double>(slots);
    return now + span_of(missing * whole / limit_) - coro::clock::duration(1); // not sooner
}

void minute_limit::take(double amount, sending when) noexcept {
    level_ -= amount;
    count_ += amount;
    (when == sending::now ? in_slot(slot_) : unsent_) += amount;
    last_amount_ = amount;
    if (amount > large_share * limit_) choose_pace();
}

void minute_limit::sent(double amount, std::optional<time_point> before) noexcept {
    if (!before) {
        unsent_ = std::max(unsent_ - amount, 0.0);
    } else if (holds(slot_of(*before, slot_length))) {
        double& then = in_slot(slot_of(*before, slot_length));
        then = std::max(then - amount, 0.0);
    } else {
        count_ += amount; // it had left the count
    }
    in_slot(slot_) += amount;
}

void minute_limit::correct(double change, time_point sent) noexcept {
    level_ = std::min(level_ - change, capacity_);
    const std::int64_t slot = slot_of(sent, slot_length);
    if (!holds(slot)) return;
    double& then = in_slot(slot);
    const double now = std::max(then + change, 0.0);
    count_ += now - then;
    then = now;
}

void minute_limit::drain() noexcept { level_ = std::min(level_, 0.0); }

} // namespace heddle::providers::limits
