// Checks the JSON of a response.
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

/// A violation of the schema by a response.
struct schema_violation {
    std::string message;   ///< one line, as quoted to the model
    std::string path;      ///< JSON pointer of the first violation ("": the whole value)
    bool too_dear = false; ///< the check was given up because it would take too long
};

/// Where a schema is invalid.
struct schema_place {
    std::string pointer;               ///< JSON pointer of the part
    std::optional<std::size_t> offset; ///< byte offset, if the text is not JSON

    [[nodiscard]] bool known() const noexcept { return offset || !pointer.empty(); }
};

/// A basic name (object, array, [], string[], number[], number, boolean, string) or a JSON Schema.
/// Immutable and cheap to copy. Threads: its shard's only.
///
/// JSON Schema: draft 7 as valijson implements it, and prefixItems. Refused at registration,
/// because they could not be bounded or would not be checked: patternProperties, references to
/// other documents, references that lead back to themselves without descending into the value,
/// patterns that are too large together. `pattern` runs on RE2 (linear time), so back-references
/// and look-around are refused; `format` is an annotation, not checked. A check is bounded in time,
/// memory and stack; exceeding the bound on time is a violation (too_dear).
class output_schema {
public:
    /// Levels of the JSON text of a schema: compile() refuses deeper ones.
    static constexpr std::size_t max_json_depth = 128;

    output_schema() = default; ///< accepts every value

    /// Errors: invalid_argument with the problem of the schema; then `wrong`, unless it is null,
    /// receives its place, as far as it is known.
    [[nodiscard]] static result<output_schema> compile(std::string_view schema,
                                                       schema_place* wrong = nullptr);

    /// As above, metered. The result is undefined once `work` has stopped. Parts that are not
    /// metered take a few ms; a single pattern with much code (\p{L}{1,100}) takes up to 200 ms.
    [[nodiscard]] static result<output_schema> compile(std::string_view schema,
                                                       lang::work_meter& work,
                                                       schema_place* wrong = nullptr);

    [[nodiscard]] bool accepts_all() const noexcept { return basic_ == basic::any && !compiled_; }
    /// Checks `content`. `json`: the JSON text that `content` was read from. `subject`: its name in
    /// messages. `work`: meters the check; the result is undefined once it has stopped.
    /// Result: the violation; empty when `content` conforms.
    [[nodiscard]] std::optional<schema_violation> check(const lang::value& content,
                                                        std::string_view json,
                                                        std::string_view subject,
                                                        lang::work_meter& work) const;
    /// As above, not metered.
    [[nodiscard]] std::optional<schema_violation> check(
        const lang::value& content, std::string_view json,
        std::string_view subject = "the response") const;

    /// True if the schema describes an object at its outermost level.
    [[nodiscard]] bool describes_object() const noexcept;
    /// The JSON Schema as text, or empty for a basic name.
    [[nodiscard]] std::string_view json_schema() const noexcept;
    /// The schema in words for a model: "a JSON array of strings".
    [[nodiscard]] std::string in_words() const;
    /// Whether services that enforce a schema accept it unchanged: every object requires all its
    /// properties and allows no others.
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
