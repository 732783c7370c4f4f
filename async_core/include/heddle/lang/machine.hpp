// Runs fibers.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/fiber.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heddle::lang {

/// Bounds of a run, shared by its fibers.
struct run_budget {
    std::uint64_t steps =
        UINT64_MAX; ///< calls, back-edges and work of builtins left for all fibers
    std::size_t max_frames = 20'000'000; ///< depth; memory is the usual bound
    bool ending = false; ///< the host has cancelled the run; a program can only cancel a part of it
    /// Steps that all `finally` blocks together may use once the run is cancelled or its steps are
    /// used up, so that a cleanup that never ends cannot keep a run alive.
    std::uint64_t cleanup_steps = 10'000'000;
    /// Whether `finally` blocks use cleanup_steps now.
    [[nodiscard]] bool run_ends() const noexcept { return ending || steps == 0; }
    double cleanup_end = cleanup_limits::never; ///< of these blocks, once the steps are used up
};

enum class outcome_kind : std::uint8_t {
    done,        ///< `result` is the value of the fiber
    failed,      ///< `failure`
    cancelled,   ///< `failure` has the reason
    effect,      ///< fiber.request() waits for resume()
    forked,      ///< `child` was split off; drive it too, and run this fiber again
    parked,      ///< waits for branches, a permit or a future; wake() notifies the driver
    out_of_steps ///< the slice is used up: let others run, then run again
};

struct outcome {
    outcome_kind kind = outcome_kind::done;
    value result;
    std::optional<error> failure;
    std::unique_ptr<fiber> child;
    bool idle = false; ///< out_of_steps without any progress: let others run first
};

/// Creates a fiber that calls `callee` (a closure) with `arguments`.
[[nodiscard]] std::unique_ptr<fiber> start_fiber(realm& realm, value callee,
                                                 std::span<const value> arguments,
                                                 scope_ref scope = {});
/// Creates a fiber that runs compiled top-level code.
[[nodiscard]] std::unique_ptr<fiber> start_fiber(realm& realm, const function_ref& code,
                                                 scope_ref scope = {});

/// A fiber that will compile a program and run it. Compiling takes turns, steps, time and memory as
/// what it runs does, and is cancelled as that is. Errors: those of compile(), as they are.
/// `compiled`: set once the program is compiled; outlives the fiber.
[[nodiscard]] std::unique_ptr<fiber> start_program(realm& realm, std::vector<datum> forms,
                                                   scope_ref scope, function_ref& compiled);

/// The evaluator: a plain function over explicit frames. It never waits, never calls itself, never
/// does I/O, and returns after at most `slice` steps (a step is a call, a back-edge, or
/// work_meter::units_of_a_step of a builtin's work). A builtin that takes longer continues in later
/// runs.
///
/// Cancellation is checked at every step; memory and step limits raise LimitError there. An
/// exception inside, such as exhausted memory, fails the branch that runs.
/// Threads: the session's only.
class machine {
public:
    /// Runs until the fiber ends, has to wait, or has used its slice. When a fiber that is a branch
    /// ends, its join has been notified.
    [[nodiscard]] static outcome run(fiber& self, run_budget& budget,
                                     std::uint32_t slice = 2000) noexcept;

    /// Ends a fiber as failed without running any more of its code, for a driver that cannot run
    /// it. Notifies its join, futures and permits, and requests cancellation of the branches that
    /// it waits for. Its `finally` blocks do not run.
    [[nodiscard]] static outcome abandon(fiber& self, error failure) noexcept;

    /// Ends the wait of a parked fiber, for a driver that cannot wait. A wait for a permit or a
    /// future fails with `failure`: run the fiber afterwards. Requests cancellation of branches
    /// that the fiber waits for.
    static void fail_wait(fiber& self, error failure) noexcept;

    /// When the fiber computes inside a branch of a join on its parent's stack: makes that branch a
    /// fiber of its own, ready to run, so that its siblings get their turn. Null if there is none.
    [[nodiscard]] static std::unique_ptr<fiber> split_running_branch(fiber& self);

    /// Passes the result of the effect that a fiber waits for; run the fiber afterwards.
    static void resume(fiber& self, result<value> answer) noexcept;

    /// Ends a wait for a permit or a future whose deadline (fiber::deadline) has passed; run the
    /// fiber afterwards. Result: false, without any effect, if it waits for neither.
    static bool interrupt_wait(fiber& self);

    /// `body`, which has not run, is a part of an effect that `caller` waits for. The concurrency
    /// of its scope bounds it; it has the permit of the caller if that is of the same scope. The
    /// caller gets one back from the last such body that ends.
    static void lend_permit(fiber& caller, fiber& body) noexcept;
    /// For a fiber that never runs, the stand-in for a part of an effect that is not a fiber, after
    /// lend_permit. take_place: whether that part may begin, because it has a permit or needs none;
    /// may_leave_place: whether the caller may go on after it. Otherwise the fiber waits for a
    /// permit: once its driver has been woken, the same is to be called again.
    [[nodiscard]] static bool take_place(fiber& stand_in) noexcept;
    [[nodiscard]] static bool may_leave_place(fiber& stand_in) noexcept;
    /// That part is over, or was cancelled while it waited.
    static void leave_place(fiber& stand_in) noexcept;

    /// The failure of an effect that was ended because the deadline of the fiber has passed. It
    /// leaves the extent of that deadline; no `catch` inside handles it.
    [[nodiscard]] static error deadline_failure(const fiber& self);
};

/// The map that `catch` binds: kind, reason, message, span, stack, data, result, and causes: a list
/// of such maps without causes, the most direct cause first.
[[nodiscard]] value describe_error(realm& realm, const error& failure);

/// A scope inside `outer` that runs at most that many branches at a time.
[[nodiscard]] scope_ref with_concurrency(realm& realm, const scope_ref& outer,
                                         std::size_t branches);

} // namespace heddle::lang
