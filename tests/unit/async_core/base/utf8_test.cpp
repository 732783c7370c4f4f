#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace heddle {
namespace {

const std::string r(utf8::replacement);

/// Decoding by the definition: the shortest form of each code point is what encodes it.
std::string encoded(char32_t point) {
    std::string out;
    utf8::append(out, point);
    return out;
}

/// A copy of exactly its size on the free store: reading past its end shows under a sanitizer.
class exact_copy {
public:
    explicit exact_copy(std::string_view text)
        : size_(text.size()), bytes_(std::make_unique<char[]>(text.size())) {
        std::copy(text.begin(), text.end(), bytes_.get());
    }
    std::string_view view() const { return {bytes_.get(), size_}; }

private:
    std::size_t size_;
    std::unique_ptr<char[]> bytes_;
};

TEST(utf8_append, every_code_point_is_decoded_again) {
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        const std::string bytes = encoded(point);
        const utf8::code_point found = utf8::decode(bytes, 0);
        ASSERT_TRUE(found.valid) << static_cast<unsigned>(point);
        ASSERT_EQ(found.bytes, bytes.size()) << static_cast<unsigned>(point);
        ASSERT_EQ(utf8::size_of(point), bytes.size()) << static_cast<unsigned>(point);
        const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        ASSERT_EQ(found.value, surrogate ? 0xFFFD : point);
        ASSERT_TRUE(utf8::is_valid(bytes));
    }
    EXPECT_EQ(encoded(0x110000), r);
    EXPECT_EQ(encoded(0xFFFFFFFF), r);
}

TEST(utf8_find_invalid, accepts_the_borders_and_refuses_what_lies_behind_them) {
    for (const std::string_view valid :
         {"", "plain", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
          "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF",
          "caf\xC3\xA9 and more text"}) {
        EXPECT_EQ(utf8::find_invalid(valid), std::string_view::npos) << valid;
    }
    for (const std::string_view invalid :
         {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2 ", "\xE0\x9F\xBF", "\xE2\x82",
          "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80",
          "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
        EXPECT_EQ(utf8::find_invalid(invalid), 0U) << invalid;
        // Wherever it is: in and behind the words of eight bytes.
        for (std::size_t before = 0; before < 20; ++before) {
            const exact_copy text(std::string(before, 'x') + std::string(invalid));
            EXPECT_EQ(utf8::find_invalid(text.view()), before);
        }
    }
}

/// Table 3-7 of the Unicode standard, verbatim: the well-formed sequences of bytes.
struct byte_range {
    unsigned char low;
    unsigned char high;
};
const std::vector<std::vector<byte_range>> table_3_7{
    {{0x00, 0x7F}},
    {{0xC2, 0xDF}, {0x80, 0xBF}},
    {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}},
    {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}},
    {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
    {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}},
};

/// What the table has for the beginning of a string: the longest part that fits a row, or one byte.
utf8::code_point by_table(std::string_view text) {
    utf8::code_point point;
    for (const auto& row : table_3_7) {
        std::size_t fits = 0;
        while (fits < row.size() && fits < text.size() &&
               static_cast<unsigned char>(text[fits]) >= row[fits].low &&
               static_cast<unsigned char>(text[fits]) <= row[fits].high)
            ++fits;
        point.bytes = std::max(point.bytes, fits);
        point.valid = point.valid || fits == row.size();
    }
    if (!point.valid) return point;
    const unsigned first_bits = point.bytes == 1 ? 0x7F : 0x7F >> point.bytes;
    point.value = static_cast<unsigned char>(text[0]) & first_bits;
    for (std::size_t i = 1; i < point.bytes; ++i)
        point.value = point.value << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
    return point;
}

void expect_as_by_table(const std::string& text) {
    const utf8::code_point expected = by_table(text);
    const utf8::code_point found = utf8::decode(text, 0);
    ASSERT_EQ(found.valid, expected.valid) << ::testing::PrintToString(text);
    ASSERT_EQ(found.bytes, expected.bytes) << ::testing::PrintToString(text);
    ASSERT_EQ(found.value, expected.value) << ::testing::PrintToString(text);
    std::size_t invalid = std::string_view::npos;
    std::string replaced;
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point next = by_table(std::string_view(text).substr(at));
        if (!next.valid) invalid = std::min(invalid, at);
        replaced += next.valid ? text.substr(at, next.bytes) : r;
        at += next.bytes;
    }
    ASSERT_EQ(utf8::find_invalid(text), invalid) << ::testing::PrintToString(text);
    ASSERT_EQ(utf8::replace_invalid(text), replaced) << ::testing::PrintToString(text);
}

