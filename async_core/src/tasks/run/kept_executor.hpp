// A task that a program performs in a durable step.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/tasks/run/task_executor.hpp>

namespace heddle::tasks {

/// As executor->execute(request). In a durable step the outcome is kept, and an earlier execution's
/// is used: a program that changes files is not run twice when the step goes on after a crash.
/// `time`: of the task, whose end is an outcome; it outlives the call. Errors: also io_error, of
/// the journal, and cancelled where the step may ask for nothing more. Cancellation: as of the
/// executor; what was cut from outside is not kept.
[[nodiscard]] coro::task<result<executor_response>> execute_kept(task_executor* executor,
                                                                 const task_time* time,
                                                                 executor_request request);

} // namespace heddle::tasks
