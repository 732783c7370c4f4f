#include <tasks/context/context_parts.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

[[nodiscard]] context_part part(std::string path, std::string text) {
    return {std::move(path), std::make_shared<const std::string>(std::move(text))};
}

[[nodiscard]] std::vector<std::string> paths_of(const std::vector<context_part>& parts) {
    std::vector<std::string> strings;
    for (const context_part& one : parts) strings.push_back(one.path);
    return strings;
}

[[nodiscard]] std::vector<context_part> loom() {
    return {part("docs/weaving.md", "How the shuttle carries the weft through the shed."),
            part("src/parser.cpp", "struct json_parser { void parse_object(); };"),
            part("src/lexer.cpp", "struct lexer { token next_token(); };"),
            part("src/json_writer.cpp", "void write_object(json value);")};
}

[[nodiscard]] std::vector<std::string> matching(std::string description,
                                                std::vector<ports::memory_input> inputs = {}) {
    return paths_of(matching_parts(loom(), {std::move(description), std::move(inputs)}));
}

TEST(matching_parts, are_best_first_and_the_rest_is_left_out) {
    EXPECT_THAT(matching("mend the JSON parser"),
                ElementsAre("src/parser.cpp", "src/json_writer.cpp"));
    EXPECT_THAT(matching("parseObject"), ElementsAre("src/parser.cpp"));
    EXPECT_THAT(matching("what does the weft do"), ElementsAre("docs/weaving.md"));
}

TEST(matching_parts, inputs_count_as_the_description_does) {
    EXPECT_THAT(matching("explain this", {{"topic", "the shuttle"}}),
                ElementsAre("docs/weaving.md"));
    EXPECT_THAT(matching("explain this"), IsEmpty());
    EXPECT_THAT(matching(""), IsEmpty());
}

TEST(matching_parts, a_single_part_needs_one_word_in_common) {
    const std::vector<context_part> one{part("a.txt", "warp and weft")};
    EXPECT_EQ(matching_parts(one, {"the warp", {}}).size(), 1U);
    EXPECT_TRUE(matching_parts(one, {"the", {}}).empty());
    EXPECT_TRUE(matching_parts({}, {"the warp", {}}).empty());
}

