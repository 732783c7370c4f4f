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

/// An input as a call gave it.
struct bound_input {
    std::string_view name; ///< owned by the template or by the clause's symbol
    lang::value content;
    bool given = false; ///< false: an optional input that was left out; inserts nothing
};

/// Instructions cut into literal text and placeholders: `{{p}}`, `{{p.field}}`, `{{p[0]}}` and any
/// chain of those; `\{{` is the braces themselves. Values are inserted once and never looked
/// through for placeholders again.
class prompt_template {
public:
    /// Errors: SexpEvaluationError for a placeholder that is not one, an unclosed `{{` and
    /// `{{f(…)}}` (calls inside a prompt are not part of this build).
    /// With `declared` (not null) every placeholder must name one of its inputs.
    [[nodiscard]] static result<prompt_template> compile(std::string_view text,
                                                         const std::vector<std::string>* declared);

    /// Appends the filled text. Inputs stand in the order of `declared`; without it they are found
    /// by name. Errors: TaskError input_validation_failure: no such input, field or element, or a
    /// value that has no JSON form.
    [[nodiscard]] result<void> fill(std::string& out, std::span<const bound_input> inputs) const;

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
    using part = std::variant<std::string, placeholder>;

    [[nodiscard]] static result<placeholder> read_placeholder(std::string_view inside);
    [[nodiscard]] static result<void> insert(std::string& out, const placeholder& wanted,
                                             std::span<const bound_input> inputs);

    std::vector<part> parts_;
    std::vector<std::string> names_;
    std::size_t literal_bytes_ = 0;
};

} // namespace heddle::tasks
