#include <heddle/base/number_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace heddle {

std::string number_text(double number) {
    // Most languages write numbers of these sizes in plain digits.
    const double size = std::fabs(number);
    const bool plain = size == 0 || (size >= 1e-6 && size < 1e16);
    std::array<char, 48> buffer; // enough for the shortest digits of numbers of these sizes
    char* const first = buffer.data();
    const auto end =
        plain ? std::to_chars(first, first + buffer.size(), number, std::chars_format::fixed)
              : std::to_chars(first, first + buffer.size(), number, std::chars_format::scientific);
    return {first, end.ptr};
}

std::string rounded_text(double number, int digits) {
    if (!std::isfinite(number)) return number_text(number);
    std::array<char, 48> buffer;
    std::snprintf(buffer.data(), buffer.size(), "%.*e", std::clamp(digits, 1, 17) - 1, number);
    return number_text(std::strtod(buffer.data(), nullptr));
}

} // namespace heddle
