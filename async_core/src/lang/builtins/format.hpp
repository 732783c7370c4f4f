// `format`.
#pragma once

#include <heddle/lang/builtin.hpp>

namespace heddle::lang {

/// (format text values…): see the row in strings.cpp.
[[nodiscard]] value format_text(native_call& call, std::span<value> arguments);

} // namespace heddle::lang
