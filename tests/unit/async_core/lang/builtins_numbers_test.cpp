#include "lang/builtins/arithmetic.hpp"
#include "lang_fixture.hpp"

#include <limits>

namespace heddle::lang {
namespace {

class builtins_numbers : public lang_fixture {};

TEST_F(builtins_numbers, an_error_does_not_quote_a_long_string_whole) {
    const std::string longest = call("+", "\"" + std::string(1000, 'x') + "\"");
    EXPECT_LT(longest.size(), 150U);
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
