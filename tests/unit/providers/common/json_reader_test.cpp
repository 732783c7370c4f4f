#include "common/json_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::testing {
namespace {

TEST(json_reader, big_responses_do_not_make_the_next_ones_dearer) {
    providers::json_reader reader({"test", nullptr});
    std::string big = "[";
    for (int i = 0; i < 2000; ++i) big += "{\"a\":[1,2,\"text of some length\"]},";
    big.back() = ']';
    // Each needs more than the reader keeps. What it takes for one it frees: with blocks that
    // doubled from one to the next, seventy would ask for more than any machine has.
    for (int round = 0; round < 70; ++round) {
        const auto tree = reader.parse(big);
        ASSERT_TRUE(tree) << round;
        ASSERT_EQ(tree->get_array().size(), 2000U);
        EXPECT_FALSE(reader.parse(big + "]")); // and from one that fails
    }
}

TEST(json_reader, what_is_nested_too_deeply_is_an_error) {
    providers::json_reader reader({"test", nullptr});
    EXPECT_TRUE(reader.parse(std::string(60, '[') + std::string(60, ']')));
    const auto deep = reader.parse(std::string(100'000, '['));
    ASSERT_FALSE(deep);
    EXPECT_NE(deep.error().message().find("nested too deeply"), std::string::npos);
}

TEST(json_reader, far_more_memory_than_the_text_has_bytes_is_an_error) {
    providers::json_reader reader({"test", nullptr});
    std::string zeros = "[";
    for (int i = 0; i < 10'000'000; ++i) zeros += "0,";
    zeros += "0]";
    const auto tree = reader.parse(zeros);
    ASSERT_FALSE(tree) << "a quarter of a gigabyte for 20 MB";
    EXPECT_EQ(tree.error().code(), ports::llm_errc::protocol);
    EXPECT_NE(tree.error().message().find("holds too many values"), std::string::npos);
    // A long text is none of these, and the reader goes on.
    const auto text = reader.parse("\"" + std::string(40'000'000, 'x') + "\"");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->get_string().size(), 40'000'000U);
}

TEST(json_reader, halves_of_characters_are_distinguished_from_the_rest) {
    providers::json_reader reader({"test", nullptr});
    const auto tree = reader.parse(
        R"({"a":"\uddf5 x\ud83e","b":["\ud83e"],"c":"x\ud83ey","\ud83e":1,"whole":"\ud83e\uddf5"})");
    ASSERT_TRUE(tree) << tree.error().message();
    const auto& object = tree->get_object();
    const std::string_view a = providers::text_member(object, "a");
    EXPECT_EQ(a, "\uFFFD x\uFFFD");
    const auto* split = reader.find_split(a);
    ASSERT_NE(split, nullptr);
    EXPECT_EQ(split->low, 0xDDF5U);
    EXPECT_EQ(split->high, 0xD83EU);
    split = reader.find_split(object.if_contains("b")->get_array()[0].get_string());
    ASSERT_NE(split, nullptr);
    EXPECT_EQ(split->low, 0U);
    EXPECT_EQ(split->high, 0xD83EU);
    EXPECT_EQ(providers::text_member(object, "c"), "x\uFFFDy");
    EXPECT_EQ(reader.find_split(providers::text_member(object, "c")), nullptr);
    EXPECT_EQ(reader.find_split(providers::text_member(object, "whole")), nullptr);
}

TEST(json_reader, what_is_known_of_a_tree_is_forgotten_with_it) {
    providers::json_reader reader({"test", nullptr});
    std::string_view text;
    {
        const auto split = reader.parse(R"({"a":"\ud83e and some more text\ud83e"})");
        ASSERT_TRUE(split);
        text = providers::text_member(split->get_object(), "a");
        ASSERT_NE(reader.find_split(text), nullptr);
    }
    ASSERT_TRUE(reader.parse("{}"));
    EXPECT_EQ(reader.find_split(text), nullptr);
}

TEST(json_reader, the_tree_has_each_kind_of_value_in_the_order_of_the_text) {
    providers::json_reader reader({"test", nullptr});
    const std::string source =
        R"( {"n":null,"t":true,"i":-7,"u":18446744073709551615,"d":1.5e2,"s":"a\"b\u00e9",)"
        R"("e":"","l":[[],{},[1,[2]]],"o":{"x":{"y":"z"},"k\n":1},"t":false} )";
    const auto tree = reader.parse(source);
    ASSERT_TRUE(tree) << tree.error().message();
    const auto& object = tree->get_object();
    ASSERT_EQ(object.size(), 10U);
    EXPECT_EQ(object.begin()->key, "n");
    EXPECT_TRUE(object.if_contains("n")->is_null());
    EXPECT_FALSE(object.if_contains("t")->get_bool()) << "the last of a name counts";
    EXPECT_EQ(object.if_contains("i")->get_int64(), -7);
    EXPECT_EQ(object.if_contains("u")->get_uint64(), 18446744073709551615U);
    EXPECT_EQ(object.if_contains("d")->get_double(), 150.0);
    EXPECT_EQ(object.if_contains("s")->get_string(), "a\"b\u00e9");
    EXPECT_EQ(object.if_contains("e")->get_string(), "");
    const auto& list = object.if_contains("l")->get_array();
    ASSERT_EQ(list.size(), 3U);
    EXPECT_TRUE(list[0].get_array().empty());
    EXPECT_TRUE(list[1].get_object().empty());
    EXPECT_EQ(list[2].get_array()[1].get_array()[0].get_int64(), 2);
    const auto& inner = object.if_contains("o")->get_object();
    EXPECT_EQ(providers::text_member(inner.if_contains("x")->get_object(), "y"), "z");
    EXPECT_EQ(providers::count_member(inner, "k\n"), 1);
    EXPECT_EQ(object.if_contains("none"), nullptr);
    for (const char* wrong : {"", " ", "{", "{\"a\":}", "[1,]", "1 2", "nul", "\"a", "{\"a\" 1}"})
        EXPECT_FALSE(reader.parse(wrong)) << wrong;
}

TEST(json_reader, depth_is_bounded_in_mended_text_too) {
    providers::json_reader reader({"test", nullptr});
    const auto nested = [](int depth) {
        const auto levels = static_cast<std::size_t>(depth);
        return std::string(levels, '[') + "\"\\ud83e\xFF\"" + std::string(levels, ']');
    };
    EXPECT_TRUE(reader.parse(nested(60)));
    EXPECT_FALSE(reader.parse(nested(100'000)));
}

} // namespace
} // namespace heddle::testing
