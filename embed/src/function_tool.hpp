// Functions of the host as tools.
#pragma once

#include "host_call.hpp"

#include <heddle/function.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

namespace heddle::embed {

/// A tool that calls the function. `patience.log` outlives it.
[[nodiscard]] tasks::tool tool_of(const function_definition& definition, host_patience patience);

} // namespace heddle::embed
