// The texts of the standard library, embedded by the build.
#pragma once

#include <span>
#include <string_view>

namespace heddle::lang {

struct library_source {
    std::string_view name; ///< as in (import std/NAME)
    std::string_view text;
};

/// The modules, by name. The texts live as long as the program.
[[nodiscard]] std::span<const library_source> stdlib_sources();

} // namespace heddle::lang
