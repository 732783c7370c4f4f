// Runs the tools that a model called in one turn.
#pragma once

#include "tasks/run/task_chain.hpp"
#include "tasks/run/task_time.hpp"
#include "tasks/run/tool_turns.hpp"

#include <heddle/coro/task.hpp>

namespace heddle::tasks {

class task_runner;

/// Runs the calls of `turn` side by side and writes their results into it. `of`: the call whose
/// model asks, `chain`: its link, `time`: what it has. All that is referred to outlives the call.
/// What a tool fails with is a result; errors: of the workflow.
[[nodiscard]] coro::task<result<void>> run_tool_calls(task_runner& runner, tool_turns& turn,
                                                      const task_call& of, const task_chain& chain,
                                                      const task_time& time);

} // namespace heddle::tasks
