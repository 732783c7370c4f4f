#include <heddle/providers/limits/learned_pace.hpp>

#include "time_spans.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::providers::limits {

namespace {

constexpr double below_estimate = 0.99;
constexpr double first_share = 0.2; // of the pace, right after a cooldown
constexpr double burst_seconds = 1;
constexpr double max_credit = 20;  // seconds
constexpr double max_trust = 2000; // calls
constexpr double max_growth = 0.25;
constexpr double few_calls = 20;
constexpr double many_calls = 200;     // to rest an estimate on
constexpr double slowest = 1.0 / 3600; // even a service that refuses all is asked once an hour
constexpr double rough = 3;            // seconds, beside which a promise in whole ones is exact
constexpr double soonest_try = 0.02;   // seconds
constexpr double latest_first_try = 0.5;
/// After so long without a call what was learned is forgotten, unless calls are rarer than that.
constexpr double forget_after = 600;
constexpr double calls_to_forget = 5;

} // namespace

/// The pace rises evenly from a fifth to all of it while it is taken up again.
double learned_pace::gained_since_resumed(double passed) const noexcept {
    if (passed <= 0) return 0;
    const double lost = (1 - first_share) / 2; // of the ramp
    if (passed >= ramp_) return rate_ * (passed - lost * ramp_);
    return rate_ * (first_share * passed + lost * passed * passed / ramp_);
}

void learned_pace::refill(time_point now) noexcept {
    if (!active() || now <= last_) return;
    if (seconds(now - last_) > std::max(forget_after, calls_to_forget / rate_)) {
        // Another day, other limits.
        *this =
            learned_pace(std::chrono::milliseconds(static_cast<std::int64_t>(max_ramp_ * 1000)));
        return;
    }
    const double gained = gained_since_resumed(seconds(now - resumed_)) -
                          gained_since_resumed(seconds(last_ - resumed_));
    const double extra = std::min(credit_, gained * 0.25);
    credit_ -= extra;
    last_ = now;
    level_ = std::min(level_ + gained + extra, std::max(1.0, rate_ * burst_seconds));
}

coro::clock::time_point learned_pace::fits_at(time_point now) const noexcept {
    if (fits()) return now;
    const time_point from = std::max(now, last_);
    const double missing = 1 - level_;
    const double already = seconds(from - resumed_);
    if (already >= ramp_) return from + span_of(missing / rate_);
    // When the ramp has brought so much: the inverse of gained_since_resumed().
    const double wanted = (gained_since_resumed(already) + missing) / rate_;
    const double lost = (1 - first_share) / 2;
    double at = wanted + lost * ramp_;
    if (at < ramp_) {
        at = (std::sqrt(first_share * first_share + 4 * lost * wanted / ramp_) - first_share) *
             ramp_ / (2 * lost);
    }
    return std::max(from, resumed_ + span_of(at));
}

void learned_pace::take(time_point now, bool held_back) noexcept {
    if (!begun_) {
        begun_ = true;
        refused_at_ = now;
    }
    if (!active()) return;
    level_ -= 1;
    step_calls_ += 1;
    if (level_ > 0.9 * rate_ * burst_seconds && rate_ * burst_seconds > 2) pressed_ = false;
    if (!held_back) return;
    const double step =
        unsure_ ? growth_.after_call(0.5 * rate_, 1) : growth_.after_call(2 * rate_, max_growth);
    if (step <= 0) return;
    end_step(now);
    sustained_ = rate_;
    rate_ *= 1 + step;
}

void learned_pace::give_back(std::uint64_t number) noexcept {
    if (active()) level_ += 1;
    refused_too(number); // it was not let in either
}

double learned_pace::let_in(std::uint64_t number) const noexcept {
    return std::max(static_cast<double>(number - last_refused_) - 1 - refused_, 0.0);
}

/// A bucket that was full when the step began has let in no more than its size and what it
/// refilled.
void learned_pace::end_step(time_point now) noexcept {
    const double passed = seconds(now - step_began_);
    if (burst_ > 0 && step_calls_ > burst_ && passed > 0) {
        floor_ = std::max(floor_, (step_calls_ - burst_) / passed);
    }
    step_calls_ = 0;
    step_began_ = now;
}

/// A bucket takes the next call about one call's time after a refusal. Where nothing got through
/// for much longer, all of it comes at once.
bool learned_pace::looks_like_window(double pace) const noexcept { return pause_ * pace > 4; }

