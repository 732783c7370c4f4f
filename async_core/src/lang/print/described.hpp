// Values in messages about what they are not.
#pragma once

#include <heddle/lang/value.hpp>

#include <string>

namespace heddle::lang {

/// What was given in place of what was expected: the string "x".
[[nodiscard]] std::string described(const value& given);

} // namespace heddle::lang
