#include <heddle/base/number_text.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace heddle {
namespace {

TEST(number_text, has_plain_digits_where_people_write_them) {
    EXPECT_EQ(number_text(0), "0");
    EXPECT_EQ(number_text(3), "3");
    EXPECT_EQ(number_text(0.00222), "0.00222");
    EXPECT_EQ(number_text(6.2e-6), "0.0000062");
    EXPECT_EQ(number_text(1e-6), "0.000001");
    EXPECT_EQ(number_text(1e-7), "1e-07");
    EXPECT_EQ(number_text(-1234567.25), "-1234567.25");
    EXPECT_EQ(number_text(1e15), "1000000000000000");
    EXPECT_EQ(number_text(1e16), "1e+16");
    EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "inf");
    EXPECT_EQ(number_text(1.2345678901234567e-6), "0.0000012345678901234567");
}

TEST(number_text, is_rounded_to_significant_digits) {
    EXPECT_EQ(rounded_text(1234.56, 3), "1230");
    EXPECT_EQ(rounded_text(0.0022199999999999, 4), "0.00222");
    EXPECT_EQ(rounded_text(0.000015, 4), "0.000015");
    EXPECT_EQ(rounded_text(10000, 3), "10000");
    EXPECT_EQ(rounded_text(0, 3), "0");
}

TEST(decimal_text, is_read_as_the_nearest_double) {
    EXPECT_EQ(parse_decimal("-2.5e1"), -25);
    EXPECT_EQ(parse_decimal(".5"), 0.5);
    EXPECT_EQ(parse_decimal("1.7976931348623157e308"), std::numeric_limits<double>::max());
    EXPECT_EQ(parse_decimal("1e400"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(parse_decimal("-" + std::string(400, '9')), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(parse_decimal("1e-400"), 0);
    EXPECT_EQ(parse_decimal("0." + std::string(400, '0') + "1e400"), 0.1);
    EXPECT_EQ(parse_decimal("0e999"), 0);
}

TEST(grouped, has_a_comma_before_each_three_digits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999U), "999");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(grouped(-1000L), "-1,000");
    EXPECT_EQ(grouped(-100), "-100");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615ULL), "18,446,744,073,709,551,615");
}

TEST(counted, has_a_plural) {
    EXPECT_EQ(counted(0, "row"), "0 rows");
    EXPECT_EQ(counted(1, "row"), "1 row");
    EXPECT_EQ(counted(1234, "call"), "1,234 calls");
}

} // namespace
} // namespace heddle
