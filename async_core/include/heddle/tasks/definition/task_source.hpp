// Where a session's tasks are found and called, for what calls tasks itself.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/definition/task_template.hpp>

namespace heddle::tasks {

/// The operators of a session that has tasks: session_tasks, or what a host puts in its place.
/// Threads: the session's only.
class task_source : public host::operator_source {
public:
    /// Registers a template made in C++ or read from a file; `ref` names one that is registered.
    /// One that takes the place of another is announced in the log. Errors: as compile_task; a
    /// `ref` to what is not there.
    [[nodiscard]] virtual result<lang::value> add(task_template declared) = 0;
    [[nodiscard]] virtual const task_registry& registry() const noexcept = 0;
};

} // namespace heddle::tasks
