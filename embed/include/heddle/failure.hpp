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
    overloaded,  ///< as many calls run and wait as the options allow
    stopped,     ///< the runtime is shutting down, or gone
    no_function, ///< the program does not define the function
    bad_input    ///< the input does not fit the parameters of the function
};

[[nodiscard]] const boost::system::error_category& runtime_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(runtime_errc code) noexcept {
    return {static_cast<int>(code), runtime_category()};
}

/// A place in the source of a program.
struct source_place {
    std::string file;
    std::uint32_t line = 0; ///< from 1
    std::uint32_t column = 0;
    friend bool operator==(const source_place&, const source_place&) = default;
};

/// One line of a trace, such as "while mapping item 3".
struct failure_line {
    std::string what;
    std::optional<source_place> place;
};

/// What an error of a program or a call holds besides its message: all of it is plain data, so that
/// the error may cross threads and outlive the runtime. Immutable.
class failure_details final : public error_payload {
public:
    std::string kind;   ///< "TaskError", "TimeoutError", "CancelledError", …; see the reference
    std::string reason; ///< of a TaskError: "llm_error", …; else empty
    std::optional<source_place> place;
    std::vector<failure_line> trace;  ///< innermost first
    std::vector<std::string> causes;  ///< messages, outermost first
    std::vector<std::string> further; ///< other mistakes in the program, rendered
    json data;        ///< what the workflow raised besides the message; null: nothing
    json result;      ///< the task result whose failure it is; null: none
    usage used;       ///< by the call until it failed
    std::string tag;  ///< as in call_options
    std::string text; ///< rendered for people, with the source line
};

/// The details of an error, or null. They live as long as the error.
[[nodiscard]] const failure_details* details_of(const error& failure) noexcept;

/// `{"kind": …, "message": …, "hint": …, "place": {"file", "line", "column"}, "trace": […],
/// "reason": …, "retry_after_ms": …, "cancelled_because": …, "data": …, "usage": {…}}`: only
/// members that are known.
[[nodiscard]] json to_json(const error& failure);

/// The error for people: kind, message, source line, trace and hint, on several lines.
[[nodiscard]] std::string to_text(const error& failure);

/// The status with which an HTTP server answers: docs/embedding/errors.md has the table.
[[nodiscard]] int http_status(const error& failure) noexcept;

} // namespace heddle

namespace boost::system {
template <>
struct is_error_code_enum<heddle::runtime_errc> : std::true_type {};
} // namespace boost::system
