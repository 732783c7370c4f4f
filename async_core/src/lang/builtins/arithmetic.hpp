// The general paths of arithmetic, shared by the number builtins and the machine's opcodes.
#pragma once

#include "lang/value/number_order.hpp"

#include <heddle/lang/builtin.hpp>

namespace heddle::lang {

/// left op right; op is one of + - * /. On an error (not a number, out of 64 bits, division by
/// zero) the failure is noted in `call` and the value is nil. Positions in errors are 1 and 2.
[[nodiscard]] value arithmetic(native_call& call, char op, const value& left, const value& right);

} // namespace heddle::lang
