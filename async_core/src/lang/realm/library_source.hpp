// A module of the standard library.
#pragma once

#include <string_view>

namespace heddle::lang {

struct library_source {
    std::string_view name; ///< as in (import std/NAME)
    std::string_view text;
};

} // namespace heddle::lang
