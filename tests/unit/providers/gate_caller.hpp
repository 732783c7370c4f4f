// A call that asks a gate for its permit.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/providers/common/call_gate.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace heddle::testing {

/// Holds its permit until the test takes it away. Outlives the loop's run.
struct gate_caller {
    ports::chat_request request;
    std::int64_t input_tokens = 0;
    coro::cancel_source cancel;
    coro::deadline until;
    providers::call_permit permit;
    std::optional<error> failure;
    coro::clock::time_point ended{}; ///< when it had the permit or the failure
    bool done = false;

    void start(coro::event_loop& loop, providers::call_gate& gate) {
        coro::spawn(loop, ask(this, &loop, &gate), [](std::exception_ptr) {});
    }

private:
    static coro::task<void> ask(gate_caller* self, coro::event_loop* loop,
                                providers::call_gate* gate) {
        providers::call_demand demand;
        demand.request = &self->request;
        demand.input_tokens = self->input_tokens;
        self->permit = gate->try_acquire(demand);
        if (!self->permit) {
            auto granted = co_await gate->acquire(demand, {loop, &self->cancel, self->until});
            if (granted) self->permit = *std::move(granted);
            else self->failure = granted.error();
        }
        self->ended = loop->now();
        self->done = true;
    }
};

} // namespace heddle::testing
