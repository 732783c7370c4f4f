// Errors of models as reasons of the task system.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

namespace heddle::tasks {

/// The reason (docs/spec/runtime.md §6) for an error of a model service.
[[nodiscard]] task_failure_reason failure_reason(const error& failure) noexcept;

} // namespace heddle::tasks
