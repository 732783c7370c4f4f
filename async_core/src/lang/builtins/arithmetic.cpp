#include "lang/builtins/arithmetic.hpp"

#include <heddle/lang/errors.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "lang/builtins/support.hpp"

namespace heddle::lang {

namespace {

[[nodiscard]] int order(double left, double right) noexcept {
    if (std::isnan(left) || std::isnan(right)) return 2;
    return left < right ? -1 : left > right ? 1 : 0;
}

/// Without rounding the integer to a double.
[[nodiscard]] int order(std::int64_t left, double right) noexcept {
    if (std::isnan(right)) return 2;
    if (right >= 9223372036854775808.0) return -1;
    if (right < -9223372036854775808.0) return 1;
    const double whole = std::trunc(right);
    const auto truncated = static_cast<std::int64_t>(whole);
    if (left != truncated) return left < truncated ? -1 : 1;
    return right > whole ? -1 : right < whole ? 1 : 0;
}

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

std::optional<int> compare_numbers(const value& left, const value& right) noexcept {
    if (!counts_as_number(left) || !counts_as_number(right)) return std::nullopt;
    if (left.is_real()) {
        if (right.is_real()) return order(left.as_real(), right.as_real());
        const int opposite = order(right.as_integer(), left.as_real());
        return opposite == 2 ? 2 : -opposite;
    }
    if (right.is_real()) return order(left.as_integer(), right.as_real());
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    return a < b ? -1 : a > b ? 1 : 0;
}

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
