#include "codec_testing.hpp"

#include <heddle/providers/anthropic/provider.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ports::chat_request;
using ports::chat_role;
using ports::finish_reason;
using ports::llm_errc;
using providers::anthropic::api_version;

std::unique_ptr<providers::chat_codec> codec_of(api_version version = api_version::v2026_10_21,
                                                std::string base = "https://api.anthropic.com") {
    providers::anthropic::options options;
    options.version = version;
    options.base_url = std::move(base);
    options.api_key = secret("sk-ant-0123456789abcdef");
    return providers::make_anthropic_codec(std::move(options)).value();
}

std::string response_with(std::string_view content, std::string_view rest = "") {
    return R"({"id":"msg_1","model":"m","content":)" + std::string(content) +
           R"(,"stop_reason":"end_turn")" + std::string(rest) + "}";
}

TEST(anthropic_codec, sampling_settings_are_left_out_in_the_new_version) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.temperature = 1.0; // the default value as well
    request.top_p = 0.5;
    request.extra = {{"top_k", "40"}};
    request.reasoning_tokens = 2000;
    request.seed = 7;
    EXPECT_THAT(left_out_of(*codec, request),
                ::testing::UnorderedElementsAre(
                    "seed: the service has no such setting",
                    "temperature: API version 2026-10-21 has no such setting",
                    "top_p: API version 2026-10-21 has no such setting",
                    "top_k: API version 2026-10-21 has no such setting",
                    "reasoning_tokens: API version 2026-10-21 takes a reasoning effort instead"));
    const json::value bare = body_of(*codec, request);
    EXPECT_EQ(bare, body_of(*codec, user_request("x")));

    const auto old = codec_of(api_version::v2023_06_01);
    request.reasoning_tokens.reset();
    const json::value body = body_of(*old, request);
    EXPECT_EQ(body.at("temperature").to_number<double>(), 1.0);
    EXPECT_EQ(body.at("top_p"), 0.5);
    EXPECT_EQ(body.at("top_k"), 40);
}

TEST(anthropic_codec, a_budget_for_thinking_bears_no_sampling_and_no_forced_tool) {
    const auto codec = codec_of(api_version::v2023_06_01);
    chat_request request = user_request("x");
    request.reasoning_tokens = 2048;
    request.temperature = 0.2;
    request.top_p = 0.5;
    request.tools.push_back({"f", "", "", true});
    request.tool_choice = "required";
    const json::value body = body_of(*codec, request);
    EXPECT_FALSE(body.as_object().contains("temperature"));
    EXPECT_FALSE(body.as_object().contains("top_p"));
    EXPECT_EQ(body.at("tool_choice"), (json::value{{"type", "auto"}}));
    EXPECT_EQ(left_out_of(*codec, request).size(), 3U);
    request.top_p = 0.97;
    EXPECT_EQ(body_of(*codec, request).at("top_p"), 0.97);
}

TEST(anthropic_codec, the_effort_none_turns_thinking_off) {
    chat_request request = user_request("x");
    request.reasoning_effort = "none";
    for (const api_version version : {api_version::v2026_10_21, api_version::v2023_06_01}) {
        const json::value body = body_of(*codec_of(version), request);
        EXPECT_EQ(body.at("thinking"), (json::value{{"type", "disabled"}}));
        EXPECT_FALSE(body.as_object().contains("output_config"));
    }
    request.reasoning_effort = "low";
    EXPECT_EQ(body_of(*codec_of(), request).at("output_config").at("effort"), "low");
}

TEST(anthropic_codec, schemas_are_closed_and_those_that_cannot_be_go_into_the_system_text) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.messages.insert(request.messages.begin(),
                            {chat_role::system, "Answer in JSON.", {}, {}, {}});
    request.format.type = ports::response_format::kind::json_schema;
    request.format.schema_json =
        R"({"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]})";
    const json::value body = body_of(*codec, request);
    EXPECT_EQ(body.at("output_config").at("format").at("schema"), json::parse(R"({
        "type":"object","required":["a"],"additionalProperties":false,
        "properties":{"a":{"type":"integer","description":"{\"minimum\":1}"}}})"));
    EXPECT_EQ(body.at("system"), "Answer in JSON.");

    request.format.schema_json = R"({"type":"object","additionalProperties":{"type":"number"}})";
    const json::value open = body_of(*codec, request);
    EXPECT_FALSE(open.as_object().contains("output_config"));
    EXPECT_EQ(std::string(open.at("system").at(1).at("text").as_string()),
              "The JSON Schema of the answer: " + request.format.schema_json);

    request.format.schema_json = "[]";
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("the schema of the response is not"));
}

