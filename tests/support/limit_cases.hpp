// Services with small and odd quotas, and a program that calls them: on the virtual clock.
#pragma once

#include "quota_service.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::testing {

struct limit_case {
    std::string name;
    quota_rules quota;
    std::size_t calls = 2'000;
    std::size_t concurrency = 64;
    bool local = true; ///< the service is on this machine; else the limiter begins as for a far one
    std::optional<std::int64_t> requests_per_minute; ///< that the user has set
    std::chrono::milliseconds latency{100};
    std::chrono::milliseconds refusal_latency{1};
    /// What the row has to reach; other figures than these with their reason.
    struct allowance {
        double of_ideal = 0.8;
        double late_share = 0.005; ///< of 429s after the first burst
    } allows;

    /// Whether the service leaves the limiter to find out everything by refusals.
    [[nodiscard]] bool says_nothing() const noexcept {
        return names_no_limit() && quota.advice == quota_advice::none;
    }
    /// Whether no header names the number of requests that are allowed.
    [[nodiscard]] bool names_no_limit() const noexcept {
        return quota.headers == quota_headers::none ||
               quota.headers == quota_headers::openai_remaining;
    }
};

/// For messages of failed tests.
void PrintTo(const limit_case& of, std::ostream* out);

/// All of the bench, and of the tests.
[[nodiscard]] std::vector<limit_case> limit_cases();

/// What the service saw.
struct limit_case_log {
    struct arrival {
        double at = 0; ///< seconds
        bool admitted = false;
    };
    std::vector<arrival> arrivals;
};

struct limit_case_figures {
    std::size_t sent = 0;
    std::size_t failed = 0;       ///< calls that ended in an error
    std::size_t limited = 0;      ///< 429
    std::size_t limited_late = 0; ///< of these after the first burst, and its echo
    std::size_t late_allowed = 0; ///< of these
    double ideal_required = 0.8;  ///< of_ideal()
    double seconds = 0;           ///< from the first request to the last response
    double least = 0;             ///< the quota allows no less
    double silence = 0;           ///< the longest time without a request, seconds
    double silence_explained = 0; ///< what the quota explains of that
    double learned = 0;           ///< requests per second, learned; 0: nothing

    [[nodiscard]] double of_ideal() const { return seconds > 0 ? least / seconds : 0; }
    [[nodiscard]] double late_share() const {
        return sent > 0 ? static_cast<double>(limited_late) / static_cast<double>(sent) : 0;
    }
    /// Empty when the row holds, else what is wrong.
    [[nodiscard]] std::string fault() const;
};

[[nodiscard]] limit_case_figures read_figures(const limit_case& of, const limit_case_log& log,
                                              double last_response, std::size_t failed);

/// A provider that speaks the format of the case over `http` to `base_url`, behind `gate`.
[[nodiscard]] std::unique_ptr<ports::llm_port> make_case_provider(
    const limit_case& of, ports::http_port& http, std::string base_url,
    std::shared_ptr<providers::limiter_gate> gate, std::uint64_t seed);
[[nodiscard]] providers::limiter_settings settings_of(const limit_case& of);

/// Calls until all of the case are done. `provider` outlives it.
class case_load {
public:
    case_load(coro::event_loop& loop, ports::llm_port& provider, const limit_case& of)
        : loop_(loop), provider_(provider), case_(of) {}
    /// `until`: when calls fail, for rows that do not end by themselves.
    void start(coro::deadline until = {});
    [[nodiscard]] bool done() const noexcept { return running_ == 0; }
    [[nodiscard]] coro::clock::time_point last_response() const noexcept { return last_response_; }
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

private:
    coro::task<void> work(coro::deadline until);

    coro::event_loop& loop_;
    ports::llm_port& provider_;
    const limit_case& case_;
    std::size_t next_ = 0;
    std::size_t running_ = 0;
    std::size_t failed_ = 0;
    std::string failure_;
    coro::clock::time_point last_response_{};
};

/// The response of the service, for the format of the case.
[[nodiscard]] ports::http_response case_response(const limit_case& of, quota_verdict verdict);

[[nodiscard]] limit_case_figures simulate_case(const limit_case& of, std::uint64_t seed,
                                               limit_case_log* keep = nullptr);

} // namespace heddle::testing
