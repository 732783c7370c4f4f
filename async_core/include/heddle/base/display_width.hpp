// The width of text in columns of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle {

/// The width of a code point: 2 for wide characters of East Asian scripts and for emoji, 0 for
/// combining marks and other characters that only change their neighbours, otherwise 1. A character
/// for which utf8::is_display_control holds has width 1, as utf8::printable() shows it.
[[nodiscard]] unsigned display_width(char32_t point) noexcept;

/// The width of UTF-8 text; an invalid sequence has width 1.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

struct display_part {
    std::size_t bytes = 0;
    std::size_t columns = 0;
};

/// The longest prefix that is at most `max_columns` wide and does not split a character.
[[nodiscard]] display_part display_prefix(std::string_view text, std::size_t max_columns) noexcept;

} // namespace heddle
