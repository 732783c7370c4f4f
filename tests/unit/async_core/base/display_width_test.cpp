#include <heddle/base/display_width.hpp>

#include <heddle/base/utf8.hpp>

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
    EXPECT_EQ(display_prefix("日", 1).bytes, 0U); // no half of a wide one
    EXPECT_EQ(display_prefix("a日", 2).columns, 1U);
    EXPECT_EQ(display_prefix("", 5).bytes, 0U);
    EXPECT_EQ(display_prefix("\xE2\x82"
                             "b",
                             1)
                  .bytes,
              2U); // invalid, and one column
    const std::string text = "a\u0301日\u200bb\xFF한";
    for (std::size_t columns = 0; columns < 10; ++columns) {
        const display_part part = display_prefix(text, columns);
        EXPECT_LE(part.columns, columns);
        EXPECT_EQ(part.columns, display_width(std::string_view(text).substr(0, part.bytes)));
    }
}

/// As long as what is printed of it.
TEST(display_width, of_what_a_terminal_obeys_is_that_of_what_is_printed_instead) {
    for (char32_t point = 0; point < 0x11000; ++point) {
        if (!utf8::is_display_control(point)) continue;
        std::string text;
        utf8::append(text, point);
        EXPECT_EQ(display_width(text), 1U) << static_cast<unsigned>(point);
        EXPECT_EQ(display_width(point), 1U) << static_cast<unsigned>(point);
    }
    EXPECT_EQ(display_width("a\u202Eb"), display_width(utf8::printable("a\u202Eb")));
}

} // namespace
} // namespace heddle
