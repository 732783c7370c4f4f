#include "lang/help/wrap.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>

namespace heddle::lang {

std::string wrapped(std::string_view text, std::size_t width) {
    std::string out;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, end);
        const std::size_t length = utf8::count(word);
        if (column != 0 && column + 1 + length > width) {
            out += '\n';
            column = 0;
        } else if (column != 0) {
            out += ' ';
            ++column;
        }
        out += word;
        column += length;
        if (end == text.size()) break;
        if (text[end] == '\n') {
            out += '\n';
            column = 0;
        }
        text.remove_prefix(end + 1);
    }
    return out;
}

} // namespace heddle::lang
