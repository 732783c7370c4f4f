#pragma once

#include <heddle/providers/limits/limiter_fsm.hpp>

#include <deque>
#include <vector>

namespace heddle::testing {

inline const coro::clock::time_point start = coro::clock::time_point(std::chrono::seconds(1000));

/// The machine with a clock in hand.
struct limiter_bench {
    explicit limiter_bench(providers::limits::limiter_options options = {})
        : machine(options, start) {}

    std::uint32_t go(std::int64_t input = 100) { return machine.try_admit({input, 0}, now); }
    providers::limits::limiter_fsm::waiter& wait(std::uint64_t flow = 1,
                                                 coro::deadline until = {}) {
        providers::limits::limiter_fsm::waiter& result = waiters.emplace_back();
        result.size = {100, 0};
        result.flow = flow;
        result.until = until;
        arrived = machine.arrive(result, now);
        return result;
    }
    void end(std::uint32_t slot,
             providers::limits::call_end how = providers::limits::call_end::answered) {
        providers::limits::call_report report;
        report.end = how;
        machine.settle(slot, report, now);
    }
    void limited(std::uint32_t slot, std::optional<std::chrono::milliseconds> after = {}) {
        providers::limits::call_report report;
        report.end = providers::limits::call_end::limited;
        report.retry_after = after;
        machine.settle(slot, report, now);
    }
    void answer(std::uint32_t slot, const providers::rate_limit_headers& headers,
                const ports::token_usage* usage = nullptr) {
        providers::limits::call_report report;
        report.end = providers::limits::call_end::answered;
        report.limits = &headers;
        report.usage = usage;
        machine.settle(slot, report, now);
    }
    std::vector<providers::limits::limiter_fsm::waiter*> released() {
        std::vector<providers::limits::limiter_fsm::waiter*> all;
        while (auto* const next = machine.release(now)) all.push_back(next);
        return all;
    }
    /// Lets time pass from wake to wake; counts who goes.
    std::size_t pass(std::chrono::milliseconds span) {
        const auto until = now + span;
        std::size_t went = released().size();
        while (machine.wake_at() <= until) {
            now = std::max(now, machine.wake_at());
            went += released().size();
        }
        now = until;
        return went + released().size();
    }

    coro::clock::time_point now = start;
    providers::limits::limiter_fsm machine;
    std::deque<providers::limits::limiter_fsm::waiter> waiters;
    providers::limits::limiter_fsm::arrival arrived{};
};

inline providers::limits::limiter_options per_minute(std::int64_t requests) {
    providers::limits::limiter_options options;
    options.per_minute[0] = requests;
    return options;
}

inline providers::rate_limit_headers report_requests(std::int64_t limit, std::int64_t left) {
    providers::rate_limit_headers headers;
    headers.requests_limit = limit;
    headers.requests_remaining = left;
    return headers;
}

} // namespace heddle::testing
