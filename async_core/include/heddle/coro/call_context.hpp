// The context that is passed to everything that may wait.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/deadline.hpp>
#include <heddle/coro/event_loop.hpp>

#include <optional>

namespace heddle::ports {
class step_memory;
}

namespace heddle::coro {

/// Loop, cancellation, deadline and step of a call. Four words, passed by value.
/// `loop` is never null; `cancel` may be null (cannot be cancelled). All outlive the call.
struct call_context {
    event_loop* loop = nullptr;
    cancel_source* cancel = nullptr;
    deadline until;
    ports::step_memory* step = nullptr; ///< of a durable run; null: nothing is remembered

    [[nodiscard]] bool cancelled() const noexcept { return cancel && cancel->requested(); }
    [[nodiscard]] call_context with_deadline(deadline other) const noexcept {
        return {loop, cancel, until.earlier(other), step};
    }
    [[nodiscard]] call_context with_cancel(cancel_source& source) const noexcept {
        return {loop, &source, until, step};
    }
    /// The error of a call that must not start or continue: cancelled, or deadline passed. Nothing
    /// if it may: test with `if (auto stop = ctx.stop_error())`.
    [[nodiscard]] std::optional<error> stop_error() const;
};

} // namespace heddle::coro
