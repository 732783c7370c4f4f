// The context of a task in a durable step.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/tasks/context/context_preparer.hpp>

#include <memory>
#include <string>

namespace heddle::tasks {

/// As preparer->prepare(request). In a durable step the context is kept, and an earlier execution's
/// is used: files may have changed since, and a command that names files is not run again.
/// `prompt`: what the task asks. `time`: of the task; it outlives the call. Errors: also io_error,
/// of the journal, and cancelled where a command would be run that is not to be.
[[nodiscard]] coro::task<result<std::shared_ptr<const assembled_context>>> prepare_kept(
    context_preparer* preparer, const task_time* time, context_request request, std::string prompt);

} // namespace heddle::tasks
