#include <heddle/base/hex.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle {
namespace {

TEST(hex, every_byte_comes_back) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    std::string digits = "0x";
    append_hex(digits, bytes);
    EXPECT_EQ(digits.substr(0, 8), "0x000102");
    EXPECT_EQ(digits.substr(digits.size() - 4), "feff");
    EXPECT_EQ(bytes_of_hex(std::string_view(digits).substr(2)), bytes);
}

TEST(hex, digits_are_pairs_in_either_case) {
    EXPECT_EQ(bytes_of_hex(""), "");
    EXPECT_EQ(bytes_of_hex("4aFf"), "J\xFF");
    for (const std::string_view wrong : {"4", "4a4", "4g", "-1", "0x41", " 41", "4 1 "})
        EXPECT_EQ(bytes_of_hex(wrong), std::nullopt) << wrong;
}

TEST(hex, of_a_number_has_all_its_digits) {
    EXPECT_EQ(hex_text(0), "0000000000000000");
    EXPECT_EQ(hex_text(0xFEDC'BA98'0000'000AU), "fedcba980000000a");
}

TEST(percent_encoded, keeps_unreserved_characters) {
    const auto encoded = [](std::string_view text, std::string_view also_plain = {}) {
        std::string out = "/";
        append_percent_encoded(out, text, also_plain);
        return out;
    };
    EXPECT_EQ(encoded("aZ09-._~"), "/aZ09-._~");
    EXPECT_EQ(encoded("a/b c:\xC3\xBC"), "/a%2Fb%20c%3A%C3%BC");
    EXPECT_EQ(encoded("a/b c", "/"), "/a/b%20c");
}

TEST(percent_decoded, puts_bytes_in_the_place_of_escapes) {
    for (const broken_escape broken : {broken_escape::kept, broken_escape::refused}) {
        EXPECT_EQ(percent_decoded("", broken), "");
        EXPECT_EQ(percent_decoded("a%2Fb%2fc+d", broken), "a/b/c+d");
        EXPECT_EQ(percent_decoded("%25%3A%", broken_escape::kept), "%:%");
        EXPECT_EQ(percent_decoded("%c5%bc%00", broken), std::string("ż\0", 3));
        EXPECT_EQ(percent_decoded("%2541", broken), "%41"); // once
    }
}

TEST(percent_decoded, of_a_broken_escape_is_itself_or_nothing) {
    for (const std::string_view text : {"%", "a%", "a%4", "%zz", "%4z", "%z4", "%%41", "% 41"})
        EXPECT_EQ(percent_decoded(text, broken_escape::refused), std::nullopt) << text;
    EXPECT_EQ(percent_decoded("a%4", broken_escape::kept), "a%4");
    EXPECT_EQ(percent_decoded("%zz%41", broken_escape::kept), "%zzA");
    EXPECT_EQ(percent_decoded("%%41", broken_escape::kept), "%A");
}

} // namespace
} // namespace heddle
