// system:ask_user.
#pragma once

#include <heddle/tasks/tool_registry.hpp>
#include <heddle/tasks/user_question.hpp>

namespace heddle::tasks {

/// `ask` may be empty: each call raises PermissionError.
[[nodiscard]] tool user_tool(user_port ask);

} // namespace heddle::tasks
