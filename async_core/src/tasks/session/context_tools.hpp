// The tools that ask the memory which files belong to a question.
#pragma once

#include <heddle/ports/memory_port.hpp>
#include <heddle/tasks/context/context_options.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <vector>

namespace heddle::tasks {

/// get_context (paths, best first) and get-context-result (the whole response). Without a memory a
/// call raises PermissionError. With `matching` a model chooses among what the memory finds.
/// `memory` outlives the sessions.
[[nodiscard]] std::vector<tool> context_tools(ports::memory_port* memory,
                                              model_matching matching = {});

} // namespace heddle::tasks
