#include <heddle/base/parse_number.hpp>

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

namespace heddle {
namespace {

TEST(parse_number, takes_texts_that_are_numbers_as_a_whole) {
    EXPECT_EQ(parse_number<int>("42"), 42);
    EXPECT_EQ(parse_number<int>("-42"), -42);
    EXPECT_EQ(parse_number<unsigned>("ff", 16), 255U);
    EXPECT_EQ(parse_number<double>("-1.5e2"), -150.0);
    EXPECT_EQ(parse_number<double>("1.5", std::chars_format::fixed), 1.5);
    EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"),
              std::numeric_limits<std::int64_t>::min());
}

TEST(parse_number, refuses_everything_else) {
    for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "-", "0x10", "1,000"}) {
        EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
        EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_number<int>("1.0"), std::nullopt);
    EXPECT_EQ(parse_number<double>("1e2", std::chars_format::fixed), std::nullopt);
}

TEST(parse_number, refuses_what_does_not_fit) {
    EXPECT_EQ(parse_number<std::uint8_t>("255"), 255);
    EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
    EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
    EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_number<double>("1e999"), std::nullopt);
}

} // namespace
} // namespace heddle
