#include <heddle/base/number_text.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace heddle {

namespace {

/// Decimal exponent of the first digit that is not zero, far beyond the range of a double at most.
/// Only its sign matters: from_chars reports "out of range" for the very large and the very small.
[[nodiscard]] long long magnitude(std::string_view text) noexcept {
    long long exponent = 0;
    std::size_t end = text.size();
    if (const auto mark = text.find_first_of("eE"); mark != std::string_view::npos) {
        std::string_view digits = text.substr(mark + 1);
        const bool negative = digits.starts_with('-');
        if (negative || digits.starts_with('+')) digits.remove_prefix(1);
        constexpr long long enough = 1'000'000'000'000;
        for (const char c : digits) {
            if (exponent < enough) exponent = exponent * 10 + (c - '0');
        }
        if (negative) exponent = -exponent;
        end = mark;
    }
    const std::string_view digits = text.substr(0, end);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t first = digits.find_first_of("123456789");
    if (first == std::string_view::npos) return 0;
    const auto place = static_cast<long long>(point) - static_cast<long long>(first);
    return exponent + place;
}

[[nodiscard]] std::string in_groups(std::string digits, std::size_t first) {
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

} // namespace

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

std::string grouped(unsigned long long number) { return in_groups(std::to_string(number), 0); }

std::string grouped(long long number) {
    return in_groups(std::to_string(number), number < 0 ? 1 : 0);
}

std::string counted(unsigned long long count, std::string_view noun) {
    std::string text = grouped(count) + " ";
    text += noun;
    if (count != 1) text += 's';
    return text;
}

double parse_decimal(std::string_view text) noexcept {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    static_cast<void>(end);
    if (ec == std::errc::result_out_of_range) {
        number = magnitude(text) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    }
    return negative ? -number : number;
}

} // namespace heddle
