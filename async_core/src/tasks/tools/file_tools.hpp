// Tools that read and write files of the workspace.
#pragma once

#include <heddle/tasks/tools/tool_registry.hpp>

#include <vector>

namespace heddle::tasks {

/// system:read_files, read-file, write-file (system:write_file), system:list_directory: on the file
/// port of the session's engine. Without one each call raises PermissionError.
[[nodiscard]] std::vector<tool> file_tools();

} // namespace heddle::tasks
