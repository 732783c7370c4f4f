// A hash that agrees with values_equal.
#pragma once

#include <heddle/lang/value.hpp>

#include <cstddef>

namespace heddle::lang {

/// Equal values have equal hashes: 1, 1.0 and true among them. Looks at a bounded part of a value,
/// so it takes constant time however large or shared the value is.
[[nodiscard]] std::size_t hash_value(const value& v);

} // namespace heddle::lang
