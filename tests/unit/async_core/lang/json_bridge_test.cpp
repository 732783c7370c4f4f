#include <heddle/lang/json_bridge.hpp>

#include <heddle/lang/equality.hpp>
#include <heddle/lang/objects.hpp>

#include "lang_fixture.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <random>

namespace heddle::lang {
namespace {

class json_bridge : public lang_fixture {
protected:
    [[nodiscard]] std::string parsed(std::string_view text, const json_read_options& options = {}) {
        auto read = json_to_value(memory(), text, options);
        return read ? print_value(*read) : described(read.error());
    }
    [[nodiscard]] std::string written(std::string_view text,
                                      const json_write_options& options = {}) {
        auto out = value_to_json(data(text), options);
        return out ? *out : described(out.error());
    }
    void expect_error(std::string_view text, std::string_view part) {
        const std::string got = parsed(text);
        EXPECT_TRUE(got.starts_with("InvalidArgumentError: ")) << text << " gave " << got;
        EXPECT_NE(got.find(part), std::string::npos) << text << " gave " << got;
    }
};

TEST_F(json_bridge, reads_every_kind) {
    EXPECT_EQ(parsed("null"), "nil");
    EXPECT_EQ(parsed(" true "), "true");
    EXPECT_EQ(parsed("[1, -2, 3.0, 1e2, \"a\", [], {}]"), "(1 -2 3.0 100.0 \"a\" () (dict))");
    EXPECT_EQ(parsed("{\"a\": {\"b\": [1]}, \"c\": null}"),
              "(dict \"a\" (dict \"b\" (1)) \"c\" nil)");
    EXPECT_EQ(parsed("\xEF\xBB\xBF[]"), "()");
}

TEST_F(json_bridge, keeps_numbers_exactly) {
    EXPECT_EQ(parsed("9223372036854775807"), "9223372036854775807");
    EXPECT_EQ(parsed("-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(parsed("9223372036854775808"), "9.223372036854776e+18");
    EXPECT_EQ(parsed("0.1"), "0.1");
    EXPECT_EQ(parsed("1e-400"), "0.0");
    EXPECT_EQ(parsed("-0.0"), "-0.0");
    expect_error("1e400", "too large");
    EXPECT_EQ(written("(1 1.0 1e21 -0.0)"), "[1,1.0,1e+21,-0.0]");
    std::mt19937_64 random(3);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t bits = random();
        double d = 0;
        std::memcpy(&d, &bits, sizeof d);
        if (!std::isfinite(d)) continue;
        auto back = json_to_value(memory(), *value_to_json(value::real(d)));
        ASSERT_TRUE(back.has_value());
        ASSERT_TRUE(back->is_real());
        ASSERT_EQ(back->as_real(), d);
    }
}

TEST_F(json_bridge, lets_the_last_of_equal_keys_win) {
    EXPECT_EQ(parsed(R"({"a":1,"b":2,"a":3})"), "(dict \"a\" 3 \"b\" 2)");
}

TEST_F(json_bridge, reads_escapes) {
    EXPECT_EQ(string_bytes(*json_to_value(memory(), R"("\"\\\/\b\f\n\r\t\u017c\ud83e\uddf5x")")),
              "\"\\/\b\f\n\r\tż🧵x");
    EXPECT_EQ(parsed(R"({"\u0061": "b\n", "c": "plain"})"), R"((dict "a" "b\n" "c" "plain"))");
    expect_error(R"("\ud83e")", "surrogate");
    expect_error(R"("\x")", "escape");
    expect_error("\"a\nb\"", "control character");
    expect_error(R"("\u00g0")", "hexadecimal");
}

TEST_F(json_bridge, reports_the_place_and_what_was_expected) {
    expect_error("", "line 1, column 1: expected a value but the text ends");
    expect_error("[1,\n 2,]", "line 2, column 4: expected a value but found ']'");
    expect_error("[1 2]", "expected , or ] (opened at line 1, column 1) but found '2'");
    expect_error("{\"a\" 1}", "expected : after a key but found '1'");
    expect_error("{a: 1}", "expected a key in double quotes but found 'a'");
    expect_error("{\"a\": 1,}", "expected a key");
    expect_error("[1] x", "expected the end of the text but found 'x'");
    expect_error("[\"abc", "never closed");
    expect_error("nul", "expected a value");
    expect_error("01", "must not begin with 0");
    expect_error("1.", "a digit after the point");
    expect_error("-", "expected a digit");
    expect_error("1e", "exponent");
    expect_error("[ż]", "found 'ż'");
    expect_error("\"\xff\"", "byte offset 1");
    expect_error("[1", "but the text ends");
    expect_error("'a'", "expected a value");
    expect_error("+1", "expected a value");
    expect_error("NaN", "expected a value");
}

TEST_F(json_bridge, bounds_what_it_reads) {
    EXPECT_TRUE(parsed(std::string(513, '[')).starts_with("LimitError"));
    EXPECT_TRUE(parsed("[1,2,3]", {.max_bytes = 5}).starts_with("LimitError"));
    EXPECT_EQ(parsed(std::string(512, '[') + std::string(512, ']')),
              std::string(511, '(') + "()" + std::string(511, ')'));
    memory().set_limit(memory().used() + 1'000'000);
    std::string text = "[0";
    while (text.size() < 4'000'000) text += ",1";
    EXPECT_TRUE(parsed(text + "]").starts_with("LimitError"));
    memory().set_limit(SIZE_MAX);
}

TEST_F(json_bridge, writes_every_kind) {
    EXPECT_EQ(written("(nil true false 5 \"a\\n\\\"\\u0001ż\" sym)"),
              R"([null,true,false,5,"a\n\"\u0001ż","sym"])");
    EXPECT_EQ(written("(dict \"a\" (dict) \"b\" ())"), R"({"a":{},"b":[]})");
    EXPECT_EQ(written("(dict \"a\" (1 2) \"b\" ())", {.indent = 2}),
              "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}");
}

TEST_F(json_bridge, refuses_what_json_cannot_write) {
    EXPECT_EQ(written("(1 (dict \"a\" (2 +inf.0)))"),
              "InvalidArgumentError: JSON cannot write the float +inf.0 at [1][\"a\"][1]");
    EXPECT_EQ(written("+nan.0"), "InvalidArgumentError: JSON cannot write the float +nan.0");
    const value builtin = value::of_builtin(*find_builtin("+"));
    EXPECT_EQ(value_to_json(builtin).error().message(), "JSON cannot write a builtin");
    value deep = value::integer(1);
    for (int i = 0; i < 100; ++i) deep = make_list(memory(), std::span(&deep, 1));
    EXPECT_FALSE(value_to_json(deep, {.max_depth = 50}).has_value());
    EXPECT_TRUE(value_to_json(deep, {.max_depth = 100}).has_value());
    value wide = value::integer(1);
    for (int i = 0; i < 60; ++i) {
        const value pair[] = {wide, wide};
        wide = make_list(memory(), pair);
    }
    EXPECT_EQ(described(value_to_json(wide, {.max_bytes = 1000}).error()),
              "LimitError: the JSON text is longer than 1000 bytes");
}

TEST_F(json_bridge, round_trips) {
    const std::string text =
        R"({"id":1,"tags":["a","b"],"score":0.5,"n":null,"t":true,"nested":{"x":[{"y":"\u0000"}]}})";
    const auto read = json_to_value(memory(), text);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*value_to_json(*read), text);
    for (const unsigned indent : {0U, 2U}) {
        const auto again = json_to_value(memory(), *value_to_json(*read, {.indent = indent}));
        EXPECT_TRUE(values_equal(*read, *again));
    }
}

TEST_F(json_bridge, survives_any_bytes) {
    std::mt19937 random(1);
    constexpr std::string_view alphabet = "[]{},:\"\\u0019eE+-.truefalsn \n\xc5\xbc\xff";
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        const std::size_t length = random() % 16;
        while (text.size() < length) text += alphabet[random() % alphabet.size()];
        const auto read = json_to_value(memory(), text);
        if (!read) continue;
        const auto again = json_to_value(memory(), *value_to_json(*read));
        ASSERT_TRUE(again.has_value()) << text;
        EXPECT_TRUE(values_equal(*read, *again)) << text;
    }
}

} // namespace
} // namespace heddle::lang
