#include <heddle/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace heddle {
namespace {

json parsed(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text << ": " << value.error().message();
    return value ? *value : json();
}

std::string parse_problem(std::string_view text, const json_limits& limits = {}) {
    const auto value = json::parse(text, limits);
    return value ? "parsed " + value->to_string() : value.error().message();
}

TEST(json, holds_what_it_was_made_of) {
    EXPECT_TRUE(json().is_null());
    EXPECT_TRUE(json(nullptr).is_null());
    EXPECT_EQ(json(true).kind(), json_kind::boolean);
    EXPECT_EQ(json(7).kind(), json_kind::integer);
    EXPECT_EQ(json(7U).as_int(), 7);
    EXPECT_EQ(json(2.5F).as_double(), 2.5);
    EXPECT_EQ(json("text").as_string(), "text");
    EXPECT_EQ(json(std::string_view("text")).kind(), json_kind::string);
    const json list = json::array{1, "two", 3.0, nullptr};
    ASSERT_EQ(list.as_array().size(), 4U);
    EXPECT_EQ(list.at(1).as_string(), "two");
    const json map = json::object{{"a", 1}, {"b", json::array{true}}};
    EXPECT_EQ(map.at("a").as_int(), 1);
    EXPECT_TRUE(map.at("b").at(0).as_bool());
    EXPECT_EQ(map.find("c"), nullptr);
    EXPECT_EQ(list.find("a"), nullptr);
}

TEST(json, takes_unsigned_integers_above_the_signed_ones_as_doubles) {
    EXPECT_EQ(json(std::uint64_t{1} << 63).kind(), json_kind::number);
    EXPECT_EQ(json(std::numeric_limits<std::int64_t>::max()).kind(), json_kind::integer);
}

TEST(json, names_the_kind_that_was_not_expected) {
    try {
        static_cast<void>(json(1).as_string());
        FAIL();
    } catch (const error_exception& thrown) {
        EXPECT_STREQ(thrown.what(), "expected JSON of the kind string but found integer");
    }
    EXPECT_THROW(static_cast<void>(json(json::object()).at("a")), error_exception);
    EXPECT_THROW(static_cast<void>(json(json::array()).at(0)), error_exception);
}

TEST(json, keeps_the_order_of_members_and_their_names_unique) {
    json::object members{{"b", 1}, {"a", 2}, {"b", 3}};
    EXPECT_EQ(json(members).to_string(), R"({"b":3,"a":2})");
    EXPECT_FALSE(members.add("a", 4));
    EXPECT_TRUE(members.add("c", 4));
    EXPECT_TRUE(members.erase("b"));
    EXPECT_FALSE(members.erase("b"));
    EXPECT_EQ(json(members).to_string(), R"({"a":2,"c":4})");
}

TEST(json, finds_the_members_of_large_objects) {
    constexpr int count = 100'000;
    json::object members;
    for (int i = 0; i < count; ++i) members.set("name" + std::to_string(i), i);
    for (int i = 0; i < count; ++i) members.set("name" + std::to_string(i), i + 1);
    ASSERT_EQ(members.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const json* member = members.find("name" + std::to_string(i));
        ASSERT_NE(member, nullptr);
        ASSERT_EQ(member->as_int(), i + 1);
    }
    EXPECT_TRUE(members.erase("name500"));
    EXPECT_FALSE(members.contains("name500"));
    EXPECT_EQ(members.find("name501")->as_int(), 502);
    EXPECT_FALSE(members.contains("name"));
}

TEST(json, compares_members_in_any_order_and_kinds_of_numbers_apart) {
    EXPECT_EQ(parsed(R"({"a": 1, "b": [2]})"), parsed(R"({"b": [2], "a": 1})"));
    EXPECT_NE(parsed(R"({"a": 1})"), parsed(R"({"a": 2})"));
    EXPECT_NE(parsed(R"({"a": 1})"), parsed(R"({"b": 1})"));
    EXPECT_NE(parsed("[1, 2]"), parsed("[2, 1]"));
    EXPECT_NE(json(1), json(1.0));
    EXPECT_EQ(json(), json(nullptr));
}

TEST(json, reads_what_it_writes) {
    for (const std::string_view text :
         {"null", "true", "-9223372036854775808", "9223372036854775807", "0.1", "1.0", "1e+21",
          "\"\"", R"("\u0001\"\\ü")", "[]", "{}", R"([1,[2,{"a":null}],{"":""}])"}) {
        EXPECT_EQ(parsed(text).to_string(), text);
    }
    EXPECT_EQ(parsed(R"( "\ud83e\uddf5\/" )").as_string(), "🧵/");
    EXPECT_EQ(parsed("\xEF\xBB\xBF 1 \n").as_int(), 1);
    EXPECT_EQ(parsed("9223372036854775808").as_double(), 9223372036854775808.0);
    EXPECT_EQ(parsed("18446744073709551616").as_double(), 18446744073709551616.0);
    EXPECT_EQ(parsed("1e-400").as_double(), 0.0);
    // The nearest double, where a fast conversion is off by one.
    EXPECT_EQ(parsed("9007199254740993.0").as_double(), 9007199254740992.0);
    EXPECT_EQ(parsed("5.190361494569423E-1").as_double(), 0.5190361494569423);
}

TEST(json, writes_with_an_indent) {
    EXPECT_EQ(parsed(R"({"a":[1,2],"b":{},"c":[]})").to_string(2),
              "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}");
}

TEST(json, replaces_what_json_cannot_express) {
    EXPECT_EQ(json(std::nan("")).to_string(), "null");
    EXPECT_EQ(json(-std::numeric_limits<double>::infinity()).to_string(), "null");
    EXPECT_EQ(json("a\xFF").to_string(), "\"a\xEF\xBF\xBD\"");
}

TEST(json, names_the_place_of_a_mistake) {
    EXPECT_EQ(parse_problem(""), "line 1, column 1: the text ends too early");
    EXPECT_EQ(parse_problem("[1, 2"), "line 1, column 6: the text ends too early");
    EXPECT_EQ(parse_problem("[1,\n 2,]"), "line 2, column 4: unexpected ']'");
    EXPECT_EQ(parse_problem("{\"a\" 1}"), "line 1, column 6: unexpected '1'");
    EXPECT_EQ(parse_problem("1 2"),
              "line 1, column 3: expected the end of the text, "
              "unexpected '2'");
    EXPECT_EQ(parse_problem("\"a\nb\""), "line 1, column 3: unexpected control character");
    EXPECT_EQ(parse_problem("['a']"), "line 1, column 2: unexpected '''");
    EXPECT_EQ(parse_problem("NaN"), "line 1, column 1: unexpected 'N'");
    EXPECT_EQ(parse_problem("[1] // done"),
              "line 1, column 5: expected the end of the text, "
              "unexpected '/'");
    EXPECT_EQ(parse_problem("1e400"), "line 1, column 6: the number is too large");
    EXPECT_EQ(parse_problem("-1e99999999999999999999"),
              "line 1, column 13: the number is too large");
    EXPECT_EQ(parse_problem(R"("\ud83e")"), "line 1, column 8: unexpected '\"'");
    EXPECT_EQ(parse_problem(R"("\ud83e\u0041")"), "line 1, column 10: half of a surrogate pair");
    EXPECT_EQ(parse_problem(R"("\u00x0")"),
              "line 1, column 6: expected four hexadecimal digits after \\u");
    EXPECT_EQ(parse_problem(R"({"a": {"b": 1, "b": 2}})"),
              "line 1, column 18: the name \"b\" occurs twice in one object");
    EXPECT_EQ(parse_problem(R"(["ü", "a" "b"])"), "line 1, column 11: unexpected '\"'");
}

TEST(json, bounds_what_it_reads) {
    const std::string deep(512, '[');
    const std::string closed = deep + std::string(512, ']');
    EXPECT_EQ(parsed(closed).to_string(), closed);
    const auto deeper = json::parse("[" + closed + "]");
    ASSERT_FALSE(deeper.has_value());
    EXPECT_EQ(deeper.error().code(), errc::limit_exceeded);
    EXPECT_NE(deeper.error().message().find("nested deeper than 512 levels"), std::string::npos);
    EXPECT_NE(parse_problem(std::string(1'000'000, '[')).find("nested deeper"), std::string::npos);

    EXPECT_EQ(parse_problem("[1,2]", {.max_bytes = 4}),
              "a JSON text of 5 bytes is over the limit of 4");
    EXPECT_EQ(parse_problem("\"a\xC0\""), "the JSON text is not UTF-8: invalid bytes at offset 2");
}

} // namespace
} // namespace heddle
