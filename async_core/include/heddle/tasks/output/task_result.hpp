// TaskResult values (docs/spec/runtime.md §6).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <string_view>

namespace heddle::tasks {

/// True for a TaskResult whose status is FAILED.
[[nodiscard]] bool is_failed_result(const lang::value& v) noexcept;

/// True for a map that is a TaskResult without further fields, which a row may have.
[[nodiscard]] bool is_task_result(const lang::value& v) noexcept;

/// Prepares `given` for a prompt: replaces each TaskResult in it (the value itself, elements of
/// lists, fields of maps) by its parsedContent, or else by its content. Notes differ from run to
/// run and are dropped. Errors: the TaskError of a FAILED result.
[[nodiscard]] result<lang::value> without_results(lang::heap& memory, const lang::value& given);

/// The TaskError of a FAILED result, with its reason, message and the result itself.
[[nodiscard]] error task_error_of(const lang::value& failed);

} // namespace heddle::tasks
