#include <heddle/providers/limits/rate_bucket.hpp>

#include "time_spans.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr std::int64_t highest_limit = 1'000'000'000'000'000;
constexpr double gain_down = 0.5; // caution comes quicker than courage
constexpr double gain_up = 0.1;
constexpr std::chrono::milliseconds max_rounding{1000};
constexpr auto max_reset = std::chrono::hours(24 * 31);

} // namespace

double rate_bucket::period() const noexcept {
    return is_window() ? shape_.window_length() : shape_.period();
}

void rate_bucket::use(const limit_reading& seen) noexcept {
    named_ = seen.limit;
    limit_ = static_cast<double>(seen.limit);
    const double reserved =
        limit_ * (shape_.is_window() ? settings_.window_reserve : settings_.reserve);
    const double freed = std::exchange(reserved_, reserved) - reserved;
    const double length = shape_.is_window() ? shape_.window_length() : shape_.period();
    const bool was_active = active();
    rate_ = limit_ / std::max(length, 1e-3);
    if (was_active) correct(freed);
    capacity_ = std::max(1.0, limit_ - reserved_);
}

void rate_bucket::refill(time_point now) noexcept {
    if (now <= last_) return;
    if (active()) {
        if (is_window()) pass_window(now);
        else level_ += rate_ * seconds(now - last_);
        if (full_at_ && now >= *full_at_) {
            level_ = std::max(level_, capacity_ - (taken_ - taken_at_reading_));
            full_at_.reset();
        }
        clip();
    }
    last_ = now;
}

void rate_bucket::pass_window(time_point now) noexcept {
    if (!window_ends_ || now < *window_ends_) return;
    level_ = capacity_;
    // Until a reading of the new window comes.
    window_ends_ = now + span_of(std::max(shape_.window_length(), 1e-3));
}

void rate_bucket::clip() noexcept {
    if (level_ <= capacity_) return;
    corrected_ -= level_ - capacity_; // what did not fit: as if it had been corrected away
    level_ = capacity_;
}

coro::clock::time_point rate_bucket::fits_at(double amount, time_point now) const noexcept {
    if (fits(amount)) return now;
    if (is_window() && window_ends_) return std::max(now, *window_ends_);
    const time_point filled = now + span_of((needed(amount) - level_) / rate_);
    return full_at_ ? std::min(filled, std::max(now, *full_at_)) : filled;
}

coro::clock::time_point rate_bucket::earliest(double missing, time_point now) const noexcept {
    if (!active()) return now;
    if (is_window() && window_ends_) return std::max(now, *window_ends_);
    const auto span = span_of(missing / rate_) - coro::clock::duration(1); // rounded up: not sooner
    return full_at_ ? std::min(now + span, std::max(now, *full_at_)) : now + span;
}

void rate_bucket::give_back(double amount) noexcept {
    level_ += amount;
    if (active()) clip();
}

void rate_bucket::undo(double amount, mark& of) noexcept {
    of.counted = false;
    level_ += amount;
    undone_ += amount;
    if (active()) clip();
}

void rate_bucket::correct(double change) noexcept {
    level_ += change;
    corrected_ += change;
}

void rate_bucket::drain() noexcept {
    if (active() && level_ > 0) correct(-level_);
}

void rate_bucket::observe(const limit_reading& reported, double uncounted, const mark& of,
                          time_point sent, time_point now) noexcept {
    if (reported.limit <= 0) return;
    // The service may say anything.
    limit_reading seen = reported;
    seen.limit = std::min(reported.limit, highest_limit);
    seen.remaining = std::clamp<std::int64_t>(reported.remaining, 0, seen.limit);
    if (seen.reset) seen.reset = std::clamp<std::chrono::milliseconds>(*seen.reset, {}, max_reset);
    refill(now);
    const bool was_active = active();
    if (shape_.observe(seen, sent, now - sent) || seen.limit != named_) use(seen);
    if (seen.reset) {
        // None at all, though something is missing: rounded down.
        const bool none = seen.reset->count() == 0;
        const time_point back = now + (none ? max_rounding : *seen.reset);
        const bool sooner = window_ends_ && *window_ends_ > now && *window_ends_ < back;
        if (!none || !sooner) window_ends_ = back;
        full_at_ = back;
        taken_at_reading_ = of.taken;
        timed_ = timed_ || !none;
    }
    const auto left = static_cast<double>(seen.remaining);
    const double usable = std::max(left - reserved_, 0.0);
    // What was refused meanwhile was sent before that call or after it: only the former had been
    // taken by then. A refusal comes quickly: what ended before another refused call was sent
    // before that, and what ended before an answered one was sent after it.
    const double lower_then = of.level + corrected_;
    const double upper_then = lower_then + (undone_ - of.undone);
    // The figure was taken somewhere between the sending of that call and now, with or without what
    // the calls under way will take.
    if (!was_active) {
        correct(usable - (of.counted ? lower_then : upper_then));
    } else {
        const double low = std::min(lower_then, level_);
        const double high = std::max(upper_then, level_);
        if (usable < low) correct((left < 1 ? 1 : gain_down) * (usable - low));
        else if (usable - uncounted > high) correct(gain_up * (usable - uncounted - high));
    }
    clip();
}

} // namespace heddle::providers::limits
