// Structural equality.
#pragma once

#include <heddle/lang/value.hpp>
#include <heddle/lang/work.hpp>

#include <optional>

namespace heddle::lang {

/// Structural equality, as `eq?` and `equal?` (docs/spec/language.md §2): 1 equals 1.0; true equals
/// 1; symbols compare by name, and a symbol never equals a string; maps compare without regard to
/// order; closures and host objects compare by identity. Does not recurse on the native stack:
/// depth is bounded by memory only. Complexity: about linear in the distinct parts of the values,
/// however often these are shared.
[[nodiscard]] bool values_equal(const value& left, const value& right);
/// As above, metered. Result: empty if `work` stops it.
[[nodiscard]] std::optional<bool> values_equal(const value& left, const value& right,
                                               work_meter& work);

} // namespace heddle::lang
