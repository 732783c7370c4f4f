// What the rate-limit headers of a service mean: a bucket or a window, and of which length.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace heddle::providers::limits {

/// What the headers of one response say about one limit.
struct limit_reading {
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::optional<std::chrono::milliseconds> reset; ///< until all of it is back
    std::chrono::milliseconds grain{1};             ///< what the reset is rounded to
};

/// Services name the same three numbers and mean one of two things. A token bucket (OpenAI,
/// Anthropic, Groq) refills evenly: the reset is the time until it is full, so it is in proportion
/// to what is missing. A fixed window (many gateways) refills all at once: the reset is the end of
/// the window, whatever is missing. Both predict the next reset from the last one; the shape is the
/// one that predicts better. A bucket gives the period of the limit as well: each reading bounds it
/// from both sides, and the readings of many calls meet within a fraction of a percent. Some
/// services round resets up to whole seconds without saying so: resets that are all whole are taken
/// as they stand until they contradict one another, and as rounded from then on. Nothing here
/// assumes that a limit is per minute. Threads: as any value.
class limit_shape {
public:
    using time_point = coro::clock::time_point;

    /// `at`: when the request was sent; `latency`: how much later the response was read. True:
    /// shape or period may have changed.
    bool observe(const limit_reading& seen, time_point at, coro::clock::duration latency) noexcept;

    [[nodiscard]] bool is_window() const noexcept { return window_; }
    /// In which the limit refills, in seconds: a minute until a reading says something else.
    [[nodiscard]] double period() const noexcept;
    /// Of a window, in seconds: the longest reset seen; 0 until one was seen.
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

    bounds as_told_;
    bounds as_rounded_;     // if resets are rounded up to whole seconds
    bool all_whole_ = true; // resets, so far
    bool rounded_ = false;  // as_rounded_ counts
    double max_reset_ = 0;
    /// An earlier reading, from which both shapes predict.
    struct reference {
        time_point at;
        double missing = 0;
        double reset = 0;
    };
    std::optional<reference> before_;
    double bucket_misses_ = 0; // how often the other one predicted better, lately
    double window_misses_ = 0;
    bool window_ = false;
};

} // namespace heddle::providers::limits
