#include "display_text.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>

namespace heddle::cli {

std::string cut_to_width(std::string_view text, std::size_t width) {
    if (utf8::count(text) <= width) return std::string(text);
    if (width == 0) return {};
    return std::string(text.substr(0, utf8::offset_of(text, width - 1))) + "…";
}

std::string grouped(long long number) {
    std::string digits = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string counted(unsigned long long count, std::string_view noun) {
    std::string made = grouped(static_cast<long long>(count)) + " ";
    made += noun;
    if (count != 1) made += 's';
    return made;
}

} // namespace heddle::cli
