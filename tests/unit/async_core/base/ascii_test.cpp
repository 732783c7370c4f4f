#include <heddle/base/ascii.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

TEST(ascii, letters_are_those_of_ascii_whatever_the_byte) {
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool upper = byte >= 'A' && byte <= 'Z';
        const bool lower = byte >= 'a' && byte <= 'z';
        EXPECT_EQ(ascii::is_upper(c), upper) << byte;
        EXPECT_EQ(ascii::is_letter(c), upper || lower) << byte;
        EXPECT_EQ(ascii::is_digit(c), byte >= '0' && byte <= '9') << byte;
        EXPECT_EQ(ascii::to_lower(c), upper ? static_cast<char>(byte + 32) : c) << byte;
        EXPECT_EQ(ascii::is_blank(c), byte == ' ' || byte == 9 || byte == 10 || byte == 13) << byte;
    }
}

TEST(ascii, case_is_ignored_in_letters_only) {
    EXPECT_EQ(ascii::to_lower("Content-TYPE É [@`{"), "content-type É [@`{");
    EXPECT_TRUE(ascii::equals_ignoring_case("Retry-After", "rETRY-aFTER"));
    EXPECT_TRUE(ascii::equals_ignoring_case("", ""));
    EXPECT_FALSE(ascii::equals_ignoring_case("a", "ab"));
    EXPECT_FALSE(ascii::equals_ignoring_case("ab", "a"));
    EXPECT_FALSE(ascii::equals_ignoring_case("@", "`")); // they differ by 0x20, as letters do
    EXPECT_FALSE(ascii::equals_ignoring_case("[", "{"));
    EXPECT_FALSE(ascii::equals_ignoring_case("É", "é"));
}

TEST(ascii, trim_takes_both_ends_and_leaves_the_middle) {
    EXPECT_EQ(ascii::trim(" \t\r\na b\n"), "a b");
    EXPECT_EQ(ascii::trim("ab"), "ab");
    EXPECT_EQ(ascii::trim(" \n "), "");
    EXPECT_EQ(ascii::trim(""), "");
    EXPECT_EQ(ascii::trim("\fa"), "\fa");
    EXPECT_EQ(ascii::trim(" \na ", " "), "\na");
}

TEST(ascii, join_puts_the_separator_between) {
    EXPECT_EQ(ascii::join(std::vector<std::string>{}, ", "), "");
    EXPECT_EQ(ascii::join(std::vector<std::string>{"a"}, ", "), "a");
    EXPECT_EQ(ascii::join(std::vector<std::string_view>{"", "b", ""}, ", "), ", b, ");
    EXPECT_EQ(ascii::join(std::vector<char>{'a', 'b'}, ""), "ab");
}

TEST(ascii, blanks_are_those_of_json_and_xml) {
    EXPECT_EQ(ascii::blanks.size(), 4U);
    for (const char c : ascii::blanks) EXPECT_TRUE(ascii::is_blank(c)) << static_cast<int>(c);
}

TEST(ascii, digits_alone_are_at_least_one) {
    EXPECT_TRUE(ascii::is_all_digits(ascii::digits));
    for (const std::string_view wrong : {"", "-1", "+1", "1 ", "1.0", "1a", "\xC2\xB2"})
        EXPECT_FALSE(ascii::is_all_digits(wrong)) << wrong;
}

TEST(ascii, hex_digits_have_their_value_in_either_case) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const std::size_t at = digits.find(ascii::to_lower(c));
        const int expected = at == std::string_view::npos ? -1 : static_cast<int>(at);
        EXPECT_EQ(ascii::hex_value(c), expected) << byte;
    }
}

TEST(ascii, four_hex_digits_are_four_and_inside_of_the_text) {
    EXPECT_EQ(ascii::four_hex_digits("00e9", 0), 0xE9U);
    EXPECT_EQ(ascii::four_hex_digits("xD83eDDF5", 1), 0xD83EU);
    EXPECT_EQ(ascii::four_hex_digits("xD83eDDF5", 5), 0xDDF5U);
    for (const std::string_view wrong : {"", "123", "12G4", "-123", " 123", "12 4"}) {
        EXPECT_EQ(ascii::four_hex_digits(wrong, 0), std::nullopt) << wrong;
    }
    EXPECT_EQ(ascii::four_hex_digits("12345", 2), std::nullopt);
    EXPECT_EQ(ascii::four_hex_digits("1234", 100), std::nullopt);
}

} // namespace
} // namespace heddle
