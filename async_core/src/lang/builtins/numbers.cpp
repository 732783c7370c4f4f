#include <heddle/lang/builtin.hpp>

#include "lang/builtins/arithmetic.hpp"
#include "lang/builtins/support.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

/// Pays for every 1024th of many arguments. False: stop.
[[nodiscard]] bool go_on(native_call& call, std::size_t i) {
    return i % 1024 != 1023 || call.spend(1024);
}

[[nodiscard]] bool all_numbers(native_call& call, arguments_span arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!go_on(call, i)) return false;
        if (counts_as_number(arguments[i])) continue;
        static_cast<void>(call.fail_type(i + 1, "a number", arguments[i]));
        return false;
    }
    return true;
}

/// From left to right, beginning with `start` when there are fewer than two.
[[nodiscard]] value fold(native_call& call, char op, std::int64_t start, arguments_span arguments) {
    // (reduce + 0 xs) and its like.
    if (arguments.size() == 2) return arithmetic(call, op, arguments[0], arguments[1]);
    if (!all_numbers(call, arguments)) return {};
    if (arguments.empty()) return value::integer(start);
    const bool alone = arguments.size() == 1;
    value total = alone ? value::integer(start) : arguments[0];
    for (std::size_t i = alone ? 0 : 1; i < arguments.size(); ++i) {
        total = arithmetic(call, op, total, arguments[i]);
        if (call.failure() || !go_on(call, i)) return {};
    }
    return total;
}

value add(native_call& call, arguments_span a) { return fold(call, '+', 0, a); }
value subtract(native_call& call, arguments_span a) {
    // 0 - 0.0 would lose the sign.
    if (a.size() == 1 && a[0].is_real()) return value::real(-a[0].as_real());
    return fold(call, '-', 0, a);
}
value multiply(native_call& call, arguments_span a) { return fold(call, '*', 1, a); }
value divide(native_call& call, arguments_span a) { return fold(call, '/', 1, a); }

/// True when each neighbouring pair is in one of the orders of `accepted`.
template <class Accept>
[[nodiscard]] value chain(native_call& call, arguments_span arguments, Accept accept) {
    if (!all_numbers(call, arguments)) return {};
    bool holds = true;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        holds = holds && accept(*compare_numbers(arguments[i - 1], arguments[i]));
        if (!go_on(call, i)) return {};
    }
    return value::boolean(holds);
}

value less(native_call& call, arguments_span a) {
    return chain(call, a, [](int order) { return order == -1; });
}
value less_or_equal(native_call& call, arguments_span a) {
    return chain(call, a, [](int order) { return order <= 0; });
}
value greater(native_call& call, arguments_span a) {
    return chain(call, a, [](int order) { return order == 1; });
}
value greater_or_equal(native_call& call, arguments_span a) {
    return chain(call, a, [](int order) { return order == 0 || order == 1; });
}
value number_equal(native_call& call, arguments_span a) {
    value result = chain(call, a, [](int order) { return order == 0; });
    if (call.failure()) {
        call.fail(std::move(*call.failure()).with_hint("equal? compares values of any kind"));
    }
    return result;
}

/// What the integer divisions work on: two integers, or floats that are whole.
enum class division : std::uint8_t { quotient, remainder, modulo };

[[nodiscard]] value divide_whole(native_call& call, arguments_span arguments, division wanted) {
    bool real = false;
    for (std::size_t i = 0; i < 2; ++i) {
        const value& given = arguments[i];
        const bool whole = given.is_real() && std::trunc(given.as_real()) == given.as_real();
        if (!counts_as_number(given) || (given.is_real() && !whole)) {
            return call.fail_type(i + 1, "an integer", given);
        }
        real = real || given.is_real();
    }
    if (*compare_numbers(arguments[1], value::integer(0)) == 0) {
        return call.fail_evaluation("division by zero");
    }
    if (!real) {
        const std::int64_t a = arguments[0].as_integer();
        const std::int64_t b = arguments[1].as_integer();
        if (b == -1) { // the one divisor whose result may not fit
            return wanted == division::quotient ? arithmetic(call, '/', arguments[0], arguments[1])
                                                : value::integer(0);
        }
        if (wanted == division::quotient) return value::integer(a / b);
        const std::int64_t rest = a % b;
        const bool turn = wanted == division::modulo && rest != 0 && (rest < 0) != (b < 0);
        return value::integer(turn ? rest + b : rest);
    }
    const auto as_double = [](const value& v) {
        return v.is_real() ? v.as_real() : static_cast<double>(v.as_integer());
    };
    const double a = as_double(arguments[0]);
    const double b = as_double(arguments[1]);
    if (wanted == division::quotient) return value::real(std::trunc(a / b));
    const double rest = std::fmod(a, b);
    const bool turn = wanted == division::modulo && rest != 0 && (rest < 0) != (b < 0);
    return value::real(turn ? rest + b : rest);
}

