// Prose in lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::lang {

/// The words of a text in lines of at most `width` characters; line ends of the text stay.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width);

} // namespace heddle::lang
