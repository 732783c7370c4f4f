// Tasks that are not performed by a model.
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/context/assembled_context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace heddle::host {
class session;
}

namespace heddle::tasks {

/// A request to perform one task. Everything that it points to outlives the execution.
struct executor_request {
    host::session* session = nullptr;
    const task_call* call = nullptr; ///< task, bound inputs, overrides
    std::string prompt;              ///< instructions (without any: the description), filled
    std::string system;              ///< base and the task's system prompt, filled
    std::shared_ptr<const assembled_context> files; ///< null: none
    coro::call_context context;                     ///< with the task's deadline
};

/// The outcome. Without a failure the task is COMPLETE, and its output is read as that of a model
/// (output_format).
struct executor_response {
    std::string content;
    lang::value notes;          ///< a map whose entries go into notes, or nil
    std::string failure_reason; ///< docs/spec/runtime.md §6; not empty: FAILED
    std::string failure_message;
    lang::value failure_details; ///< map or nil
};

/// Performs the tasks of some subtypes in place of a model (task_system_parts::executors).
/// Threads: its shard's only.
class task_executor {
public:
    virtual ~task_executor() = default;
    /// Errors are raised in the workflow; failures that are data go into the result. Cancellation:
    /// ends what it started, and returns cancelled. Nothing happens before the task is awaited.
    [[nodiscard]] virtual coro::task<result<executor_response>> execute(
        executor_request request) = 0;
};

} // namespace heddle::tasks
