// TaskResult values (runtime.md 6).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <string_view>

namespace heddle::tasks {

/// True for a TaskResult whose status is FAILED.
[[nodiscard]] bool is_failed_result(const lang::value& v) noexcept;

/// The TaskError of a FAILED result, with its reason, message and the result itself.
[[nodiscard]] error task_error_of(const lang::value& failed);

} // namespace heddle::tasks
