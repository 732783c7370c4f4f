#include "common/json_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::testing {
namespace {

TEST(json_reader, big_answers_do_not_make_the_next_ones_dearer) {
    providers::json_reader reader({"test", nullptr});
    std::string big = "[";
    for (int i = 0; i < 2000; ++i) big += "{\"a\":[1,2,\"text of some length\"]},";
    big.back() = ']';
    // Each needs more than the reader keeps. What it takes for one it gives back: with blocks that
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

} // namespace
} // namespace heddle::testing
