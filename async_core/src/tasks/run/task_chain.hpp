// A task and the tasks that wait for it.
#pragma once

#include "tasks/run/task_session.hpp"

#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/context/assembled_context.hpp>

#include <cstdint>
#include <memory>

namespace heddle::tasks {

class task_time;

/// One execution in a chain of subtasks, tools and calls inside prompts. It lives in the frame of
/// the execution; what it started ends before it does, so that links upwards stay good.
struct task_chain {
    static constexpr std::int64_t default_depth = 5; ///< subtasks below a task of the workflow
    static constexpr std::int64_t max_depth = 20;    ///< whatever a request asks for

    const task_chain* outer = nullptr;
    const compiled_task* task = nullptr;
    const std::vector<bound_input>* inputs = nullptr;
    std::int64_t depth_left = default_depth;
    task_session* session = nullptr;
    const task_time* time = nullptr;
    std::shared_ptr<const assembled_context> files; ///< null: none

    /// The link of an execution. All of it outlives the link. `depth`: subtasks below a task of the
    /// workflow.
    [[nodiscard]] static task_chain link(const task_call& call, task_session& session,
                                         const task_time& time, std::int64_t depth) noexcept;

    [[nodiscard]] std::int64_t nesting() const noexcept {
        std::int64_t levels = 0;
        for (const task_chain* each = outer; each; each = each->outer) ++levels;
        return levels;
    }
    [[nodiscard]] bool has(const compiled_task& wanted) const noexcept {
        for (const task_chain* each = this; each; each = each->outer) {
            if (each->task->declared.name == wanted.declared.name) return true;
        }
        return false;
    }
    /// Whether the same task with the same inputs waits in the chain.
    [[nodiscard]] bool has(const task_call& wanted) const;
};

} // namespace heddle::tasks