/// Each lead with each second byte, and behind them the bytes at the borders of the table.
TEST(utf8_decode, agrees_with_the_table_of_the_standard) {
    constexpr unsigned char borders[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                         0xC0, 0xC2, 0xDF, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF};
    for (unsigned lead = 0; lead < 256; ++lead) {
        std::string text(1, static_cast<char>(lead));
        ASSERT_NO_FATAL_FAILURE(expect_as_by_table(text));
        for (unsigned second = 0; second < 256; ++second) {
            text.resize(1);
            text += static_cast<char>(second);
            ASSERT_NO_FATAL_FAILURE(expect_as_by_table(text));
            if (lead < 0xE0 || lead > 0xF5) continue;
            for (const unsigned char third : borders) {
                text.resize(2);
                text += static_cast<char>(third);
                ASSERT_NO_FATAL_FAILURE(expect_as_by_table(text));
                for (const unsigned char fourth : borders) {
                    text.resize(3);
                    text += static_cast<char>(fourth);
                    ASSERT_NO_FATAL_FAILURE(expect_as_by_table(text));
                }
            }
        }
    }
}

TEST(utf8_decode, reads_nothing_past_the_end) {
    for (const std::string_view cut :
         {"\xC3", "\xE2", "\xE2\x82", "\xF0", "\xF0\x9F", "\xF0\x9F\x98"}) {
        const exact_copy text(cut);
        const utf8::code_point found = utf8::decode(text.view(), 0);
        EXPECT_FALSE(found.valid);
        EXPECT_EQ(found.value, utf8::replacement_character);
        EXPECT_EQ(found.bytes, cut.size());
    }
}

