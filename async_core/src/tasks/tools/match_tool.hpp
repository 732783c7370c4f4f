// A workflow asks which tasks a text speaks of.
#pragma once

#include <heddle/tasks/definition/task_registry.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

namespace heddle::tasks {

/// `(match-tasks (text "…") …)`: the tasks of the session whose descriptions match, best first.
/// `registry` outlives the tool.
[[nodiscard]] tool match_tool(const task_registry& registry);

} // namespace heddle::tasks