value quotient(native_call& call, arguments_span a) {
    return divide_whole(call, a, division::quotient);
}
value remainder(native_call& call, arguments_span a) {
    return divide_whole(call, a, division::remainder);
}
value modulo(native_call& call, arguments_span a) {
    return divide_whole(call, a, division::modulo);
}

value absolute(native_call& call, arguments_span a) {
    if (!all_numbers(call, a)) return {};
    if (a[0].is_real()) return value::real(std::fabs(a[0].as_real()));
    if (a[0].as_integer() >= 0) return value::integer(a[0].as_integer());
    return arithmetic(call, '-', value::integer(0), a[0]);
}

[[nodiscard]] value extreme(native_call& call, arguments_span arguments, int wanted) {
    if (!all_numbers(call, arguments)) return {};
    std::size_t best = 0;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (*compare_numbers(arguments[i], arguments[best]) == wanted) best = i;
        if (!go_on(call, i)) return {};
    }
    return arguments[best];
}
value minimum(native_call& call, arguments_span a) { return extreme(call, a, -1); }
value maximum(native_call& call, arguments_span a) { return extreme(call, a, 1); }

/// An integer where it fits.
[[nodiscard]] value whole(native_call& call, arguments_span arguments, double (*rounded)(double)) {
    if (!all_numbers(call, arguments)) return {};
    if (!arguments[0].is_real()) return value::integer(arguments[0].as_integer());
    const double number = rounded(arguments[0].as_real());
    if (number >= -9223372036854775808.0 && number < 9223372036854775808.0) {
        return value::integer(static_cast<std::int64_t>(number));
    }
    return value::real(number);
}

/// To the nearest integer, halves to the even one; does not ask the rounding mode of the thread.
[[nodiscard]] double round_half_even(double number) {
    const double below = std::floor(number);
    const double part = number - below;
    if (part < 0.5) return below;
    if (part > 0.5) return below + 1;
    return std::fmod(below, 2) == 0 ? below : below + 1;
}

value floor_of(native_call& call, arguments_span a) {
    return whole(call, a, [](double d) { return std::floor(d); });
}
value ceiling_of(native_call& call, arguments_span a) {
    return whole(call, a, [](double d) { return std::ceil(d); });
}
value round_of(native_call& call, arguments_span a) { return whole(call, a, round_half_even); }
value truncate_of(native_call& call, arguments_span a) {
    return whole(call, a, [](double d) { return std::trunc(d); });
}

value square_root(native_call& call, arguments_span a) {
    if (!all_numbers(call, a)) return {};
    if (*compare_numbers(a[0], value::integer(0)) == -1) {
        return call.fail_evaluation("the square root of " + shown(a[0]) + " is not a real number");
    }
    if (a[0].is_real()) return value::real(std::sqrt(a[0].as_real()));
    const std::int64_t square = a[0].as_integer();
    const double root = std::sqrt(static_cast<double>(square));
    const std::int64_t exact = std::llround(root);
    if (exact <= 3037000499 && exact * exact == square) return value::integer(exact);
    return value::real(root);
}

value power(native_call& call, arguments_span a) {
    if (!all_numbers(call, a)) return {};
    if (a[0].is_real() || a[1].is_real() || a[1].as_integer() < 0) {
        const auto as_double = [](const value& v) {
            return v.is_real() ? v.as_real() : static_cast<double>(v.as_integer());
        };
        const double base = as_double(a[0]);
        const double exponent = as_double(a[1]);
        if (base == 0 && exponent < 0) return call.fail_evaluation("division by zero");
        const double result = std::pow(base, exponent);
        if (std::isnan(result) && !std::isnan(base) && !std::isnan(exponent)) {
            return call.fail_evaluation(shown(a[0]) + " to the power of " + shown(a[1]) +
                                        " is not a real number");
        }
        return value::real(result);
    }
    value result = value::integer(1);
    value square = value::integer(a[0].as_integer());
    for (std::int64_t rest = a[1].as_integer(); rest != 0;) {
        if (rest % 2 != 0) result = arithmetic(call, '*', result, square);
        rest /= 2;
        if (rest != 0) square = arithmetic(call, '*', square, square);
        if (call.failure()) {
            return call.fail_evaluation(shown(a[0]) + " to the power of " + shown(a[1]) +
                                        " does not fit a 64-bit integer");
        }
    }
    return result;
}

value is_number(native_call&, arguments_span a) {
    return value::boolean(a[0].is_integer() || a[0].is_real());
}
value is_integer(native_call&, arguments_span a) { return value::boolean(a[0].is_integer()); }

