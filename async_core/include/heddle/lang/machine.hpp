// Runs fibers.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/fiber.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heddle::lang {

/// Bounds of a run, shared by its fibers.
struct run_budget {
    std::uint64_t steps =
        UINT64_MAX; ///< calls, back-edges and work of builtins left over all fibers
    std::size_t max_frames = 20'000'000; ///< depth; memory is the usual bound
    /// What `finally` blocks may use once the run is cancelled or its steps are used up, all together:
    /// so that a cleanup that never ends does not keep a run for ever.
    std::uint64_t cleanup_steps = 10'000'000;
    double cleanup_end = cleanup_limits::never; ///< of them; set when the steps are used up
};

enum class outcome_kind : std::uint8_t {
    done,        ///< `result` is the value of the fiber
    failed,      ///< `failure`
    cancelled,   ///< `failure` says why
    effect,      ///< fiber.request() waits for resume()
    forked,      ///< `child` was split off; drive it too, and run this fiber again
    parked,      ///< waits for branches, a permit or a future; the driver hears of it with wake()
    out_of_steps ///< the slice is used up: let others run, then run again
};

struct outcome {
    outcome_kind kind = outcome_kind::done;
    value result;
    std::optional<error> failure;
    std::unique_ptr<fiber> child;
    bool idle = false; ///< out_of_steps, and nothing was done: others are to have their turn first
};

/// A fiber that will call `callee` (a closure) with `arguments`.
[[nodiscard]] std::unique_ptr<fiber> start_fiber(realm& world, value callee,
                                                 std::span<const value> arguments,
                                                 scope_ref scope = {});
/// A fiber that will run compiled top-level code.
[[nodiscard]] std::unique_ptr<fiber> start_fiber(realm& world, const function_ref& code,
                                                 scope_ref scope = {});

/// The evaluator: a plain function over explicit frames. It never waits, never calls itself, never
/// does I/O, and returns at the latest after `slice` steps (a step is a call, a back-edge, or
/// work_meter::units_of_a_step of a builtin's work). A builtin that takes longer goes on in later runs.
///
/// Cancellation is seen at every step. Memory and step limits raise LimitError there. An exception
/// inside, such as lack of memory, is the failure of the branch that runs.
/// Threads: the session's only.
class machine {
public:
    /// Runs until the fiber ends, has to wait, or has used its slice.
    /// When it ends and the fiber is a branch, its join has been told.
    [[nodiscard]] static outcome run(fiber& strand, run_budget& budget,
                                     std::uint32_t slice = 2000) noexcept;

    /// Ends a fiber without running any more of its code, as failed: for a driver that cannot run it.
    /// Its join, futures and permits are told; its `finally` blocks do not run, and branches that it
    /// waits for are asked to end.
    [[nodiscard]] static outcome abandon(fiber& strand, error failure) noexcept;

    /// The driver cannot wait for what a fiber is parked for. A wait for a permit or a future fails with
    /// that error: run the fiber afterwards. Branches that are waited for are asked to end.
    static void fail_wait(fiber& strand, error failure) noexcept;

    /// When the strand computes inside a branch of a join on its parent's stack: makes that branch a
    /// fiber of its own, ready to run, so that its siblings get their turn. Null when there is none.
    [[nodiscard]] static std::unique_ptr<fiber> split_running_branch(fiber& strand);

    /// Answers the effect a fiber waits for; run it again afterwards.
    static void resume(fiber& strand, result<value> answer) noexcept;

    /// Ends a wait for a permit or a future whose deadline (fiber::deadline) has passed; run the fiber
    /// afterwards. False, and nothing done, when it waits for neither.
    static bool interrupt_wait(fiber& strand);

    /// What to answer an effect with that was cut because the fiber's deadline has passed. It leaves
    /// the extent of that deadline; no `catch` inside takes it.
    [[nodiscard]] static error deadline_failure(const fiber& strand);
};

/// The map that `catch` binds: kind, reason, message, span, stack, data, result, and causes: a list of
/// such maps without causes of their own, the nearest first.
[[nodiscard]] value describe_error(realm& world, const error& failure);

/// A scope inside `outer` that runs at most that many branches at a time.
[[nodiscard]] scope_ref with_concurrency(realm& world, const scope_ref& outer,
                                         std::size_t branches);

} // namespace heddle::lang
