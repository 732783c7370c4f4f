// Numbers as text, of which nothing is left over.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace heddle {

/// The number that `text` is, as std::from_chars reads it: no blanks, no plus sign, no locale.
/// Nothing if there is more in the text, or less, or if the number does not fit into the type.
template <std::integral Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) noexcept {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number, base);
    if (failed != std::errc() || stop != end) return std::nullopt;
    return number;
}

/// The same for numbers with a fraction. They may be infinite or NaN: "inf" and "nan" are numbers
/// to std::from_chars.
template <std::floating_point Number>
[[nodiscard]] std::optional<Number> parse_number(
    std::string_view text, std::chars_format format = std::chars_format::general) noexcept {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, number, format);
    if (failed != std::errc() || stop != end) return std::nullopt;
    return number;
}

} // namespace heddle