constexpr builtin row(std::string_view name, std::string_view parameters, std::uint16_t min,
                      std::uint16_t max, native_function run, std::string_view summary,
                      std::string_view example) {
    return pure_row(name, parameters, min, max, run, summary, example, "numbers");
}

constexpr std::uint16_t any = builtin::any_number;

constexpr builtin rows[] = {
    row("+", "xs…", 0, any, add,
        "The sum; 0 without arguments. true counts as 1 and false as 0, here and in all "
        "arithmetic. Integers have 64 bits: overflow is an error.",
        "(+ 1 2 3) => 6\n(+ 1 2.5) => 3.5\n(+) => 0"),
    row("-", "x ys…", 1, any, subtract, "x minus all the ys; x negated if it is the only argument.",
        "(- 10 3 2) => 5\n(- 4) => -4"),
    row("*", "xs…", 0, any, multiply, "The product; 1 without arguments.",
        "(* 2 3 4) => 24\n(*) => 1"),
    row("/", "x ys…", 1, any, divide,
        "x divided by each of the ys; 1 divided by x if it is the only argument. A division of "
        "integers that is not exact is a float; division by zero is an error.",
        "(/ 12 3) => 4\n(/ 1 4) => 0.25\n(/ 2) => 0.5"),
    constant_time(row("quotient", "n d", 2, 2, quotient, "The integer part of n / d.",
                      "(quotient 7 2) => 3\n(quotient -7 2) => -3")),
    constant_time(row("remainder", "n d", 2, 2, remainder,
                      "The remainder of n / d; has the sign of n.",
                      "(remainder 7 2) => 1\n(remainder -7 2) => -1")),
    constant_time(row("modulo", "n d", 2, 2, modulo,
                      "The remainder of a division that rounds down; has the sign of d.",
                      "(modulo 7 2) => 1\n(modulo -7 2) => 1")),
    constant_time(
        row("abs", "x", 1, 1, absolute, "x without its sign.", "(abs -3) => 3\n(abs 2.5) => 2.5")),
    row("min", "x ys…", 1, any, minimum, "The smallest of the numbers.", "(min 3 1 2) => 1"),
    row("max", "x ys…", 1, any, maximum, "The largest of the numbers.", "(max 3 1 2.5) => 3"),
    constant_time(row("floor", "x", 1, 1, floor_of,
                      "The next integer at or below x; a float if it does not fit 64 bits.",
                      "(floor 2.7) => 2\n(floor -2.1) => -3")),
    constant_time(row("ceiling", "x", 1, 1, ceiling_of,
                      "The next integer at or above x; a float if it does not fit 64 bits.",
                      "(ceiling 2.1) => 3")),
    constant_time(
        row("round", "x", 1, 1, round_of,
            "The nearest integer, halves to the even one; a float if it does not fit 64 bits.",
            "(round 2.6) => 3\n(round 2.5) => 2\n(round 3.5) => 4")),
    constant_time(row("truncate", "x", 1, 1, truncate_of,
                      "x without its fraction; a float if it does not fit 64 bits.",
                      "(truncate -2.7) => -2")),
    constant_time(row(
        "sqrt", "x", 1, 1, square_root,
        "The square root: an integer for the square of an integer. A negative number is an error.",
        "(sqrt 16) => 4\n(sqrt 2.25) => 1.5")),
    constant_time(row(
        "expt", "base exponent", 2, 2, power,
        "base to the power of exponent: an integer for integers, unless the exponent is negative.",
        "(expt 2 10) => 1024\n(expt 2 -1) => 0.5")),
    row("<", "x y zs…", 2, any, less, "True when the numbers ascend.",
        "(< 1 2 3) => true\n(< 1 1) => false"),
    row("<=", "x y zs…", 2, any, less_or_equal, "True when no number is less than the one before.",
        "(<= 1 1 2) => true"),
    row(">", "x y zs…", 2, any, greater, "True when the numbers descend.", "(> 3 2 1) => true"),
    row(">=", "x y zs…", 2, any, greater_or_equal,
        "True when no number is greater than the one before.", "(>= 2 2 1) => true"),
    row("=", "x y zs…", 2, any, number_equal,
        "True when all numbers are the same; equal? compares values of any kind.",
        "(= 1 1.0) => true\n(= 1 2) => false"),
    constant_time(row("number?", "x", 1, 1, is_number,
                      "True for integers and floats, not for booleans.",
                      "(number? 1.5) => true\n(number? \"1\") => false")),
    constant_time(row("integer?", "x", 1, 1, is_integer,
                      "True for integers, not for floats such as 2.0.",
                      "(integer? 2) => true\n(integer? 2.0) => false")),
};

} // namespace

std::span<const builtin> number_builtins() noexcept { return rows; }

} // namespace heddle::lang
