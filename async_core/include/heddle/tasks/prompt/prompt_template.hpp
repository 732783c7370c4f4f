// Text with {{placeholders}}, compiled once and filled often.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::tasks {

/// An input as a call passed it.
struct bound_input {
    std::string_view name; ///< owned by the template or by the clause's symbol
    lang::value content;
    bool given = false; ///< false: an optional input that was omitted; inserts nothing
    /// The original value, if task results in it were replaced by their contents; else nil. Used to
    /// look up `{{p.notes}}`.
    lang::value as_given{};
};

/// An argument of a call inside a prompt.
struct prompt_argument {
    std::string name;              ///< of a named argument, else empty
    std::string json;              ///< a literal as JSON; empty: the value of an input
    std::string input;             ///< name of the input
    std::int32_t input_index = -1; ///< among the declared ones
};

/// `{{f(a, "x", k=v)}}`: replaced by the content of another task.
struct prompt_call {
    std::string text; ///< as written between the braces, for messages
    std::string task;
    std::vector<prompt_argument> arguments; ///< positions, then names
};

/// Instructions cut into literal text and placeholders: `{{p}}`, `{{p.field}}`, `{{p[0]}}` and any
/// chain of those, and calls `{{f(a, "x", k=v)}}`; `\{{` is a literal `{{`. Values are inserted
/// once and never searched for placeholders.
class prompt_template {
public:
    /// Errors: SexpEvaluationError for an invalid placeholder or call, and for an unclosed `{{`.
    /// With `declared` (not null) every placeholder, and every argument that is a name, must name
    /// one of its inputs.
    [[nodiscard]] static result<prompt_template> compile(std::string_view text,
                                                         const std::vector<std::string>* declared);

    /// Appends the filled text. Inputs are in the order of `declared`; without it they are found by
    /// name. `contents` are strings in place of the calls, in the order of calls(); the text of a
    /// value is copied once, into `out`. Errors: TaskError input_validation_failure: no such input,
    /// field or element, or a value that has no JSON form.
    [[nodiscard]] result<void> fill(std::string& out, std::span<const bound_input> inputs,
                                    std::span<const lang::value> contents = {}) const;
    /// Checks what fill would refuse, without writing anything. Errors: as fill, except for JSON
    /// forms.
    [[nodiscard]] result<void> check(std::span<const bound_input> inputs) const;
    /// An input by its index among the declared ones, or by name. Null: no such input.
    [[nodiscard]] static const bound_input* find_input(std::span<const bound_input> inputs,
                                                       std::string_view name, std::int32_t index);
    /// Calls in the order of the text.
    [[nodiscard]] const std::vector<prompt_call>& calls() const noexcept { return calls_; }

    [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
    /// Names of inputs that placeholders use, each once, in order.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

private:
    struct step {
        std::string field; ///< a key, or empty for an element
        std::uint32_t index = 0;
        bool by_index = false;
    };
    struct placeholder {
        std::string text; ///< as written between the braces, for messages
        std::string name;
        std::int32_t index = -1; ///< of the declared input
        std::vector<step> path;
    };
    struct call_place {
        std::uint32_t index = 0; ///< among calls_
    };
    using part = std::variant<std::string, placeholder, call_place>;
    class compiler;

    [[nodiscard]] static const lang::value* walk(const lang::value& from,
                                                 std::span<const step> path,
                                                 const step** missing = nullptr);
    class inputs_by_name;
    [[nodiscard]] static result<const lang::value*> resolve(const placeholder& wanted,
                                                            inputs_by_name& inputs);

    std::vector<prompt_call> calls_;
    std::vector<part> parts_;
    std::vector<std::string> names_;
    std::size_t literal_bytes_ = 0;
};

} // namespace heddle::tasks
