#include <heddle/memory/ignore_rules.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <chrono>

namespace heddle::memory {
namespace {

struct row {
    const char* pattern;
    const char* path;
    bool folder;
    bool wanted;
};

// After gitignore(5); each row was compared with `git check-ignore`, which also reports a folder
// above (the walk does that here).
constexpr row rows[] = {
    {"foo", "foo", false, true},
    {"foo", "foo", true, true},
    {"foo", "a/foo", false, true},
    {"foo", "a/b/foo", false, true},
    {"foo", "foobar", false, false},
    {"*.o", "main.o", false, true},
    {"*.o", "src/main.o", false, true},
    {"*.o", "main.oo", false, false},
    {"*.o", ".o", false, true},
    {"/foo", "foo", false, true},
    {"/foo", "a/foo", false, false},
    {"foo/", "foo", true, true},
    {"foo/", "foo", false, false},
    {"foo/", "a/foo", true, true},
    {"/foo/", "a/foo", true, false},
    {"doc/*.txt", "doc/a.txt", false, true},
    {"doc/*.txt", "doc/b/a.txt", false, false},
    {"doc/*.txt", "x/doc/a.txt", false, false},
    {"a/b", "a/b", true, true},
    {"a/b", "x/a/b", true, false},
    {"**/foo", "foo", false, true},
    {"**/foo", "a/b/foo", false, true},
    {"**/foo/bar", "x/foo/bar", false, true},
    {"**/foo/bar", "foo/bar", false, true},
    {"**/foo/bar", "foo/x/bar", false, false},
    {"abc/**", "abc", true, false},
    {"abc/**", "abc/x", false, true},
    {"abc/**", "abc/x/y", false, true},
    {"a/**/b", "a/b", false, true},
    {"a/**/b", "a/x/b", false, true},
    {"a/**/b", "a/x/y/b", false, true},
    {"a/**/b", "x/a/b", false, false},
    {"a/**/b/**", "a/x/b/c", false, true},
    {"**", "x", false, true},
    {"**", "x/y", false, true},
    {"a**b", "axxb", false, true},
    {"a**b", "a/b", false, false},
    {"?at", "cat", false, true},
    {"?at", "at", false, false},
    {"a?b", "a/b", false, false},
    {"[abc]at", "cat", false, true},
    {"[abc]at", "dat", false, false},
    {"[a-c]at", "bat", false, true},
    {"[!a-c]at", "dat", false, true},
    {"[!a-c]at", "bat", false, false},
    {"[^a-c]at", "dat", false, true},
    {"[]]at", "]at", false, true},
    {"[]-]at", "-at", false, true},
    {"[a-]at", "-at", false, true},
    {"[[:digit:]]x", "7x", false, true},
    {"[[:digit:]]x", "ax", false, false},
    {"[[:alpha:]_]x", "_x", false, true},
    {"[unclosed", "[unclosed", false, false},
    {"\\#x", "#x", false, true},
    {"\\!x", "!x", false, true},
    {"a\\*b", "a*b", false, true},
    {"a\\*b", "axb", false, false},
    {"x\\ ", "x ", false, true},
    {"x  ", "x", false, true},
    {"*", "anything", false, true},
    {"*", "a/b", false, true},
    {"/*", "a", false, true},
    {"/*", "a/b", false, false},
    {"a*c*e", "abcde", false, true},
    {"a*c*e", "abcdef", false, false},
    {"*a*a*b", "aaaab", false, true},
};

TEST(ignore_patterns, match_as_git_does) {
    for (const row& one : rows) {
        const auto pattern = ignore_pattern::parse(one.pattern);
        ASSERT_TRUE(pattern) << one.pattern;
        EXPECT_EQ(pattern->matches(one.path, one.folder), one.wanted)
            << one.pattern << " on " << one.path << (one.folder ? "/" : "");
    }
}

TEST(ignore_patterns, that_are_none) {
    for (const char* line : {"", "   ", "# comment", "!", "/", "///"}) {
        EXPECT_FALSE(ignore_pattern::parse(line)) << line;
    }
    EXPECT_FALSE(ignore_pattern::parse(std::string(ignore_pattern::longest + 1, 'x')));
}

TEST(ignore_lists, the_last_pattern_that_matches_decides) {
    const ignore_list list("# objects\n*.o\n!keep.o\r\n\nbuild/\n!/build/\n*.log\n");
    using enum ignore_list::verdict;
    EXPECT_EQ(list.look_up("a.o", false), ignored);
    EXPECT_EQ(list.look_up("x/keep.o", false), kept);
    EXPECT_EQ(list.look_up("x/build", true), ignored);
    EXPECT_EQ(list.look_up("build", true), kept);
    EXPECT_EQ(list.look_up("a.c", false), none);
    EXPECT_EQ(list.look_up("y/z.log", false), ignored);
    EXPECT_TRUE(ignore_list("\n# only\n").empty());
    EXPECT_EQ(ignore_list("\xEF\xBB\xBF*.o").look_up("a.o", false), ignored);
}

TEST(ignore_lists, hostile_patterns_take_bounded_time) {
    std::string stars;
    for (int i = 0; i < 400; ++i) stars += "*a";
    std::string folders;
    for (int i = 0; i < 200; ++i) folders += "**/a/";
    const ignore_list list(stars + "b\n" + folders + "b\n");
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += "a/";
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(list.look_up(std::string(4000, 'a'), false), ignore_list::verdict::none);
    EXPECT_EQ(list.look_up(deep + "c", false), ignore_list::verdict::none);
    EXPECT_LT(std::chrono::steady_clock::now() - began, hang_guard::limit);
    const ignore_list many(std::string(40'000, '\n') + "x");
    EXPECT_EQ(many.look_up("x", false), ignore_list::verdict::ignored);
}

} // namespace
} // namespace heddle::memory
