// What is handed down to everything that may wait.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/deadline.hpp>
#include <heddle/coro/event_loop.hpp>

#include <optional>

namespace heddle::coro {

/// Loop, cancellation and deadline of a call. Three words, passed by value.
/// `loop` is never null; `cancel` may be null (cannot be cancelled). Both outlive the call.
struct call_context {
    event_loop* loop = nullptr;
    cancel_source* cancel = nullptr;
    deadline until;

    [[nodiscard]] bool cancelled() const noexcept { return cancel && cancel->requested(); }
    [[nodiscard]] call_context with_deadline(deadline other) const noexcept {
        return {loop, cancel, until.earlier(other)};
    }
    [[nodiscard]] call_context with_cancel(cancel_source& source) const noexcept {
        return {loop, &source, until};
    }
    /// The error of a call that may not start or go on: cancelled, or deadline passed. Empty code
    /// path when it may: test with `if (auto stop = ctx.stop_error())`.
    [[nodiscard]] std::optional<error> stop_error() const;
};

} // namespace heddle::coro
