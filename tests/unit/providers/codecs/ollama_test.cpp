#include "codec_testing.hpp"

#include <heddle/providers/ollama/provider.hpp>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using ports::chat_request;
using ports::chat_role;
using ports::finish_reason;
using ports::llm_errc;
using providers::response_mode;

std::unique_ptr<providers::chat_codec> codec_of(std::string base = "http://127.0.0.1:11434") {
    providers::ollama::options options;
    options.base_url = std::move(base);
    return providers::make_ollama_codec(std::move(options)).value();
}

TEST(ollama_codec, calls_and_results_go_back_with_the_ids_of_the_service_only) {
    const auto codec = codec_of();
    const auto response = read_of(*codec, R"({"created_at":"2026-11-21T05:00:00Z","message":{
        "content":"See.","thinking":"Hm.","tool_calls":[
        {"id":"call_1","function":{"name":"f","arguments":{"a":1}}},
        {"function":{"name":"g","arguments":"{\"b\":2}"}},{"function":{"name":"h"}}]},"done":true})");
    ASSERT_EQ(response.tool_calls.size(), 3U);
    EXPECT_EQ(response.tool_calls[1].arguments_json, R"({"b":2})");
    EXPECT_EQ(response.tool_calls[2].arguments_json, "{}");
    EXPECT_FALSE(response.tool_calls[1].id.empty());
    EXPECT_NE(response.tool_calls[1].id, response.tool_calls[2].id);
    EXPECT_EQ(response.finish, finish_reason::tool_calls);
    chat_request next = carried_on(user_request("x"), response);
    next.messages[3].tool_failed = true;
    const json::value body = body_of(*codec, next);
    const json::array& messages = body.at("messages").as_array();
    EXPECT_EQ(messages[1], json::parse(R"({"role":"assistant","content":"See.","thinking":"Hm.",
        "tool_calls":[{"id":"call_1","function":{"name":"f","arguments":{"a":1}}},
        {"function":{"name":"g","arguments":{"b":2}}},{"function":{"name":"h","arguments":{}}}]})"));
    EXPECT_EQ(messages[2], json::parse(R"({"role":"tool","tool_name":"f","tool_call_id":"call_1",
        "content":"18 degrees"})"));
    EXPECT_EQ(messages[3],
              json::parse(R"({"role":"tool","tool_name":"g","content":"Error: 18 degrees"})"));
}

TEST(ollama_codec, ids_of_two_responses_differ) {
    const auto codec = codec_of();
    const auto id_at = [&](const char* time) {
        return read_of(*codec,
                       R"({"created_at":")" + std::string(time) +
                           R"(","message":{"tool_calls":[{"function":{"name":"f"}}]},"done":true})")
            .tool_calls.at(0)
            .id;
    };
    EXPECT_NE(id_at("2026-11-21T05:00:00.1Z"), id_at("2026-11-21T05:00:00.2Z"));
    EXPECT_EQ(id_at("2026-11-21T05:00:00.1Z"), id_at("2026-11-21T05:00:00.1Z"));
}

TEST(ollama_codec, reasoning_settings) {
    const auto codec = codec_of();
    const auto think = [&](std::optional<std::int64_t> tokens, const char* effort) {
        chat_request request = user_request("x");
        request.reasoning_tokens = tokens;
        request.reasoning_effort = effort;
        return body_of(*codec, request).at("think");
    };
    EXPECT_EQ(think(0, ""), false);
    EXPECT_EQ(think(std::nullopt, "none"), false);
    EXPECT_EQ(think(std::nullopt, "high"), "high");
    EXPECT_EQ(think(4000, ""), true);
    EXPECT_FALSE(body_of(*codec, user_request("x")).as_object().contains("think"));
}

TEST(ollama_codec, what_the_service_cannot_take_is_named) {
    const auto codec = codec_of();
    chat_request request = user_request("x");
    request.tools.push_back({"f", "", "", true});
    request.tool_choice = "required";
    EXPECT_EQ(left_out_of(*codec, request),
              std::vector<std::string>{"tool_choice: the service cannot be made to call a tool"});
    request.tool_choice = "none";
    EXPECT_FALSE(body_of(*codec, request).as_object().contains("tools"));
    request.parallel_tool_calls = false;
    EXPECT_EQ(left_out_of(*codec, request),
              std::vector<std::string>{"parallel_tool_calls: the service cannot switch them off"});
    request = user_request("x");
    request.extra = {{"options", "{}"}};
    EXPECT_NE(refusal_of(*codec, request).find("'options' is a setting; set it by its own clause"),
              std::string::npos);
    request.extra = {{"num_ctx", "{"}};
    EXPECT_NE(refusal_of(*codec, request).find("'num_ctx' is not JSON"), std::string::npos);
}

