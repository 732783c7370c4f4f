// Error kinds of the language (docs/spec/language.md §6).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
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
    /// The extent that is over (its time, or another limit of its own), or nil: a host object that
    /// is in the settings of everything that runs inside. No `catch` in the extent takes the error;
    /// the form that opened the extent removes the mark, and from there on it is an error like any
    /// other.
    value extent;
    bool uncatchable = false; ///< no `catch` at all takes it: the run has to end
    bool complete = false;    ///< many branches share it (a limit of all): it gets no further trace
};

/// The extent that an error leaves (see script_payload), or null.
[[nodiscard]] const value* extent_of(const error& failure) noexcept;
/// The error marked as leaving `extent`; nil removes the mark.
[[nodiscard]] error with_extent(error failure, value extent);
/// The error, taken by no `catch`.
[[nodiscard]] error made_uncatchable(error failure);
/// The error as many branches share it that one limit ends: with the trace that it has now. It ends
/// being shared where it leaves its extent.
[[nodiscard]] error made_complete(error failure);
[[nodiscard]] bool is_complete(const error& failure) noexcept;
/// The error with one more line of trace, unless it is complete.
[[nodiscard]] error with_outer_line(error failure, std::string line);
/// True when only cleanups may see it: cancellation, an extent that is over, the end of the run.
[[nodiscard]] bool passes_catches(const error& failure) noexcept;

/// The user's name of an error's kind: "UnboundSymbolError", "TaskError", "CancelledError", …
[[nodiscard]] std::string_view error_kind_name(const error& failure) noexcept;
/// The code behind a user's name of a kind; evaluation for names that are not the language's.
[[nodiscard]] errc errc_of_kind(std::string_view name) noexcept;
/// True for errors that are a kind of SexpEvaluationError (sub-kinds included).
[[nodiscard]] bool is_evaluation_error(const error& failure) noexcept;

/// Visits the values that an error holds, for the cycle collector (host_object::visit_values).
/// Stops at parts that other errors share.
void visit_error(host_object::value_visitor& visitor, const error& failure);

/// Bytes that an error takes, with its causes; what its payload's values take is not among them.
[[nodiscard]] std::size_t footprint(const error& failure) noexcept;

/// A TaskError with its reason.
[[nodiscard]] error task_error(std::string reason, std::string message);

} // namespace heddle::lang

namespace boost::system {
template <>
struct is_error_code_enum<heddle::lang::errc> : std::true_type {};
} // namespace boost::system
