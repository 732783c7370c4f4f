// Who puts the context of a task together.
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

/// What a context is made from. Everything that is pointed to outlives the preparation.
struct context_request {
    host::session* owner = nullptr;
    const task_call* call = nullptr; ///< task, bound inputs, what the call overrides
    /// Context of the task that asked for this one (a subtask, a call inside a prompt), or null.
    std::shared_ptr<const assembled_context> inherited;
    std::string_view model;
    /// Tokens that the document may take: the window of the model times max_context, less what the
    /// prompt takes. Empty: not known.
    std::optional<std::int64_t> room;
    coro::call_context context;
};

/// Merges settings, files, memory, inheritance (docs/spec/runtime.md §2). Threads: its shard.
class context_preparer {
public:
    virtual ~context_preparer() = default;

    /// Whether a call can get any context at all. Asked once per call, so that a task without
    /// context pays nothing: must be quick, must not allocate.
    [[nodiscard]] virtual bool concerns(const task_call& call,
                                        bool has_inherited) const noexcept = 0;

    /// Never null on success. Errors: TaskError with reason input_validation_failure or
    /// configuration_error and SexpEvaluationError are raised in the workflow; every other
    /// TaskError makes the result FAILED with its reason; cancelled. Cancellation: at its next
    /// wait.
    [[nodiscard]] virtual coro::task<result<std::shared_ptr<const assembled_context>>> prepare(
        context_request request) = 0;
};

} // namespace heddle::tasks
