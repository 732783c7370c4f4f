#include <heddle/providers/common/ndjson_parser.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::testing {
namespace {

using providers::ndjson_parser;
using lines = std::vector<std::string>;

/// All lines, fed in pieces of their own memory.
lines lines_of(std::string_view text, const std::function<std::size_t(std::size_t)>& next_cut,
               std::size_t max_line = 1000) {
    ndjson_parser parser(max_line);
    lines seen;
    std::string_view line;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.size(), next_cut(at));
        const std::vector<char> piece(text.begin() + static_cast<std::ptrdiff_t>(at),
                                      text.begin() + static_cast<std::ptrdiff_t>(end));
        parser.feed({piece.data(), piece.size()});
        for (;;) {
            const auto got = parser.next(line);
            if (!got) {
                seen.push_back("error");
                return seen;
            }
            if (!*got) break;
            seen.emplace_back(line);
        }
        at = end;
    }
    const auto last = parser.last(line);
    if (last && *last) seen.push_back("last:" + std::string(line));
    return seen;
}

/// Checks that every way to cut the text has the same result.
void expect_lines(std::string_view text, const lines& wanted) {
    EXPECT_EQ(lines_of(text, [&](std::size_t) { return text.size(); }), wanted);
    EXPECT_EQ(lines_of(text, [](std::size_t at) { return at + 1; }), wanted);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        EXPECT_EQ(lines_of(text, [&](std::size_t at) { return at < cut ? cut : text.size(); }),
                  wanted)
            << cut;
    }
    std::mt19937 random(3);
    for (int round = 0; round < 100; ++round) {
        EXPECT_EQ(lines_of(text, [&](std::size_t at) { return at + 1 + random() % 7; }), wanted);
    }
}

TEST(ndjson_parser, lines_end_in_lf_or_crlf_or_with_the_stream) {
    expect_lines("{\"a\":1}\n{\"b\":2}\r\n{}", {"{\"a\":1}", "{\"b\":2}", "last:{}"});
    expect_lines("a\nb\n", {"a", "b"});
    expect_lines("a\r", {"last:a"});
    expect_lines("", {});
}

TEST(ndjson_parser, blank_lines_are_skipped_and_a_bom_only_at_the_beginning) {
    expect_lines("\n \n\t\r\n{}\n\n\n  ", {"{}"});
    expect_lines("\xEF\xBB\xBF{}\n\xEF\xBB\xBF{}\n", {"{}", "\xEF\xBB\xBF{}"});
    expect_lines("\xEF\xBB\xBF{}", {"last:{}"});
    expect_lines("a\rb\n", {"a\rb"}); // a lone CR ends nothing
}

TEST(ndjson_parser, lines_are_bounded) {
    const auto whole = [](std::size_t) { return std::size_t(1000); };
    const auto single = [](std::size_t at) { return at + 1; };
    for (const auto& cut : std::vector<std::function<std::size_t(std::size_t)>>{whole, single}) {
        EXPECT_EQ(lines_of("12345678\n1\n", cut, 8), (lines{"12345678", "1"}));
        EXPECT_EQ(lines_of("1\n123456789\n1\n", cut, 8), (lines{"1", "error"}));
        EXPECT_EQ(lines_of("123456789", cut, 8), (lines{"error"})); // with no end in sight
    }
    ndjson_parser parser(4);
    std::string_view line;
    parser.feed("12345\n");
    EXPECT_FALSE(parser.next(line));
    parser.feed("1\n");
    EXPECT_FALSE(parser.next(line)); // it stays failed
    EXPECT_FALSE(parser.last(line));
}

TEST(ndjson_parser, a_line_within_one_piece_is_not_copied) {
    const std::string text = "{\"hello\":1}\n";
    ndjson_parser parser;
    parser.feed(text);
    std::string_view line;
    const auto got = parser.next(line);
    ASSERT_TRUE(got && *got);
    EXPECT_EQ(line.data(), text.data());
}

} // namespace
} // namespace heddle::testing
