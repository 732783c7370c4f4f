// Calls of other tasks inside the prompt of one.
#pragma once

#include "tasks/run/task_chain.hpp"

#include <heddle/coro/task.hpp>

#include <vector>

namespace heddle::tasks {

class task_runner;

/// Runs the calls inside the prompt of `of` side by side, once all of them are bound. `chain`: the
/// link of `of`. All that is referred to outlives the call. Result: their contents, those of the
/// system prompt first. Errors: of the workflow; the TaskError of a call that failed.
[[nodiscard]] coro::task<result<std::vector<lang::value>>> run_prompt_calls(
    task_runner& runner, const task_call& of, const task_chain& chain, coro::call_context context);

} // namespace heddle::tasks
