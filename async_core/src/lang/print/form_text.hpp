// Forms in error messages.
#pragma once

#include <heddle/lang/printer.hpp>

#include <string>
#include <string_view>

namespace heddle::lang {

/// A form, cut to what fits in a message.
[[nodiscard]] inline std::string shown(const value& v) {
    print_options options;
    options.max_bytes = 80;
    options.max_depth = 8;
    return print_value(v, options);
}

/// "a list", "an integer".
[[nodiscard]] inline std::string with_article(std::string_view noun) {
    const bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
    return (vowel ? "an " : "a ") + std::string(noun);
}

[[nodiscard]] inline std::string count_of(std::size_t n) { return std::to_string(n); }

/// "1 part", "2 parts".
[[nodiscard]] inline std::string parts_of(std::size_t n) {
    return std::to_string(n) + (n == 1 ? " part" : " parts");
}

} // namespace heddle::lang
