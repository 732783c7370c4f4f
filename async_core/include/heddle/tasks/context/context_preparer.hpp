// The interface that prepares the context of a task.
#pragma once

#include <heddle/coro/task.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/context/assembled_context.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace heddle::host {
class session;
}

namespace heddle::tasks {

/// The request for a context. Everything that it points to outlives the preparation.
struct context_request {
    host::session* session = nullptr;
    const task_call* call = nullptr; ///< task, bound inputs, overrides
    /// Context of the task that started this one (a subtask, a call inside a prompt), or null.
    std::shared_ptr<const assembled_context> inherited;
    std::string_view model;
    /// Tokens available to the document: the window of the model times max_context, minus the
    /// prompt. Empty: unknown.
    std::optional<std::int64_t> room;
    coro::call_context context;
};

/// Merges settings, files, memory and inheritance (docs/spec/runtime.md §2). Threads: its shard's
/// only.
class context_preparer {
public:
    virtual ~context_preparer() = default;

    /// Whether a call can get any context at all. Called once per call, so that a task without
    /// context costs nothing: must be quick, must not allocate.
    [[nodiscard]] virtual bool concerns(const task_call& call,
                                        bool has_inherited) const noexcept = 0;

    /// Never null on success. Errors: TaskError with reason input_validation_failure or
    /// configuration_error and SexpEvaluationError are raised in the workflow; every other
    /// TaskError makes the result FAILED with its reason; cancelled. Cancellation: at its next
    /// wait. Nothing happens before the task is awaited, and it may be dropped unawaited.
    [[nodiscard]] virtual coro::task<result<std::shared_ptr<const assembled_context>>> prepare(
        context_request request) = 0;
};

} // namespace heddle::tasks