void learned_pace::refused_first(const pace_refusal& of) noexcept {
    const double calls = let_in(of.number);
    if (!active()) begin(of, calls);
    else if (calls < 1) still_refused(of);
    else refine(of, calls);
    last_refused_ = of.number;
    refused_ = 0;
    empty_at_ = of.sent;
    promised_ = of.promised;
}

void learned_pace::begin(const pace_refusal& of, double calls) noexcept {
    // Thousands let go in one moment say nothing about a second.
    double span = std::max(seconds(of.sent - refused_at_), 1.0);
    if (of.promised) span = std::max(span, seconds(*of.promised - of.sent));
    rate_ = std::max(std::max(calls, 0.5) / span, slowest);
    // That nothing got through at all shows when to come back, and little about how often.
    if (calls < 1) rate_ = std::max(rate_, 0.5 / std::sqrt(span));
    burst_ = calls;
    growth_.restart(rate_ < 1 ? 3 : std::clamp(0.5 * calls, 3.0, 10.0), 1);
    unsure_ = true;
    anchor_ = refused_at_ = of.sent;
}

/// Nothing got through since the last refusal: it is the same one, and goes on.
void learned_pace::still_refused(const pace_refusal& of) noexcept {
    below_ = std::min(below_, 1 / std::max(seconds(of.sent - anchor_), 1e-3));
    if (!unsure_) return;
    const double refused_for = std::max(seconds(of.promised.value_or(of.sent) - refused_at_), 1.0);
    rate_ = std::max(std::min(rate_, std::max(burst_, 2.0) / refused_for), slowest);
    if (burst_ >= 1) return;
    // Nothing has got through yet, as where an earlier run has used up a window. Once it does, the
    // pace doubles with each call: a try costs one refusal at most.
    rate_ = std::max(rate_, 0.5 / std::sqrt(refused_for));
    growth_.restart(1, 1);
}

void learned_pace::refine(const pace_refusal& of, double calls) noexcept {
    end_step(of.sent);
    pause_ = 0.5 * pause_ + 0.5 * std::max(seconds(resumed_ - refused_at_), 0.0);
    const interval seen = interval_of(of, calls);
    const double fallback = std::exchange(fallback_, 0);
    const bool said_little = !pressed_ && (seen.precise || calls < few_calls);
    if (!said_little) bound(seen, of.sent);
    double estimate = 0;
    if (said_little) {
        estimate = from_idle(seen, of.sent);
    } else if (seen.precise) {
        estimate = from_promises(seen);
    } else if (calls >= few_calls) {
        estimate = from_many(seen, of.promised.has_value());
    } else if (fallback > 0) {
        estimate = pool_anew(few_calls, fallback);
    } else {
        estimate = from_few(seen, of.sent);
    }
    // What was let in before may still be being paid for over there.
    if (calls < few_calls && !of.undisturbed) estimate = std::max(estimate, 0.5 * rate_);
    rate_ = std::max(below_estimate * estimate, slowest);
    plan_growth(seen, of.undisturbed);
    unsure_ = false;
    pressed_ = true;
    floor_ = sustained_ = 0;
    refused_at_ = of.sent;
}

learned_pace::interval learned_pace::interval_of(const pace_refusal& of,
                                                 double calls) const noexcept {
    const bool few = calls < few_calls;
    interval seen;
    seen.calls = calls;
    seen.pace = rate_;
    const bool from_promise = promised_ && (few || seconds(*promised_ - refused_at_) > rough);
    seen.precise = promised_ && of.promised && (few || seconds(*of.promised - of.sent) > rough);
    const time_point from = from_promise ? *promised_ : refused_at_;
    const time_point to = seen.precise ? *of.promised : of.sent;
    seen.span = std::max(seconds(to - from), 1e-3);
    return seen;
}

void learned_pace::bound(const interval& seen, time_point sent) noexcept {
    anchored_calls_ += seen.calls;
    const double passed = std::max(seconds(sent - anchor_), 1e-3);
    above_ = std::max(above_, anchored_calls_ / passed);
    below_ = std::min(below_, (anchored_calls_ + 1) / passed);
}

double learned_pace::pool_anew(double calls, double rate) noexcept {
    pooled_calls_ = trust_ = calls;
    pooled_span_ = calls / rate;
    return rate;
}

double learned_pace::pool(const interval& seen) noexcept {
    pooled_calls_ += seen.calls;
    pooled_span_ += seen.span;
    const double excess = pooled_calls_ / max_trust;
    if (excess > 1) {
        pooled_calls_ /= excess;
        pooled_span_ /= excess;
    }
    trust_ = pooled_calls_;
    return pooled_calls_ / pooled_span_;
}

