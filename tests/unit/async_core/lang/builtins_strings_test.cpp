#include <heddle/base/utf8.hpp>

#include "lang_fixture.hpp"

#include <string>

namespace heddle::lang {
namespace {

class builtins_strings : public lang_fixture {};

TEST_F(builtins_strings, string_append_in_a_loop_is_linear) {
    value text = value::empty_string();
    const builtin* row = find_builtin("string-append");
    for (int i = 0; i < 1'000'000; ++i) {
        value arguments[] = {text, make_string(memory(), "x")};
        free_work work;
        native_call call(memory(), *row, work);
        text = row->run(call, std::span<value>(arguments));
    }
    EXPECT_EQ(text.length(), 1'000'000U);
}

TEST_F(builtins_strings, an_older_version_of_an_appended_string_stays) {
    const value base = read("\"abc\"");
    const auto with = [&](const char* more) {
        return call_with("string-append", {base, make_string(memory(), more)});
    };
    EXPECT_EQ(with("1"), "\"abc1\"");
    EXPECT_EQ(with("2"), "\"abc2\"");
    EXPECT_EQ(print_value(base), "\"abc\"");
    const value grown = string_concat(memory(), string_concat(memory(), base, "x"), "y");
    EXPECT_EQ(call_with("string-append", {grown, grown}), "\"abcxyabcxy\"");
}

/// What a message quotes is cut between characters, wherever the limit falls.
TEST_F(builtins_strings, messages_quote_whole_characters) {
    for (std::size_t before = 0; before < 4; ++before) {
        std::string name(before, 'x');
        for (int i = 0; i < 30; ++i) name += "日";
        const std::string reported = call("format", "\"{" + name + " y}\" 1");
        EXPECT_NE(reported.find("日…}"), std::string::npos) << reported;
        EXPECT_EQ(reported.find(utf8::replacement), std::string::npos) << reported;
    }
}

TEST_F(builtins_strings, regex_takes_linear_time) {
    const std::string text(100'000, 'a');
    EXPECT_EQ(call("regex-match", "\"(a*)*b\" \"" + text + "\""), "nil");
    // More patterns than the cache keeps.
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(i);
        EXPECT_EQ(call("regex-match", "\"" + number + "\" \"" + number + "\""),
                  "(\"" + number + "\")");
    }
}

TEST_F(builtins_strings, results_keep_to_the_memory_limit) {
    memory().set_limit(memory().used() + 1'000'000);
    const std::string text(1000, 'a');
    EXPECT_TRUE(call("string-replace", "\"" + text + "\" \"a\" \"" + std::string(5000, 'b') + "\"")
                    .starts_with("LimitError"));
    EXPECT_TRUE(call("regex-replace", "\"a\" \"" + text + "\" \"" + std::string(5000, 'b') + "\"")
                    .starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

} // namespace
} // namespace heddle::lang
