// Errors of tasks as data (docs/spec/runtime.md §6).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::tasks {

/// One error of the task system. It can be written as JSON, as a value of the language, and as the
/// XML of the task schema; reading any of them back returns an equal error.
struct task_error {
    struct metrics {
        double used = 0;
        double limit = 0;
        friend bool operator==(const metrics&, const metrics&) = default;
    };
    /// RESOURCE_EXHAUSTION
    struct resource_exhaustion {
        std::string resource; ///< turns, context, output, tokens, cost, time
        std::optional<metrics> use;
        friend bool operator==(const resource_exhaustion&, const resource_exhaustion&) = default;
    };
    /// TASK_FAILURE
    struct failure {
        task_failure_reason reason = task_failure_reason::unexpected_error;
        std::string details_json; ///< JSON text of an object; "" for none
        friend bool operator==(const failure&, const failure&) = default;
    };
    /// INVALID_OUTPUT
    struct invalid_output {
        std::vector<std::string> violations;
        friend bool operator==(const invalid_output&, const invalid_output&) = default;
    };
    /// VALIDATION_ERROR
    struct validation_error {
        std::string path; ///< of the invalid part
        friend bool operator==(const validation_error&, const validation_error&) = default;
    };
    /// XML_PARSE_ERROR
    struct xml_parse_error {
        std::string location; ///< "file:line:column"
        friend bool operator==(const xml_parse_error&, const xml_parse_error&) = default;
    };
    using kind = std::variant<resource_exhaustion, failure, invalid_output, validation_error,
                              xml_parse_error>;

    std::string message;
    kind what = failure{};

    friend bool operator==(const task_error&, const task_error&) = default;
    /// "TASK_FAILURE"
    [[nodiscard]] std::string_view type_name() const noexcept;
};

/// `{"type": "TASK_FAILURE", "message": …, "reason": …, "details": {…}}`, as in notes.error.
[[nodiscard]] std::string to_json(const task_error& what);
/// Errors: invalid_argument naming the member that is missing or invalid. Unknown members are
/// refused.
[[nodiscard]] result<task_error> task_error_from_json(std::string_view json);

/// `<task_error><task_failure><reason>…</reason><message>…</message>…`, the element of the task
/// schema for the first two types, and a similar one for the others.
[[nodiscard]] std::string to_xml(const task_error& what);
/// Errors: invalid_argument with the first problem and its line. Details may be JSON text or
/// elements.
[[nodiscard]] result<task_error> task_error_from_xml(std::string_view xml);

/// As a map of the language.
[[nodiscard]] lang::value to_value(lang::heap& memory, const task_error& what);
/// Errors: as task_error_from_json.
[[nodiscard]] result<task_error> task_error_from_value(const lang::value& map);

/// Converts the error of a workflow or a model. The error of a FAILED TaskResult in its payload is
/// used as it is; limits of the language become RESOURCE_EXHAUSTION; an error without a reason
/// becomes unexpected_error. `failure` must not be a cancellation, except by a deadline:
/// execution_timeout.
[[nodiscard]] task_error task_error_from(const error& failure);
/// Converts to an error that a workflow can catch: kind TaskError, with the reason in its payload.
[[nodiscard]] error to_error(const task_error& what);

} // namespace heddle::tasks
