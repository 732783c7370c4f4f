// Numbers in decimal digits.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace heddle {

/// The shortest decimal digits that are read back as `number`, with an exponent only below 1e-6 and
/// from 1e16: "0.00222", "3", "1e-07". "nan", "inf" and "-inf" if it is not finite.
[[nodiscard]] std::string number_text(double number);

/// As number_text, rounded to `digits` significant digits (1 to 17): 1234.56 with 3 is "1230".
[[nodiscard]] std::string rounded_text(double number, int digits);

/// Digits in groups of three: "1,234,567". Any thread.
[[nodiscard]] std::string grouped(unsigned long long number);
[[nodiscard]] std::string grouped(long long number);
/// For the other types of integers, which would convert to both.
template <std::integral Number>
[[nodiscard]] std::string grouped(Number number) {
    if constexpr (std::unsigned_integral<Number>) return grouped(0ULL + number);
    else return grouped(0LL + number);
}

/// A count with its noun, in groups of three: "1 call", "2 calls", "1,234 rows". Any thread.
[[nodiscard]] std::string counted(unsigned long long count, std::string_view noun);

/// The nearest double of a decimal text that is known to be well-formed ("-2.5", "3e7"), digits
/// before the point not required; an infinity when it is too large. Does not depend on a locale.
[[nodiscard]] double parse_decimal(std::string_view text) noexcept;

} // namespace heddle
