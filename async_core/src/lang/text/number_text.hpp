// Numbers as text: the one place that knows how they are read and written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace heddle::lang {

/// What a text is when it is taken for a number.
enum class number_problem : std::uint8_t {
    not_a_number,
    integer_out_of_range, ///< whole, but outside of 64 bits
    real_out_of_range     ///< too large for a double; too small becomes zero
};

using parsed_number = std::variant<std::int64_t, double, number_problem>;

/// Decimal integers and floats (`1`, `+1`, `-2.5`, `.5`, `2e3`), and `+inf.0`, `-inf.0`, `+nan.0`,
/// which is how the floats that have no digits are written. Nothing around the number is skipped.
/// Does not depend on a locale; the nearest double is taken.
[[nodiscard]] parsed_number parse_number(std::string_view text) noexcept;

/// True for a text that could only be meant as a number: a digit first, or after a sign or a point.
[[nodiscard]] bool starts_like_number(std::string_view text) noexcept;

/// The shortest text that reads back as the same float, and as a float: "1.0", "0.1", "1e+21".
[[nodiscard]] std::string real_text(double number);

} // namespace heddle::lang
