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
        // Wherever it stands: in and behind the words of eight bytes.
        for (std::size_t before = 0; before < 20; ++before) {
            const exact_copy text(std::string(before, 'x') + std::string(invalid));
            EXPECT_EQ(utf8::find_invalid(text.view()), before);
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

TEST(utf8_join_surrogates, gives_the_character_of_both_halves) {
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
