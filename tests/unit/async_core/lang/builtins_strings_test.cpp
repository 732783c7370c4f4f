#include <heddle/base/utf8.hpp>

#include "lang_fixture.hpp"

#include <string>

namespace heddle::lang {
namespace {

class builtins_strings : public lang_fixture {};

TEST_F(builtins_strings, string_append) {
    EXPECT_EQ(call("string-append", ""), "\"\"");
    EXPECT_EQ(call("string-append", "\"a\" \"\" \"b\""), "\"ab\"");
    EXPECT_EQ(call("string-append", "\"val:\" 123 \" \" nil \"end\""), "\"val:123 end\"");
    EXPECT_EQ(call("string-append", "\"Value: \" 123 \" units\" 4.5"), "\"Value: 123 units4.5\"");
    EXPECT_EQ(call("string-append", "sym \"-x\" true"), "\"sym-xtrue\"");
    EXPECT_EQ(call("string-append", "1 \"a\""), "\"1a\"");
    EXPECT_EQ(call("string-append", "nil"), "\"\"");
    EXPECT_EQ(call("string-append", "\"a\" (1)"),
              "TypeError: string-append: argument 2 must be a string, number, symbol, boolean or "
              "nil, not the list (1)");
    EXPECT_TRUE(call("string-append", "(1) \"a\"").starts_with("TypeError"));
}

TEST_F(builtins_strings, string_append_in_a_loop_is_linear) {
    value text = value::empty_string();
    const builtin* row = find_builtin("string-append");
    for (int i = 0; i < 1'000'000; ++i) {
        value arguments[] = {text, make_string(memory(), "x")};
        free_work work;
        native_call made(memory(), *row, work);
        text = row->run(made, std::span<value>(arguments));
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

TEST_F(builtins_strings, comparison) {
    EXPECT_EQ(call("string=?", "\"a\" \"a\" \"a\""), "true");
    EXPECT_EQ(call("string=?", "\"a\" \"A\""), "false");
    EXPECT_TRUE(call("string=?", "\"1\" 1").starts_with("TypeError: string=?: argument 2"));
    EXPECT_EQ(call("string<?", "\"a\" \"b\" \"ż\""), "true");
    EXPECT_EQ(call("string<?", "\"b\" \"a\""), "false");
}

TEST_F(builtins_strings, length_and_parts_count_code_points) {
    EXPECT_EQ(call("string-length", "\"zażółć 🧵\""), "8");
    EXPECT_EQ(call("substring", "\"zażółć\" 2 4"), "\"żó\"");
    EXPECT_EQ(call("substring", "\"zażółć\" 4"), "\"łć\"");
    EXPECT_EQ(call("substring", "\"abc\" 3"), "\"\"");
    EXPECT_EQ(call("substring", "\"abc\" 1 1"), "\"\"");
    EXPECT_EQ(call("substring", "\"abc\" 1 4"),
              "SexpEvaluationError: substring: index 4 is outside a string of 3");
    EXPECT_EQ(call("substring", "\"abc\" -1"),
              "SexpEvaluationError: substring: index -1 is outside a string of 3");
    EXPECT_EQ(call("substring", "\"abc\" 2 1"),
              "SexpEvaluationError: substring: the end 1 lies before the beginning 2");
    EXPECT_TRUE(call("substring", "\"abc\" 1.0").starts_with("TypeError: substring: argument 2"));
}

TEST_F(builtins_strings, letter_case) {
    EXPECT_EQ(call("string-upcase", "\"abc zażółć ß ÿ αω я 1\""), "\"ABC ZAŻÓŁĆ ß Ÿ ΑΩ Я 1\"");
    EXPECT_EQ(call("string-downcase", "\"ABC ZAŻÓŁĆ ΑΩ Я\""), "\"abc zażółć αω я\"");
}

TEST_F(builtins_strings, trim) {
    EXPECT_EQ(call("string-trim", "\" \\t\\n a b \\u00a0\\u3000\""), "\"a b\"");
    EXPECT_EQ(call("string-trim", "\"   \""), "\"\"");
    EXPECT_EQ(call("string-trim", "\"ż\""), "\"ż\"");
}

TEST_F(builtins_strings, split_and_join) {
    EXPECT_EQ(call("string-split", "\"a,b,,c\" \",\""), "(\"a\" \"b\" \"\" \"c\")");
    EXPECT_EQ(call("string-split", "\",a,\" \",\""), "(\"\" \"a\" \"\")");
    EXPECT_EQ(call("string-split", "\"\" \",\""), "(\"\")");
    EXPECT_EQ(call("string-split", "\"a--b\" \"--\""), "(\"a\" \"b\")");
    EXPECT_EQ(call("string-split", "\" two\\n words \""), "(\"two\" \"words\")");
    EXPECT_EQ(call("string-split", "\"\""), "()");
    EXPECT_EQ(call("string-split", "\"ażb\" \"\""), "(\"a\" \"ż\" \"b\")");
    EXPECT_EQ(call("string-split", "\"\" \"\""), "()");
    EXPECT_EQ(call("string-join", "(\"a\" b 3 nil true) \", \""), "\"a, b, 3, , true\"");
    EXPECT_EQ(call("string-join", "(\"a\" \"b\")"), "\"a b\"");
    EXPECT_EQ(call("string-join", "()"), "\"\"");
    EXPECT_EQ(call("string-join", "(\"a\" (1))"),
              "TypeError: string-join: element 1 must be a string, number, symbol, boolean or nil, "
              "not the list (1)");
}

TEST_F(builtins_strings, search_and_replace) {
    EXPECT_EQ(call("string-replace", "\"a-b-c\" \"-\" \"+\""), "\"a+b+c\"");
    EXPECT_EQ(call("string-replace", "\"aaa\" \"aa\" \"b\""), "\"ba\"");
    EXPECT_EQ(call("string-replace", "\"-a\" \"-\" \"\""), "\"a\"");
    EXPECT_EQ(call("string-replace", "\"abc\" \"x\" \"y\""), "\"abc\"");
    EXPECT_TRUE(call("string-replace", "\"abc\" \"\" \"y\"").starts_with("SexpEvaluationError"));
    EXPECT_EQ(call("string-contains?", "\"heddle\" \"dd\""), "true");
    EXPECT_EQ(call("string-contains?", "\"heddle\" \"\""), "true");
    EXPECT_EQ(call("string-starts-with?", "\"heddle\" \"he\""), "true");
    EXPECT_EQ(call("string-ends-with?", "\"heddle\" \"he\""), "false");
}

TEST_F(builtins_strings, conversions) {
    EXPECT_EQ(call("string->number", "\"42\""), "42");
    EXPECT_EQ(call("string->number", "\" -4.5e1\\n\""), "-45.0");
    EXPECT_EQ(call("string->number", "\"four\""), "nil");
    EXPECT_EQ(call("string->number", "\"1 2\""), "nil");
    EXPECT_EQ(call("string->number", "\"\""), "nil");
    EXPECT_EQ(call("string->number", "\"99999999999999999999\""), "nil");
    EXPECT_EQ(call("number->string", "4.5"), "\"4.5\"");
    EXPECT_EQ(call("number->string", "2.0"), "\"2.0\"");
    EXPECT_EQ(call("number->string", "-7"), "\"-7\"");
    EXPECT_TRUE(call("number->string", "\"7\"").starts_with("TypeError"));
    EXPECT_EQ(call("string->symbol", "\"abc\""), "abc");
    EXPECT_EQ(call("symbol->string", "abc"), "\"abc\"");
    EXPECT_TRUE(call("symbol->string", "\"abc\"").starts_with("TypeError"));
}

/// What a message quotes is cut between characters, wherever the limit falls.
TEST_F(builtins_strings, messages_quote_whole_characters) {
    for (std::size_t before = 0; before < 4; ++before) {
        std::string name(before, 'x');
        for (int i = 0; i < 30; ++i) name += "日";
        const std::string told = call("format", "\"{" + name + " y}\" 1");
        EXPECT_NE(told.find("日…}"), std::string::npos) << told;
        EXPECT_EQ(told.find(utf8::replacement), std::string::npos) << told;
    }
}

TEST_F(builtins_strings, a_pattern_matches_characters_and_no_bytes) {
    EXPECT_NE(call("regex-match", "\"\\\\C\" \"日\"").find("\\C is not supported"),
              std::string::npos);
    EXPECT_NE(call("regex-replace", "\"a\\\\C*\" \"a日\" \"\"").find("\\C is not supported"),
              std::string::npos);
    EXPECT_EQ(call("regex-match", "\".\" \"日\""), "(\"日\")");
    EXPECT_EQ(call("regex-match", "\"\\\\\\\\C\" \"\\\\C\""), "(\"\\\\C\")"); // a backslash and C
    EXPECT_EQ(call("regex-match", "\"\\\\Q\\\\C\\\\E\" \"\\\\C\""), "(\"\\\\C\")"); // quoted
}

TEST_F(builtins_strings, format) {
    EXPECT_EQ(call("format", "\"plain\""), "\"plain\"");
    EXPECT_EQ(call("format", "\"{} is {}\" \"x\" (1 \"a\")"), "\"x is (1 \\\"a\\\")\"");
    EXPECT_EQ(call("format", "\"{1}{0}{1}\" a b"), "\"bab\"");
    EXPECT_EQ(call("format", "\"{who} {}\" 5 (dict \"who\" \"me\")"), "\"me 5\"");
    EXPECT_EQ(call("format", "\"{{}} {}\" nil"), "\"{} nil\"");
    EXPECT_EQ(call("format", "\"{}\""),
              "SexpEvaluationError: format: there is no value for place {}: 0 are given");
    EXPECT_EQ(call("format", "\"{}\" 1 2"),
              "SexpEvaluationError: format: value 2 of 2 has no place in the text");
    EXPECT_EQ(call("format", "\"{x}\" (dict \"y\" 1)"),
              "SexpEvaluationError: format: the map has no key \"x\"");
    EXPECT_TRUE(call("format", "\"{x}\" 1").find("needs a map") != std::string::npos);
    EXPECT_TRUE(call("format", "\"{\\\"a\\\": 1}\" 1").find("write {{ and }}") !=
                std::string::npos);
    EXPECT_TRUE(call("format", "\"a } b\"").find("a single }") != std::string::npos);
    EXPECT_TRUE(call("format", "\"a { b\"").find("a single {") != std::string::npos);
}

TEST_F(builtins_strings, regex_match) {
    EXPECT_EQ(call("regex-match", R"("([a-z]+)=([0-9]+)?" "x: ab=")"), R"(("ab=" "ab" nil))");
    EXPECT_EQ(call("regex-match", R"("z" "abc")"), "nil");
    EXPECT_EQ(call("regex-match", R"("a*" "")"), R"((""))");
    EXPECT_EQ(call("regex-match", R"("ó." "zażółć")"), R"(("ół"))");
    EXPECT_EQ(call("regex-match", R"("(?i)ABC" "xabc")"), R"(("abc"))");
    EXPECT_TRUE(call("regex-match", R"("(" "abc")")
                    .starts_with("SexpEvaluationError: regex-match: bad pattern"));
    EXPECT_TRUE(call("regex-match", R"("(a)\\1" "abc")").starts_with("SexpEvaluationError"));
    EXPECT_TRUE(call("regex-match", "\"a\" 1").starts_with("TypeError: regex-match: argument 2"));
}

TEST_F(builtins_strings, regex_match_all) {
    EXPECT_EQ(call("regex-match-all", R"("[0-9]+" "a1b22")"), R"(("1" "22"))");
    EXPECT_EQ(call("regex-match-all", R"x("([a-z])([0-9])" "a1b2")x"),
              R"((("a1" "a" "1") ("b2" "b" "2")))");
    EXPECT_EQ(call("regex-match-all", R"("x" "abc")"), "()");
    EXPECT_EQ(call("regex-match-all", R"("x*" "żx")"), R"(("" "x" ""))");
    EXPECT_EQ(call("regex-match-all", R"("^a" "aaa")"), R"(("a"))");
    EXPECT_EQ(call("regex-match-all", R"("\\ba" "ba a")"), R"(("a"))");
}

TEST_F(builtins_strings, regex_replace) {
    EXPECT_EQ(call("regex-replace", R"x("([a-z])([0-9])" "a1 b2" "\\2\\1")x"), R"("1a 2b")");
    EXPECT_EQ(call("regex-replace", R"("x*" "abc" "-")"), R"("-a-b-c-")");
    EXPECT_EQ(call("regex-replace", R"("b" "abc" "[\\0]")"), R"("a[b]c")");
    EXPECT_EQ(call("regex-replace", R"("z" "abc" "-")"), R"("abc")");
    EXPECT_TRUE(call("regex-replace", R"("b" "abc" "\\3")").find("bad replacement") !=
                std::string::npos);
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
