#pragma once

#include "nested_name.hpp"

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/timer_wheel.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/fiber.hpp>
#include <heddle/lang/machine.hpp>

#include <optional>
#include <utility>

namespace heddle::host {

/// A call of a function of the program that the work of a host waits for. Lives in its coroutine.
class nested_call final : public coro::cancel_hook,
                          public coro::timer_node,
                          public durable_row::running_function {
public:
    /// `name`: of one that a durable step waits for, else null. It outlives the call.
    nested_call(lang::fiber& fiber, nested_name* name, coro::event_loop& loop)
        : fiber_(&fiber), name_(name), loop_(loop) {
        if (name_) name_->begin(*this);
    }

    void end(const lang::outcome& last) noexcept {
        fiber_ = nullptr;
        if (last.kind == lang::outcome_kind::done) result_.emplace(last.result);
        else result_.emplace(*last.failure);
        ended_.notify();
    }
    [[nodiscard]] bool lives() const noexcept { return fiber_ != nullptr; }
    /// A durable step waits for it.
    [[nodiscard]] bool is_of_step() const noexcept { return name_ != nullptr; }
    /// Of one of its parts that run side by side.
    [[nodiscard]] bool is_of_part() const noexcept { return name_ && name_->is_of_part(); }
    [[nodiscard]] coro::wait_point& ended() noexcept { return ended_; }
    [[nodiscard]] result<lang::value> take() { return *std::move(result_); }

private:
    void on_cancel(cancel_reason reason) noexcept override {
        if (fiber_) fiber_->request_cancel(reason);
    }
    void on_timer() noexcept override {
        if (!name_) return cut();
        const auto later = name_->end_time(std::exchange(has_more_time_, true));
        if (!later) return;
        try {
            loop_.schedule(*this, loop_.now() + *later);
        } catch (...) { // no memory: it has no more time
            (void)name_->end_time(true);
        }
    }
    void cut() noexcept override { on_cancel(cancel_reason::deadline); }

    lang::fiber* fiber_; ///< null once it has ended
    nested_name* const name_;
    coro::event_loop& loop_;
    bool has_more_time_ = false; ///< than what called it, for what is recorded
    coro::wait_point ended_;
    std::optional<result<lang::value>> result_;
};

} // namespace heddle::host
