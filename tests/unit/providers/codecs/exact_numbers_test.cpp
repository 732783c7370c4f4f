// The numbers of a tool call, on their way from the service and back.
#include "codec_testing.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <hard_numbers.hpp>

namespace heddle::testing {
namespace {

/// The arguments of the call of a response, in the response and in the request with the next turn.
void expect_exact(providers::chat_codec& codec, const std::string& before,
                  const std::string& after) {
    const std::vector<double> numbers = hard_numbers();
    const auto response = read_of(codec, before + json_of_numbers(numbers) + after);
    ASSERT_EQ(response.tool_calls.size(), 1U);
    EXPECT_EQ(bits_in(response.tool_calls[0].arguments_json), bits_of(numbers));
    const auto encoded =
        codec.encode(carried_on(user_request("x"), response), providers::response_mode::whole);
    ASSERT_TRUE(encoded) << encoded.error().message();
    EXPECT_EQ(bits_in(encoded->body), bits_of(numbers));
}

TEST(exact_numbers, of_anthropic) {
    providers::anthropic::options options;
    options.api_key = secret("sk-ant-0123456789abcdef");
    const auto codec = providers::make_anthropic_codec(std::move(options)).value();
    expect_exact(*codec,
                 R"({"id":"msg_1","model":"m","content":[{"type":"tool_use","id":"t","name":"f",)"
                 R"("input":{"n":)",
                 R"(}}],"stop_reason":"tool_use"})");
}

TEST(exact_numbers, of_gemini) {
    providers::gemini::options options;
    options.api_key = secret("AIzaSy-0123456789abcdef");
    const auto codec = providers::make_gemini_codec(std::move(options)).value();
    expect_exact(*codec,
                 R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":)",
                 R"(}}}],"role":"model"},"finishReason":"STOP"}],"responseId":"r1"})");
}

TEST(exact_numbers, of_ollama) {
    const auto codec = providers::make_ollama_codec({}).value();
    expect_exact(*codec,
                 R"({"message":{"content":"","tool_calls":[{"function":{"name":"f",)"
                 R"("arguments":{"n":)",
                 R"(}}}]},"done":true})");
}

TEST(exact_numbers, of_openai) {
    providers::openai::options options;
    options.api_key = secret("sk-0123456789abcdef");
    const auto codec = providers::make_openai_codec(std::move(options)).value();
    expect_exact(*codec,
                 R"({"choices":[{"message":{"tool_calls":[{"id":"c","type":"function",)"
                 R"("function":{"name":"f","arguments":"{\"n\":)",
                 R"(}"}}]},"finish_reason":"tool_calls"}]})");
}

} // namespace
} // namespace heddle::testing
