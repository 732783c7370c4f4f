// Whether a TOML document may be parsed at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heddle::setup {

/// The line on which names or values of a TOML document are nested deeper than `max_depth`: parts
/// of a dotted name, or nested brackets. Nothing if there is none. Parsers create a table for each
/// part and process them recursively, so a long line of dots would crash the program. Reads strings
/// and comments as in TOML; never fails. Linear; pure.
[[nodiscard]] std::optional<std::size_t> too_deep_line(std::string_view text,
                                                       std::size_t max_depth) noexcept;

} // namespace heddle::setup
