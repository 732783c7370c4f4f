// Forms in error messages.
#pragma once

#include <heddle/lang/printer.hpp>

#include <string>

namespace heddle::lang {

/// A form, cut to what fits in a message.
[[nodiscard]] inline std::string shown(const value& v) {
    print_options options;
    options.max_bytes = 80;
    options.max_depth = 8;
    return print_value(v, options);
}

[[nodiscard]] inline std::string count_of(std::size_t n) { return std::to_string(n); }

} // namespace heddle::lang
