// One of several calls that a model asks for at once.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/fiber.hpp>

#include <memory>

namespace heddle::host {

class session;

/// Makes each of several calls that an effect performs side by side count among the branches that
/// the `concurrency` of its scope allows: the first takes the place of the branch that waits for
/// the effect, the others wait for places of their own. In a durable evaluation it has no effect,
/// because places that become free between two records would change what a replay does.
/// The effect outlives it. Threads: the session's only.
class side_call final : private lang::fiber_driver {
public:
    /// `scope`: of the effect.
    side_call(session& session, const lang::scope_ref& scope);
    ~side_call() override;
    side_call(const side_call&) = delete;
    side_call& operator=(const side_call&) = delete;

    /// The scope in which to perform the call: what the call calls takes its place in turn.
    [[nodiscard]] const lang::scope_ref& scope() const noexcept { return scope_; }

    /// Waits for a place. Errors: cancelled or the deadline error, of `context`.
    [[nodiscard]] coro::task<result<void>> begin(coro::call_context context);
    /// The call is over. The last of the calls waits for a place, because the branch goes on with
    /// it. Errors: as of begin.
    [[nodiscard]] coro::task<result<void>> end(coro::call_context context);

private:
    void wake(lang::fiber&) noexcept override { woken_.notify(); }
    void cancel_effect(lang::fiber&) noexcept override {}
    [[nodiscard]] coro::task<result<void>> granted(coro::call_context context);

    lang::scope_ref scope_;
    std::unique_ptr<lang::fiber> stand_in_; ///< null: does not count
    coro::wait_point woken_;
};

} // namespace heddle::host
