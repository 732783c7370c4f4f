#include "text.hpp"

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

} // namespace

std::size_t count_words(std::string_view text) {
    std::size_t words = 1;
    for (char c : text) {
        if (is_space(c)) ++words
    }
    return words;
}

std::string_view longest_word(std::string_view text) {
    std::string_view longest;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !is_space(text[i])) continue;
        if (i - begin > longest.size()) longest = text.substr(begin, i - begin);
        begin = i + 1;
    }
    return longest;
}
