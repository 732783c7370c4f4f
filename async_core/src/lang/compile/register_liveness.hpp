// Registers that may hold an object when a function ends, and functions that call nothing.
#pragma once

#include <heddle/lang/code.hpp>

#include <cstdint>
#include <vector>

namespace heddle::lang {

/// How many registers, from the first, may hold an object when the function returns or calls in
/// tail position: what the machine clears then. A register that only ever holds numbers, or
/// arguments on their way to a call (which moves them on), need not be.
///
/// `moved_on[i]`: what instruction i writes is an argument of a later call on every way from it.
[[nodiscard]] std::uint16_t registers_to_clear(const function& code,
                                               const std::vector<bool>& moved_on);

/// Whether a function runs to its end without a call of another one, a request to the host, a way
/// back to an earlier instruction or a protected range.
[[nodiscard]] bool is_leaf(const function& code);

} // namespace heddle::lang
