// What a step of a durable run remembers of an earlier execution of it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace heddle::ports {

/// A stored response of a model, result of a tool, or error of one.
struct kept_part {
    std::string body;
    bool is_counted = false; ///< what it cost was counted when it was kept, or by a step that ended
    bool is_failure = false; ///< as keep_failure() was given it
};

/// Where a step is: by that, others can append to its records.
struct step_place {
    std::uint64_t row = 0; ///< its number in the run
    digest128 path;        ///< zero: the row is not kept in a journal
};

/// The parts of a step that is under way: the requests of a task, the tools that its model called.
/// A process may end between them; what was paid for by then is found here when the step is
/// executed again. Reached through call_context::step. Threads: the session's only.
class step_memory {
public:
    virtual ~step_memory() = default;
    /// The part that an earlier execution of the step kept under `content`; if there is none, one
    /// that any step of the row kept under an earlier version of the program. Each part is returned
    /// once, in the order in which they were kept: equal requests get the responses that they had.
    /// Returns when it is the turn of the part among all that is recorded of the row: what follows
    /// from several parts side by side, such as the room in a limit, follows again. Cancellation:
    /// returns early.
    [[nodiscard]] virtual coro::task<std::optional<kept_part>> take(digest128 content,
                                                                    coro::call_context context) = 0;
    /// Whether a request without a kept part may be sent. False in a dry execution or a replay of
    /// the row, and where an earlier execution of the step has ended: see refused().
    [[nodiscard]] virtual bool may_ask() noexcept { return true; }
    /// The error of a part that may_ask() was false for: cancelled. Returns once that can end
    /// nothing beside it that an earlier execution has completed. Cancellation: returns.
    [[nodiscard]] virtual coro::task<error> refused(coro::call_context /*context*/) {
        co_return error::cancelled(cancel_reason::user);
    }
    /// Keeps a part; returns once it is as durable as the run asks. `name`: of the model or tool,
    /// for listings. Errors: io_error. Cancellation: it is kept, only the wait ends.
    [[nodiscard]] virtual coro::task<result<void>> keep(digest128 content, std::string name,
                                                        std::string body, step_spending spent,
                                                        coro::call_context context) = 0;
    /// As keep, for the error with which a part has ended: what the step does next follows from
    /// it. Does not wait until it is kept: in a process that ends before, the request is sent
    /// again.
    [[nodiscard]] virtual coro::task<void> keep_failure(digest128 /*content*/, std::string /*name*/,
                                                        std::string /*body*/,
                                                        coro::call_context /*context*/) {
        co_return;
    }
    /// As keep, for what a tool returned that the model called: an edit of the program drops it.
    [[nodiscard]] virtual coro::task<result<void>> keep_result(digest128 content, std::string name,
                                                               std::string body,
                                                               coro::call_context context) = 0;
    /// An earlier execution of the step has ended. No time passes in this one: what the time of a
    /// task had ended was kept as a failure.
    [[nodiscard]] virtual bool is_repeated() const noexcept { return false; }
    /// The time that the row may need to come to what earlier executions have recorded; it is no
    /// part of the time of a task. Zero: it has come there.
    [[nodiscard]] virtual std::chrono::nanoseconds time_to_catch_up() const noexcept { return {}; }
    /// Notes that a request is about to be sent; returns once that is as durable as the run asks. A
    /// process that ends before the response is kept leaves it as one that may have been paid for.
    /// `if_lost`: what it may have cost then. Errors and cancellation: as of keep.
    [[nodiscard]] virtual coro::task<result<void>> note_sent(digest128 content, std::string name,
                                                             cost_if_lost if_lost,
                                                             coro::call_context context) = 0;
    /// The request that was noted last under `content` has cost nothing, so a process that ends now
    /// leaves nothing that may have been paid for. Does not wait.
    virtual void note_unpaid(digest128 /*content*/) {}
    /// The step changes more than its answer: what was said in a conversation. It is performed
    /// again by another execution of the row, with the parts that it kept.
    virtual void note_trace() noexcept {}
    /// Waits until the step is ended: what it needs may come while no process works on the row.
    /// The row is ended as soon as nothing else of it is under way (host::step_log::note_parked).
    /// Cancellation: returns.
    [[nodiscard]] virtual coro::task<void> park(coro::call_context /*context*/) { co_return; }
    /// Adds `more`, which may be negative, to the number of parts of the step that are under way
    /// concurrently: initially one.
    virtual void note_parts(int /*more*/) noexcept {}
    /// The number of a group of parts that are about to run side by side.
    [[nodiscard]] virtual std::uint32_t open_group() noexcept { return 0; }
    /// The number of an execution of a task in this part, the same in each execution of the step.
    [[nodiscard]] virtual std::uint32_t begin_task() noexcept { return 0; }
    /// The memory for one part of the group, in place of this: functions of the program that it
    /// calls are named by the part, in whatever order parts come to them. The step outlives it.
    /// Null: this one serves.
    [[nodiscard]] virtual std::unique_ptr<step_memory> open_part(std::uint32_t /*group*/,
                                                                 std::uint32_t /*index*/) {
        return nullptr;
    }
    /// What names the step in the journal.
    [[nodiscard]] virtual step_place place() const noexcept { return {}; }
    /// Counts what the step has paid for, for its record.
    virtual void note_spending(const step_spending& spent) noexcept = 0;
};

} // namespace heddle::ports
