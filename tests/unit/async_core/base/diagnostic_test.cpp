#include <heddle/base/diagnostic.hpp>

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::string rendered(const error& failure, const source_map& sources = {},
                     const diagnostic_style& style = {}) {
    return render_diagnostic("", failure, sources, style);
}

std::string line_of(const std::string& text, std::size_t number) {
    std::size_t begin = 0;
    for (; number > 0; --number) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(diagnostic, shows_message_place_hint_and_causes) {
    source_map sources;
    const std::uint32_t at = sources.add("p.heddle", "(a\n  (bad x))");
    const error failure = error(errc::internal, "unbound symbol 'bad'")
                              .with_span({at + 6, at + 9})
                              .with_trace("while mapping item 3", {at, at + 1})
                              .with_hint("did you mean 'bed'?")
                              .with_cause(error(errc::io_error, "inner"));
    EXPECT_EQ(render_diagnostic("UnboundSymbolError", failure, sources),
              "UnboundSymbolError: unbound symbol 'bad'\n"
              "   --> p.heddle:2:4\n"
              " 2 |   (bad x))\n"
              "   |    ^^^\n"
              "  while mapping item 3 (p.heddle:1:1)\n"
              "hint: did you mean 'bed'?\n"
              "caused by: inner\n");
}

TEST(diagnostic, a_long_line_is_a_window_around_the_mark) {
    source_map sources;
    std::string text(1000, '.');
    text.replace(500, 3, "bad");
    const std::uint32_t at = sources.add("p", text);
    const std::string out =
        rendered(error(errc::internal, "x").with_span({at + 500, at + 503}), sources);
    EXPECT_EQ(line_of(out, 2),
              " 1 | " + std::string(80, '.') + "bad" + std::string(77, '.') + " …");
    EXPECT_EQ(line_of(out, 3), "   | " + std::string(80, ' ') + "^^^");
}

TEST(diagnostic, the_window_counts_characters_and_cuts_none) {
    source_map sources;
    std::string text;
    for (int i = 0; i < 400; ++i) text += "ż";
    const std::uint32_t at = sources.add("p", text);
    const std::string out =
        rendered(error(errc::internal, "x").with_span({at + 600, at + 604}), sources);
    EXPECT_TRUE(utf8::is_valid(out));
    EXPECT_EQ(utf8::count(line_of(out, 2)), 5U + 160 + 2);
    EXPECT_EQ(line_of(out, 3), "   | " + std::string(80, ' ') + "^^");
    EXPECT_NE(out.find("p:1:301\n"), std::string::npos) << out;
}

TEST(diagnostic, a_mark_at_the_end_of_a_long_line_is_not_longer_than_the_window) {
    source_map sources;
    const std::uint32_t at = sources.add("p", std::string(5000, '.'));
    const std::string out =
        rendered(error(errc::internal, "x").with_span({at + 10, at + 5000}), sources);
    EXPECT_EQ(line_of(out, 3), "   | " + std::string(10, ' ') + std::string(150, '^'));
}

TEST(diagnostic, tabs_keep_the_mark_below_its_text) {
    source_map sources;
    const std::uint32_t at = sources.add("p", "\t\tbad");
    const std::string out =
        rendered(error(errc::internal, "x").with_span({at + 2, at + 5}), sources);
    EXPECT_EQ(line_of(out, 3), "   | \t\t^^^");
}

TEST(diagnostic, the_mark_is_below_wide_and_combining_characters) {
    const auto mark = [](const std::string& before, const std::string& marked) {
        source_map sources;
        const std::uint32_t at = sources.add("p", before + marked + " after");
        const auto begin = static_cast<std::uint32_t>(at + before.size());
        const auto end = static_cast<std::uint32_t>(begin + marked.size());
        return line_of(rendered(error(errc::internal, "x").with_span({begin, end}), sources), 3);
    };
    EXPECT_EQ(mark("(define x \"日本語\") (", "foo"), "   | " + std::string(21, ' ') + "^^^");
    EXPECT_EQ(mark("e\u0301 ", "é"), "   |   ^");
    EXPECT_EQ(mark("a ", "日本"), "   |   ^^^^");
    EXPECT_EQ(mark("👍 ", "e\u0301"), "   |    ^");
    EXPECT_EQ(mark("a ", ""), "   |   ^");
    EXPECT_EQ(mark("a\u202Eb ", "bad"), "   |     ^^^"); // shown as "a?b bad"
}

TEST(diagnostic, a_mark_in_several_lines_ends_with_the_first) {
    source_map sources;
    const std::uint32_t at = sources.add("p", "(ab\ncd)");
    const std::string out =
        rendered(error(errc::internal, "x").with_span({at + 1, at + 6}), sources);
    EXPECT_EQ(line_of(out, 2), " 1 | (ab");
    EXPECT_EQ(line_of(out, 3), "   |  ^^");
}

TEST(diagnostic, a_place_that_is_not_known_any_more_is_left_out) {
    EXPECT_EQ(rendered(error(errc::internal, "x").with_span({7, 9}).with_trace("in 'f'", {7, 9})),
              "error: x\n  in 'f'\n");
}

TEST(diagnostic, a_long_message_is_cut_between_characters) {
    diagnostic_style style;
    style.max_message = 100;
    for (std::size_t before = 90; before < 104; ++before) {
        const std::string out = rendered(
            error(errc::internal, std::string(before, 'x') + "日本語🧵🧵"), {}, style);
        EXPECT_TRUE(utf8::is_valid(out)) << before;
        EXPECT_EQ(out.find(utf8::replacement), std::string::npos) << before;
        EXPECT_TRUE(out.ends_with(" […]\n")) << out;
        EXPECT_LE(out.size(), 120U);
    }
}

TEST(diagnostic, a_long_trace_is_folded_in_the_middle) {
    diagnostic_style style;
    style.max_trace = 4;
    error failure(errc::internal, "x");
    for (int i = 0; i < 10; ++i)
        failure = std::move(failure).with_trace("step " + std::to_string(i));
    EXPECT_EQ(rendered(failure, {}, style),
              "error: x\n  step 0\n  step 1\n  … 6 more …\n  step 8\n  step 9\n");
}

TEST(diagnostic, a_bound_of_any_size_holds) {
    error failure(errc::internal, "x");
    for (int i = 0; i < 3; ++i)
        failure = std::move(failure).with_trace("step " + std::to_string(i));
    diagnostic_style style;
    style.max_trace = 0;
    EXPECT_EQ(rendered(failure, {}, style), "error: x\n  … 3 more …\n");
    style.max_trace = 1;
    EXPECT_EQ(rendered(failure, {}, style), "error: x\n  … 2 more …\n  step 2\n");
    style.max_trace = 2;
    EXPECT_EQ(rendered(failure, {}, style), "error: x\n  step 0\n  … 1 more …\n  step 2\n");
    style.max_trace = 3;
    EXPECT_EQ(rendered(failure, {}, style), "error: x\n  step 0\n  step 1\n  step 2\n");
}

TEST(diagnostic, a_trace_is_folded_behind_lines_that_repeat) {
    error failure(errc::internal, "x");
    for (int i = 0; i < 8; ++i) failure = std::move(failure).with_trace("in 'f'");
    for (int i = 0; i < 3; ++i) failure = std::move(failure).with_trace("in 'g'");
    for (int i = 0; i < 4; ++i)
        failure = std::move(failure).with_trace("step " + std::to_string(i));
    diagnostic_style style;
    style.max_trace = 3;
    EXPECT_EQ(rendered(failure, {}, style),
              "error: x\n  in 'f', 8 times\n  … 5 more …\n  step 2\n  step 3\n");
}

TEST(diagnostic, equal_lines_of_a_trace_are_counted) {
    error failure(errc::internal, "x");
    for (int i = 0; i < 8; ++i) failure = std::move(failure).with_trace("in 'f'");
    failure = std::move(failure).with_trace("in 'main'");
    EXPECT_EQ(rendered(failure), "error: x\n  in 'f', 8 times\n  in 'main'\n");
}

TEST(diagnostic, no_control_character_gets_through) {
    source_map sources;
    const std::uint32_t at = sources.add("\x1b[2Jp\xC2\x9B\xFF",
                                         "\x1b]0;t\x07 \xC2\x9B"
                                         "31m x");
    const error failure = error(errc::internal,
                                "a\x1b[31mb\xC2\x9B"
                                "2Jc\xC2\x85\x7F\rd")
                              .with_span({at, at + 1})
                              .with_hint("\x1b[0m")
                              .with_trace("\xC2\x90q")
                              .with_cause(error(errc::internal, "\b"));
    const std::string out = rendered(failure, sources);
    for (std::size_t i = 0; i < out.size(); i += utf8::decode(out, i).bytes) {
        const char32_t point = utf8::decode(out, i).value;
        EXPECT_TRUE(point == '\n' || !utf8::is_control(point)) << static_cast<unsigned>(point);
    }
    EXPECT_EQ(line_of(out, 0), "error: a?[31mb?2Jc???d");
}

TEST(diagnostic, colours_are_ours_alone) {
    diagnostic_style style;
    style.colour = true;
    const std::string out = rendered(error(errc::internal, "\x1b[31mred"), {}, style);
    EXPECT_EQ(out, "\x1b[1;31merror\x1b[0m: ?[31mred\n");
}

TEST(diagnostic, causes_of_causes_end_somewhere) {
    error failure(errc::internal, "0");
    for (int i = 1; i < 100; ++i)
        failure = error(errc::internal, std::to_string(i)).with_cause(failure);
    const std::string out = rendered(failure);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 9);
}

} // namespace
} // namespace heddle
