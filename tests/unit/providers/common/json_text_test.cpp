#include <heddle/providers/common/json_text.hpp>

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <limits>
#include <random>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using providers::append_json_number;
using providers::check_json;
using providers::json_kind;
using providers::json_memo;

TEST(json_text, random_bytes_always_yield_json) {
    std::mt19937 random(3);
    for (int round = 0; round < 20000; ++round) {
        std::string bytes;
        const std::size_t size = random() % 40;
        for (std::size_t i = 0; i < size; ++i) {
            bytes += static_cast<char>(random() % 3 == 0 ? random() % 256 : 0x20 + random() % 0x60);
        }
        const std::string text = json_string(bytes);
        EXPECT_EQ(json::parse(text).as_string(), utf8::replace_invalid(bytes));
        EXPECT_TRUE(utf8::is_valid(text));
        EXPECT_EQ(utf8::is_valid(bytes), utf8::replace_invalid(bytes) == bytes);
        EXPECT_EQ(check_json(text), json_kind::string);
    }
}

TEST(json_text, numbers_read_back_the_same) {
    const auto written = [](auto value) {
        std::string out;
        append_json_number(out, value);
        return out;
    };
    EXPECT_EQ(written(std::int64_t(0)), "0");
    EXPECT_EQ(written(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(written(0.2), "0.2");
    EXPECT_EQ(written(1e300), "1e+300");
    EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "null");
    for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308}) {
        EXPECT_EQ(json::parse(written(value)).to_number<double>(), value);
        EXPECT_EQ(check_json(written(value)), json_kind::number);
    }
}

TEST(json_text, check_knows_json_from_what_is_not) {
    EXPECT_EQ(check_json(" {\"a\" : [1, -0.5e+3, \"x\\u00e9\\n\", true, false, null, {}, []]} "),
              json_kind::object);
    EXPECT_EQ(check_json("[]"), json_kind::array);
    EXPECT_EQ(check_json("true"), json_kind::boolean);
    EXPECT_EQ(check_json("null"), json_kind::null);
    EXPECT_EQ(check_json("0"), json_kind::number);
    for (const char* wrong :
         {"",           " ",           "{",      "}",        "[1,]", "{,}",   "{\"a\"}", "{\"a\":}",
          "{\"a\":1,}", "{a:1}",       "01",     "-",        "1.",   ".5",    "1e",      "+1",
          "\"\\x\"",    "\"\\u12g4\"", "\"a",    "\"a\nb\"", "tru",  "nulls", "1 2",     "{}{}",
          "[1 2]",      "{\"a\" 1}",   "//x\n1", "NaN",      "[}",   "{]"}) {
        EXPECT_EQ(check_json(wrong), json_kind::none) << wrong;
    }
}

TEST(json_text, check_agrees_with_boost_json) {
    const std::string seed = R"({"a":[1,2.5,{"b":"c\n"}],"d":null,"e":true})";
    std::mt19937 random(5);
    for (int round = 0; round < 50000; ++round) {
        std::string text = seed;
        for (int change = 0; change < 2; ++change) {
            const std::size_t at = random() % text.size();
            constexpr std::string_view alphabet = "{}[]\",:0e.-+tn \\a";
            if (random() % 3 == 0) text.erase(at, 1);
            else text[at] = alphabet[random() % alphabet.size()];
        }
        boost::system::error_code ec;
        const json::value read = json::parse(text, ec);
        EXPECT_EQ(check_json(text) != json_kind::none, !ec) << text;
    }
}

TEST(json_text, check_is_bounded_in_depth) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(check_json(nested(64)), json_kind::array);
    EXPECT_EQ(check_json(nested(65)), json_kind::none);
    EXPECT_EQ(check_json(nested(1'000'000), 1'000'000), json_kind::none);
}

TEST(json_text, memo_knows_objects_only) {
    json_memo memo;
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(memo.is_object("{\"a\":1}"));
        EXPECT_FALSE(memo.is_object("[1]"));
        EXPECT_FALSE(memo.is_object(""));
        EXPECT_FALSE(memo.is_object("{\"a\":\"\xff\"}"));
    }
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(memo.is_object("{\"a\":" + std::to_string(i) + "}"));
}

} // namespace
} // namespace heddle::testing
