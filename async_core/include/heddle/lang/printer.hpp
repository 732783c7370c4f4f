// Values as text.
#pragma once

#include <heddle/lang/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::lang {

struct print_options {
    std::size_t max_bytes = SIZE_MAX; ///< longer output ends in "…"
    std::size_t max_depth = SIZE_MAX; ///< deeper lists print as "(…)"
    bool display = false;             ///< strings without quotes at the outermost level
};

/// The written form. Numbers, strings, symbols, booleans, nil and lists of these are equal when
/// they are read back. A map prints as `(dict "k" v …)` with its values in their written form, for
/// people: read back it is a list, and evaluated it calls the lists inside; JSON keeps maps. A
/// closure prints as `#<function name>`. Iterative: any depth.
[[nodiscard]] std::string print_value(const value& v, const print_options& options = {});

/// `text` as a string literal of the language.
[[nodiscard]] std::string quoted(std::string_view text);

} // namespace heddle::lang
