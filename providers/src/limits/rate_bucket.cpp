#include <heddle/providers/limits/rate_bucket.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace heddle::providers::limits {

namespace {

constexpr double minute = 60;
constexpr std::int64_t highest_limit = 1'000'000'000'000'000;
/// Users' figures are taken a little lower: there is no answer that would correct them.
constexpr double blind_share = 0.98;
constexpr double gain_down = 0.5; // caution comes quicker than courage
constexpr double gain_up = 0.1;

double seconds(coro::clock::duration span) noexcept {
    return std::chrono::duration<double>(span).count();
}

} // namespace

void rate_bucket::use_rate(double limit, double period) noexcept {
    rate_ = limit / period;
    // Never less than one call's worth of a count of calls.
    capacity_ = std::clamp(rate_ * burst_, std::min(limit, 1.0), std::max(limit, 1.0));
}

void rate_bucket::set_limit(std::int64_t per_minute, time_point now) noexcept {
    if (per_minute <= 0) return;
    known_limit_ = static_cast<double>(per_minute) * blind_share;
    use_rate(known_limit_, minute);
    level_ = capacity_;
    last_ = now;
}

void rate_bucket::refill(time_point now) noexcept {
    if (!active()) return;
    if (now > last_) level_ += rate_ * seconds(now - last_);
    last_ = std::max(last_, now);
    clip();
}

void rate_bucket::clip() noexcept {
    if (level_ <= capacity_) return;
    corrected_ -= level_ - capacity_; // what did not fit: as if it had been corrected away
    level_ = capacity_;
}

coro::clock::time_point rate_bucket::fits_at(double amount, time_point now) const noexcept {
    if (fits(amount)) return now;
    const double wait = (needed(amount) - level_) / rate_;
    constexpr double longest = 3600.0 * 24 * 30;
    const auto span = std::chrono::duration<double>(std::min(wait, longest));
    return now + std::chrono::ceil<coro::clock::duration>(span);
}

void rate_bucket::give_back(double amount) noexcept {
    if (!active()) return;
    level_ += amount;
    clip();
}

void rate_bucket::drain() noexcept {
    if (!active() || level_ <= 0) return;
    corrected_ -= level_;
    level_ = 0;
}

/// Most limits fill within a minute, some within a second, an hour or a day. A reset that is the end
/// of a fixed minute would suggest any of them once, but not time and again.
void rate_bucket::learn_period(const limit_reading& seen) noexcept {
    const std::int64_t missing = seen.limit - seen.remaining;
    if (!seen.reset || missing < 2 || missing == voted_missing_) return;
    const double looks =
        seconds(*seen.reset) * static_cast<double>(seen.limit) / static_cast<double>(missing);
    double vote = 0;
    for (const double period : std::array{1.0, minute, 3600.0, 86'400.0}) {
        if (std::abs(looks - period) < 0.15 * period) vote = period;
    }
    voted_missing_ = missing;
    votes_ = vote == voted_period_ && vote != 0 ? votes_ + 1 : 1;
    voted_period_ = vote;
    if (votes_ >= 3 && vote != 0) period_ = vote;
}

void rate_bucket::observe(const limit_reading& told, double taken_by_others, double uncounted,
                          std::optional<double> mark, time_point now) noexcept {
    if (told.limit <= 0) return;
    // The service may say anything.
    limit_reading seen = told;
    seen.limit = std::min(told.limit, highest_limit);
    seen.remaining = std::clamp<std::int64_t>(told.remaining, 0, seen.limit);
    learn_period(seen);
    refill(now);
    seen_limit_ = static_cast<double>(seen.limit);
    const bool was_active = active();
    if (known_limit_ > 0 && known_limit_ / minute < seen_limit_ / period_) {
        use_rate(known_limit_, minute);
    } else {
        use_rate(seen_limit_, period_);
    }
    last_ = now;
    const auto left = static_cast<double>(seen.remaining);
    const double usable = left - std::floor(reserve_ * seen_limit_);
    if (!was_active) {
        level_ = usable - taken_by_others;
        clip();
        observed_ = true;
        return;
    }
    if (!mark) return;
    // The figure was taken somewhere between the sending of that call and now, with or without what
    // the calls under way will take.
    const double then = *mark + corrected_;
    const double low = std::min(then, level_);
    const double high = std::max(then, level_);
    double change = 0;
    if (usable < low) change = gain_down * (usable - low);
    else if (usable - uncounted > high) {
        change = (observed_ ? gain_up : 1.0) * (usable - uncounted - high);
    }
    observed_ = true;
    level_ += change;
    corrected_ += change;
    clip();
}

} // namespace heddle::providers::limits
