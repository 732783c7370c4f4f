#include <heddle/providers/limits/limit_shape.hpp>

#include "time_spans.hpp"

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

} // namespace

bool limit_shape::observe(const limit_reading& seen, time_point at,
                          coro::clock::duration latency) noexcept {
    if (!seen.reset || seen.reset->count() <= 0 || seen.remaining >= seen.limit) return false;
    const auto limit = static_cast<double>(seen.limit);
    const double missing = limit - static_cast<double>(seen.remaining);
    const double reset = seconds(*seen.reset);
    all_whole_ = all_whole_ && seen.reset->count() % 1000 == 0;
    bound_period(seen, missing, reset);
    const double grain = std::max(all_whole_ ? second : fine_grain, seconds(seen.grain));
    compare(missing, reset, at, std::max({2 * grain, 0.02, 0.5 * seconds(latency)}));
    max_reset_ = std::max(max_reset_, reset);
    window_ = bucket_misses_ > window_misses_ + clearly;
    return true;
}

bool limit_shape::bounds::contradict(const bounds& other) const noexcept {
    const double low = std::max(at_least, other.at_least);
    return low > std::min(at_most, other.at_most) * consistent;
}

void limit_shape::bounds::narrow(const bounds& other) noexcept {
    at_least = std::max(at_least, other.at_least);
    at_most = std::min(at_most, other.at_most);
}

/// The service rounds what remains down, so between `missing` - 1 and `missing` are missing.
void limit_shape::bound_period(const limit_reading& seen, double missing, double reset) noexcept {
    const auto limit = static_cast<double>(seen.limit);
    const auto with = [&](double grain) {
        bounds result;
        result.at_least = std::max(0.0, reset - grain) * limit / missing;
        if (missing > 1) result.at_most = reset * limit / (missing - 1);
        return result;
    };
    const bounds reported = with(std::max(fine_grain, seconds(seen.grain)));
    const bounds rounded = with(std::max(second, seconds(seen.grain)));
    const bool contradiction = as_reported_.contradict(reported);
    rounded_ = all_whole_ && (rounded_ || contradiction);
    if (rounded_ ? as_rounded_.contradict(rounded) : contradiction) { // the limit has changed
        as_reported_ = as_rounded_ = {};
        rounded_ = false;
    } else if (contradiction) {
        as_reported_ = {};
    }
    as_reported_.narrow(reported);
    as_rounded_.narrow(rounded);
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
        const bool reports_more =
            std::abs(missing - before_->missing) >= std::max(1.0, 0.3 * missing);
        if (!reports_more && passed <= 0.3 * reset)
            return; // keep the older one: it separates better
    }
    before_ = reference{at, missing, reset};
}

double limit_shape::period() const noexcept {
    const bounds& known = rounded_ ? as_rounded_ : as_reported_;
    const bool bounded = known.at_most < std::numeric_limits<double>::infinity();
    const bool tight = !bounded || known.at_least >= tight_enough * known.at_most;
    if (known.at_least > 0 && tight) return known.at_least;
    return bounded ? known.at_most : minute;
}

} // namespace heddle::providers::limits
