// Letters, digits and blanks of ASCII, whatever the locale: for names, headers and formats.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::ascii {

/// Space, tab, carriage return and line feed: the blanks of JSON and XML.
inline constexpr std::string_view blanks = " \t\r\n";

[[nodiscard]] constexpr bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
inline constexpr std::string_view digits = "0123456789";
/// True for at least one digit and nothing else.
[[nodiscard]] constexpr bool is_all_digits(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}
[[nodiscard]] constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
[[nodiscard]] constexpr bool is_letter(char c) noexcept {
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

[[nodiscard]] constexpr char to_lower(char c) noexcept {
    return is_upper(c) ? static_cast<char>(c | 0x20) : c;
}
/// Bytes that are not ASCII are left as they are.
[[nodiscard]] inline std::string to_lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = to_lower(c);
    return out;
}
[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view one,
                                                  std::string_view other) noexcept {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return to_lower(a) == to_lower(b); });
}

/// The text without the characters of `outer` at both ends.
[[nodiscard]] constexpr std::string_view trim(std::string_view text,
                                              std::string_view outer = blanks) noexcept {
    const std::size_t begin = text.find_first_not_of(outer);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(outer) + 1 - begin);
}

/// The strings one after the other with the separator between them.
template <class Strings>
[[nodiscard]] std::string join(const Strings& strings, std::string_view separator) {
    std::string out;
    bool first = true;
    for (const auto& each : strings) {
        if (!first) out += separator;
        first = false;
        out += each;
    }
    return out;
}

/// The value of a hexadecimal digit of either case, or -1.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
    if (is_digit(c)) return c - '0';
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
/// The value of four hexadecimal digits at `at` (`\uXXXX`), or nothing.
[[nodiscard]] constexpr std::optional<char32_t> four_hex_digits(std::string_view text,
                                                                std::size_t at) noexcept {
    if (text.size() < 4 || at > text.size() - 4) return std::nullopt;
    char32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        const int digit = hex_value(text[i]);
        if (digit < 0) return std::nullopt;
        value = value << 4 | static_cast<char32_t>(digit);
    }
    return value;
}

} // namespace heddle::ascii
