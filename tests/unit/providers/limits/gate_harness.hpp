#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>

#include "../gate_caller.hpp"
#include "../provider_testing.hpp"

#include <deque>

namespace heddle::testing {

/// Calls on the virtual clock that hold their permit for a while.
struct gate_harness {
    explicit gate_harness(providers::limiter_settings settings = {})
        : gate(loop, std::move(settings)) {}

    using caller = gate_caller;

    caller& call(std::uint64_t flow = 0, coro::deadline until = {}, std::string model = "m") {
        caller& result = callers.emplace_back();
        result.request.model = std::move(model);
        result.request.scheduling.flow = flow;
        result.input_tokens = 100;
        result.until = until;
        result.start(loop, gate);
        return result;
    }
    void wait(std::chrono::milliseconds span) {
        coro::spawn(
            loop,
            [](coro::event_loop* on, coro::clock::time_point until) -> coro::task<void> {
                auto slept = co_await coro::sleep_until({on, nullptr, {}}, until);
                (void)slept;
            }(&loop, loop.now() + span),
            [](std::exception_ptr) {});
        loop.run();
    }
    void limited(providers::call_permit& permit, std::chrono::milliseconds after) {
        const error failure =
            error(ports::llm_errc::rate_limit, "too many").with_retry_after(after);
        providers::call_outcome outcome;
        outcome.status = 429;
        outcome.failure = &failure;
        permit.settle(outcome);
    }
    static void answered(providers::call_permit& permit) {
        providers::call_outcome outcome;
        outcome.status = 200;
        permit.settle(outcome);
    }
    /// A call that goes and ends at once.
    void pass(const std::string& model) {
        ports::chat_request request;
        request.model = model;
        providers::call_demand demand;
        demand.request = &request;
        providers::call_permit permit = gate.try_acquire(demand);
        if (permit) answered(permit);
    }
    providers::limits::limiter_counters counters() { return gate.counters().at(0).second; }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    providers::limiter_gate gate;
    std::deque<caller> callers;
};

} // namespace heddle::testing
