#include "display_text.hpp"

#include <heddle/base/display_width.hpp>

#include <algorithm>

namespace heddle::cli {

std::string cut_to_width(std::string_view text, std::size_t width) {
    if (display_width(text) <= width) return std::string(text);
    if (width == 0) return {};
    return std::string(text.substr(0, display_prefix(text, width - 1).bytes)) + "…";
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

std::string public_address(std::string_view address) {
    const std::size_t query = address.find_first_of("?#");
    std::string made(address.substr(0, query));
    if (query != std::string_view::npos) made += std::string(1, address[query]) + "[hidden]";
    const std::size_t scheme = made.find("://");
    const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
    const std::size_t at = made.rfind('@', std::min(made.find('/', begin), made.size()));
    if (at != std::string::npos && at >= begin) made.erase(begin, at + 1 - begin);
    return made;
}

std::string shown_address(std::string_view address) {
    constexpr std::size_t longest = 200;
    constexpr std::size_t some_of_path = 40; // a mark right behind a host would look like its end
    const std::string made = utf8::printable_line(public_address(address));
    const std::size_t scheme = made.find("://");
    const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
    const std::string_view origin = std::string_view(made).substr(0, made.find('/', host));
    return cut_to_width(made, std::max(longest, utf8::count(origin) + some_of_path));
}

} // namespace heddle::cli
