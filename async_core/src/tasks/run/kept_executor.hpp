// A task that a program performs in a durable step.
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/tasks/run/task_executor.hpp>

namespace heddle::tasks {

/// As executor->execute(request). In a durable step the outcome is kept, and an earlier execution's
/// is used: a program that changes files is not run twice when the step goes on after a crash.
/// Errors, which are not kept: also io_error, of the journal, and cancelled where the step may ask
/// for nothing more. Cancellation: as of the executor.
[[nodiscard]] coro::task<result<executor_answer>> execute_kept(task_executor* executor,
                                                               executor_request request);

} // namespace heddle::tasks
