// Texts with placeholders, compiled once and filled for each prompt.
#pragma once

#include <heddle/base/error.hpp>

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::scripted {

/// The texts that every rule can name, and after them the groups of its patterns.
enum class text_slot : std::uint8_t { user, system, model, prompt, tool, first_group };
inline constexpr std::size_t group_slot(std::size_t number) noexcept {
    return static_cast<std::size_t>(text_slot::first_group) + number;
}

/// Names that placeholders of one rule may use.
struct template_scope {
    template_scope();

    /// False when the name is one that placeholders have already.
    [[nodiscard]] bool add_group(const std::string& name, std::size_t slot);

    std::map<std::string, std::size_t, std::less<>> slots;
    std::size_t groups = 0; ///< numbered ones, the whole match (number 0) included
};

/// The texts of one prompt by slot.
using slot_values = std::vector<std::string_view>;

class text_template {
public:
    /// How the value of a placeholder is written.
    enum class form : std::uint8_t {
        plain,     ///< as it is
        json_text, ///< within a JSON string, escaped
        json_value ///< in place of a whole JSON string: a number, a list or a string
    };

    /// Appends literal text, which is never looked into.
    void add_literal(std::string_view text);
    /// Appends `text` with its {{placeholders}}. Errors: what is wrong, in a message.
    [[nodiscard]] result<void> add(std::string_view text, const template_scope& scope,
                                   form written);
    /// Appends the text of a JSON string's content: a value of its own when it is one placeholder
    /// and nothing else, and otherwise a JSON string.
    [[nodiscard]] result<void> add_json_string(std::string_view text, const template_scope& scope);

    void fill(std::string& out, const slot_values& values) const;
    [[nodiscard]] bool uses(text_slot slot) const noexcept;

private:
    enum class what : std::uint8_t {
        literal,
        text,
        string,
        lines,
        words,
        characters,
        bytes,
        hash,
        count,
        first,
        last,
        all,
        longest,
        longest_block,
        longest_block_lines
    };
    struct part {
        what kind = what::literal;
        form written = form::plain;
        std::string literal;
        std::size_t slot = 0;
        std::shared_ptr<const re2::RE2> expression;
    };
    struct operation {
        std::string_view name;
        what kind;
        bool needs_expression;
    };
    static const std::vector<operation>& operations();
    friend struct template_scope;

    [[nodiscard]] static result<part> read_placeholder(std::string_view text,
                                                       const template_scope& scope, form written);
    static void fill_part(const part& wanted, std::string_view source, std::string& out);

    std::vector<part> parts_;
};

/// Compiles an expression in RE2's syntax, with ^ and $ at each line if `by_line`. Errors: what is
/// wrong with it, in a message.
enum class anchors : std::uint8_t { whole_text, each_line };
[[nodiscard]] result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view text,
                                                                         anchors where);

} // namespace heddle::scripted
