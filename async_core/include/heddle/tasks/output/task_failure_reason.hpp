// Why tasks fail (docs/spec/runtime.md §6).
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// Why a task failed.
enum class task_failure_reason : std::uint8_t {
    context_retrieval_failure,
    context_matching_failure,
    context_parsing_failure,
    xml_validation_failure,
    output_format_failure,
    execution_timeout,
    execution_halted,
    subtask_failure,
    input_validation_failure,
    template_not_found,
    tool_execution_error,
    llm_error,
    dependency_error,
    connection_error,
    protocol_error,
    configuration_error,
    unexpected_error
};

/// "llm_error".
[[nodiscard]] std::string_view to_string(task_failure_reason reason) noexcept;
/// Nothing if the word is not a reason.
[[nodiscard]] std::optional<task_failure_reason> task_failure_reason_from(
    std::string_view text) noexcept;
/// Creates a TaskError of that reason.
[[nodiscard]] error task_failed(task_failure_reason reason, std::string message);

} // namespace heddle::tasks
