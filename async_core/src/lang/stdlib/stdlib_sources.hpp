// The texts of the standard library, embedded by the build.
#pragma once

#include "lang/realm/library_source.hpp"

#include <span>

namespace heddle::lang {

/// The modules, by name. The texts live as long as the program.
[[nodiscard]] std::span<const library_source> stdlib_sources();

} // namespace heddle::lang
