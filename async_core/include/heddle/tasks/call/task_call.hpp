// One call of a task, checked and ready to run.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/lang/branch_group.hpp>
#include <heddle/tasks/definition/compiled_task.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

/// The reserved clauses of a call.
struct call_overrides : task_settings {
    lang::value files; ///< list of strings, or nil
};

struct task_chain; // internal to the library

/// Inputs in the order of the declaration (or of the call, where none are declared).
struct task_call {
    std::shared_ptr<const compiled_task> task;
    std::vector<bound_input> inputs;
    std::unique_ptr<call_overrides> overrides; ///< null: the call has no reserved clause
    lang::value names;                         ///< keeps the names of undeclared inputs alive
    lang::scope_ref scope;
    coro::call_context context;
    source_span span;
    /// The chain of the task of which this one is a part; outlives the call.
    const task_chain* chain = nullptr;
    /// Maximum depth of subtasks below this one; empty: the rest of that of the chain.
    std::optional<std::int64_t> max_depth;
    /// The subtype for the preset of the context; empty: that of the template.
    std::string subtype;
    [[nodiscard]] const std::string& effective_subtype() const noexcept {
        return subtype.empty() ? task->declared.subtype : subtype;
    }
    /// The calling branch of the workflow; nothing: the call is a part of another task or tool.
    std::optional<lang::branch_place> place;
};

/// Binds clauses or positional arguments to inputs.
/// Errors: TaskError input_validation_failure (missing or unknown inputs); the TaskError of a
/// FAILED result that is passed as an input; SexpEvaluationError (a malformed reserved clause, an
/// input passed twice). All name the task.
[[nodiscard]] result<task_call> bind_call(lang::heap& memory,
                                          std::shared_ptr<const compiled_task> task,
                                          host::effect_call call);

/// True for keys that a call may have in addition to inputs (`in_calls` in task_fields.hpp), such
/// as files, context and model; hyphens and underscores are the same.
[[nodiscard]] bool is_reserved_call_key(std::string_view name) noexcept;

} // namespace heddle::tasks
