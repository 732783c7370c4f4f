// What is particular to requests of Chat Completions; the contract suite has the recorded ones.
#include "../provider_testing.hpp"

#include "openai/chat_wire.hpp"

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include <limits>

namespace heddle::testing {
namespace {

namespace json = boost::json;
namespace openai = providers::openai;
using ports::chat_request;
using ports::chat_role;

TEST(openai_wire_request, any_bytes_become_valid_json) {
    std::string bytes;
    for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
    bytes += "\xED\xA0\x80|\xC0\xAF|\xF4\x90\x80\x80|\xE2\x82|\xF0\x9F\xA7\xB5";
    chat_request request = user_request(bytes);
    const auto body = openai::encode_request(request, {});
    ASSERT_TRUE(body);
    const json::value read = json::parse(*body); // throws if it is not JSON in UTF-8
    const json::string& text = read.at("messages").at(0).at("content").as_string();
    EXPECT_TRUE(text.ends_with("\xF0\x9F\xA7\xB5"));
    EXPECT_EQ(text[0], '\0');
    EXPECT_EQ(text[31], '\x1F');
}

TEST(openai_wire_request, compatible_dialect_leaves_out_what_others_do_not_know) {
    chat_request request = user_request("weather?");
    request.messages.push_back(
        {chat_role::assistant, "", {{"call_1", "get_weather", "{}"}}, {}, {}});
    request.messages.push_back({chat_role::tool, "18", {}, "call_1", "get_weather"});
    request.max_output_tokens = 5;
    const auto body = openai::encode_request(
        request, {providers::response_mode::whole, openai::wire_dialect::compatible});
    ASSERT_TRUE(body);
    const json::value read = json::parse(*body);
    EXPECT_EQ(read.at("max_tokens").as_int64(), 5);
    EXPECT_FALSE(read.as_object().contains("max_completion_tokens"));
    EXPECT_FALSE(read.at("messages").at(1).as_object().contains("refusal"));
}

TEST(openai_wire_request, no_reasoning_is_an_effort_too) {
    chat_request request = user_request("x");
    request.reasoning_tokens = 0;
    const auto none = openai::encode_request(request, {});
    ASSERT_TRUE(none);
    EXPECT_EQ(json::parse(*none).at("reasoning_effort").as_string(), "none");
    request.reasoning_effort = "low"; // more specific
    const auto low = openai::encode_request(request, {});
    ASSERT_TRUE(low);
    EXPECT_EQ(json::parse(*low).at("reasoning_effort").as_string(), "low");
}

TEST(openai_wire_request, wrong_parts_are_named) {
    const auto message = [](const chat_request& request) {
        const auto body = openai::encode_request(request, {});
        EXPECT_FALSE(body);
        if (body) return std::string();
        EXPECT_EQ(body.error().code(), make_error_code(ports::llm_errc::invalid_request));
        return body.error().message();
    };
    EXPECT_EQ(message({}), "the request names no model");
    chat_request empty = user_request("x");
    empty.messages.clear();
    EXPECT_EQ(message(empty), "the request holds no message");
    chat_request schema = user_request("x");
    schema.format = {ports::response_format::kind::json_schema, "s", "{\"a\":1}}", true};
    EXPECT_EQ(message(schema), "the schema of the response is not a JSON object");
    chat_request tool = user_request("x");
    tool.tools.push_back({"t", "", "[]", true});
    EXPECT_EQ(message(tool), "the parameters of tool 't' are not a JSON object");
    chat_request extra = user_request("x");
    extra.extra = {{"messages", "[]"}};
    EXPECT_EQ(message(extra),
              "the extra parameter 'messages' is a setting; set it by its own clause");
    extra.extra = {{"top_k", "1,\"model\":2"}};
    EXPECT_EQ(message(extra), "the extra parameter 'top_k' is not JSON");
    chat_request number = user_request("x");
    number.temperature = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(message(number), "temperature is not a finite number");
}

TEST(openai_wire_request, a_budget_for_reasoning_is_left_out) {
    chat_request budget = user_request("x");
    budget.reasoning_tokens = 1000;
    std::vector<providers::left_out_setting> left_out;
    const auto body = openai::encode_request(budget, {}, nullptr, &left_out);
    EXPECT_EQ(body.value(), openai::encode_request(user_request("x"), {}).value());
    ASSERT_EQ(left_out.size(), 1U);
    EXPECT_EQ(left_out[0].name, "reasoning_tokens");
}

} // namespace
} // namespace heddle::testing
