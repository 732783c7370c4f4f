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

/// What a call asks for besides its inputs: its reserved clauses.
struct call_overrides : task_settings {
    lang::value files; ///< list of strings, or nil
};

struct task_chain; // the library's own

/// Inputs in the order of the declaration (or of the call, where none are declared).
struct task_call {
    std::shared_ptr<const compiled_task> task;
    std::vector<bound_input> inputs;
    std::unique_ptr<call_overrides> overrides; ///< null: no reserved clause was given
    lang::value names;                         ///< keeps the names of undeclared inputs alive
    lang::scope_ref scope;
    coro::call_context context;
    source_span span;
    /// Of the task that this one is a part of; it outlives the call.
    const task_chain* chain = nullptr;
    /// Maximum depth of subtasks below this one; empty: what the chain leaves.
    std::optional<std::int64_t> max_depth;
    /// The subtype for the preset of the context; empty: that of the template.
    std::string subtype;
    [[nodiscard]] const std::string& effective_subtype() const noexcept {
        return subtype.empty() ? task->declared.subtype : subtype;
    }
    /// The branch of the workflow that calls; nothing: the call is a part of another task or tool.
    std::optional<lang::branch_place> place;
};

/// Puts clauses or positions in their places.
/// Errors: TaskError input_validation_failure (missing or unknown inputs, a FAILED result as an
/// input raises that result's TaskError), SexpEvaluationError (a malformed reserved clause, an
/// input given twice), all naming the task.
[[nodiscard]] result<task_call> bind_call(lang::heap& memory,
                                          std::shared_ptr<const compiled_task> task,
                                          host::effect_call call);

/// True for keys that a call may carry besides inputs (`in_calls` in task_fields.hpp), such as
/// files, context and model; hyphens and underscores are the same.
[[nodiscard]] bool is_reserved_call_key(std::string_view name) noexcept;

} // namespace heddle::tasks
