// What a task lists under `tools`, as a model is offered it.
#pragma once

#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Asks for a subtask of any kind; `subtask:NAME` in a list of tools is one with the hint NAME.
inline constexpr std::string_view spawn_subtask_name = "spawn_subtask";

/// A tool, or a task that a model may call like one.
struct offered_tool {
    enum class kind : std::uint8_t { tool, task, subtask };
    kind what = kind::tool;
    std::string name;      ///< as the task lists it
    std::string wire_name; ///< letters, digits, - and _: what services allow
    std::string hint;      ///< subtask only: the template hint, or empty
    lang::value callable;  ///< tool or task
};

/// Finds everything that `task` lists and describes it for the model.
/// Errors: TaskError configuration_error for a name that is neither a tool nor a task.
[[nodiscard]] result<std::vector<offered_tool>> offer_tools(const compiled_task& task,
                                                            const task_registry& tasks,
                                                            const tool_registry& tools,
                                                            std::vector<ports::tool_spec>& specs);

} // namespace heddle::tasks
