// Errors of workflows, as plain data.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// Failures of the runtime itself. Those of workflows have the kinds of the language
/// (failure_details::kind).
enum class runtime_errc : int {
    ok = 0,
    overloaded,  ///< runtime_options::max_running and max_queued are reached
    stopped,     ///< the runtime is shutting down or destroyed
    no_function, ///< the program does not define the function
    bad_input,   ///< the input does not fit the parameters of the function
    tag_in_use,  ///< a recorded call with this tag is in progress
    tag_mismatch ///< the tag is that of a recorded call of another function or with another input
};

[[nodiscard]] const boost::system::error_category& runtime_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(runtime_errc code) noexcept {
    return {static_cast<int>(code), runtime_category()};
}

/// A place in the source of a program.
struct failure_place {
    std::string file;
    std::uint32_t line = 0; ///< from 1
    std::uint32_t column = 0;
    friend bool operator==(const failure_place&, const failure_place&) = default;
};

/// One line of a trace, such as "while mapping item 3".
struct failure_line {
    std::string what;
    std::optional<failure_place> place;
};

/// The details of an error of a program or a call: plain data, so that the error can be moved
/// between threads and outlive the runtime. Immutable.
class failure_details final : public error_payload {
public:
    std::string kind;   ///< "TaskError", "TimeoutError", "CancelledError", …; see the reference
    std::string reason; ///< of a TaskError: "llm_error", …; otherwise empty
    std::optional<failure_place> place;
    std::vector<failure_line> trace;  ///< innermost first
    std::vector<std::string> causes;  ///< messages, outermost first
    std::vector<std::string> further; ///< other mistakes in the program, rendered
    json data;                        ///< raised with the message; null: nothing
    json result;                      ///< the result of the failed task; null: none
    usage used;                       ///< by the call until it failed
    std::string tag;                  ///< as in call_options
    std::string text;                 ///< readable text with the source line
};

/// The details of an error, or null. Valid as long as the error.
[[nodiscard]] const failure_details* details_of(const error& failure) noexcept;

/// `{"kind": …, "message": …, "hint": …, "place": {"file", "line", "column"}, "trace": […],
/// "reason": …, "retry_after_ms": …, "cancelled_because": …, "data": …, "usage": {…}}`: unknown
/// members are omitted.
[[nodiscard]] json to_json(const error& failure);

/// The error as readable text: kind, message, source line, trace and hint, on several lines.
[[nodiscard]] std::string to_text(const error& failure);

/// The HTTP status for a response: docs/embedding/errors.md has the table.
[[nodiscard]] int http_status(const error& failure) noexcept;

} // namespace heddle

namespace boost::system {
template <>
struct is_error_code_enum<heddle::runtime_errc> : std::true_type {};
} // namespace boost::system
