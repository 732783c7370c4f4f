#include <heddle/providers/common/sse_parser.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace heddle::testing {
namespace {

using providers::sse_event;
using providers::sse_limits;
using providers::sse_parser;

/// All events as "type|id|data", fed in pieces of their own memory.
std::vector<std::string> events_of(std::string_view text,
                                   const std::function<std::size_t(std::size_t)>& next_cut,
                                   sse_limits limits = {}) {
    sse_parser parser(limits);
    std::vector<std::string> events;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.size(), next_cut(at));
        const std::vector<char> piece(text.begin() + static_cast<std::ptrdiff_t>(at),
                                      text.begin() + static_cast<std::ptrdiff_t>(end));
        parser.feed({piece.data(), piece.size()});
        for (sse_event event;;) {
            const auto got = parser.next(event);
            if (!got) {
                events.push_back("error");
                return events;
            }
            if (!*got) break;
            events.push_back(std::string(event.type) + "|" + std::string(event.id) + "|" +
                             std::string(event.data));
        }
        at = end;
    }
    if (!parser.at_rest()) events.push_back("cut");
    return events;
}

/// Checks that every way to cut the text has the same result.
void expect_events(std::string_view text, const std::vector<std::string>& wanted) {
    EXPECT_EQ(events_of(text, [&](std::size_t) { return text.size(); }), wanted);
    EXPECT_EQ(events_of(text, [](std::size_t at) { return at + 1; }), wanted);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
        EXPECT_EQ(events_of(text, [&](std::size_t at) { return at < cut ? cut : text.size(); }),
                  wanted)
            << cut;
    }
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        EXPECT_EQ(events_of(text, [&](std::size_t at) { return at + 1 + random() % 9; }), wanted);
    }
}

TEST(sse_parser, line_ends_of_all_kinds) {
    for (const std::string end : {"\n", "\r", "\r\n"}) {
        std::string text = "data: a" + end + "data: b" + end + end + ": comment" + end + end +
                           "event: x" + end + "id: 1" + end + "data:c" + end + end + "data" + end +
                           end;
        expect_events(text, {"||a\nb", "x|1|c", "|1|"});
    }
    expect_events("data: a\r\ndata: b\n\rdata: c\r\r\n", {"||a\nb", "||c"});
}

TEST(sse_parser, bom_only_at_the_beginning) {
    expect_events(
        "\xEF\xBB\xBF"
        "data: a\n\n\xEF\xBB\xBF"
        "data: b\n\ndata: c\n\n",
        {"||a", "||c"});
    expect_events(
        "\xEF\xBB"
        "data: a\n\ndata: b\n\n",
        {"||b"});
}

TEST(sse_parser, fields_as_the_standard_has_them) {
    expect_events("data:  two blanks\n\n", {"|| two blanks"});
    expect_events("data: a:b\nretry: 10\nnonsense\nDATA: x\n\n", {"||a:b"});
    expect_events("event: x\n\ndata: a\n\n", {"||a"}); // an event without data leaves no type
    expect_events("id: 1\n\ndata: a\n\nid\ndata: b\n\n", {"|1|a", "||b"});
    expect_events(std::string("id: a\0b\ndata: x\n\n", 17), {"||x"});
    expect_events("data:\n\ndata\ndata\n\n", {"||", "||\n"});
}

TEST(sse_parser, an_event_that_the_end_cuts_off_is_dropped) {
    expect_events("data: a\n\ndata: b\n", {"||a", "cut"});
    expect_events("data: a\n\ndata: b", {"||a", "cut"});
    expect_events("data: a\n\n", {"||a"});
}

TEST(sse_parser, lines_and_events_are_bounded) {
    const sse_limits limits{16, 20};
    const auto whole = [](std::size_t) { return std::size_t(1000); };
    const auto single = [](std::size_t at) { return at + 1; };
    for (const auto& cut : std::vector<std::function<std::size_t(std::size_t)>>{whole, single}) {
        EXPECT_EQ(events_of("data: 0123456789\n\n", cut, limits),
                  (std::vector<std::string>{"||0123456789"}));
        EXPECT_EQ(events_of("data: 01234567890\n\n", cut, limits),
                  (std::vector<std::string>{"error"}));
        EXPECT_EQ(events_of("data: 0123456789\ndata: 0123456789\n\n", cut, limits),
                  (std::vector<std::string>{"error"}));
        EXPECT_EQ(events_of(":" + std::string(100, 'x'), cut, limits),
                  (std::vector<std::string>{"error"}));
    }
    sse_parser parser(limits);
    const std::string big(100, 'x');
    sse_event event;
    parser.feed(big);
    EXPECT_FALSE(parser.next(event));
    parser.feed("data: a\n\n");
    EXPECT_FALSE(parser.next(event)); // it stays failed
}

TEST(sse_parser, an_event_within_one_piece_is_not_copied) {
    const std::string text = "data: hello\n\n";
    sse_parser parser;
    parser.feed(text);
    sse_event event;
    const auto got = parser.next(event);
    ASSERT_TRUE(got && *got);
    EXPECT_EQ(event.data.data(), text.data() + 6);
}

} // namespace
} // namespace heddle::testing
