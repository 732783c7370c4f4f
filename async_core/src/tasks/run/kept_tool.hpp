// A tool that a model calls in a durable step.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/host/effect.hpp>
#include <heddle/ports/chat.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <memory>

namespace heddle::tasks {

class task_runner;

/// As run_tool. In a durable step the result is kept, and an earlier execution's is used: a program
/// is not run twice when the step goes on after a crash. Tools of the language run again in any
/// case: their effects are steps. `asked`: how the model called it, in the task of `time`.
/// Everything outlives the call. Errors: also io_error, of the journal.
[[nodiscard]] coro::task<result<lang::value>> run_kept_tool(
    task_runner* runner, std::shared_ptr<const registered_tool> one, const ports::tool_call* asked,
    const task_time* time, host::effect_call call);

} // namespace heddle::tasks
