#include <heddle/providers/limits/learned_pace.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::providers::limits {

namespace {

constexpr double below_estimate = 0.99;
constexpr double first_share = 0.2; // of the rate, right after a cooldown
constexpr double burst_seconds = 1;
constexpr double longest_credit = 20; // seconds
constexpr double most_trust = 2000;
constexpr double largest_growth = 0.25;
constexpr double few_calls = 20;
constexpr double many_calls = 200;     // to rest an estimate on
constexpr double slowest = 1.0 / 3600; // even a service that refuses all is asked once an hour
/// After so long without a call what was learned is forgotten.
constexpr auto forget_after = std::chrono::minutes(10);

double seconds(coro::clock::duration span) noexcept {
    return std::chrono::duration<double>(span).count();
}

} // namespace

double learned_pace::filling_rate(time_point now) const noexcept {
    if (ramp_ <= 0) return rate_;
    const double since = std::max(seconds(now - resumed_), 0.0);
    return rate_ * std::min(first_share + (1 - first_share) * since / ramp_, 1.0);
}

void learned_pace::refill(time_point now) noexcept {
    if (!active() || now <= last_) return;
    if (now - last_ > forget_after) { // another day, other limits
        *this = learned_pace(std::chrono::milliseconds(static_cast<std::int64_t>(ramp_ * 1000)));
        return;
    }
    const double gained = filling_rate(now) * seconds(now - last_);
    const double extra = std::min(credit_, gained * 0.25);
    credit_ -= extra;
    last_ = now;
    level_ = std::min(level_ + gained + extra, std::max(1.0, rate_ * burst_seconds));
}

coro::clock::time_point learned_pace::fits_at(time_point now) const noexcept {
    if (fits()) return now;
    const auto wait = std::chrono::duration<double>((1 - level_) / filling_rate(now));
    return std::max(now, last_) + std::chrono::ceil<coro::clock::duration>(wait);
}

void learned_pace::take(time_point now, bool held_back) noexcept {
    if (!begun_) {
        begun_ = true;
        interval_began_ = now;
    }
    if (!active()) return;
    level_ -= 1;
    if (level_ > 0.9 * rate_ * burst_seconds && rate_ * burst_seconds > 2) pressed_ = false;
    if (held_back) rate_ *= 1 + growth_.after_call(2 * rate_, unsure_ ? 1.0 : largest_growth);
}

void learned_pace::give_back(std::uint64_t number) noexcept {
    if (active()) level_ += 1;
    refused_too(number); // it was not let in either
}

void learned_pace::estimate(double measured, double calls, double rate_before) noexcept {
    const double least = 0.5 * rate_before;
    if (calls < few_calls && measured < least) {
        // Too little to believe in: what was admitted before is still being paid for over there.
        estimate_ = least;
        trust_ = calls;
    } else if (estimate_ <= 0 || unsure_) {
        estimate_ = measured;
        trust_ = calls;
    } else if (!pressed_) { // it could have been more: take it as a lower bound
        estimate_ = std::max(measured, 0.8 * rate_before);
        trust_ = 0;
    } else if (calls >= few_calls && std::abs(measured - estimate_) > 0.25 * estimate_) {
        estimate_ = measured; // the limit has changed
        trust_ = calls;
    } else {
        const double weight = std::max(calls, 1.0);
        estimate_ = (estimate_ * trust_ + measured * weight) / (trust_ + weight);
        trust_ = std::min(trust_ + weight, most_trust);
    }
    estimate_ = std::max(estimate_, slowest);
}

void learned_pace::refused_first(std::uint64_t number, time_point sent,
                                 time_point resume) noexcept {
    const bool first = !active();
    const double let_in =
        std::max(static_cast<double>(number - interval_from_) - 1 - refused_, 0.0);
    // Thousands let go in one moment say nothing about a second.
    const double passed = std::max(seconds(sent - interval_began_), first ? 1.0 : 1e-3);
    estimate((let_in + 0.5) / passed, let_in, rate_);
    unsure_ = first;
    rate_ = below_estimate * estimate_;
    // What rests on little is tried out soon; what rests on one refusal sooner still.
    if (first) growth_.restart(10, 0.5);
    else if (trust_ < many_calls) growth_.restart(std::max(few_calls, trust_), 0.05);
    else growth_.restart(calls_in_step, 0.01);
    interval_from_ = number;
    interval_began_ = sent;
    refused_ = 0;
    pressed_ = true;
    // The bucket over there fills while we pause; that is caught up with slowly, not at once.
    credit_ = rate_ * std::clamp(seconds(resume - sent), 0.0, longest_credit);
    level_ = 1;
    last_ = resumed_ = resume;
}

} // namespace heddle::providers::limits
