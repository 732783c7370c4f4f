// Errors of models as reasons of the task system.
#pragma once

#include <heddle/base/error.hpp>

#include <string_view>

namespace heddle::tasks {

/// The reason (docs/spec/runtime.md §6) for an error that a model service gave.
[[nodiscard]] std::string_view failure_reason(const error& failure) noexcept;

} // namespace heddle::tasks
