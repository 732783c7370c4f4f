// Access to the tasks of a session, for code that calls tasks itself.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/definition/task_template.hpp>

namespace heddle::tasks {

/// The operators of a session with tasks: session_tasks, or a replacement by the host.
/// Threads: the session's only.
class task_source : public host::operator_source {
public:
    /// Registers a template created in C++ or read from a file; its `ref` names a registered one.
    /// Replacing another template is logged. Errors: as compile_task; a `ref` to an unknown
    /// template.
    [[nodiscard]] virtual result<lang::value> add(task_template declared) = 0;
    [[nodiscard]] virtual const task_registry& registry() const noexcept = 0;
};

} // namespace heddle::tasks
