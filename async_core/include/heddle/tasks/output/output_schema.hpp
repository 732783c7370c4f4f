// Checks the JSON of an answer.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// What is wrong with an answer.
struct schema_violation {
    std::string message;   ///< one line, as quoted to the model
    std::string path;      ///< JSON pointer of the first violation ("" is the whole)
    bool too_dear = false; ///< whether it matches is not known: to find out would take too long
};

/// Where a schema is wrong.
struct schema_place {
    std::string pointer;               ///< JSON pointer of the part
    std::optional<std::size_t> offset; ///< byte of the text, where that is no JSON

    [[nodiscard]] bool known() const noexcept { return offset || !pointer.empty(); }
};

/// A basic name (object, array, [], string[], number[], number, boolean, string) or a JSON Schema.
/// Immutable and cheap to copy. Threads: its shard's only.
///
/// JSON Schema: draft 7 as valijson has it, and prefixItems. Refused at registration because they
/// could not be bounded or would not be checked: patternProperties, references to other documents,
/// references that lead back to themselves without going deeper into the value, patterns that are
/// too large together. `pattern` runs on RE2 (linear time), so back-references and look-around are
/// refused; `format` is an annotation, not checked. A check is bounded in time, memory and stack;
/// one that exceeds the bound on time is a violation that says so (too_dear).
class output_schema {
public:
    output_schema() = default; ///< accepts every value

    /// Errors: invalid_argument that says what is wrong with the schema; then `wrong`, unless it is
    /// null, is the place of it, as far as that is known.
    [[nodiscard]] static result<output_schema> compile(std::string_view schema,
                                                       schema_place* wrong = nullptr);

    /// The same with a meter; when it says to stop, the result means nothing. A part that does not
    /// look at the meter takes a few ms; a single pattern with much code (\p{L}{1,100}) takes up to
    /// 200.
    [[nodiscard]] static result<output_schema> compile(std::string_view schema,
                                                       lang::work_meter& work,
                                                       schema_place* wrong = nullptr);

    [[nodiscard]] bool accepts_all() const noexcept { return basic_ == basic::any && !compiled_; }
    /// Checks `content`. `json`: the JSON text that `content` was read from. `subject`: what
    /// messages call it. `work`: counts the check; when it says to stop, the result means nothing.
    /// Result: the violation; empty when `content` conforms.
    [[nodiscard]] std::optional<schema_violation> check(const lang::value& content,
                                                        std::string_view json,
                                                        std::string_view subject,
                                                        lang::work_meter& work) const;
    /// The same in one go.
    [[nodiscard]] std::optional<schema_violation> check(
        const lang::value& content, std::string_view json,
        std::string_view subject = "the answer") const;

    /// True when the schema describes an object at its outermost level.
    [[nodiscard]] bool describes_object() const noexcept;
    /// The JSON Schema as text, or empty for a basic name.
    [[nodiscard]] std::string_view json_schema() const noexcept;
    /// The schema in words for a model: "a JSON array of strings".
    [[nodiscard]] std::string in_words() const;
    /// Services that enforce a schema take it word for word only if every object names all its
    /// properties as required and allows no others.
    [[nodiscard]] bool fits_strict_mode() const noexcept;

private:
    enum class basic : std::uint8_t {
        any,
        object,
        array,
        strings,
        numbers,
        number,
        boolean,
        string
    };
    struct compiled;

    [[nodiscard]] std::optional<schema_violation> check_basic(const lang::value& content,
                                                              lang::work_meter& work) const;

    basic basic_ = basic::any;
    std::shared_ptr<const compiled> compiled_;
};

} // namespace heddle::tasks
