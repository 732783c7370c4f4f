#include <heddle/base/display_width.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle {
namespace {

TEST(display_width, counts_columns) {
    EXPECT_EQ(display_width(""), 0U);
    EXPECT_EQ(display_width("abc"), 3U);
    EXPECT_EQ(display_width("äöü – ±"), 7U);
    EXPECT_EQ(display_width("日本語"), 6U);
    EXPECT_EQ(display_width("ｱ"), 1U);  // halfwidth
    EXPECT_EQ(display_width("Ａ"), 2U); // fullwidth
    EXPECT_EQ(display_width("한글"), 4U);
    EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2U); // the same from its parts
    EXPECT_EQ(display_width("e\u0301"), 1U);
    EXPECT_EQ(display_width("👍"), 2U);
    EXPECT_EQ(display_width("\u200b\u200d"), 0U);
    EXPECT_EQ(display_width("a\xFF\xC3"), 3U);
}

TEST(display_width, of_the_ends_of_ranges) {
    EXPECT_EQ(display_width(char32_t{0x2FF}), 1U);
    EXPECT_EQ(display_width(char32_t{0x300}), 0U);
    EXPECT_EQ(display_width(char32_t{0x36F}), 0U);
    EXPECT_EQ(display_width(char32_t{0x370}), 1U);
    EXPECT_EQ(display_width(char32_t{0x115F}), 2U);
    EXPECT_EQ(display_width(char32_t{0x3040}), 1U);
    EXPECT_EQ(display_width(char32_t{0x20000}), 2U);
    EXPECT_EQ(display_width(char32_t{0x10FFFF}), 1U);
}

TEST(display_width, prefixes_end_between_characters) {
    EXPECT_EQ(display_prefix("日本語", 5).bytes, 6U);
    EXPECT_EQ(display_prefix("日本語", 5).columns, 4U);
    EXPECT_EQ(display_prefix("日本語", 6).bytes, 9U);
    EXPECT_EQ(display_prefix("e\u0301x", 1).bytes, 3U); // a mark stays with its letter
    EXPECT_EQ(display_prefix("abc", 0).bytes, 0U);
}

} // namespace
} // namespace heddle