TEST(anthropic_codec, an_object_without_a_schema_is_asked_for_by_the_prompt_alone) {
    for (const api_version version : {api_version::v2026_10_21, api_version::v2023_06_01}) {
        chat_request request = user_request("x");
        request.format.type = ports::response_format::kind::json_object;
        EXPECT_EQ(body_of(*codec_of(version), request),
                  body_of(*codec_of(version), user_request("x")));
        EXPECT_TRUE(left_out_of(*codec_of(version), request).empty());
    }
}

TEST(anthropic_codec, what_the_service_cannot_take_is_named) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.extra = {{"system", "\"y\""}};
    EXPECT_TRUE(
        refusal_of(*codec, request)
            .starts_with("the extra parameter 'system' is a setting; set it by its own clause"));
    request = user_request("x");
    request.messages.front().role = chat_role::system;
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("the request holds no message besides"));
    request = user_request("x", "");
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("the request names no model"));
}

TEST(anthropic_codec, max_tokens_is_always_sent_and_leaves_room_for_thinking) {
    const auto codec = codec_of(api_version::v2023_06_01);
    chat_request request = user_request("x");
    EXPECT_EQ(body_of(*codec, request).at("max_tokens"), 8192);
    request.reasoning_tokens = 2048;
    const json::value body = body_of(*codec, request);
    EXPECT_EQ(body.at("max_tokens"), 8192 + 2048);
    EXPECT_EQ(body.at("thinking"), (json::value{{"type", "enabled"}, {"budget_tokens", 2048}}));
    request.max_output_tokens = 2048;
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("the budget for reasoning leaves no"));
    request.reasoning_tokens = 0;
    EXPECT_EQ(body_of(*codec, request).at("thinking"), (json::value{{"type", "disabled"}}));
}

TEST(anthropic_codec, thinking_goes_back_unchanged_and_only_what_is_signed) {
    const auto codec = codec_of();
    const auto response = read_of(*codec, response_with(R"([
        {"type":"thinking","thinking":"Hm.","signature":"sig=="},
        {"type":"redacted_thinking","data":"xyz"},
        {"type":"text","text":"See."},
        {"type":"tool_use","id":"t1","name":"f","input":{"a":1}}])"));
    ASSERT_EQ(response.reasoning.size(), 2U);
    EXPECT_EQ(response.reasoning[0].text, "Hm.");
    EXPECT_EQ(response.reasoning[1].opaque, "xyz");
    chat_request next = carried_on(user_request("x"), response);
    next.messages[1].reasoning.push_back({"of another service, unsigned", {}, {}});
    next.messages[1].reasoning.push_back({"of OpenAI", "rs_1", "gAAAA"});
    EXPECT_EQ(body_of(*codec, next).at("messages").at(1).at("content"), json::parse(R"([
        {"type":"thinking","thinking":"Hm.","signature":"sig=="},
        {"type":"redacted_thinking","data":"xyz"},
        {"type":"text","text":"See."},
        {"type":"tool_use","id":"t1","name":"f","input":{"a":1}}])"));
}

TEST(anthropic_codec, messages_of_one_side_become_one_with_all_results_together) {
    const auto codec = codec_of();
    chat_request request = user_request("one");
    request.messages.push_back({chat_role::user, "two", {}, {}, {}});
    request.messages.push_back({chat_role::system, "late words", {}, {}, {}});
    // Calls of a service that gave no ids; the results come in the same order.
    request.messages.push_back(
        {chat_role::assistant, "", {{"", "f", "{}"}, {"", "g", ""}}, {}, {}});
    request.messages.push_back({chat_role::tool, "r1", {}, "", "f"});
    request.messages.push_back({chat_role::tool, "r2", {}, "", "g"});
    request.messages.push_back({chat_role::user, "and now?", {}, {}, {}});
    const json::value body = body_of(*codec, request);
    EXPECT_EQ(body.at("system"), "late words");
    const json::array& turns = body.at("messages").as_array();
    ASSERT_EQ(turns.size(), 3U);
    EXPECT_EQ(turns[0].at("content"),
              json::parse(R"([{"type":"text","text":"one"},{"type":"text","text":"two"}])"));
    const json::array& results = turns[2].at("content").as_array();
    ASSERT_EQ(results.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
        const json::value& id = turns[1].at("content").at(i).at("id");
        EXPECT_FALSE(id.as_string().empty());
        EXPECT_EQ(results[i].at("tool_use_id"), id);
    }
    EXPECT_NE(results[0].at("tool_use_id"), results[1].at("tool_use_id"));
    EXPECT_EQ(results[2].at("text"), "and now?");
}