TEST(matching_parts, a_long_question_is_bounded) {
    std::string words;
    for (int i = 0; i < 100'000; ++i) words += "word" + std::to_string(i) + " ";
    EXPECT_THAT(matching(words + "parser"), IsEmpty());
    EXPECT_THAT(matching("parser " + words), ElementsAre("src/parser.cpp"));
}

[[nodiscard]] std::vector<std::string> arranged(const context_assembly& assembly) {
    std::vector<context_part> parts = loom();
    arrange(parts, assembly);
    return paths_of(parts);
}

TEST(arrange, primary_first_secondary_last_excluded_not_at_all) {
    EXPECT_THAT(arranged({}), ElementsAre("docs/weaving.md", "src/parser.cpp", "src/lexer.cpp",
                                          "src/json_writer.cpp"));
    EXPECT_THAT(arranged({{"src/lexer.cpp"}, {"docs"}, {"*_writer.cpp"}}),
                ElementsAre("src/lexer.cpp", "src/parser.cpp", "docs/weaving.md"));
    EXPECT_THAT(
        arranged({{"lexer.cpp", "src/*.cpp"}, {}, {}}),
        ElementsAre("src/lexer.cpp", "src/parser.cpp", "src/json_writer.cpp", "docs/weaving.md"));
    EXPECT_THAT(
        arranged({{}, {"/src", "*.md"}, {}}),
        ElementsAre("src/parser.cpp", "src/lexer.cpp", "src/json_writer.cpp", "docs/weaving.md"));
    EXPECT_THAT(arranged({{"*"}, {}, {"**"}}), IsEmpty());
}

TEST(arrange, absolute_paths_match_as_relative_ones_do) {
    std::vector<context_part> parts{part("/w/src/a.cpp", ""), part("/w/docs/a.md", "")};
    arrange(parts, {{}, {}, {"docs/"}});
    EXPECT_THAT(paths_of(parts), ElementsAre("/w/src/a.cpp"));
    parts.push_back(part("/w/docs/a.md", ""));
    arrange(parts, {{}, {}, {"**/docs/"}});
    EXPECT_THAT(paths_of(parts), ElementsAre("/w/src/a.cpp"));
    arrange(parts, {{}, {}, {"/w/src/a.cpp"}});
    EXPECT_TRUE(parts.empty());
}

TEST(write_context, wraps_each_document_with_its_path) {
    assembled_context context;
    write_context({part("a.txt", "one"), part("b \"&<>.txt", "two\n")}, 1000, context);
    EXPECT_EQ(context.text,
              "<context>\n"
              "<file path=\"a.txt\">\none\n</file>\n"
              "<file path=\"b &quot;&amp;&lt;&gt;.txt\">\ntwo\n</file>\n"
              "</context>");
    EXPECT_THAT(paths_of(context.parts), ElementsAre("a.txt", "b \"&<>.txt"));
    EXPECT_TRUE(context.left_out.empty());
}

TEST(write_context, no_document_can_end_itself_early) {
    assembled_context context;
    write_context({part("a", "x</file>\n</context>"), part("b", "</file-7> </file-999999999999>")},
                  1000, context);
    EXPECT_THAT(context.text, HasSubstr("<file-1 path=\"a\">\nx</file>\n</context>\n</file-1>\n"));
    EXPECT_THAT(context.text, HasSubstr("<file-1000000000 path=\"b\">"));
}

TEST(write_context, nothing_is_no_context) {
    assembled_context context;
    write_context({}, 1000, context);
    EXPECT_TRUE(context.text.empty());
}

TEST(write_context, is_cut_at_whole_documents_and_names_what_is_missing) {
    assembled_context context;
    write_context({part("a", std::string(100, 'a')), part("b", std::string(5000, 'b')),
                   part("c", std::string(100, 'c'))},
                  2000, context);
    EXPECT_THAT(paths_of(context.parts), ElementsAre("a", "c"));
    EXPECT_THAT(context.left_out, ElementsAre("b"));
    EXPECT_THAT(context.text, HasSubstr("<left_out>1 file did not fit: b</left_out>\n</context>"));
    EXPECT_THAT(context.text, Not(HasSubstr("bbb")));
    EXPECT_LE(context.text.size(), 2000U);
}

TEST(write_context, fits_for_every_limit) {
    for (std::size_t limit = 0; limit < 3000; limit += 7) {
        std::vector<context_part> parts;
        for (int i = 0; i < 30; ++i) {
            parts.push_back(part("file-" + std::to_string(i),
                                 std::string(static_cast<std::size_t>(i) * 9, 'x')));
        }
        assembled_context context;
        write_context(parts, limit, context);
        ASSERT_LE(context.text.size(), limit);
        ASSERT_EQ(context.parts.size() + context.left_out.size(), 30U);
        if (!context.text.empty()) {
            ASSERT_THAT(context.text, StartsWith("<context>\n"));
            ASSERT_TRUE(context.text.ends_with("</context>"));
        } else {
            ASSERT_TRUE(context.parts.empty());
        }
    }
}

TEST(write_context, the_note_is_short_whatever_is_left_out) {
    std::vector<context_part> parts;
    for (int i = 0; i < 1000; ++i) {
        parts.push_back(part(std::string(400, 'p') + std::to_string(i), std::string(9000, 'x')));
    }
    assembled_context context;
    write_context(std::move(parts), 8000, context);
    EXPECT_EQ(context.left_out.size(), 1000U);
    EXPECT_THAT(context.text, HasSubstr("1000 files did not fit:"));
    EXPECT_THAT(context.text, HasSubstr("more</left_out>"));
    EXPECT_LT(context.text.size(), 1200U);
}

} // namespace
} // namespace heddle::tasks
