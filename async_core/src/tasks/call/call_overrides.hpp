// The reserved clauses of a call: what it asks for besides its inputs.
#pragma once

#include <heddle/tasks/call/task_call.hpp>

#include <string_view>

namespace heddle::tasks {

/// Reads the value of the reserved clause `name` of a call of `task` into `into`. `where`: the
/// place of the call, for errors. A name that is not reserved changes nothing.
/// Errors: SexpEvaluationError naming the task and the clause: a value of a wrong type or out of
/// its range, files given twice; TaskError input_validation_failure: context settings that
/// contradict the task's.
[[nodiscard]] result<void> set_override(call_overrides& into, const task_template& task,
                                        std::string_view name, const lang::value& given,
                                        source_span where);

} // namespace heddle::tasks