TEST(ollama_codec, addresses_as_ollama_host_has_them) {
    test_loop on;
    const auto origin = [&](const char* base) {
        fake_http http;
        providers::ollama::options options;
        options.base_url = base;
        auto result = providers::make_ollama_provider(http, std::move(options), null_log());
        if (!result) return result.error().message();
        http.reply(200, R"({"models":[]})");
        EXPECT_TRUE(on.run((*result)->list_models(on.context())));
        return http.requests.at(0).origin->name() + http.requests.at(0).target;
    };
    EXPECT_EQ(origin(""), "http://127.0.0.1:11434/api/tags");
    EXPECT_EQ(origin("gpu-box"), "http://gpu-box:11434/api/tags");
    EXPECT_EQ(origin("gpu-box:8080/ai/"), "http://gpu-box:8080/ai/api/tags");
    EXPECT_EQ(origin(":8080"), "http://127.0.0.1:8080/api/tags");
    EXPECT_EQ(origin(":11434/ai"), "http://127.0.0.1:11434/ai/api/tags");
    EXPECT_EQ(origin("http://gpu-box"), "http://gpu-box/api/tags"); // port 80, as in any URL
    EXPECT_EQ(origin("[::1]"), "http://[::1]:11434/api/tags");
    EXPECT_EQ(origin("::1"), "http://[::1]:11434/api/tags");
    EXPECT_EQ(origin("fe80::a/ai"), "http://[fe80::a]:11434/ai/api/tags");
    EXPECT_EQ(origin("[::1]:9"), "http://[::1]:9/api/tags");
    EXPECT_EQ(origin("https://h"), "https://h/api/tags");
    EXPECT_NE(origin("a b").find("percent-encoded"), std::string::npos);
}

TEST(ollama_codec, a_stream_without_its_last_line_keeps_what_came) {
    const auto codec = codec_of();
    for (const char* rest : {"", "{\"message\":{\"content\":\" wor", "\n"}) {
        const auto read = stream_of(*codec, R"({"message":{"content":"Hello"},"done":false})"
                                            "\n" +
                                                std::string(rest));
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), make_error_code(llm_errc::connection));
        EXPECT_EQ(read.error().info().retryable, true);
        const auto kept =
            std::dynamic_pointer_cast<const ports::partial_response>(read.error().info().payload);
        ASSERT_TRUE(kept);
        EXPECT_EQ(kept->so_far.text, "Hello");
    }
}

TEST(ollama_codec, errors_in_every_shape) {
    const auto codec = codec_of();
    EXPECT_NE(failure_of(*codec, 500, R"({"error":{"message":"in an object"}})")
                  .message()
                  .find("in an object"),
              std::string::npos);
    EXPECT_NE(failure_of(*codec, 502, "<html><title>Bad Gateway</title></html>")
                  .message()
                  .find("Bad Gateway"),
              std::string::npos);
    const error unsigned_in = failure_of(*codec, 401, R"({"error":"unauthorized"})");
    EXPECT_EQ(unsigned_in.code(), make_error_code(llm_errc::authentication));
    // A status of success does not make it a response.
    EXPECT_EQ(failure_of(*codec, 200, R"({"error":"out of memory"})").code(),
              make_error_code(llm_errc::server));
    for (const char* body : {"[]", "{}", R"({"message":5})", R"({"message":{"tool_calls":[5]}})",
                             R"({"message":{"tool_calls":[{"function":7}]}})"}) {
        EXPECT_EQ(failure_of(*codec, 200, body).code(), make_error_code(llm_errc::protocol))
            << body;
    }
}

TEST(ollama_codec, only_its_own_content_type_is_a_stream) {
    const auto codec = codec_of();
    const auto is_stream = [&](int status, const char* type) {
        return codec->is_stream(response_of(status, "", {{"content-type", type}}));
    };
    EXPECT_TRUE(is_stream(200, "application/x-ndjson"));
    EXPECT_FALSE(is_stream(200, "application/json; charset=utf-8"));
    EXPECT_FALSE(is_stream(500, "application/x-ndjson"));
}

} // namespace
} // namespace heddle::testing
