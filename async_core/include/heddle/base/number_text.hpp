// Numbers in decimal digits.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// The shortest decimal digits that are read back as `number`, with an exponent only below 1e-6 and
/// from 1e16: "0.00222", "3", "1e-07". "nan", "inf" and "-inf" if it is not finite.
[[nodiscard]] std::string number_text(double number);

/// As number_text, rounded to `digits` significant digits (1 to 17): 1234.56 with 3 is "1230".
[[nodiscard]] std::string rounded_text(double number, int digits);

/// The nearest double of a decimal text that is known to be well-formed ("-2.5", "3e7"), digits
/// before the point not required; an infinity when it is too large. Does not depend on a locale.
[[nodiscard]] double parse_decimal(std::string_view text) noexcept;

} // namespace heddle
