// A workflow asks which tasks a text speaks of.
#pragma once

#include <heddle/tasks/tools/tool_registry.hpp>

namespace heddle::tasks {

/// `(match-tasks (text "…") …)`: the tasks of the calling session whose descriptions match, best
/// first.
[[nodiscard]] tool match_tool();

} // namespace heddle::tasks
