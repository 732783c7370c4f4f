// Whether a TOML document may be parsed at all.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace heddle::cli {

/// The line on which names or values of a TOML document are nested deeper than `max_depth`: parts
/// of a dotted name, or brackets around one another. Nothing: it is as flat as that all over.
/// Parsers make a table of each part and take them apart by recursion, so that a long line of dots
/// would end the program. Reads strings and comments as TOML has them; never fails. Linear; pure.
[[nodiscard]] std::optional<std::size_t> too_deep_line(std::string_view text,
                                                       std::size_t max_depth) noexcept;

} // namespace heddle::cli
