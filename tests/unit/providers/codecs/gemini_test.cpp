#include "codec_testing.hpp"

#include <heddle/providers/gemini/provider.hpp>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using ports::chat_request;
using ports::chat_role;
using ports::finish_reason;
using ports::llm_errc;
using providers::response_mode;
using providers::gemini::api_version;

std::unique_ptr<providers::chat_codec> codec_of(
    api_version version = api_version::v1,
    std::string base = "https://generativelanguage.googleapis.com") {
    providers::gemini::options options;
    options.version = version;
    options.base_url = std::move(base);
    options.api_key = secret("AIzaSy-0123456789abcdef");
    return providers::make_gemini_codec(std::move(options)).value();
}

std::string response_with(std::string_view parts, std::string_view reason = "STOP") {
    return R"({"candidates":[{"content":{"parts":)" + std::string(parts) +
           R"(,"role":"model"},"finishReason":")" + std::string(reason) +
           R"("}],"responseId":"r1"})";
}

TEST(gemini_codec, the_path_holds_version_model_and_manner) {
    const auto target = [](api_version version, const char* base, const char* model,
                           response_mode mode = response_mode::whole) {
        return codec_of(version, base)->encode(user_request("x", model), mode)->target;
    };
    const char* const bare = "http://h";
    EXPECT_EQ(target(api_version::v1, bare, "m"), "/v1/models/m:generateContent");
    EXPECT_EQ(target(api_version::v1beta, bare, "m", response_mode::stream),
              "/v1beta/models/m:streamGenerateContent?alt=sse");
    EXPECT_EQ(target(api_version::v1, "http://h/p/v1beta/", "models/m"),
              "/p/v1beta/models/m:generateContent");
    EXPECT_EQ(target(api_version::v1, bare, "tunedModels/t-1"),
              "/v1/tunedModels/t-1:generateContent");
    EXPECT_EQ(target(api_version::v1, bare, "../x?y:z/ä"),
              "/v1/models/..%2Fx%3Fy%3Az%2F%C3%A4:generateContent");
    EXPECT_EQ(codec_of(api_version::v1beta)->encode_ping().target, "/v1beta/models?pageSize=1000");
    const auto models = codec_of()->decode_ping(
        response_of(200, R"({"models":[{"name":"models/b"},{"name":"a"}]})"), codec_now);
    EXPECT_EQ(models.value(), (std::vector<std::string>{"a", "b"}));
}

TEST(gemini_codec, signatures_go_back_where_they_came_from) {
    const auto codec = codec_of();
    const auto response = read_of(*codec, response_with(R"([
        {"text":"Let me","thought":true},{"text":" think.","thought":true,"thoughtSignature":"s0"},
        {"text":"Sum"},{"text":"mary","thought":true},
        {"text":"See.","thoughtSignature":"s1"},
        {"functionCall":{"name":"f","args":{"a":1},"id":"c1"},"thoughtSignature":"s2"},
        {"functionCall":{"name":"g","args":{}}}])"));
    EXPECT_EQ(response.text, "SumSee.");
    ASSERT_EQ(response.reasoning.size(), 3U);
    EXPECT_EQ(response.reasoning[0].text, "Let me think.");
    EXPECT_EQ(response.reasoning[0].signature, "s0");
    EXPECT_EQ(response.reasoning[1].text, "mary");
    EXPECT_EQ(response.reasoning[2].signature, "s1");
    EXPECT_EQ(response.finish, finish_reason::tool_calls);
    ASSERT_EQ(response.tool_calls.size(), 2U);
    EXPECT_EQ(response.tool_calls[0].signature, "s2");

    const json::value body = body_of(*codec, carried_on(user_request("x"), response));
    EXPECT_EQ(body.at("contents").at(1), json::parse(R"({"role":"model","parts":[
        {"text":"Let me think.","thought":true,"thoughtSignature":"s0"},
        {"text":"SumSee.","thoughtSignature":"s1"},
        {"functionCall":{"name":"f","args":{"a":1},"id":"c1"},"thoughtSignature":"s2"},
        {"functionCall":{"name":"g","args":{}}}]})"));
    // The second call had no id of the service's: its result goes back without one too.
    EXPECT_EQ(body.at("contents").at(2), json::parse(R"({"role":"user","parts":[
        {"functionResponse":{"id":"c1","name":"f","response":{"output":"18 degrees"}}},
        {"functionResponse":{"name":"g","response":{"output":"18 degrees"}}}]})"));
}