double learned_pace::from_promises(const interval& seen) noexcept {
    const double measured = seen.calls / seen.span;
    const double before = pooled_span_ > 0 ? pooled_calls_ / pooled_span_ : 0;
    if (seen.calls >= few_calls && std::abs(measured - before) > 0.25 * before) {
        pooled_calls_ = pooled_span_ = 0; // the limit has changed
    }
    const double estimate = pool(seen);
    trust_ += pooled_span_; // whole seconds: the longer, the more exact
    return estimate;
}

double learned_pace::from_many(const interval& seen, bool promised) noexcept {
    const double measured = seen.calls / seen.span;
    const bool first = unsure_ || pooled_span_ <= 0;
    const bool window = looks_like_window(seen.pace);
    double held = std::max(floor_, 0.98 * sustained_);
    if (window && sustained_ <= 0) held = std::max(held, 0.8 * seen.pace);
    if (!promised && (first || pressed_) && measured < (window ? 0.97 : 0.85) * held) {
        fallback_ = measured;
        // A pace that held until it was raised has been tried out by all of these calls.
        const double tried = window && sustained_ > 0 ? trust_ + seen.calls : few_calls;
        const double kept = pool_anew(few_calls, held);
        trust_ = tried;
        return kept;
    }
    if (first) return pool_anew(seen.calls, measured);
    if (!pressed_) return at_least(seen);
    const double before = pooled_calls_ / pooled_span_;
    if (std::abs(measured - before) > 0.25 * before) { // the limit has changed
        return pool_anew(seen.calls, measured);
    }
    return pool(seen);
}

/// It could have been more, because nobody waited: a lower bound.
double learned_pace::at_least(const interval& seen) noexcept {
    return pool_anew(1, std::max(seen.calls / seen.span, 0.8 * seen.pace));
}

double learned_pace::from_idle(const interval& seen, time_point sent) noexcept {
    anchor_anew(sent);
    return at_least(seen);
}

void learned_pace::anchor_anew(time_point at) noexcept {
    above_ = anchored_calls_ = 0;
    below_ = unbounded;
    anchor_ = at;
}

double learned_pace::from_few(const interval& seen, time_point sent) noexcept {
    double estimate = 0;
    if (pooled_calls_ >= few_calls) { // a few calls cannot ruin it
        estimate = std::max(pool(seen), 0.5 * seen.pace);
    } else if (above_ <= below_ && anchored_calls_ < few_calls) {
        estimate = std::sqrt(std::max(above_, 0.3 * below_) * below_);
        trust_ = anchored_calls_;
    } else {
        estimate = seen.calls / seen.span;
        trust_ = seen.calls;
        anchor_anew(sent);
    }
    estimate = std::max(estimate, floor_);
    if (anchored_calls_ >= few_calls) return pool_anew(anchored_calls_, estimate);
    return estimate;
}

/// What rests on little is tried out soon; what rests on one refusal sooner still.
void learned_pace::plan_growth(const interval& seen, bool undisturbed) noexcept {
    if (seen.precise && undisturbed && pooled_span_ >= few_calls) {
        growth_.restart(std::max(many_calls, trust_), 0.02);
    } else if (trust_ < many_calls) {
        growth_.restart(std::max(trust_, 2.0), trust_ < 10 ? max_growth : 0.05);
    } else {
        growth_.restart(calls_in_step, 0.01);
    }
}

double learned_pace::worth_a_try() const noexcept {
    const double next = 1 / rate_;
    if (unsure_) return std::clamp(next, soonest_try, latest_first_try);
    // What it took last time may have been far too long: less is tried, until that fails.
    return std::max({next, 0.5 * pause_, soonest_try});
}

void learned_pace::resume(time_point at) noexcept {
    if (!active()) return;
    const double pause = std::max(seconds(at - refused_at_), 0.0);
    // A short pause needs no careful return, and neither does a slow pace.
    ramp_ = rate_ > 5 ? std::min({max_ramp_, rate_ / 25, 2 * pause}) : 0;
    // The bucket over there fills while we pause; that is caught up with slowly, not at once. A
    // window keeps nothing of a pause.
    const double filled = std::clamp(seconds(at - empty_at_), 0.0, max_credit);
    const bool window = !promised_ && looks_like_window(rate_);
    credit_ = unsure_ || window ? 0 : std::max(rate_ * filled - 1, 0.0);
    level_ = 1;
    last_ = resumed_ = step_began_ = at;
    step_calls_ = 0;
}

} // namespace heddle::providers::limits
