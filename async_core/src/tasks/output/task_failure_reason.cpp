#include <heddle/tasks/output/task_failure_reason.hpp>

#include <heddle/lang/errors.hpp>

#include <array>
#include <utility>

namespace heddle::tasks {

namespace {

using reason = task_failure_reason;

constexpr std::array<std::string_view, 17> reason_names{
    "context_retrieval_failure", "context_matching_failure", "context_parsing_failure",
    "xml_validation_failure",    "output_format_failure",    "execution_timeout",
    "execution_halted",          "subtask_failure",          "input_validation_failure",
    "template_not_found",        "tool_execution_error",     "llm_error",
    "dependency_error",          "connection_error",         "protocol_error",
    "configuration_error",       "unexpected_error"};
static_assert(reason_names.size() == static_cast<std::size_t>(reason::unexpected_error) + 1);

} // namespace

std::string_view to_string(task_failure_reason which) noexcept {
    return reason_names[static_cast<std::size_t>(which)];
}

std::optional<task_failure_reason> task_failure_reason_from(std::string_view text) noexcept {
    for (std::size_t i = 0; i < reason_names.size(); ++i) {
        if (reason_names[i] == text) return static_cast<task_failure_reason>(i);
    }
    return std::nullopt;
}

error task_failed(task_failure_reason which, std::string message) {
    return lang::task_error(std::string(to_string(which)), std::move(message));
}

} // namespace heddle::tasks
