// Tasks that a task, a tool or a model asks for (docs/spec/runtime.md §5).
#pragma once

#include "tasks/run/task_chain.hpp"

#include <heddle/coro/task.hpp>
#include <heddle/host/effect.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace heddle::tasks {

class result_builder;
class task_runner;

/// How a subtask ended: its result, or why there is none that counts.
struct subtask_outcome {
    lang::value result; ///< its TaskResult, also a FAILED one; nil when it was not run
    bool failed = false;
    std::string message; ///< of the failure
    lang::value failure; ///< subtaskError: type, reason, message …
    std::int64_t depth = 1;
};

/// Runs the subtask that `asked` requests. `chain`: of the task that asks; null: a tool of the
/// workflow does. `runner` outlives the call. A failure of the subtask is an outcome; errors:
/// cancelled, the end of a scope, what a sandbox refuses.
[[nodiscard]] coro::task<result<subtask_outcome>> run_subtask(
    task_runner& runner, lang::value asked, const task_chain* chain, lang::scope_ref scope,
    source_span span, coro::call_context context);

/// A call of a tool by the workflow: as call_tool, and a CONTINUATION is run. `runner` outlives it.
[[nodiscard]] coro::task<result<lang::value>> run_tool(task_runner& runner,
                                                       std::shared_ptr<const registered_tool> one,
                                                       host::effect_call call);

/// The subtask that a TaskResult asks for, or nil: an executor asks in its notes, a model with a
/// TaskResult as its JSON.
[[nodiscard]] lang::value asked_subtask(const lang::value& ended);

/// What there was when a subtask failed: of the subtask, where its model had written something,
/// else of the task that asked for it. Nil when both had nothing. The text of an error is no
/// output.
[[nodiscard]] lang::value partial_output(const lang::value& continued,
                                         const subtask_outcome& outcome);

/// TaskFailure of a subtask, as notes.error.details has it. `partial`: what there was, or nil.
[[nodiscard]] lang::value subtask_details(result_builder& results, const lang::value& asked,
                                          const subtask_outcome& outcome,
                                          const lang::value& partial);

/// Message and hint of an error, for a model.
[[nodiscard]] std::string message_with_hint(const error& failure);

} // namespace heddle::tasks
