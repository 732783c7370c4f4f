// The end of a task by its time or a budget, where no request, tool or function records it.
#pragma once

#include "tasks/call/spending.hpp"
#include "tasks/run/task_time.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/ports/run_journal.hpp>

#include <optional>
#include <string>
#include <utility>

namespace heddle::tasks {

/// A place in a durable step at which a task may end without a request: before a request, a task or
/// a function begins, while a tool waits for its place. When the step is repeated, no time passes,
/// and what is left of a budget is not known, so that it ended there is a record. Lives while the
/// place is passed.
class kept_end {
public:
    /// `time`: of the task. `context`: of the part, whose step is not null. `content`: names the
    /// place in that part. `name`: of the task or tool, for people.
    kept_end(lang::heap& memory, const task_time& time, coro::call_context context,
             ports::digest128 content, std::string name)
        : memory_(memory), time_(time), context_(context), content_(content),
          name_(std::move(name)) {}

    /// The error with which an earlier execution ended here, in its turn; of a budget: with a
    /// budget_refusal.
    [[nodiscard]] coro::task<std::optional<error>> recorded();
    /// The same, or the error if the time is over now, which is kept.
    [[nodiscard]] coro::task<std::optional<error>> check();
    /// Keeps that `stop` ended the task here, if it is the end of a time.
    [[nodiscard]] coro::task<void> keep(error stop);
    /// Keeps that a budget ended it.
    [[nodiscard]] coro::task<void> keep_refusal(spent_budget over);

private:
    lang::heap& memory_;
    const task_time& time_;
    const coro::call_context context_;
    const ports::digest128 content_;
    const std::string name_;
};

} // namespace heddle::tasks
