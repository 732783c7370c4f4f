// When a failed call is tried again, and after how long.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

namespace heddle::providers {

struct retry_options {
    unsigned max_retries = 4;                   ///< beyond the first try; 0: never again
    unsigned max_rate_limit_retries = 12;       ///< 429 has a budget of its own
    std::chrono::milliseconds first_wait{500};  ///< ceiling of the first wait, doubled each time
    std::chrono::milliseconds max_wait{30'000}; ///< ceiling of every wait of our own choosing
    /// A service that asks for a longer wait than this is not waited for: the error goes up with
    /// its retry_after, and whoever has a better idea (another model) may act on it.
    std::chrono::milliseconds max_asked_wait{120'000};
    /// The least time a try needs: with less left before the deadline it is not started.
    std::chrono::milliseconds min_try{1};
    /// Of all tries and waits together: a retry that would begin later is not granted. 0: only the
    /// deadline of the call counts.
    std::chrono::milliseconds total{0};
    std::uint64_t seed = 0; ///< of the jitter; 0: a different one in each process
};

/// Whether an error may pass when tried again: what the layer below says (error_info::retryable),
/// else by its code. Cancellation never is. Pure.
[[nodiscard]] bool is_retryable(const error& failure) noexcept;

/// What the headers of an answer say about trying again. All fields empty: nothing.
struct retry_advice {
    std::optional<bool> should_retry;              ///< x-should-retry
    std::optional<std::chrono::milliseconds> wait; ///< retry-after-ms, else retry-after
};

/// Reads `retry-after-ms` (a number), else `retry-after` (RFC 9110, 10.2.3: seconds or a date; a
/// fraction of a second is taken as well). What cannot be read is taken as not said. A date in the
/// past means now. Never longer than a week. Pure: `wall_now` is the time of the answer.
[[nodiscard]] retry_advice read_retry_advice(std::optional<std::string_view> should_retry,
                                             std::optional<std::string_view> retry_after_ms,
                                             std::optional<std::string_view> retry_after,
                                             std::chrono::system_clock::time_point wall_now);

/// Reads an HTTP-date in its preferred form, "Wed, 21 Oct 2026 07:28:00 GMT" (RFC 9110, 5.6.7), or
/// in one of the two obsolete ones. Nothing when it is not one.
/// In seconds: the years that can be written reach beyond what system_clock counts in nanoseconds.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

/// Reads a duration as services write it: numbers with the units h, m, s, ms, us, ns one after the
/// other ("6m0s", "23.4s", "20ms"), or a number alone, which is seconds. Rounded up; never longer
/// than a week. Nothing when it is not one.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The wait that a text of a service asks for: "Please try again in 1.2s", "retry after 26
/// seconds". Rounded up; never longer than a week. Nothing when it asks for none.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_text(std::string_view text);

struct retry_decision {
    bool again = false;
    coro::clock::time_point at; ///< when to send it; set if again
    std::string_view why_not;   ///< for logs and hints; set if not again
};

/// The memory of one call over its tries: counts them and chooses the waits. Exponential with full
/// jitter (each wait is uniform in [0, ceiling]; Brooker, AWS 2015), and no sooner than the service
/// asked for. Clock and randomness come from outside. Threads: distinct objects are independent.
class retry_state {
public:
    using random = std::minstd_rand;

    /// `options` and `jitter` outlive this; `jitter` is shared by the calls of a provider.
    /// `started` is only needed where options.total is set. `paced`: a limiter that has heard of
    /// the 429 chooses when the next attempt goes, so none is waited for here.
    retry_state(const retry_options& options, random& jitter, coro::clock::time_point started = {},
                bool paced = false) noexcept
        : options_(&options), jitter_(&jitter), started_(started), paced_(paced) {}

    /// To be asked after each failure. A retry that could not finish before `until` is not granted.
    [[nodiscard]] retry_decision after(const error& failure, coro::clock::time_point now,
                                       coro::deadline until) noexcept;

    /// Requests that have been sent when the present one has ended: 1 at first.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }

private:
    [[nodiscard]] std::chrono::milliseconds choose_wait(unsigned spent,
                                                        std::chrono::milliseconds asked) noexcept;

    const retry_options* options_;
    random* jitter_;
    coro::clock::time_point started_;
    bool paced_;
    std::uint32_t attempts_ = 1;
    unsigned failures_ = 0;    // of the service or the way to it
    unsigned rate_limits_ = 0; // 429
};

/// Where a provider's jitter starts: the seed of the options, or one of the process.
[[nodiscard]] retry_state::random make_jitter(const retry_options& options);

} // namespace heddle::providers
