#include <heddle/memory/tokens.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::memory {
namespace {

std::string tokens(std::string_view text, std::size_t most = SIZE_MAX) {
    token_list list;
    append_tokens(text, list, most);
    std::string joined;
    for (std::size_t i = 0; i < list.size(); ++i) {
        joined += (i == 0 ? "" : " ") + std::string(list[i]);
    }
    return joined;
}

struct row {
    const char* text;
    const char* wanted;
};

TEST(tokens, of_words_and_identifiers) {
    const row rows[] = {
        {"", ""},
        {"  \t\n", ""},
        {"Parse the input", "parse input"},
        {"parseHttpRequest", "parse http request parsehttprequest"},
        {"ParseHttpRequest", "parse http request parsehttprequest"},
        {"parse_http_request", "parse http request parsehttprequest"},
        {"parse-http-request", "parse http request parsehttprequest"},
        {"PARSE_HTTP_REQUEST", "parse http request parsehttprequest"},
        {"HTTPServer", "http server httpserver"},
        {"getURL", "get url geturl"},
        {"utf8", "utf utf8"},
        {"sha256sum", "sha 256 sum sha256sum"},
        {"file2path", "file path file2path"},
        {"__init__", "init"},
        {"_private_", "private"},
        {"___", ""},
        {"x", ""},
        {"i j k", ""},
        {"isEmpty", "empty isempty"},
        {"a-b", "ab"},
        {"x - y", ""},
        {"p->next", "next"},
        {"well-known fact", "well known wellknown fact"},
        {"--dry-run", "dry run dryrun"},
        {"trailing- -leading", "trailing leading"},
        {"obj.method(arg1)", "obj method arg arg1"},
        {"std::vector<int>", "std vector int"},
        {"3.14 1000", "14 1000"},
        {"/src/http/pool_fsm.cpp", "src http pool fsm poolfsm cpp"},
        {"don't", "don"},
        {"héllo wörld", "héllo wörld"},
        {"naïveBayes", "naïve bayes naïvebayes"},
        {"Привет мир", "Привет мир"},
        {"“quoted” – dash…", "quoted dash"},
        {"a\u00a0non\u00a0breaking\u3000space", "non breaking space"},
        {"日本語。検索", "日本語 検索"},
        {"\xEF\xBB\xBFmark", "mark"},
        {"bad\xFFutf8", "bad\xFFutf bad\xFFutf8"},
    };
    for (const row& one : rows) EXPECT_EQ(tokens(one.text), one.wanted) << one.text;
}

TEST(tokens, too_long_to_be_words_are_left_out) {
    const std::string longest(max_term_length, 'a');
    EXPECT_EQ(tokens(longest), longest);
    EXPECT_EQ(tokens(longest + "a"), "");
    // The whole is too long, its parts are not.
    EXPECT_EQ(tokens(longest + "_bc"), longest + " bc");
    EXPECT_EQ(tokens(std::string(1'000'000, 'x') + " end"), "end");
}

TEST(tokens, stop_at_the_bound) {
    EXPECT_EQ(tokens("one two three", 2), "one two");
    EXPECT_EQ(tokens("parseHttpRequest", 2), "parse http");
    EXPECT_EQ(tokens("one", 0), "");
}

TEST(tokens, stop_words_are_found) {
    for (const char* word : {"a", "about", "the", "of", "your", "should", "while"}) {
        EXPECT_TRUE(is_stop_word(word)) << word;
    }
    for (const char* word : {"", "parse", "th", "zz", "then2"}) {
        EXPECT_FALSE(is_stop_word(word)) << word;
    }
}

TEST(tokens, of_any_bytes_end_and_keep_the_bounds) {
    std::string bytes;
    std::uint32_t state = 1;
    for (int i = 0; i < 200'000; ++i) {
        state = state * 1664525U + 1013904223U;
        bytes += static_cast<char>(state >> 24);
    }
    token_list list;
    append_tokens(bytes, list);
    ASSERT_GT(list.size(), 1000U);
    for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_GE(list[i].size(), 2U);
        EXPECT_LE(list[i].size(), max_term_length);
        EXPECT_FALSE(is_stop_word(list[i]));
    }
}

} // namespace
} // namespace heddle::memory
