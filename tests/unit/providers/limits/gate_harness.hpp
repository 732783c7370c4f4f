#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>

#include "../provider_testing.hpp"

#include <deque>

namespace heddle::testing {

/// Calls on the virtual clock that hold their permit for a while.
struct gate_harness {
    explicit gate_harness(providers::limiter_settings settings = {})
        : gate(loop, std::move(settings)) {}

    struct caller {
        gate_harness* in = nullptr;
        ports::chat_request request;
        coro::cancel_source cancel;
        coro::deadline until;
        providers::call_permit permit;
        std::optional<error> failure;
        coro::clock::time_point ended{};
        bool done = false;
    };

    static coro::task<void> ask(caller* self) {
        providers::call_demand demand;
        demand.request = &self->request;
        demand.input_tokens = 100;
        self->permit = self->in->gate.try_acquire(demand);
        if (!self->permit) {
            auto granted = co_await self->in->gate.acquire(
                demand, {&self->in->loop, &self->cancel, self->until});
            if (granted) self->permit = *std::move(granted);
            else self->failure = granted.error();
        }
        self->ended = self->in->loop.now();
        self->done = true;
    }
    caller& call(std::uint64_t flow = 0, coro::deadline until = {}, std::string model = "m") {
        caller& result = callers.emplace_back();
        result.in = this;
        result.request.model = std::move(model);
        result.request.scheduling.flow = flow;
        result.until = until;
        coro::spawn(loop, ask(&result), [](std::exception_ptr) {});
        return result;
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
    providers::limits::limiter_counters counters() { return gate.counters().at(0).second; }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    providers::limiter_gate gate;
    std::deque<caller> callers;
};

} // namespace heddle::testing
