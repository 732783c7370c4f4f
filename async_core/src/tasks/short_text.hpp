// Foreign text in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// At most so many bytes, and no part of a character: messages stay UTF-8 whatever they quote.
[[nodiscard]] inline std::string short_text(std::string_view text, std::size_t most = 80) {
    if (text.size() <= most) return std::string(text);
    while (most != 0 && (text[most] & 0xC0) == 0x80) --most;
    return std::string(text.substr(0, most));
}

} // namespace heddle::tasks
