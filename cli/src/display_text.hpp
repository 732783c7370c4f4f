// Text on a terminal: widths in characters, control codes made harmless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::cli {

/// Characters (code points) of a UTF-8 text.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

/// At most `width` characters; what was longer ends in "…".
[[nodiscard]] std::string cut_to_width(std::string_view text, std::size_t width);

/// One line without control codes: line ends and tabs become blanks, other codes "?". Texts of
/// models and servers go through this before they stand in a table.
[[nodiscard]] std::string one_line(std::string_view text);

/// "1,234,567"
[[nodiscard]] std::string grouped(long long number);

/// "1 call", "2 calls"
[[nodiscard]] std::string counted(unsigned long long count, std::string_view noun);

} // namespace heddle::cli
