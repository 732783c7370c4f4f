#include "lang/builtins/arithmetic.hpp"
#include "lang_fixture.hpp"

#include <limits>

namespace heddle::lang {
namespace {

class builtins_numbers : public lang_fixture {};

TEST_F(builtins_numbers, add_subtract_multiply) {
    EXPECT_EQ(call("+", ""), "0");
    EXPECT_EQ(call("+", "5"), "5");
    EXPECT_EQ(call("+", "10 20 30 40"), "100");
    EXPECT_EQ(call("+", "1 2.5"), "3.5");
    EXPECT_EQ(call("+", "true 1"), "2");
    EXPECT_EQ(call("+", "true"), "1");
    EXPECT_EQ(call("-", ""), "ArityError");
    EXPECT_EQ(call("-", "5"), "-5");
    EXPECT_EQ(call("-", "true"), "-1");
    EXPECT_EQ(call("-", "0.0"), "-0.0");
    EXPECT_EQ(call("-", "10 3 2"), "5");
    EXPECT_EQ(call("*", ""), "1");
    EXPECT_EQ(call("*", "2 3 0.5"), "3.0");
}

TEST_F(builtins_numbers, name_what_is_no_number) {
    EXPECT_EQ(call("+", "1 nil"), "TypeError: +: argument 2 must be a number, not nil");
    EXPECT_EQ(call("+", "1 2 (3)"), "TypeError: +: argument 3 must be a number, not the list (3)");
    EXPECT_EQ(call("-", "\"x\""),
              "TypeError: -: argument 1 must be a number, not the string \"x\"");
    EXPECT_EQ(call("<", "1 \"2\""),
              "TypeError: <: argument 2 must be a number, not the string \"2\"");
    EXPECT_EQ(call("=", "1 a"), "TypeError: =: argument 2 must be a number, not the symbol a");
    const std::string longest = call("+", "\"" + std::string(1000, 'x') + "\"");
    EXPECT_LT(longest.size(), 150U);
}

TEST_F(builtins_numbers, integers_that_leave_64_bits_are_an_error) {
    EXPECT_EQ(call("+", "4611686018427387904 1"), "4611686018427387905");
    EXPECT_EQ(call("+", "9223372036854775807 1"),
              "SexpEvaluationError: +: 9223372036854775807 + 1 does not fit a 64-bit integer");
    EXPECT_TRUE(call("-", "-9223372036854775808").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("*", "4294967296 4294967296").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("/", "-9223372036854775808 -1").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("quotient", "-9223372036854775808 -1").starts_with("SexpEvaluationError"));
    EXPECT_EQ(call("remainder", "-9223372036854775808 -1"), "0");
    EXPECT_TRUE(call("abs", "-9223372036854775808").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("expt", "10 19").starts_with("SexpEvaluationError"));
    EXPECT_EQ(call("expt", "-2 63"), "-9223372036854775808");
    EXPECT_EQ(call("+", "9223372036854775807 1.0"), "9.223372036854776e+18");
}

TEST_F(builtins_numbers, division) {
    EXPECT_EQ(call("/", "12 3"), "4");
    EXPECT_EQ(call("/", "1 4"), "0.25");
    EXPECT_EQ(call("/", "4"), "0.25");
    EXPECT_EQ(call("/", "100 5 2"), "10");
    EXPECT_EQ(call("/", "1 0"), "SexpEvaluationError: /: division by zero");
    EXPECT_EQ(call("/", "1.0 0.0"), "SexpEvaluationError: /: division by zero");
    EXPECT_EQ(call("/", "1 false"), "SexpEvaluationError: /: division by zero");
    EXPECT_EQ(call("quotient", "-7 2"), "-3");
    EXPECT_EQ(call("remainder", "-7 2"), "-1");
    EXPECT_EQ(call("modulo", "-7 2"), "1");
    EXPECT_EQ(call("modulo", "7 -2"), "-1");
    EXPECT_EQ(call("modulo", "6 -2"), "0");
    EXPECT_EQ(call("modulo", "-7.0 2"), "1.0");
    EXPECT_EQ(call("quotient", "7.0 2"), "3.0");
    EXPECT_EQ(call("modulo", "7 0"), "SexpEvaluationError: modulo: division by zero");
    EXPECT_EQ(call("modulo", "7 0.0"), "SexpEvaluationError: modulo: division by zero");
    EXPECT_TRUE(
        call("modulo", "7.5 2").starts_with("TypeError: modulo: argument 1 must be an integer"));
}

TEST_F(builtins_numbers, rounding) {
    EXPECT_EQ(call("floor", "-2.1"), "-3");
    EXPECT_EQ(call("ceiling", "-2.1"), "-2");
    EXPECT_EQ(call("truncate", "-2.9"), "-2");
    EXPECT_EQ(call("round", "2.5"), "2");
    EXPECT_EQ(call("round", "3.5"), "4");
    EXPECT_EQ(call("round", "-2.5"), "-2");
    EXPECT_EQ(call("round", "-0.4"), "0");
    EXPECT_EQ(call("round", "0.49999999999999994"), "0");
    EXPECT_EQ(call("round", "7"), "7");
    EXPECT_EQ(call("floor", "1e300"), "1e+300");
    EXPECT_EQ(call("floor", "+inf.0"), "+inf.0");
    EXPECT_EQ(call("floor", "9223372036854775808.0"), "9.223372036854776e+18");
}

TEST_F(builtins_numbers, roots_and_powers) {
    EXPECT_EQ(call("sqrt", "16"), "4");
    EXPECT_EQ(call("sqrt", "2"), "1.4142135623730951");
    EXPECT_EQ(call("sqrt", "9223372030926249001"), "3037000499");
    EXPECT_EQ(call("sqrt", "2.25"), "1.5");
    EXPECT_TRUE(call("sqrt", "-1").starts_with("SexpEvaluationError"));
    EXPECT_EQ(call("expt", "2 10"), "1024");
    EXPECT_EQ(call("expt", "2 -1"), "0.5");
    EXPECT_EQ(call("expt", "0 0"), "1");
    EXPECT_EQ(call("expt", "1 9223372036854775807"), "1");
    EXPECT_EQ(call("expt", "0 -1"), "SexpEvaluationError: expt: division by zero");
    EXPECT_TRUE(call("expt", "-8 0.5").starts_with("SexpEvaluationError"));
    EXPECT_EQ(call("min", "3 1.5 2"), "1.5");
    EXPECT_EQ(call("max", "3 1.5 true"), "3");
    EXPECT_EQ(call("min", ""), "ArityError");
}

TEST_F(builtins_numbers, comparisons) {
    EXPECT_EQ(call("<", "1 2 3"), "true");
    EXPECT_EQ(call("<", "1 3 2"), "false");
    EXPECT_EQ(call("<", "1 1.5"), "true");
    EXPECT_EQ(call("<=", "1 1 2"), "true");
    EXPECT_EQ(call(">", "3 2 2"), "false");
    EXPECT_EQ(call(">=", "3 2 2"), "true");
    EXPECT_EQ(call("=", "1 1.0 true"), "true");
    EXPECT_EQ(call("=", "1"), "ArityError");
    for (const char* name : {"<", "<=", ">", ">=", "="}) {
        EXPECT_EQ(call(name, "+nan.0 1"), "false") << name;
        EXPECT_EQ(call(name, "1 +nan.0"), "false") << name;
    }
    EXPECT_EQ(call("<", "9007199254740992.0 9007199254740993"), "true");
    EXPECT_EQ(call(">", "9223372036854775808.0 9223372036854775807"), "true");
}

TEST_F(builtins_numbers, predicates) {
    EXPECT_EQ(call("number?", "1.5"), "true");
    EXPECT_EQ(call("number?", "true"), "false");
    EXPECT_EQ(call("integer?", "2"), "true");
    EXPECT_EQ(call("integer?", "2.0"), "false");
}

TEST_F(builtins_numbers, compare_numbers_orders_exactly) {
    const auto integer = [](std::int64_t i) { return value::integer(i); };
    const auto real = [](double d) { return value::real(d); };
    EXPECT_EQ(compare_numbers(integer(1), real(1.5)), -1);
    EXPECT_EQ(compare_numbers(integer(-1), real(-1.5)), 1);
    EXPECT_EQ(compare_numbers(real(-1.5), integer(-1)), -1);
    EXPECT_EQ(compare_numbers(integer(std::numeric_limits<std::int64_t>::max()), real(1e300)), -1);
    EXPECT_EQ(compare_numbers(real(-1e300), integer(std::numeric_limits<std::int64_t>::min())), -1);
    EXPECT_EQ(compare_numbers(real(std::numeric_limits<double>::quiet_NaN()), integer(1)), 2);
    EXPECT_EQ(compare_numbers(integer(1), value()), std::nullopt);
}

} // namespace
} // namespace heddle::lang
