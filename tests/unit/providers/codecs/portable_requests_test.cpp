// What holds for the requests and responses of every service: no empty messages, and calls of tools
// that a length limit cut off are distinguished from bad ones.
#include "codec_testing.hpp"

#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>

#include <gmock/gmock.h>

#include <memory>

namespace heddle::testing {
namespace {

using ports::chat_request;
using ports::chat_role;
using ports::finish_reason;
using ::testing::HasSubstr;

struct service {
    std::string name;
    std::unique_ptr<providers::chat_codec> codec;
};

std::vector<service> services() {
    std::vector<service> all;
    all.push_back({"openai", providers::make_openai_codec({}).value()});
    all.push_back({"responses", providers::make_responses_codec({}).value()});
    all.push_back({"anthropic", providers::make_anthropic_codec({}).value()});
    all.push_back({"gemini", providers::make_gemini_codec({}).value()});
    all.push_back({"ollama", providers::make_ollama_codec({}).value()});
    return all;
}

std::string text_of(providers::chat_codec& codec, const chat_request& request) {
    return boost::json::serialize(body_of(codec, request));
}

chat_request conversation() {
    chat_request request = user_request("first");
    request.messages.insert(request.messages.begin(), {chat_role::system, "rules", {}, {}, {}});
    request.messages.push_back({chat_role::user, "last", {}, {}, {}});
    return request;
}

TEST(portable_requests, messages_without_content_are_not_sent) {
    for (const service& each : services()) {
        SCOPED_TRACE(each.name);
        const std::string expected = text_of(*each.codec, conversation());
        for (const char* blank : {"", "  ", "\n\t", "\xC2\xA0"}) {
            chat_request request = conversation();
            auto& all = request.messages;
            all.insert(all.begin() + 2, {chat_role::assistant, blank, {}, {}, {}});
            EXPECT_EQ(text_of(*each.codec, request), expected);
            all[2].reasoning.push_back({"thought until the tokens were used up", "sig", {}});
            EXPECT_EQ(text_of(*each.codec, request), expected);
            all.insert(all.begin() + 2, {chat_role::user, blank, {}, {}, {}});
            all.insert(all.begin() + 1, {chat_role::system, blank, {}, {}, {}});
            EXPECT_EQ(text_of(*each.codec, request), expected);
        }
    }
}

TEST(portable_requests, a_system_text_that_is_blank_is_none) {
    for (const service& each : services()) {
        SCOPED_TRACE(each.name);
        chat_request request = user_request("x");
        const std::string expected = text_of(*each.codec, request);
        request.messages.insert(request.messages.begin(), {chat_role::system, "", {}, {}, {}});
        EXPECT_EQ(text_of(*each.codec, request), expected);
    }
}

TEST(portable_requests, calls_without_text_are_content) {
    for (const service& each : services()) {
        SCOPED_TRACE(each.name);
        chat_request request = user_request("x");
        request.messages.push_back({chat_role::assistant, " ", {{"t1", "look", "{}"}}, {}, {}});
        request.messages.push_back({chat_role::tool, "", {}, "t1", "look"});
        EXPECT_THAT(text_of(*each.codec, request), HasSubstr("look"));
    }
}

TEST(portable_requests, a_blank_prompt_is_refused_before_anything_is_sent) {
    for (const service& each : services()) {
        SCOPED_TRACE(each.name);
        for (const char* blank : {"", " \n "}) {
            EXPECT_THAT(refusal_of(*each.codec, user_request(blank)),
                        HasSubstr("the prompt is blank"));
            chat_request request = conversation();
            request.messages.back().text = blank; // not the one before it instead
            EXPECT_THAT(refusal_of(*each.codec, request), HasSubstr("the prompt is blank"));
        }
        chat_request nothing = user_request("x");
        nothing.messages.clear();
        EXPECT_THAT(refusal_of(*each.codec, nothing), HasSubstr("no message"));
    }
}

std::string event(const std::string& data) { return "data: " + data + "\n\n"; }

/// A response whose last call is cut off at `arguments`, whole and as a stream; "": there is none.
struct cut_response {
    std::string whole;
    std::string stream;
};

cut_response openai_response(const std::string& arguments) {
    const std::string call =
        R"([{"index":0,"id":"c","function":{"name":"look","arguments":")" + arguments + R"("}}])";
    return {
        R"({"id":"i","choices":[{"message":{"content":null,"tool_calls":)" + call +
            R"(},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":87}})",
        event(R"({"choices":[{"index":0,"delta":{"tool_calls":)" + call + "}}]}") +
            event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"length"}]})") +
            event(R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":87}})") +
            event("[DONE]")};
}

