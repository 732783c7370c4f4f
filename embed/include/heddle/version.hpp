// The version of the library.
#pragma once

#include <heddle/base/visibility.hpp>

#include <string_view>

namespace HEDDLE_PUBLIC heddle {

/// The version of the library at run time, such as "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

} // namespace heddle