TEST(utf8_replace_invalid, each_maximal_subpart_becomes_one_replacement) {
    // The examples of the Unicode standard, 3.9, tables 3-8 to 3-11.
    EXPECT_EQ(utf8::replace_invalid("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
              r + r + r + r + r + r + r + r + "A");
    EXPECT_EQ(utf8::replace_invalid("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
              r + r + r + r + r + r + r + r + "A");
    EXPECT_EQ(utf8::replace_invalid("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
              r + r + r + r + r + "A" + r + r + "B");
    EXPECT_EQ(utf8::replace_invalid("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
    EXPECT_EQ(utf8::replace_invalid(""), "");
    EXPECT_EQ(utf8::replace_invalid("a\xC3"), "a" + r);
}

TEST(utf8_append_valid, adds_to_what_is_there) {
    std::string out = "a";
    utf8::append_valid(out,
                       "b\xFF"
                       "c");
    utf8::append_valid(out, "");
    utf8::append_valid(out, "é\xC3");
    EXPECT_EQ(out, "ab" + r + "cé" + r);
}

TEST(utf8_skip_byte_order_mark, takes_one_from_the_beginning) {
    EXPECT_EQ(utf8::skip_byte_order_mark("\xEF\xBB\xBFx"), "x");
    EXPECT_EQ(utf8::skip_byte_order_mark("\xEF\xBB\xBF\xEF\xBB\xBF"), utf8::byte_order_mark);
    EXPECT_EQ(utf8::skip_byte_order_mark("x\xEF\xBB\xBF"), "x\xEF\xBB\xBF");
    EXPECT_EQ(utf8::skip_byte_order_mark("\xEF\xBB"), "\xEF\xBB");
}

TEST(utf8_is_ascii, looks_at_every_byte) {
    for (std::size_t size = 0; size < 40; ++size) {
        const exact_copy plain(std::string(size, '\x7F'));
        EXPECT_TRUE(utf8::is_ascii(plain.view()));
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'x');
            text[at] = '\x80';
            EXPECT_FALSE(utf8::is_ascii(exact_copy(text).view())) << size << " " << at;
        }
    }
}

TEST(utf8_is_continuation, holds_for_the_bytes_of_80_to_bf) {
    for (int byte = 0; byte < 256; ++byte)
        EXPECT_EQ(utf8::is_continuation(static_cast<char>(byte)), byte >= 0x80 && byte < 0xC0);
}

/// White_Space of the Unicode character database (PropList.txt), and the byte order mark.
TEST(utf8_is_space, holds_for_white_space_of_unicode) {
    for (char32_t point = 0; point <= 0x10FFFF; ++point) {
        const bool space = (point >= 9 && point <= 13) || point == 0x20 || point == 0x85 ||
                           point == 0xA0 || point == 0x1680 ||
                           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 ||
                           point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
        ASSERT_EQ(utf8::is_space(point), space || point == 0xFEFF) << static_cast<unsigned>(point);
    }
}

TEST(utf8_count, of_what_is_no_text_are_the_bytes_that_continue_nothing) {
    EXPECT_EQ(utf8::count("\x80\xBF"), 0U);
    EXPECT_EQ(utf8::count("\xFF\xC3"
                          "a\x80"),
              3U);
    EXPECT_EQ(utf8::count(std::string(17, '\x80') + "\xF0" + std::string(9, 'x')), 10U);
}

TEST(utf8_replace_invalid, a_valid_text_is_moved_not_copied) {
    std::string text(100, 'x');
    text += "é";
    const char* const bytes = text.data();
    const std::string same = utf8::replace_invalid(std::move(text));
    EXPECT_EQ(same.data(), bytes);
}

TEST(utf8_count, counts_characters_and_finds_them) {
    const std::string text = "aé日🧵 twelve more letters: ąęśćżźółń";
    std::vector<std::size_t> begins;
    for (std::size_t at = 0; at < text.size(); at += utf8::decode(text, at).bytes) {
        begins.push_back(at);
    }
    EXPECT_EQ(utf8::count(text), begins.size());
    for (std::size_t i = 0; i < begins.size(); ++i) {
        EXPECT_EQ(utf8::offset_of(text, i), begins[i]) << i;
        EXPECT_EQ(utf8::count(std::string_view(text).substr(0, begins[i])), i);
    }
    EXPECT_EQ(utf8::offset_of(text, begins.size()), text.size());
    EXPECT_EQ(utf8::offset_of(text, begins.size() + 100), text.size());
}

TEST(utf8_prefix, ends_between_characters) {
    const std::string text = "a" + std::string("é") + "日" + "🧵" + "z";
    std::vector<std::size_t> ends{0, 1, 3, 6, 10, 11};
    for (std::size_t max = 0; max <= text.size() + 2; ++max) {
        const std::size_t size = utf8::prefix_size(text, max);
        EXPECT_LE(size, max);
        EXPECT_EQ(size, *(std::upper_bound(ends.begin(), ends.end(), max) - 1)) << max;
        const bool cut = text.size() > max;
        EXPECT_EQ(utf8::shortened(text, max), text.substr(0, size) + (cut ? "…" : ""));
        EXPECT_EQ(utf8::shortened(text, max, "-"), text.substr(0, size) + (cut ? "-" : ""));
        EXPECT_EQ(utf8::prefix(text, max), text.substr(0, size));
        std::string shorter = text;
        utf8::shorten(shorter, max);
        EXPECT_EQ(shorter, text.substr(0, size));
    }
}

TEST(utf8_prefix, loses_at_most_three_bytes_of_what_is_no_text) {
    const std::string bytes(100, '\x80');
    EXPECT_EQ(utf8::prefix_size(bytes, 50), 50U);
    EXPECT_EQ(utf8::prefix_size(bytes, 0), 0U);
    EXPECT_EQ(utf8::prefix_size("\xF0\x80\x80\x80\x80", 4), 4U);
}

TEST(utf8_incomplete_end, is_what_may_still_become_a_character) {
    EXPECT_EQ(utf8::incomplete_end(""), 0U);
    EXPECT_EQ(utf8::incomplete_end("abc"), 0U);
    EXPECT_EQ(utf8::incomplete_end("a\xC3"), 1U);
    EXPECT_EQ(utf8::incomplete_end("\xE2\x82"), 2U);
    EXPECT_EQ(utf8::incomplete_end("\xF0\x9F\xA7"), 3U);
    EXPECT_EQ(utf8::incomplete_end("\xF0\x9F\xA7\xB5"), 0U);
    EXPECT_EQ(utf8::incomplete_end("\xC3\xA9"), 0U);
    // What no byte can mend is complete, and wrong.
    for (const std::string_view wrong :
         {"\x80", "\xFF", "\xC0", "\xE0\x80", "\xED\xA0", "\xF4\x90"}) {
        EXPECT_EQ(utf8::incomplete_end(wrong), 0U) << wrong;
    }
}

TEST(utf8_printable, no_control_character_reaches_a_terminal) {
    for (char32_t point = 0; point < 0xA0; ++point) {
        if (!utf8::is_control(point)) continue;
        const std::string text = "a" + encoded(point) + "b";
        const bool kept = point == '\n' || point == '\t';
        EXPECT_EQ(utf8::printable(text), kept ? text : "a?b") << static_cast<unsigned>(point);
        const bool blank = kept || point == '\r';
        EXPECT_EQ(utf8::printable_line(text), blank ? "a b" : "a?b");
    }
    EXPECT_TRUE(utf8::is_control(0x9B)); // CSI
    EXPECT_TRUE(utf8::is_control(0x7F));
    EXPECT_FALSE(utf8::is_control(0xA0));
    EXPECT_EQ(utf8::printable("\x9B"
                              "31m é"),
              r + "31m é"); // a CSI of one byte
    EXPECT_EQ(utf8::printable("żółć 日本 🧵"), "żółć 日本 🧵");
}

TEST(utf8_printable, text_is_not_shown_in_another_order_than_it_has) {
    const std::vector<char32_t> controls{0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
                                         0x202C, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x2069};
    for (char32_t point = 0xA0; point < 0x11000; ++point) {
        const std::string text = "a" + encoded(point) + "b";
        const bool obeyed = std::count(controls.begin(), controls.end(), point) != 0;
        if (utf8::is_high_surrogate(point) || utf8::is_low_surrogate(point)) continue;
        ASSERT_EQ(utf8::printable(text), obeyed ? "a?b" : text) << static_cast<unsigned>(point);
        ASSERT_EQ(utf8::printable_line(text), obeyed ? "a?b" : text);
    }
}

TEST(utf8_join_surrogates, returns_the_character_of_both_halves) {
    EXPECT_EQ(utf8::join_surrogates(0xD83E, 0xDDF5), 0x1F9F5U); // 🧵
    EXPECT_EQ(utf8::join_surrogates(0xD800, 0xDC00), 0x10000U);
    EXPECT_EQ(utf8::join_surrogates(0xDBFF, 0xDFFF), 0x10FFFFU);
}

TEST(utf8, all_agree_about_random_bytes) {
    std::mt19937 random(11);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes;
        for (std::size_t n = random() % 40; n > 0; --n) {
            if (random() % 2 == 0) bytes += encoded(random() % 0x300);
            else bytes += static_cast<char>(random());
        }
        const exact_copy text(bytes);
        std::string by_steps;
        bool valid = true;
        for (std::size_t at = 0; at < bytes.size();) {
            const utf8::code_point point = utf8::decode(text.view(), at);
            ASSERT_GE(point.bytes, 1U);
            ASSERT_LE(at + point.bytes, bytes.size());
            utf8::append(by_steps, point.value);
            valid = valid && point.valid;
            at += point.bytes;
        }
        ASSERT_EQ(utf8::is_valid(text.view()), valid);
        ASSERT_EQ(utf8::replace_invalid(bytes), by_steps);
        ASSERT_TRUE(utf8::is_valid(by_steps));
        ASSERT_TRUE(utf8::is_valid(utf8::printable(text.view())));
        for (std::size_t max = 0; max < by_steps.size(); ++max) {
            ASSERT_TRUE(utf8::is_valid(utf8::prefix(by_steps, max)));
            ASSERT_GT(utf8::prefix_size(by_steps, max) + 4, max);
            // What a stream has brought so far is valid up to its incomplete end.
            const std::string_view so_far = std::string_view(by_steps).substr(0, max);
            ASSERT_TRUE(utf8::is_valid(so_far.substr(0, max - utf8::incomplete_end(so_far))));
            ASSERT_LE(utf8::prefix_size(text.view(), max), max);
        }
        ASSERT_EQ(utf8::is_ascii(bytes),
                  std::all_of(bytes.begin(), bytes.end(), [](char c) { return (c & 0x80) == 0; }));
    }
}

} // namespace
} // namespace heddle
