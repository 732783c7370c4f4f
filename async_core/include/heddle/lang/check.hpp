// Finds mistakes in a program without running it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

enum class severity : std::uint8_t { error, warning };

struct problem {
    severity level = severity::error;
    std::string_view code; ///< a fixed word for tools: "unknown-name"; docs/reference/checks.md
    std::string message;
    std::string hint; ///< how to fix it; may be empty
    source_span span;
};

/// A call of a task in a prompt: `{{f(a, k=v)}}` calls the task f.
struct text_call {
    std::string text; ///< as written between the braces
    std::string task;
    std::size_t positions = 0;      ///< arguments by position
    std::vector<std::string> names; ///< of the named arguments
    source_span span;
};

struct named_span {
    std::string name;
    source_span span;
};

/// Why a task or tool does not take a value.
struct value_refusal {
    severity level = severity::error;
    std::string_view code; ///< as in problem
    std::string message;
    std::string hint; ///< may be empty
};

/// The inputs of a task or tool, as its definition declares them.
struct task_signature {
    std::vector<std::string> inputs;     ///< in order
    std::vector<std::string> required;   ///< those that each call must pass
    std::vector<std::string> reserved{}; ///< keys of a call besides the inputs, for suggestions
    bool is_tool = false;                ///< called by clauses only, and takes no reserved keys
    bool open = false;                   ///< accepts any input, by name only
    std::vector<text_call> calls{};      ///< in its prompts
    std::vector<named_span> tools{};     ///< offered to the model
    std::vector<named_span> unused{};    ///< inputs that none of its prompts uses
    /// Checks the value of one input or reserved clause of a call. Result: why it is refused,
    /// whatever the other clauses are; nothing if a call may pass it. Null: any value is accepted.
    std::function<std::optional<value_refusal>(std::string_view clause, const value& given)>
        refuses{};
};

/// A hint for an unknown clause in a call of a task or tool: a similar name, how a setting of
/// requests is written, or the list of inputs. `reserved`: see task_signature.
[[nodiscard]] std::string unknown_input_hint(std::string_view name,
                                             const std::vector<std::string>& inputs,
                                             const std::vector<std::string>& reserved);

/// Checks the arguments of a call in a prompt. `is_reserved`: whether every task accepts a key.
/// Result: a description of the mistake; empty when there is none.
[[nodiscard]] std::string mistake_in(const text_call& call, const task_signature& target,
                                     const std::function<bool(std::string_view)>& is_reserved);

/// The host's knowledge of task definitions. The language knows only their names and parameters.
class task_definitions {
public:
    virtual ~task_definitions() = default;
    /// Checks `(defatom …)` or `(deftool …)` and adds the mistakes to `problems`; registers
    /// nothing. Result: the signature; empty when the parameters cannot be read.
    [[nodiscard]] virtual std::optional<task_signature> check(
        realm& realm, const value& definition, source_span span,
        std::vector<problem>& problems) const = 0;
    /// The signature of a task or tool that the host has registered; empty if `callable` is not
    /// one. `realm` outlives the signature.
    [[nodiscard]] virtual std::optional<task_signature> signature_of(
        realm& realm, const host_object& callable) const = 0;
};

struct check_options {
    std::vector<std::string> externs; ///< names that are defined elsewhere
    /// The option with which a name becomes one of `externs`, for hints; empty: there is none.
    std::string extern_option;
    const task_definitions* tasks = nullptr;
};

/// All problems of a program, in the order of their positions. `text` was added to the sources of
/// `realm` at `position`, and the realm is used for this program only: its macros are expanded
/// there. Nothing else runs, and imports are not followed: a name that may come from one causes a
/// warning. After a syntax error only syntax and special forms are checked, since names may be
/// missing.
/// Bounds: a thousand problems; the reader's limits.
[[nodiscard]] std::vector<problem> check_program(realm& realm, std::string_view text,
                                                 std::uint32_t position,
                                                 const check_options& options = {});

} // namespace heddle::lang
