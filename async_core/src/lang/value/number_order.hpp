// The order of numbers.
#pragma once

#include <heddle/lang/value.hpp>

#include <optional>

namespace heddle::lang {

/// True for integers, floats, and booleans, which count as 1 and 0 (docs/spec/language.md §2).
[[nodiscard]] inline bool counts_as_number(const value& v) noexcept {
    return v.is_integer() || v.is_real() || v.is_boolean();
}

/// -1, 0 or 1; 2 when a NaN takes part; nothing when one of them is not a number. Exact also
/// between integers and floats beyond 2^53.
[[nodiscard]] std::optional<int> compare_numbers(const value& left, const value& right) noexcept;

} // namespace heddle::lang
