#include <heddle/providers/limits/limit_shape.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::providers::limits {

namespace {

constexpr double minute = 60;
constexpr double second = 1;
constexpr double fine_grain = 0.001;
constexpr double memory = 0.9;       // of earlier comparisons
constexpr double clearly = 0.5;      // more misses than the other shape
constexpr double consistent = 1.02;  // bounds of the period may cross by so much
constexpr double tight_enough = 0.3; // the lower bound of the period to the upper one

double seconds(coro::clock::duration span) noexcept {
    return std::chrono::duration<double>(span).count();
}

} // namespace

bool limit_shape::observe(const limit_reading& seen, time_point at,
                          coro::clock::duration latency) noexcept {
    if (!seen.reset || seen.reset->count() <= 0 || seen.remaining >= seen.limit) return false;
    const auto limit = static_cast<double>(seen.limit);
    const double missing = limit - static_cast<double>(seen.remaining);
    const double reset = seconds(*seen.reset);
    // Some services name whole seconds, rounded up; what looks so is taken as so.
    const bool whole = seen.reset->count() % 1000 == 0;
    const double grain = std::max(whole ? second : fine_grain, seconds(seen.grain));
    bound_period(limit, missing, reset, grain);
    compare(missing, reset, at, std::max({2 * grain, 0.02, 0.5 * seconds(latency)}));
    longest_reset_ = std::max(longest_reset_, reset);
    window_ = bucket_misses_ > window_misses_ + clearly;
    return true;
}

/// The service rounds what remains down, so between `missing` - 1 and `missing` are missing.
void limit_shape::bound_period(double limit, double missing, double reset, double grain) noexcept {
    const double low = std::max(0.0, reset - grain) * limit / missing;
    const double high = missing > 1 ? reset * limit / (missing - 1) : unbounded;
    const double both_low = std::max(at_least_, low);
    const double both_high = std::min(at_most_, high);
    const bool contradiction = both_low > both_high * consistent; // the limit has changed
    at_least_ = contradiction ? low : both_low;
    at_most_ = contradiction ? high : both_high;
}

void limit_shape::compare(double missing, double reset, time_point at, double tolerance) noexcept {
    if (before_) {
        const double passed = seconds(at - before_->at);
        const double as_bucket = before_->reset * missing / before_->missing;
        const double as_window = before_->reset - passed;
        if (as_window > -tolerance) { // else the window is over: it predicts nothing
            const double bucket_error = std::abs(reset - as_bucket);
            const double window_error = std::abs(reset - std::max(as_window, 0.0));
            if (std::abs(bucket_error - window_error) > tolerance) {
                const bool bucket_worse = bucket_error > window_error;
                bucket_misses_ = memory * bucket_misses_ + (bucket_worse ? 1 : 0);
                window_misses_ = memory * window_misses_ + (bucket_worse ? 0 : 1);
            }
        }
        const bool tells_more = std::abs(missing - before_->missing) >= std::max(1.0, 0.3 * missing);
        if (!tells_more && passed <= 0.3 * reset) return; // keep the older one: it tells apart better
    }
    before_ = reference{at, missing, reset};
}

double limit_shape::period() const noexcept {
    const bool tight = at_most_ == unbounded || at_least_ >= tight_enough * at_most_;
    if (at_least_ > 0 && tight) return at_least_;
    return at_most_ < unbounded ? at_most_ : minute;
}

} // namespace heddle::providers::limits
