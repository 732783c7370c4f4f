// The version of the library.
#pragma once

#include <heddle/base/visibility.hpp>

#include <string_view>

namespace HEDDLE_PUBLIC heddle {

/// "0.1.0": the version of the library that the program is linked with.
[[nodiscard]] std::string_view version() noexcept;

} // namespace heddle