cut_response responses_response(const std::string& arguments) {
    const std::string response =
        R"({"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},)"
        R"("output":[{"type":"function_call","id":"fc_1","call_id":"c","name":"look","arguments":")" +
        arguments + R"("}],"usage":{"input_tokens":5,"output_tokens":87}})";
    return {response, event(R"({"type":"response.incomplete","response":)" + response + "}")};
}

cut_response anthropic_response(const std::string& arguments) {
    return {R"({"id":"a","content":[{"type":"tool_use","id":"c","name":"look","input":{}}],)"
            R"("stop_reason":"max_tokens","usage":{"input_tokens":5,"output_tokens":87}})",
            event(R"({"type":"message_start","message":{"id":"a","usage":{"input_tokens":5}}})") +
                event(R"({"type":"content_block_start","index":0,"content_block":)"
                      R"({"type":"tool_use","id":"c","name":"look","input":{}}})") +
                event(R"({"type":"content_block_delta","index":0,"delta":)"
                      R"({"type":"input_json_delta","partial_json":")" +
                      arguments + R"("}})") +
                event(R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},)"
                      R"("usage":{"output_tokens":87}})") +
                event(R"({"type":"message_stop"})")};
}

void expect_cut(const result<ports::chat_response>& read) {
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->finish, finish_reason::length);
    EXPECT_EQ(read->cut_tool_call, "look");
    EXPECT_TRUE(read->tool_calls.empty());
    ASSERT_TRUE(read->usage);
    EXPECT_EQ(read->usage->output, 87);
}

TEST(portable_responses, a_call_that_the_length_limit_cut_is_no_bad_call_and_is_paid_for) {
    const std::string half = R"({\"city\": \"Pa)";
    for (const std::string& arguments : {half, std::string()}) {
        const auto all = services();
        const cut_response responses[] = {openai_response(arguments), responses_response(arguments),
                                          anthropic_response(arguments)};
        for (std::size_t i = 0; i < std::size(responses); ++i) {
            SCOPED_TRACE(all[i].name + " " + arguments);
            expect_cut(all[i].codec->decode(response_of(200, responses[i].whole), codec_now));
            expect_cut(stream_of(*all[i].codec, responses[i].stream));
        }
    }
}

TEST(portable_responses, whole_calls_before_the_limit_stay) {
    const auto codec = providers::make_openai_codec({}).value();
    const auto read = codec->decode(
        response_of(200, openai_response(R"({\"city\": \"Paris\"})").whole), codec_now);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->cut_tool_call, "");
    EXPECT_EQ(read->tool_calls.size(), 1U);
}

TEST(portable_responses, bad_arguments_without_a_limit_are_those_of_the_call) {
    const auto codec = providers::make_openai_codec({}).value();
    std::string body = openai_response(R"({\"city\": \"Pa)").whole;
    body.replace(body.find("length"), 6, "tool_calls");
    const auto read = codec->decode(response_of(200, body), codec_now);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->cut_tool_call, "");
    ASSERT_EQ(read->tool_calls.size(), 1U);
    EXPECT_EQ(read->tool_calls[0].arguments_json, R"({"city": "Pa)");
}

} // namespace
} // namespace heddle::testing
