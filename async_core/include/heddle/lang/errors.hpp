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

/// Data that a script attaches to an error, and that `catch` binds besides the message.
class script_payload final : public error_payload {
public:
    value data;         ///< arguments of (error …), or nil
    value result;       ///< the FAILED TaskResult of a TaskError, or nil
    std::string reason; ///< reason of a TaskError ("input_validation_failure"), or empty
    /// The extent that has ended (its time, or another of its limits), or nil: a host object in the
    /// settings of everything that runs inside. No `catch` in the extent handles the error; the
    /// form that opened the extent removes the mark, and from there on it is an ordinary error.
    value extent;
    std::optional<double> began; ///< the extent of time that it has left, by the clock of the host
    bool uncatchable = false;    ///< no `catch` handles it: the run has to end
    bool complete = false; ///< many branches share it (a common limit): its trace does not grow
    value message;         ///< where the message of the error is cut: all of it, or nil
};

/// Bytes that an error keeps of what a program gave it as a message or a reason. More would be
/// copied and freed in one go wherever the error goes.
inline constexpr std::size_t max_error_text = 64 * 1024;

/// An error with a message that a program made. A longer one is cut, with a mark at its end, and
/// `payload` keeps all of it. `message` is a string. The time does not depend on its length.
[[nodiscard]] error error_with_message(errc code, const value& message,
                                       std::shared_ptr<script_payload> payload);
/// The whole message of an error, as a string that it keeps; nil when its own is the whole.
[[nodiscard]] value whole_message_of(const error& failure);

/// The extent that an error leaves (see script_payload), or null.
[[nodiscard]] const value* extent_of(const error& failure) noexcept;
/// When the extent of time that had ended and that the error has left began, by the clock of the
/// host; nothing: it has left none.
[[nodiscard]] std::optional<double> began_extent_of(const error& failure) noexcept;
/// The error marked as leaving `extent`; nil removes the mark.
[[nodiscard]] error with_extent(error failure, value extent);
/// The error, such that no `catch` handles it.
[[nodiscard]] error made_uncatchable(error failure);
/// The error as it is shared by all branches that one limit ends: its trace does not grow any more.
/// It is no longer shared where it leaves its extent.
[[nodiscard]] error made_complete(error failure);
[[nodiscard]] bool is_complete(const error& failure) noexcept;
/// The error with one more line of trace, unless it is complete.
[[nodiscard]] error with_outer_line(error failure, std::string line);
/// True when only cleanups may see it: cancellation, an extent that is over, the end of the run.
[[nodiscard]] bool passes_catches(const error& failure) noexcept;

/// The user's name of an error's kind: "UnboundSymbolError", "TaskError", "CancelledError", …
[[nodiscard]] std::string_view error_kind_name(const error& failure) noexcept;
/// The code of a kind that users name so; evaluation for names that the language does not define.
[[nodiscard]] errc errc_of_kind(std::string_view name) noexcept;
/// True for errors that are a kind of SexpEvaluationError (sub-kinds included).
[[nodiscard]] bool is_evaluation_error(const error& failure) noexcept;

/// A copy of the error for an object of the heap to store. Parts that hold values and are shared
/// with other errors are copied: two objects that hold a value through one payload would count as
/// one reference. An error without such parts stays shared.
[[nodiscard]] error kept_apart(error failure);
/// Visits the values that an error holds, for the cycle collector (host_object::visit_values).
/// Skips parts that are shared with other errors: those belong to errors that are being raised,
/// because objects store what kept_apart() returns.
void visit_error(host_object::value_visitor& visitor, const error& failure);

/// Bytes that an error and its causes occupy, without the values of its payload.
[[nodiscard]] std::size_t footprint(const error& failure) noexcept;

/// A TaskError with its reason.
[[nodiscard]] error task_error(std::string reason, std::string message);

} // namespace heddle::lang

namespace boost::system {
template <>
struct is_error_code_enum<heddle::lang::errc> : std::true_type {};
} // namespace boost::system
