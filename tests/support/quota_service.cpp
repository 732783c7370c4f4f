#include "quota_service.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace heddle::testing {

namespace {

std::string seconds_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3fs", std::ceil(seconds * 1000) / 1000);
    return text;
}

/// The next whole second.
std::time_t unix_time(std::chrono::system_clock::time_point at) {
    return std::chrono::system_clock::to_time_t(std::chrono::ceil<std::chrono::seconds>(at));
}

/// The same as RFC 3339 has it.
std::string time_text(std::chrono::system_clock::time_point at) {
    const std::time_t number = unix_time(at);
    std::tm parts{};
    gmtime_r(&number, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

} // namespace

quota_service::quota_service(const quota_rules& rules)
    : rules_(rules), level_(rules.capacity),
      window_ends_(rules.window_seconds * (1 - rules.phase)) {}

void quota_service::pass(double now) {
    if (rules_.window_seconds > 0) {
        while (now >= window_ends_) {
            window_ends_ += rules_.window_seconds;
            level_ = rules_.capacity;
        }
    } else {
        level_ = std::min<double>(rules_.capacity, level_ + rules_.per_second * (now - now_));
    }
    now_ = now;
}

double quota_service::until_next() const {
    if (level_ >= 1) return 0;
    if (rules_.window_seconds > 0) return window_ends_ - now_;
    return (1 - level_) / rules_.per_second;
}

double quota_service::until_full() const {
    if (rules_.window_seconds > 0) return window_ends_ - now_;
    return (rules_.capacity - level_) / rules_.per_second;
}

quota_verdict quota_service::arrive(double now, std::chrono::system_clock::time_point time_of_day) {
    pass(std::max(now, now_));
    quota_verdict verdict;
    verdict.admitted = level_ >= 1 - 1e-9;
    if (verdict.admitted || rules_.counts_refused) level_ = std::max(0.0, level_ - 1);
    report(verdict, time_of_day);
    if (verdict.admitted) return verdict;
    const double wait = until_next();
    if (rules_.advice == quota_advice::seconds) {
        verdict.headers.emplace_back("retry-after", std::to_string(std::lround(std::ceil(wait))));
    } else if (rules_.advice == quota_advice::milliseconds) {
        verdict.headers.emplace_back("retry-after-ms",
                                     std::to_string(std::lround(std::ceil(wait * 1000))));
    }
    return verdict;
}

void quota_service::report(quota_verdict& verdict,
                           std::chrono::system_clock::time_point time_of_day) const {
    if (rules_.headers == quota_headers::none) return;
    const std::string limit = std::to_string(rules_.capacity);
    const std::string left = std::to_string(static_cast<long>(std::floor(level_ + 1e-9)));
    const auto full = time_of_day + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::duration<double>(until_full()));
    if (rules_.headers == quota_headers::anthropic) {
        verdict.headers.emplace_back("anthropic-ratelimit-requests-limit", limit);
        verdict.headers.emplace_back("anthropic-ratelimit-requests-remaining", left);
        verdict.headers.emplace_back("anthropic-ratelimit-requests-reset", time_text(full));
        return;
    }
    verdict.headers.emplace_back("x-ratelimit-remaining-requests", left);
    if (rules_.headers == quota_headers::openai_remaining) return;
    verdict.headers.emplace_back("x-ratelimit-limit-requests", limit);
    if (rules_.headers == quota_headers::openai_no_reset) return;
    if (rules_.headers == quota_headers::openai_unix) {
        verdict.headers.emplace_back("x-ratelimit-reset-requests", std::to_string(unix_time(full)));
        return;
    }
    const bool next = rules_.headers == quota_headers::openai_next_token;
    verdict.headers.emplace_back("x-ratelimit-reset-requests",
                                 seconds_text(next ? until_next() : until_full()));
}

double quota_service::min_time(const quota_rules& rules, std::size_t count) {
    const auto calls = static_cast<double>(count);
    const double capacity = rules.capacity;
    if (rules.window_seconds <= 0) return std::max(0.0, (calls - capacity) / rules.per_second);
    const double windows = std::ceil(calls / capacity);
    if (windows <= 1) return 0;
    return rules.window_seconds * (1 - rules.phase) + (windows - 2) * rules.window_seconds;
}

} // namespace heddle::testing
