#pragma once

#include <heddle/base/error.hpp>

#include <string_view>

namespace heddle {

/// The name of a reason for programs that read JSON: that of the enumerator. to_string() is for
/// people.
[[nodiscard]] std::string_view name_of(cancel_reason reason) noexcept;

} // namespace heddle
