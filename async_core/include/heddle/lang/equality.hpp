// Structural equality.
#pragma once

#include <heddle/lang/value.hpp>
#include <heddle/lang/work.hpp>

#include <optional>

namespace heddle::lang {

/// `eq?` and `equal?` (docs/spec/language.md §2): structural; 1 equals 1.0; true equals 1; symbols
/// by name; a symbol never equals a string; maps without regard to order; closures, host objects by
/// identity. Does not recurse on the native stack: depth is bounded by memory only. About linear in
/// the parts of the values, however often those hold the same part.
[[nodiscard]] bool values_equal(const value& left, const value& right);
/// Nothing when `work` says to stop.
[[nodiscard]] std::optional<bool> values_equal(const value& left, const value& right,
                                               work_meter& work);

} // namespace heddle::lang
