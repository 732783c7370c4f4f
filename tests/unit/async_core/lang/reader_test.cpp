#include <heddle/lang/reader.hpp>

#include <heddle/base/source.hpp>
#include <heddle/lang/equality.hpp>
#include <heddle/lang/objects.hpp>

#include "lang_fixture.hpp"

#include <hang_guard.hpp>

#include <chrono>
#include <random>

namespace heddle::lang {
namespace {

class reader : public lang_fixture {
protected:
    void expect_error(std::string_view source, std::string_view part) {
        const std::string got = read_back(source);
        EXPECT_TRUE(got.starts_with("SexpSyntaxError: ")) << source << " gave " << got;
        EXPECT_NE(got.find(part), std::string::npos) << source << " gave " << got;
    }
};

TEST_F(reader, reads_every_literal) {
    EXPECT_EQ(read_back("123"), "123");
    EXPECT_EQ(read_back("-17"), "-17");
    EXPECT_EQ(read_back("+5"), "5");
    EXPECT_EQ(read_back("007"), "7");
    EXPECT_EQ(read_back("9223372036854775807"), "9223372036854775807");
    EXPECT_EQ(read_back("-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(read_back("1.5"), "1.5");
    EXPECT_EQ(read_back("-2e3"), "-2000.0");
    EXPECT_EQ(read_back(".5"), "0.5");
    EXPECT_EQ(read_back("-.5"), "-0.5");
    EXPECT_EQ(read_back("1E-2"), "0.01");
    EXPECT_EQ(read_back("1e-400"), "0.0");
    EXPECT_EQ(read_back("+inf.0"), "+inf.0");
    EXPECT_EQ(read_back("-nan.0"), "+nan.0");
    EXPECT_EQ(read_back("true"), "true");
    EXPECT_EQ(read_back("#f"), "false");
    EXPECT_EQ(read_back("#t"), "true");
    EXPECT_EQ(read_back("nil"), "nil");
    EXPECT_EQ(read_back("\"\""), "\"\"");
    EXPECT_EQ(read_back("()"), "()");
}

TEST_F(reader, reads_symbols_of_any_other_run_of_characters) {
    for (const char* name : {"my-symbol", "user:plan", "*loop-config*", "string=?", "set!",
                             "+",         "-",         "...",           ".",        "->x",
                             "truex",     "nilly",     "falsehood",     "#true",    "&rest",
                             "a.b",       "-a",        "+x1",           "|x|",      "zażółć",
                             "日本",      "{",         "a#|b|#",        "True"}) {
        const value v = read(name);
        EXPECT_TRUE(v.is(kind::symbol)) << name;
        EXPECT_EQ(print_value(v), name);
    }
}

TEST_F(reader, reads_lists_and_other_things_side_by_side) {
    EXPECT_EQ(read_back("\n\t(a\n b)\n"), "(a b)");
    EXPECT_EQ(read_back("(() ())"), "(() ())");
    EXPECT_EQ(read_back("(-5 - 5)"), "(-5 - 5)");
    EXPECT_EQ(read_back("(a\"b\"c)"), "(a \"b\" c)");
    EXPECT_EQ(read_back("[a (b [c])]"), "(a (b (c)))");
    EXPECT_EQ(read_back("(a)"), "(a)");
    // White space beyond ASCII, as pasted from a page, and a byte order mark.
    EXPECT_EQ(read_back("\uFEFF(a\u00A0b\u3000c)"), "(a b c)");
}

TEST_F(reader, reads_the_quotes_as_lists) {
    EXPECT_EQ(read_back("(quote a)"), "'a");
    EXPECT_TRUE(values_equal(read("'a"), read("(quote a)")));
    EXPECT_TRUE(values_equal(read("''a"), read("(quote (quote a))")));
    EXPECT_TRUE(values_equal(read("`(a ,b ,@c)"),
                             read("(quasiquote (a (unquote b) (unquote-splicing c)))")));
    EXPECT_TRUE(values_equal(read("' ; so\n a"), read("(quote a)")));
    expect_error("a,b", "trailing");
}

TEST_F(reader, skips_comments) {
    EXPECT_EQ(read_back("; first line\n(a)"), "(a)");
    EXPECT_EQ(read_back("(a ; comment\n b)"), "(a b)");
    EXPECT_EQ(read_back("(a #| one #| two |# three |# b)"), "(a b)");
    EXPECT_EQ(read_back("(a #;(dropped (all) of it) b #;c)"), "(a b)");
    EXPECT_EQ(read_back("(#;#;a b c)"), "(c)");
    EXPECT_EQ(read_back("'#;a b"), "'b");
    EXPECT_EQ(read_back("a ; end"), "a");
    EXPECT_EQ(read_back("(a\r; comment\rb ; another\r\nc)"), "(a b c)");
    EXPECT_EQ(read_back("a #;b"), "a");
    expect_error("(a #| never", "unterminated comment");
    expect_error("(a #;)", "after #;");
    expect_error("a #;", "after #;");
}

TEST_F(reader, reads_strings) {
    EXPECT_EQ(string_bytes(read(R"("a\"b\\c\nd\te\rf")")), "a\"b\\c\nd\te\rf");
    EXPECT_EQ(string_bytes(read(R"("\u017c\ud83e\uddf5")")), "ż🧵");
    EXPECT_EQ(string_bytes(read("\"line one\nline two\"")), "line one\nline two");
    EXPECT_EQ(string_bytes(read(R"("\u0000")")), std::string_view("\0", 1));
    expect_error(R"("\q")", "bad escape \\q");
    expect_error(R"("\u12")", "four hexadecimal digits");
    expect_error(R"("\ud83e")", "surrogate");
    expect_error(R"("\udc00\ud800")", "surrogate");
    expect_error(R"("\ud83e\u0041")", "surrogate");
    expect_error("(a \"b)", "unterminated string: the \" at line 1, column 4");
    expect_error("\"a\\", "unterminated string");
}

TEST_F(reader, refuses_what_is_nearly_a_number) {
    for (const char* text : {"1+", "1.2.3", "12abc", "-1x", ".5.", "1e", "1e+", "5.", "0x10", "1/2",
                             "+.5x", "1_000"}) {
        expect_error(text, "bad number");
    }
    EXPECT_TRUE(read("--5").is(kind::symbol));
    expect_error("9223372036854775808", "64 bits");
    expect_error("-9223372036854775809", "64 bits");
    expect_error("1e400", "too large");
}

TEST_F(reader, names_unbalanced_brackets_and_their_places) {
    expect_error("(add 1 2", "unbalanced (: the list opened at line 1, column 1 is never closed");
    expect_error("(a (b c)", "unbalanced");
    expect_error("(a\n  [b", "unbalanced [: the list opened at line 2, column 3");
    expect_error("(ż (", "line 1, column 4 is never closed (2 lists are open)");
    expect_error("a)", "unbalanced ): no list is open at line 1, column 2");
    expect_error(")", "unbalanced");
    expect_error("[a)", "expected ] but found ): the [ at line 1, column 1 is open");
    expect_error("(a]", "expected ) but found ]");
    expect_error("'", "expected an expression after ' but the input ends");
    expect_error("(a ')", "expected an expression after ' but found )");
}

TEST_F(reader, a_byte_order_mark_shifts_no_column) {
    expect_error("\xEF\xBB\xBF(a", "line 1, column 1");
    expect_error("\xEF\xBB\xBF\n(a", "line 2, column 1");
    expect_error("\xEF\xBB\xBF #| b", "line 1, column 2");
}

TEST_F(reader, wants_one_expression_where_one_is_wanted) {
    expect_error("", "empty");
    expect_error("   ", "empty");
    expect_error("; only a comment", "empty");
    expect_error("#;a", "empty");
    expect_error("1 2", "trailing content after the expression, at line 1, column 3: 2");
    expect_error("(a) (b)", "trailing");
    expect_error("(a) 'b", "trailing");
    EXPECT_EQ(read_all(memory(), "")->size(), 0U);
    EXPECT_EQ(read_all(memory(), "1 (a) \"b\"")->size(), 3U);
}

TEST_F(reader, refuses_bytes_that_no_source_holds) {
    expect_error("(a \xff)", "invalid UTF-8 at byte offset 3");
    expect_error("\"\xc3(\"", "byte offset 1");
    expect_error("; \xed\xa0\x80", "byte offset 2");
    expect_error(std::string_view("(a \0 b)", 7), "NUL byte at byte offset 3");
    expect_error("(a \x01)", "control character U+0001");
    expect_error("\"\x7f\"", "U+007F");
    expect_error("\x01 \xff", "control character"); // the first of both
}

TEST_F(reader, bounds_depth) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "x" + std::string(depth, ')');
    };
    EXPECT_EQ(read_back(nested(200)), nested(200));
    EXPECT_TRUE(read_one(memory(), nested(10'000)).has_value());
    expect_error(nested(10'001), "deeper than 10000");
    EXPECT_NE(read_back("((()))", {.max_depth = 2}).find("deeper than 2"), std::string::npos);
    EXPECT_EQ(read_back("''a", {.max_depth = 2}), "''a");
}

TEST_F(reader, answers_large_hostile_input_at_once) {
    const auto begin = std::chrono::steady_clock::now();
    for (const char* piece : {"(", "'", "#;", "[", "`,@", "#|"}) {
        std::string text;
        while (text.size() < 10'000'000) text += piece;
        const auto read = read_all(memory(), text);
        ASSERT_FALSE(read.has_value()) << piece;
        EXPECT_EQ(error_kind_name(read.error()), "SexpSyntaxError");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, hang_guard::limit);
}

TEST_F(reader, reads_ten_megabytes) {
    std::string text = "(";
    while (text.size() < 10'000'000) text += "(row 12345 \"some text\" 1.5 'name)\n";
    text += ")";
    const auto read = read_one(memory(), text, 1);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->content.length(), (text.size() - 2) / 34);
}

TEST_F(reader, keeps_to_the_memory_limit) {
    memory().set_limit(memory().used() + 1'000'000);
    std::string text = "(";
    while (text.size() < 4'000'000) text += "1 ";
    EXPECT_TRUE(read_back(text + ")").starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

TEST_F(reader, records_places) {
    source_map sources;
    const std::string text = "(żó (b \"c\") 'd)\n";
    sources.add("first", "something else");
    const std::uint32_t position = sources.add("second", text);
    const auto read = read_one(memory(), text, position);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(sources.text(read->span), "(żó (b \"c\") 'd)");
    const auto places_of = [](const value& list) {
        return static_cast<const list_object*>(list.target())->places;
    };
    const list_places* outer = places_of(read->content);
    ASSERT_NE(outer, nullptr);
    EXPECT_EQ(outer->whole, read->span);
    EXPECT_EQ(sources.text(outer->elements[0]), "żó");
    EXPECT_EQ(sources.text(outer->elements[1]), "(b \"c\")");
    EXPECT_EQ(sources.text(outer->elements[2]), "'d");
    const list_places* inner = places_of(list_items(read->content)[1]);
    EXPECT_EQ(sources.text(inner->elements[1]), "\"c\"");
    const list_places* quoted = places_of(list_items(read->content)[2]);
    EXPECT_EQ(sources.text(quoted->elements[0]), "'");
    EXPECT_EQ(sources.text(quoted->elements[1]), "d");
    EXPECT_EQ(sources.locate(inner->elements[0]).column, 6U);
}

TEST_F(reader, points_errors_at_their_place) {
    source_map sources;
    const std::string text = "(a\n  (b c\n";
    const std::uint32_t position = sources.add("file", text);
    const auto read = read_one(memory(), text, position);
    ASSERT_FALSE(read.has_value());
    const auto place = sources.locate(read.error().info().span);
    EXPECT_EQ(place.line, 2U);
    EXPECT_EQ(place.column, 3U);
    EXPECT_EQ(read.error().info().hint, "add ))");
    EXPECT_EQ(read.error().info().origin, error_origin::script);
    EXPECT_FALSE(read_one(memory(), text).error().info().span.known());
}

TEST_F(reader, survives_any_bytes) {
    std::mt19937 random(1);
    constexpr std::string_view alphabet = "()[]'`,@\"\\#|;.+-019eax \n\xc5\xbc\xff";
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        const std::size_t length = random() % 24;
        while (text.size() < length) text += alphabet[random() % alphabet.size()];
        const auto read = read_all(memory(), text, 1);
        if (!read) {
            EXPECT_FALSE(read.error().message().empty());
            continue;
        }
        for (const datum& each : *read) {
            const std::string printed = print_value(each.content);
            EXPECT_EQ(read_back(printed), printed) << text;
        }
    }
}

TEST_F(reader, distinguishes_incomplete_input_from_wrong_input) {
    for (const char* begun : {"(", "(+ 1", "[a (b)", "\"text", "\"text\\", "#| a", "#| #| |#", "'",
                              "`", ",@", "#;", "(a '", "(f \"x) ", "1 2 (", "(a ; b)"}) {
        const auto read = read_all(memory(), begun);
        ASSERT_FALSE(read) << begun;
        EXPECT_TRUE(needs_more_input(read.error())) << begun;
    }
    for (const char* wrong : {")", "(a]", "(a ')", "12ab", "(12ab", "\"\\q\"", "(\"\\q", "\x01"}) {
        const auto read = read_all(memory(), wrong);
        ASSERT_FALSE(read) << wrong;
        EXPECT_FALSE(needs_more_input(read.error())) << wrong;
    }
    EXPECT_FALSE(needs_more_input(read_one(memory(), "").error()));
}

} // namespace
} // namespace heddle::lang
