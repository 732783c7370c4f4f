#include "display_text.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

} // namespace

std::size_t display_width(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string cut_to_width(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    std::size_t characters = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        if (!continues(text[end]) && ++characters == width) break;
    }
    return std::string(text.substr(0, end)) + "…";
}

std::string one_line(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n' || c == '\t' || c == '\r') made += ' ';
        else if (byte < 0x20 || byte == 0x7F) made += '?';
        else made += c;
    }
    return made;
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
