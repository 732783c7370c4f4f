// The tools that ask the memory which files belong to a question.
#pragma once

#include <heddle/ports/memory_port.hpp>
#include <heddle/tasks/tool_registry.hpp>

#include <vector>

namespace heddle::tasks {

/// get_context (paths, best first) and get-context-result (the whole answer). Without a memory a
/// call raises PermissionError. `memory` outlives the sessions.
[[nodiscard]] std::vector<tool> context_tools(ports::memory_port* memory);

} // namespace heddle::tasks