TEST(anthropic_codec, cache_marks_are_on_the_last_block_and_at_most_four) {
    const auto codec = codec_of();
    chat_request request = user_request("q1");
    request.messages.push_back({chat_role::assistant, "see", {{"t", "f", "{}"}}, {}, {}});
    request.messages.push_back({chat_role::tool, "r", {}, "t", "f"});
    request.messages.push_back({chat_role::assistant, "a2", {}, {}, {}});
    request.messages.push_back({chat_role::user, "q3", {}, {}, {}});
    request.messages.insert(request.messages.begin(), {chat_role::system, "s", {}, {}, {}});
    for (auto& message : request.messages) message.cache_up_to_here = true; // six
    const json::value body = body_of(*codec, request);
    const auto is_marked = [](const json::value& block) {
        return block.as_object().contains("cache_control");
    };
    EXPECT_TRUE(body.at("system").is_string()); // no block: no mark
    const json::array& turns = body.at("messages").as_array();
    EXPECT_TRUE(turns[0].at("content").is_string());
    EXPECT_FALSE(is_marked(turns[1].at("content").at(0))); // the text before the call
    EXPECT_TRUE(is_marked(turns[1].at("content").at(1)));
    EXPECT_TRUE(is_marked(turns[2].at("content").at(0)));
    EXPECT_TRUE(is_marked(turns[3].at("content").at(0)));
    EXPECT_EQ(turns[4].at("content").at(0).at("cache_control"),
              (json::value{{"type", "ephemeral"}}));
}

/// Where marks stand: "system", "tools", "0" for the first turn; joined by blanks.
std::string marks_of(const json::value& body) {
    const auto holds_mark = [](const json::value& blocks) {
        const json::array* all = blocks.if_array();
        return all && std::any_of(all->begin(), all->end(), [](const json::value& block) {
                   return block.as_object().contains("cache_control");
               });
    };
    std::string found;
    for (const char* part : {"tools", "system"}) {
        const json::value* blocks = body.as_object().if_contains(part);
        if (blocks && holds_mark(*blocks)) found += std::string(part) + " ";
    }
    const json::array& turns = body.at("messages").as_array();
    for (std::size_t i = 0; i < turns.size(); ++i) {
        if (holds_mark(turns[i].at("content"))) found += std::to_string(i) + " ";
    }
    return found;
}

TEST(anthropic_codec, long_beginnings_and_conversations_are_marked_for_the_cache_by_themselves) {
    const auto codec = codec_of();
    const std::string text(5000, 'a');
    chat_request request = user_request("q1");
    EXPECT_EQ(marks_of(body_of(*codec, request)), "");
    request.messages.insert(request.messages.begin(), {chat_role::system, "short", {}, {}, {}});
    EXPECT_EQ(marks_of(body_of(*codec, request)), "");
    request.cache_prompt = true; // however short
    EXPECT_EQ(marks_of(body_of(*codec, request)), "system ");
    request.cache_prompt.reset();
    request.messages[0].text = text;
    EXPECT_EQ(marks_of(body_of(*codec, request)), "system ");
    request.cache_prompt = false;
    EXPECT_EQ(marks_of(body_of(*codec, request)), "");
    request.cache_prompt.reset();

    chat_request loop = user_request(text); // the prompt of one call is not marked
    EXPECT_EQ(marks_of(body_of(*codec, loop)), "");
    loop.messages.push_back({chat_role::assistant, "", {{"t", "f", "{}"}}, {}, {}});
    loop.messages.push_back({chat_role::tool, "r", {}, "t", "f"});
    EXPECT_EQ(marks_of(body_of(*codec, loop)), "2 "); // the next turn begins with it
    loop.tools.push_back({"f", text, "", true});
    loop.tools.push_back({"g", "", "", true});
    EXPECT_EQ(marks_of(body_of(*codec, loop)), "tools 2 ");
    EXPECT_TRUE(body_of(*codec, loop).at("tools").at(1).as_object().contains("cache_control"));
    loop.messages[0].cache_up_to_here = true; // who marks decides
    EXPECT_EQ(marks_of(body_of(*codec, loop)), "0 ");
}

