#include "model_setup.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

TEST(model_name, names_a_provider_and_a_model) {
    EXPECT_EQ(parse_model_name("openai:gpt-4o")->provider, "openai");
    EXPECT_EQ(parse_model_name("openai:gpt-4o")->model, "gpt-4o");
    EXPECT_EQ(parse_model_name("openai:llama3:8b")->model, "llama3:8b");
    EXPECT_EQ(parse_model_name("scripted:dir/rules.json")->provider, "scripted");
}

TEST(model_name, without_a_provider_is_one_of_openai) {
    EXPECT_EQ(parse_model_name("gpt-4o")->provider, "openai");
    EXPECT_EQ(parse_model_name("gpt-4o")->model, "gpt-4o");
}

TEST(model_name, of_another_provider_is_refused_with_a_way_out) {
    const auto wrong = parse_model_name("llama3:8b");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message(), "there is no provider 'llama3'");
    EXPECT_NE(wrong.error().info().hint.find("openai:llama3:8b"), std::string::npos);
    EXPECT_FALSE(parse_model_name("openai:"));
    EXPECT_FALSE(parse_model_name(""));
}

} // namespace
} // namespace heddle::cli
