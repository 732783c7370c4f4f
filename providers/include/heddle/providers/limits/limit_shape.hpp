// The meaning of the rate-limit headers of a service: a bucket or a window, and its length.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace heddle::providers::limits {

/// One limit, from the headers of one response.
struct limit_reading {
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::optional<std::chrono::milliseconds> reset; ///< until all of it is back
    std::chrono::milliseconds grain{1};             ///< granularity of the reset
};

/// Services report the same three numbers with one of two meanings. A token bucket (OpenAI,
/// Anthropic, Groq) refills evenly: the reset is the time until it is full, in proportion to what
/// is missing. A fixed window (many gateways) refills all at once: the reset is the end of the
/// window, whatever is missing. Both predict the next reset from the last one; the shape is the one
/// that predicts better. A bucket also determines the period of the limit: each reading bounds it
/// from both sides, and the readings of many calls agree within a fraction of a percent. Some
/// services round resets up to whole seconds without announcing it: resets that are all whole are
/// taken as exact until they contradict one another, and as rounded from then on. A limit need not
/// be per minute. Threads: as any value.
class limit_shape {
public:
    using time_point = coro::clock::time_point;

    /// `at`: when the request was sent; `latency`: how much later the response was read. True:
    /// shape or period may have changed.
    bool observe(const limit_reading& seen, time_point at, coro::clock::duration latency) noexcept;

    [[nodiscard]] bool is_window() const noexcept { return window_; }
    /// The time in which the limit refills, in seconds: a minute until a reading shows another.
    [[nodiscard]] double period() const noexcept;
    /// The length of a window, in seconds: the longest reset seen; 0 before the first.
    [[nodiscard]] double window_length() const noexcept { return max_reset_; }

private:
    /// Of the period, in seconds.
    struct bounds {
        double at_least = 0;
        double at_most = std::numeric_limits<double>::infinity();
        [[nodiscard]] bool contradict(const bounds& other) const noexcept;
        void narrow(const bounds& other) noexcept;
    };
    void bound_period(const limit_reading& seen, double missing, double reset) noexcept;
    void compare(double missing, double reset, time_point at, double tolerance) noexcept;

    bounds as_reported_;
    bounds as_rounded_;     // if resets are rounded up to whole seconds
    bool all_whole_ = true; // resets, so far
    bool rounded_ = false;  // as_rounded_ applies
    double max_reset_ = 0;
    /// An earlier reading, from which both shapes predict.
    struct reference {
        time_point at;
        double missing = 0;
        double reset = 0;
    };
    std::optional<reference> before_;
    double bucket_misses_ = 0; // how often the other shape recently predicted better
    double window_misses_ = 0;
    bool window_ = false;
};

} // namespace heddle::providers::limits
