// Tools that run programs.
#pragma once

#include <heddle/ports/process_port.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <string>
#include <vector>

namespace heddle::tasks {

/// system:run_script, which is also system:execute_shell_command. `processes` outlives the tools;
/// null: each call raises PermissionError with `hint`, which describes how to allow it.
[[nodiscard]] std::vector<tool> process_tools(ports::process_port* processes, std::string hint);

} // namespace heddle::tasks
