// The general paths of arithmetic, shared by the number builtins and the machine's opcodes.
#pragma once

#include <heddle/lang/builtin.hpp>

#include <optional>

namespace heddle::lang {

/// True for integers, floats, and booleans, which count as 1 and 0 (docs/spec/language.md §2).
[[nodiscard]] inline bool counts_as_number(const value& v) noexcept {
    return v.is_integer() || v.is_real() || v.is_boolean();
}

/// left op right; op is one of + - * /. On an error (not a number, out of 64 bits, division by
/// zero) the failure stands in `call` and the value is nil. Positions in errors are 1 and 2.
[[nodiscard]] value arithmetic(native_call& call, char op, const value& left, const value& right);

/// -1, 0 or 1; 2 when a NaN takes part; nothing when one of them is no number. Exact also between
/// integers and floats beyond 2^53.
[[nodiscard]] std::optional<int> compare_numbers(const value& left, const value& right) noexcept;

} // namespace heddle::lang
