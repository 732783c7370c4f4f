#include "lang/builtins/arithmetic.hpp"

#include <heddle/lang/errors.hpp>

#include <limits>
#include <string>
#include <utility>

#include "lang/builtins/support.hpp"

namespace heddle::lang {

namespace {

[[nodiscard]] double as_double(const value& v) noexcept {
    return v.is_real() ? v.as_real() : static_cast<double>(v.as_integer());
}

[[nodiscard]] value integer_result(native_call& call, char op, std::int64_t left,
                                   std::int64_t right) {
    std::int64_t exact = 0;
    bool overflow = false;
    switch (op) {
    case '+': overflow = __builtin_add_overflow(left, right, &exact); break;
    case '-': overflow = __builtin_sub_overflow(left, right, &exact); break;
    case '*': overflow = __builtin_mul_overflow(left, right, &exact); break;
    default:
        if (right == 0) return call.fail_evaluation("division by zero");
        overflow = left == std::numeric_limits<std::int64_t>::min() && right == -1;
        if (overflow) break;
        if (left % right != 0) {
            return value::real(static_cast<double>(left) / static_cast<double>(right));
        }
        exact = left / right;
    }
    if (!overflow) return value::integer(exact);
    return call.fail(error(errc::evaluation,
                           std::string(call.row().name) + ": " + std::to_string(left) + " " + op +
                               " " + std::to_string(right) + " does not fit a 64-bit integer")
                         .with_hint("make one of them a float, as in 1.0")
                         .with_origin(error_origin::script));
}

} // namespace

value arithmetic(native_call& call, char op, const value& left, const value& right) {
    if (!counts_as_number(left)) return call.fail_type(1, "a number", left);
    if (!counts_as_number(right)) return call.fail_type(2, "a number", right);
    if (!left.is_real() && !right.is_real()) {
        return integer_result(call, op, left.as_integer(), right.as_integer());
    }
    const double a = as_double(left);
    const double b = as_double(right);
    switch (op) {
    case '+': return value::real(a + b);
    case '-': return value::real(a - b);
    case '*': return value::real(a * b);
    default:
        if (b == 0) return call.fail_evaluation("division by zero");
        return value::real(a / b);
    }
}

} // namespace heddle::lang
