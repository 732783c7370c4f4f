// Error kinds of the language (language.md 6).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <string_view>

namespace heddle::lang {

enum class errc : int {
    ok = 0,
    syntax,     ///< SexpSyntaxError
    evaluation, ///< SexpEvaluationError
    unbound,    ///< UnboundSymbolError
    arity,      ///< ArityError
    type,       ///< TypeError
    limit,      ///< LimitError: memory, steps, depth, calls
    permission, ///< PermissionError
    timeout,    ///< TimeoutError
    user,       ///< UserError: (error "message" data…)
    task        ///< TaskError; the reason is in the payload
};

[[nodiscard]] const boost::system::error_category& lang_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), lang_category()};
}

/// What a script attached to an error, and what `catch` binds besides the message.
class script_payload final : public error_payload {
public:
    value data;         ///< arguments of (error …), or nil
    value result;       ///< the FAILED TaskResult of a TaskError, or nil
    std::string reason; ///< reason of a TaskError ("input_validation_failure"), or empty
};

/// The user's name of an error's kind: "UnboundSymbolError", "TaskError", "CancelledError", …
[[nodiscard]] std::string_view error_kind_name(const error& failure) noexcept;
/// True for errors that are a kind of SexpEvaluationError (sub-kinds included).
[[nodiscard]] bool is_evaluation_error(const error& failure) noexcept;

/// A TaskError with its reason.
[[nodiscard]] error task_error(std::string reason, std::string message);

} // namespace heddle::lang

namespace boost::system {
template <>
struct is_error_code_enum<heddle::lang::errc> : std::true_type {};
} // namespace boost::system
