// Task results as data: maps with a status and a content.
#pragma once

#include <heddle/lang/builtin.hpp>

#include <string>
#include <string_view>

namespace heddle::lang {

/// The field of a map; of a task result also the field of its parsed content. Null when missing.
[[nodiscard]] const value* field_of(const value& map, std::string_view name) noexcept;

/// A TaskResult whose task has failed.
[[nodiscard]] bool is_failed_result(const value& v) noexcept;
/// Whether it is a FAILED result, and the name would be a part of the response that it lacks.
[[nodiscard]] bool lacks_answer(const value& container, std::string_view name) noexcept;
/// Fails a call that needs more than a FAILED result has, with the TaskError of the result.
[[nodiscard]] value fail_of_result(native_call& call, const value& result);
/// notes.error.reason of a FAILED result; empty when there is none.
[[nodiscard]] std::string failed_reason(const value& result);
/// Whether a FAILED result ended at a limit of calls or of cost.
[[nodiscard]] bool is_used_up(const value& result);

[[nodiscard]] value result_content(native_call& call, std::span<value> arguments);
[[nodiscard]] value result_parsed(native_call& call, std::span<value> arguments);
[[nodiscard]] value result_notes(native_call& call, std::span<value> arguments);
[[nodiscard]] value result_is_ok(native_call& call, std::span<value> arguments);

} // namespace heddle::lang