TEST(anthropic_codec, tool_choices) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.tools.push_back({"f", "", "", true});
    EXPECT_FALSE(body_of(*codec, request).as_object().contains("tool_choice"));
    EXPECT_EQ(body_of(*codec, request).at("tools").at(0).at("input_schema"),
              (json::value{{"type", "object"}}));
    request.tool_choice = "required";
    EXPECT_EQ(body_of(*codec, request).at("tool_choice"), (json::value{{"type", "any"}}));
    request.tool_choice = "none";
    request.parallel_tool_calls = false;
    EXPECT_EQ(body_of(*codec, request).at("tool_choice"), (json::value{{"type", "none"}}));
    request.tool_choice = "";
    EXPECT_EQ(body_of(*codec, request).at("tool_choice"),
              (json::value{{"type", "auto"}, {"disable_parallel_tool_use", true}}));
}

TEST(anthropic_codec, a_base_url_with_the_version_is_meant_alike) {
    for (const char* base : {"https://proxy.example/a", "https://proxy.example/a/v1/"}) {
        const auto codec = codec_of(api_version::v2026_10_21, base);
        EXPECT_EQ(codec->encode(user_request("x"), providers::response_mode::whole)->target,
                  "/a/v1/messages");
        EXPECT_EQ(codec->encode_ping().target, "/a/v1/models?limit=1000");
        EXPECT_EQ(codec->encode_ping().method, "GET");
    }
    const auto models = codec_of()->decode_ping(
        response_of(200, R"({"data":[{"id":"b"},{"id":"a"},{}]})"), codec_now);
    EXPECT_EQ(models.value(), (std::vector<std::string>{"a", "b"}));
}

TEST(anthropic_codec, usage_counts_the_cache_into_the_input) {
    const auto codec = codec_of();
    const auto response = read_of(*codec, response_with("[]", R"(,"usage":{"input_tokens":10,
        "cache_read_input_tokens":1000,"cache_creation_input_tokens":200,"output_tokens":5})"));
    ASSERT_TRUE(response.usage);
    EXPECT_EQ(response.usage->input, 1210);
    EXPECT_EQ(response.usage->cached, 1000);
    EXPECT_EQ(response.usage->cache_written, 200);
    EXPECT_EQ(response.usage->output, 5);
    EXPECT_FALSE(read_of(*codec, response_with("[]")).usage);
    // A stream corrects what it said at its beginning, and repeats nothing that has not changed.
    const auto streamed = stream_of(
        *codec,
        R"(data: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":4,"cache_read_input_tokens":null,"output_tokens":9}}

data: {"type":"message_stop"}

)");
    ASSERT_TRUE(streamed && streamed->usage);
    EXPECT_EQ(streamed->usage->input, 11);
    EXPECT_EQ(streamed->usage->output, 9);
}

TEST(anthropic_codec, a_refusal_discards_the_text_so_far) {
    const auto codec = codec_of();
    const auto reported = read_of(*codec, R"({"content":[{"type":"text","text":"I "}],
        "stop_reason":"refusal","stop_details":{"explanation":"Declined.","category":"bio"}})");
    EXPECT_EQ(reported.text, "");
    EXPECT_EQ(reported.refusal, "Declined.");
    EXPECT_EQ(reported.finish, finish_reason::refusal);
    const auto untold = read_of(*codec, R"({"content":[],"stop_reason":"refusal",
        "stop_details":{"explanation":null,"category":"bio"}})");
    EXPECT_EQ(untold.refusal, "the model refused to answer (bio)");
}

