// Values that a call passes to tasks and tools, checked without a call.
#pragma once

#include <heddle/lang/check.hpp>
#include <heddle/tasks/definition/compiled_task.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace heddle::tasks {

/// The signature of a task: its inputs and what its reserved clauses take.
[[nodiscard]] lang::task_signature signature_of_task(std::shared_ptr<const task_template> declared);

/// The signature of a tool that is registered. `realm` outlives it.
[[nodiscard]] lang::task_signature signature_of_tool(lang::realm& realm,
                                                     std::shared_ptr<const registered_tool> tool);

/// As lang::task_signature::refuses, for the clause of a tool with that input schema. `realm`
/// outlives the function.
[[nodiscard]] std::function<std::optional<lang::value_refusal>(std::string_view,
                                                               const lang::value&)>
refusal_by_schema(lang::realm& realm, std::string tool, const std::string& input_schema);

} // namespace heddle::tasks