TEST(gemini_codec, thoughts_in_pieces_of_a_stream_are_one_part) {
    const auto codec = codec_of();
    const auto event = [](std::string_view parts, std::string_view end = "") {
        return R"(data: {"candidates":[{"content":{"parts":)" + std::string(parts) + "}" +
               std::string(end) + "}]}\r\n\r\n";
    };
    const auto response = stream_of(
        *codec,
        event(R"([{"text":"Let ","thought":true}])") + event(R"([{"text":"me.","thought":true}])") +
            event(R"([{"text":"Yes"}])") +
            event(R"([{"text":"","thoughtSignature":"sig"}])", R"(,"finishReason":"STOP")"));
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "Yes");
    ASSERT_EQ(response->reasoning.size(), 2U);
    EXPECT_EQ(response->reasoning[0].text, "Let me.");
    EXPECT_EQ(response->reasoning[1].signature, "sig");
}

TEST(gemini_codec, marks_of_another_service_stay_here) {
    chat_request request = user_request("x");
    ports::chat_message turn{chat_role::assistant, "a", {{"c", "f", "{}", "fc_1"}}, {}, {}};
    turn.reasoning = {{"of OpenAI", "rs_1", "gAAAA"}, {"unsigned", {}, {}}};
    request.messages.push_back(std::move(turn));
    EXPECT_EQ(body_of(*codec_of(), request).at("contents").at(1).at("parts"), json::parse(R"([
        {"text":"a"},{"functionCall":{"name":"f","args":{},"id":"c"}}])"));
}

TEST(gemini_codec, results_are_objects_and_failures_are_reported) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.messages.push_back({chat_role::assistant, "", {{"c", "f", "{}"}}, {}, {}});
    request.messages.push_back({chat_role::tool, R"({"t":18})", {}, "c", ""}); // name by the call
    const auto response = [&] {
        return body_of(*codec, request)
            .at("contents")
            .at(2)
            .at("parts")
            .at(0)
            .at("functionResponse");
    };
    EXPECT_EQ(response().at("response"), (json::value{{"t", 18}}));
    EXPECT_EQ(response().at("name"), "f");
    request.messages.back().tool_failed = true;
    EXPECT_EQ(response().at("response"), (json::value{{"error", R"({"t":18})"}}));
    request.messages.back() = {chat_role::tool, "[1]", {}, "c", "f"};
    EXPECT_EQ(response().at("response"), (json::value{{"output", "[1]"}}));
    request.messages.back() = {chat_role::tool, "x", {}, "unknown", ""};
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("a tool's message names no tool"));
}

TEST(gemini_codec, schemas_are_sent_in_the_kind_that_they_are) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.format = {ports::response_format::kind::json_schema, "s",
                      R"({"type":"OBJECT","properties":{"a":{"type":"STRING"}}})", true};
    EXPECT_TRUE(
        body_of(*codec, request).at("generationConfig").as_object().contains("responseSchema"));
    // The word alone does not make it one.
    request.format.schema_json = R"({"type":"object","enum":["OBJECT"]})";
    const json::value config = body_of(*codec, request).at("generationConfig");
    EXPECT_TRUE(config.as_object().contains("responseJsonSchema"));
    EXPECT_EQ(config.at("responseMimeType"), "application/json");
    request.format.type = ports::response_format::kind::json_object;
    EXPECT_EQ(body_of(*codec, request).at("generationConfig"),
              (json::value{{"responseMimeType", "application/json"}}));
}

TEST(gemini_codec, reasoning_and_what_the_service_cannot_take) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.reasoning_effort = "low";
    EXPECT_EQ(body_of(*codec, request).at("generationConfig").at("thinkingConfig"),
              (json::value{{"thinkingLevel", "low"}, {"includeThoughts", true}}));
    request.reasoning_tokens = 512;
    EXPECT_TRUE(refusal_of(*codec, request).starts_with("reasoning: this service takes an effort"));
    request.reasoning_effort.clear();
    EXPECT_EQ(body_of(*codec, request).at("generationConfig").at("thinkingConfig"),
              (json::value{{"thinkingBudget", 512}, {"includeThoughts", true}}));
    request = user_request("x");
    request.parallel_tool_calls = false;
    EXPECT_TRUE(left_out_of(*codec, request).empty()); // there is nothing to call
    request.tools.push_back({"f", "", "", true});
    EXPECT_EQ(left_out_of(*codec, request),
              std::vector<std::string>{"parallel_tool_calls: the service cannot switch them off"});
    request = user_request("x");
    request.extra = {{"generationConfig", "{}"}};
    EXPECT_TRUE(refusal_of(*codec, request).find("is a setting; set it by its own clause") !=
                std::string::npos);
    request.extra = {{"presencePenalty", "0.5"}, {"cachedContent", "\"cachedContents/1\""}};
    const json::value body = body_of(*codec, request);
    EXPECT_EQ(body.at("generationConfig").at("presencePenalty"), 0.5);
    EXPECT_EQ(body.at("cachedContent"), "cachedContents/1");
}