TEST(anthropic_codec, limits_are_read_from_the_headers) {
    const auto limits = codec_of()->read_limits(
        response_of(200, "",
                    {{"anthropic-ratelimit-requests-limit", "50"},
                     {"anthropic-ratelimit-requests-remaining", "0"},
                     {"anthropic-ratelimit-requests-reset", "2026-11-21T05:00:12Z"},
                     {"anthropic-ratelimit-input-tokens-limit", "40000"},
                     {"anthropic-ratelimit-input-tokens-remaining", "39000"},
                     {"anthropic-ratelimit-input-tokens-reset", "2026-11-21T06:00:30.5+01:00"},
                     {"anthropic-ratelimit-output-tokens-remaining", "-1"},
                     {"anthropic-ratelimit-output-tokens-reset", "2026-11-21T04:59:50Z"},
                     {"anthropic-ratelimit-tokens-limit", "many"},
                     {"anthropic-ratelimit-tokens-reset", "2026-13-21T05:00:12Z"},
                     {"anthropic-ratelimit-unknown-limit", "5"},
                     {"anthropic-ratelimit-", "5"}}),
        codec_now);
    EXPECT_EQ(limits.requests_limit, 50);
    EXPECT_EQ(limits.requests_remaining, 0);
    EXPECT_EQ(limits.requests_reset, 12s);
    EXPECT_EQ(limits.input_tokens_limit, 40000);
    EXPECT_EQ(limits.input_tokens_remaining, 39000);
    EXPECT_EQ(limits.input_tokens_reset, 30'500ms);
    EXPECT_EQ(limits.output_tokens_remaining, std::nullopt);
    EXPECT_EQ(limits.output_tokens_reset, 0ms); // has passed
    EXPECT_EQ(limits.tokens_limit, std::nullopt);
    EXPECT_EQ(limits.tokens_reset, std::nullopt);
}

TEST(anthropic_codec, errors_name_the_request) {
    const auto codec = codec_of();
    const error head = failure_of(*codec, 500, R"({"error":{"type":"api_error","message":"m"}})",
                                  {{"request-id", "req_head"}});
    EXPECT_NE(head.message().find("req_head"), std::string::npos) << head.message();
    const error body = failure_of(
        *codec, 500, R"({"error":{"type":"api_error","message":"m"},"request_id":"req_body"})");
    EXPECT_NE(body.message().find("req_body"), std::string::npos) << body.message();
    const error empty =
        failure_of(*codec, 402, R"({"error":{"type":"billing_error","message":"pay"}})",
                   {{"x-should-retry", "true"}});
    EXPECT_EQ(empty.code(), make_error_code(llm_errc::quota));
    EXPECT_EQ(empty.info().retryable, false);
}

TEST(anthropic_codec, arguments_are_texts_with_the_numbers_of_the_model) {
    const auto response = read_of(*codec_of(), response_with(R"([{"type":"tool_use","id":"t",
        "name":"f","input":{"a":21.5,"b":[1,-2,true,null,18446744073709551615],"c":{"d":"\"x\n"},
        "e":1e300,"f":[],"g":{},"ż\u0001":""}}])"));
    EXPECT_EQ(response.tool_calls.at(0).arguments_json,
              R"({"a":21.5,"b":[1,-2,true,null,18446744073709551615],"c":{"d":"\"x\n"},)"
              R"("e":1e+300,"f":[],"g":{},"ż\u0001":""})");
}

TEST(anthropic_codec, hostile_responses_are_bounded) {
    const auto codec = codec_of();
    std::string calls = "[";
    for (int i = 0; i < 300; ++i) {
        calls += i == 0 ? "" : ",";
        calls += R"({"type":"tool_use","id":"t","name":"f","input":{}})";
    }
    const error many = failure_of(*codec, 200, response_with(calls + "]"));
    EXPECT_EQ(many.code(), make_error_code(llm_errc::protocol));
    EXPECT_NE(many.message().find("too many tool calls"), std::string::npos);
    for (const char* body :
         {"[]", "{}", R"({"content":5})", R"({"content":[1]})", R"({"content":null})",
          R"({"content":[{"type":"tool_use","name":"f","input":[1]},7]})"}) {
        EXPECT_EQ(failure_of(*codec, 200, body).code(), make_error_code(llm_errc::protocol))
            << body;
    }
    std::string thoughts = "[{}";
    for (int i = 0; i < 5000; ++i) thoughts += R"(,{"type":"thinking"})";
    EXPECT_NE(
        failure_of(*codec, 200, response_with(thoughts + "]")).message().find("too many parts"),
        std::string::npos);
    std::string blocks;
    for (int i = 0; i < 5000; ++i) {
        blocks += R"(data: {"type":"content_block_start","index":1,"content_block":{"type":"x"}})"
                  "\n\n";
    }
    const auto streamed = stream_of(*codec, blocks);
    ASSERT_FALSE(streamed);
    EXPECT_NE(streamed.error().message().find("too many parts"), std::string::npos);
}

TEST(anthropic_provider, a_missing_key_is_reported_for_the_official_address_only) {
    test_loop on;
    fake_http http;
    const auto result = providers::make_anthropic_provider(http, {}, null_log());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), make_error_code(llm_errc::configuration));
    EXPECT_NE(result.error().info().hint.find("ANTHROPIC_API_KEY"), std::string::npos);
    providers::anthropic::options elsewhere;
    elsewhere.base_url = "http://127.0.0.1:8080";
    EXPECT_TRUE(providers::make_anthropic_provider(http, elsewhere, null_log()));
}

} // namespace
} // namespace heddle::testing
