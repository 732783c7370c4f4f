// Which characters make a symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::lang {

/// What a byte of source text can be part of.
enum char_class : std::uint8_t { symbol_char, blank, delimiter, control, beyond_ascii };

[[nodiscard]] constexpr std::array<char_class, 256> make_char_classes() {
    std::array<char_class, 256> classes{};
    for (std::size_t c = 0; c < 256; ++c) {
        classes[c] = c < 0x20 || c == 0x7F ? control : c < 0x80 ? symbol_char : beyond_ascii;
    }
    for (const char c : std::string_view(" \t\n\r\f"))
        classes[static_cast<unsigned char>(c)] = blank;
    for (const char c : std::string_view("()[]\"';,`")) {
        classes[static_cast<unsigned char>(c)] = delimiter;
    }
    return classes;
}
inline constexpr std::array<char_class, 256> char_classes = make_char_classes();

[[nodiscard]] inline char_class class_of(char c) noexcept {
    return char_classes[static_cast<unsigned char>(c)];
}

/// True when `name` reads as one symbol, and as nothing else.
[[nodiscard]] bool reads_as_symbol(std::string_view name) noexcept;

} // namespace heddle::lang
