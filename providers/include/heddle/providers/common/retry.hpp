// When a failed call is retried, and after how long.
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
    unsigned max_retries = 4;                   ///< after the first attempt; 0: none
    unsigned max_rate_limit_retries = 12;       ///< separate budget for 429
    std::chrono::milliseconds first_wait{500};  ///< ceiling of the first wait, doubled each time
    std::chrono::milliseconds max_wait{30'000}; ///< ceiling of waits that the service does not set
    /// If a service asks for a longer wait, the call fails with its error and retry_after, so that
    /// the caller may use another model.
    std::chrono::milliseconds max_asked_wait{120'000};
    /// Minimum time for an attempt: with less left before the deadline, it is not started.
    std::chrono::milliseconds min_try{1};
    /// Bound on all attempts and waits together: no retry begins later. 0: only the deadline of the
    /// call applies.
    std::chrono::milliseconds total{0};
    std::uint64_t seed = 0; ///< of the jitter; 0: a different one in each process
};

/// Whether a retry may help: error_info::retryable if the layer below has set it, else by the code.
/// Never for a cancellation. Pure.
[[nodiscard]] bool is_retryable(const error& failure) noexcept;

/// The advice on retries in the headers of a response; all members empty: none.
struct retry_advice {
    std::optional<bool> should_retry;              ///< x-should-retry
    std::optional<std::chrono::milliseconds> wait; ///< retry-after-ms, else retry-after
};

/// Reads `retry-after-ms` (a number), else `retry-after` (RFC 9110, 10.2.3: seconds or a date; also
/// fractions of a second). Invalid values are ignored. A date in the past means now. Never longer
/// than a week. Pure: `wall_now` is the time of the response.
[[nodiscard]] retry_advice read_retry_advice(std::optional<std::string_view> should_retry,
                                             std::optional<std::string_view> retry_after_ms,
                                             std::optional<std::string_view> retry_after,
                                             std::chrono::system_clock::time_point wall_now);

/// Reads an HTTP-date in its preferred form, "Wed, 21 Oct 2026 07:28:00 GMT" (RFC 9110, 5.6.7), or
/// in one of the two obsolete ones. Nothing if it is not one. In seconds, because the range of
/// years exceeds that of system_clock in nanoseconds.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text);

/// Reads a duration as services write it: numbers with the units h, m, s, ms, us, ns one after the
/// other ("6m0s", "23.4s", "20ms"), or a number of seconds without unit. Rounded up; never longer
/// than a week. Nothing if it is not one.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// The wait that a message of a service requests: "Please try again in 1.2s", "retry after 26
/// seconds". Rounded up; never longer than a week. Nothing if it requests none.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_retry_text(std::string_view text);

struct retry_decision {
    bool again = false;
    coro::clock::time_point at; ///< when to send it; set if again
    std::string_view why_not;   ///< for logs and hints; set if not again
};

/// The state of one call over its attempts: counts them and chooses the waits. Exponential with
/// full jitter (each wait is uniform in [0, ceiling]; Brooker, AWS 2015), and never less than the
/// service asks for. Clock and randomness come from outside. Threads: distinct objects are
/// independent.
class retry_state {
public:
    using random = std::minstd_rand;

    /// `options` and `jitter` outlive this; `jitter` is shared by the calls of a provider.
    /// `started` is only used if options.total is set. `paced`: a limiter that is notified of each
    /// 429 chooses the time of the next attempt, so there is no wait here.
    retry_state(const retry_options& options, random& jitter, coro::clock::time_point started = {},
                bool paced = false) noexcept
        : options_(&options), jitter_(&jitter), started_(started), paced_(paced) {}

    /// Call it after each failure. A retry that could not finish before `until` is refused.
    [[nodiscard]] retry_decision after(const error& failure, coro::clock::time_point now,
                                       coro::deadline until) noexcept;

    /// Number of requests, including the current one: 1 at first.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempts_; }

private:
    [[nodiscard]] std::chrono::milliseconds choose_wait(unsigned spent,
                                                        std::chrono::milliseconds asked) noexcept;

    const retry_options* options_;
    random* jitter_;
    coro::clock::time_point started_;
    bool paced_;
    std::uint32_t attempts_ = 1;
    unsigned failures_ = 0;    // of the service or the connection
    unsigned rate_limits_ = 0; // 429
};

/// The generator of a provider's jitter, from the seed of the options or one of the process.
[[nodiscard]] retry_state::random make_jitter(const retry_options& options);

} // namespace heddle::providers
