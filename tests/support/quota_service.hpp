// A service that counts requests, and the headers in which it speaks of it: sans I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

/// How a service reports its limit of requests.
enum class quota_headers : std::uint8_t {
    none,
    openai,            ///< x-ratelimit-*-requests, the reset as a duration to the millisecond
    anthropic,         ///< anthropic-ratelimit-requests-*, the reset as a time in whole seconds
    openai_no_reset,   ///< as openai, without a reset
    openai_next_token, ///< as openai, but the reset is when one more request may go
    openai_unix,       ///< as openai, the reset as Unix time in whole seconds
    openai_remaining   ///< x-ratelimit-remaining-requests, and no limit
};

/// What a 429 reports about the wait.
enum class quota_advice : std::uint8_t { none, seconds, milliseconds };

struct quota_rules {
    double per_second = 50;
    unsigned capacity = 50;    ///< of the bucket, or requests in a window
    double window_seconds = 0; ///< 0: a token bucket; else fixed windows of this length
    double phase = 0;          ///< how far the first window has run when the service starts, 0 to 1
    quota_headers headers = quota_headers::none;
    quota_advice advice = quota_advice::none;
    bool counts_refused = false; ///< a refused request is paid for as well
};

struct quota_verdict {
    bool admitted = false;
    std::vector<std::pair<std::string, std::string>> headers; ///< names in lower case
};

/// Times in seconds from its start.
class quota_service {
public:
    explicit quota_service(const quota_rules& rules);

    /// A request comes. `time_of_day` of the same moment is for headers that tell a time.
    [[nodiscard]] quota_verdict arrive(double now,
                                       std::chrono::system_clock::time_point time_of_day);
    /// The least time in which `count` requests could be admitted, the first one at 0.
    [[nodiscard]] static double min_time(const quota_rules& rules, std::size_t count);

private:
    void pass(double now);
    [[nodiscard]] double until_next() const;
    [[nodiscard]] double until_full() const;
    void report(quota_verdict& verdict, std::chrono::system_clock::time_point time_of_day) const;

    quota_rules rules_;
    double level_;
    double now_ = 0;
    double window_ends_ = 0;
};

} // namespace heddle::testing