TEST(gemini_codec, usage_counts_thoughts_into_the_output) {
    const auto response =
        read_of(*codec_of(), R"({"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{
        "promptTokenCount":9,"toolUsePromptTokenCount":2,"cachedContentTokenCount":5,
        "candidatesTokenCount":4,"thoughtsTokenCount":47}})");
    EXPECT_EQ(response.usage->input, 11);
    EXPECT_EQ(response.usage->cached, 5);
    EXPECT_EQ(response.usage->output, 51);
    EXPECT_EQ(response.usage->reasoning, 47);
    EXPECT_EQ(response.finish, finish_reason::length);
}

TEST(gemini_codec, limits_that_pass_are_distinguished_from_those_of_the_day) {
    const auto codec = codec_of();
    const auto limited = [&](const char* quota, const char* delay) {
        return failure_of(*codec, 429,
                          R"({"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[
            {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":")" +
                              std::string(quota) + R"("}]},
            {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":")" +
                              delay + R"("}]}})");
    };
    const error minute = limited("GenerateRequestsPerMinutePerProjectPerModel", "0.25s");
    EXPECT_EQ(minute.code(), make_error_code(llm_errc::rate_limit));
    EXPECT_EQ(minute.info().retry_after, 250ms);
    EXPECT_EQ(minute.info().retryable, true);
    const error day = limited("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "40s");
    EXPECT_EQ(day.code(), make_error_code(llm_errc::quota));
    EXPECT_EQ(day.info().retryable, false);
    EXPECT_EQ(limited("x", "soon").info().retry_after, std::nullopt);
}

TEST(gemini_codec, keys_of_others_are_not_shown) {
    const error failure = failure_of(
        *codec_of(), 400,
        R"({"error":{"code":400,"message":"The key AIzaSyAbCdEfGhIjKlMnOpQrSt has expired."}})");
    EXPECT_EQ(failure.message().find("AbCdEfGh"), std::string::npos) << failure.message();
    EXPECT_NE(failure.message().find("has expired"), std::string::npos);
}

TEST(gemini_codec, filters_discard_the_text_so_far) {
    const auto codec = codec_of();
    const auto read = read_of(*codec, response_with(R"([{"text":"Some"}])", "BLOCKLIST"));
    EXPECT_EQ(read.text, "");
    EXPECT_EQ(read.refusal, "the service withheld the response (BLOCKLIST)");
    EXPECT_EQ(read.finish, finish_reason::content_filter);
    const auto blocked = read_of(*codec, R"({"promptFeedback":{"blockReason":"OTHER"}})");
    EXPECT_EQ(blocked.refusal, "the service blocked the prompt (OTHER)");
    EXPECT_EQ(read_of(*codec, response_with("[]", "NEW_REASON")).finish, finish_reason::other);
}

TEST(gemini_codec, hostile_responses_are_errors) {
    const auto codec = codec_of();
    for (
        const char* body :
        {"[]", "{}", R"({"candidates":[]})", R"({"candidates":[1]})", R"({"promptFeedback":{}})",
         R"({"candidates":[{"content":{"parts":[5]}}]})",
         R"({"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":[1]}},7]}}]})"}) {
        EXPECT_EQ(failure_of(*codec, 200, body).code(), make_error_code(llm_errc::protocol))
            << body;
    }
    std::string thoughts = "[{}";
    for (int i = 0; i < 5000; ++i) thoughts += R"(,{"thought":true,"thoughtSignature":"s"})";
    EXPECT_NE(
        failure_of(*codec, 200, response_with(thoughts + "]")).message().find("too many parts"),
        std::string::npos);
}

} // namespace
} // namespace heddle::testing
