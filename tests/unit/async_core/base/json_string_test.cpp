#include <heddle/base/json_string.hpp>

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace heddle {
namespace {

TEST(json_string, escapes_what_must_be_and_nothing_more) {
    EXPECT_EQ(json_string(""), "\"\"");
    EXPECT_EQ(json_string("plain text of more than eight bytes / </script>"),
              "\"plain text of more than eight bytes / </script>\"");
    EXPECT_EQ(json_string("a\"b\\c\n\r\t\b\f\x01\x1f\x7f"),
              "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\"");
    EXPECT_EQ(json_string(std::string_view("\0", 1)), "\"\\u0000\"");
    EXPECT_EQ(json_string("Żółć 日本語 🧵"), "\"Żółć 日本語 🧵\"");
}

TEST(json_string, escapes_at_each_place_of_a_word) {
    for (const char special : {'"', '\\', '\n', '\x02'}) {
        for (std::size_t before = 0; before < 20; ++before) {
            const std::string plain(before, 'x');
            const std::string text = json_string(plain + special + plain);
            ASSERT_TRUE(text.starts_with('"' + plain + '\\')) << text;
            ASSERT_TRUE(text.ends_with(plain + '"')) << text;
        }
    }
}

TEST(json_string, every_byte_of_ascii_is_itself_or_an_escape) {
    for (int byte = 0; byte < 0x80; ++byte) {
        const char c = static_cast<char>(byte);
        std::string expected(1, c);
        if (c == '"' || c == '\\') {
            expected.insert(0, "\\");
        } else if (byte < 0x20) {
            const bool by_letter = byte >= 8 && byte <= 13 && byte != 11;
            char number[8];
            std::snprintf(number, sizeof number, "\\u%04x", static_cast<unsigned>(byte));
            expected = by_letter ? std::string("\\") + "btn fr"[byte - 8] : std::string(number);
        }
        std::string out = "before ";
        append_json_escaped(out, {&c, 1});
        EXPECT_EQ(out, "before " + expected) << byte;
        append_json_string(out, {&c, 1});
        EXPECT_EQ(out, "before " + expected + '"' + expected + '"') << byte;
    }
}

TEST(json_string, invalid_bytes_become_replacements) {
    const std::string r(utf8::replacement);
    EXPECT_EQ(json_string("x\xE2\x82"), "\"x" + r + "\"");
    EXPECT_EQ(json_string("\xED\xA0\x80z"), "\"" + r + r + r + "z\"");
    EXPECT_EQ(json_string("\"\xFF\n"), "\"\\\"" + r + "\\n\"");
}

TEST(mended_json, is_nothing_when_there_is_nothing_to_mend) {
    for (const std::string_view whole :
         {"", "{}", R"("a\ud83e\uddf5b")", R"("\\ud83e")", R"("\u00e9\n\"")", "\"日本\"", "\\",
          R"(\u)", R"(\u12)", R"("\\\\ud83e")"}) {
        EXPECT_EQ(mended_json(whole), std::nullopt) << whole;
    }
}

TEST(mended_json, lone_halves_are_replaced) {
    const std::string r(utf8::replacement);
    EXPECT_EQ(mended_json(R"("\ud83e")"), "\"" + r + "\"");
    EXPECT_EQ(mended_json(R"("\uDDF5\uD83E")"), "\"" + r + r + "\"");
    EXPECT_EQ(mended_json(R"(["\ud83e\ud83e\uddf5","\ud83e\n"])"),
              "[\"" + r + R"(\ud83e\uddf5",")" + r + R"(\n"])");
    EXPECT_EQ(mended_json(R"("\\\ud83e")"), R"("\\)" + r + "\"");
    EXPECT_EQ(mended_json(R"(\ud83e)"), r); // no JSON, before and after
    EXPECT_EQ(mended_json(R"("\ud83e\u12")"), "\"" + r + R"(\u12")");
}

TEST(mended_json, invalid_bytes_are_replaced_first) {
    const std::string r(utf8::replacement);
    EXPECT_EQ(mended_json("\"\xFF\""), "\"" + r + "\"");
    EXPECT_EQ(mended_json("\"\xED\xA0\xBE\\uddf5\"", lone_half::kept),
              "\"" + r + r + r + "\xED\xB7\xB5\"");
}

TEST(mended_json, kept_halves_are_those_that_came) {
    EXPECT_EQ(mended_json(R"("\ud800\udbff")", lone_half::kept), "\"\xED\xA0\x80\xED\xAF\xBF\"");
    EXPECT_EQ(mended_json(R"("\udc00-\udfff")", lone_half::kept), "\"\xED\xB0\x80-\xED\xBF\xBF\"");
}

} // namespace
} // namespace heddle
