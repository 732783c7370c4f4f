// Upper and lower case, the same on every machine: no locale takes part.
#pragma once

#include <cstdint>

namespace heddle::lang {

[[nodiscard]] char32_t upper_case(char32_t point) noexcept;
[[nodiscard]] char32_t lower_case(char32_t point) noexcept;

} // namespace heddle::lang
