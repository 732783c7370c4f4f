// system:ask_user.
#pragma once

#include <heddle/tasks/tools/tool_registry.hpp>
#include <heddle/tasks/tools/user_question.hpp>

namespace heddle::tasks {

/// `ask` may be empty: each call raises PermissionError.
[[nodiscard]] tool user_tool(user_port ask);

} // namespace heddle::tasks
