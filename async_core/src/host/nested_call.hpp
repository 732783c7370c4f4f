#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/timer_wheel.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/fiber.hpp>
#include <heddle/lang/machine.hpp>

#include <optional>
#include <utility>

namespace heddle::host {

/// A call of a function of the program that the work of a host waits for. Lives in its coroutine.
class nested_call final : public coro::cancel_hook, public coro::timer_node {
public:
    nested_call(lang::fiber& fiber, bool of_step) : fiber_(&fiber), of_step_(of_step) {}

    void end(const lang::outcome& last) noexcept {
        fiber_ = nullptr;
        if (last.kind == lang::outcome_kind::done) result_.emplace(last.result);
        else result_.emplace(*last.failure);
        ended_.notify();
    }
    [[nodiscard]] bool lives() const noexcept { return fiber_ != nullptr; }
    /// A durable step waits for it.
    [[nodiscard]] bool is_of_step() const noexcept { return of_step_; }
    [[nodiscard]] coro::wait_point& ended() noexcept { return ended_; }
    [[nodiscard]] result<lang::value> take() { return *std::move(result_); }

private:
    void on_cancel(cancel_reason reason) noexcept override {
        if (fiber_) fiber_->request_cancel(reason);
    }
    void on_timer() noexcept override { on_cancel(cancel_reason::deadline); }

    lang::fiber* fiber_; ///< null once it has ended
    const bool of_step_;
    coro::wait_point ended_;
    std::optional<result<lang::value>> result_;
};

} // namespace heddle::host
