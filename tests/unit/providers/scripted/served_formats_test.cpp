// What the server sends in each format, and which path and which header ask for it.
#include "../provider_testing.hpp"

#include "scripted/server/served_routes.hpp"

#include <heddle/scripted/engine.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

namespace heddle::testing {
namespace {

namespace json = boost::json;
namespace scripted = scripted;
using scripted::fault;
using scripted::served_route;
using namespace std::chrono_literals;

http::server_request request_of(std::string_view target, std::string_view method = "POST") {
    http::server_request request;
    request.target = target;
    request.method = method;
    return request;
}

const scripted::served_format& format_at(std::string_view target) {
    const auto route = scripted::find_route(request_of(target));
    EXPECT_EQ(route.what, served_route::kind::chat) << target;
    return *route.format;
}

constexpr std::string_view openai_path = "/v1/chat/completions";
constexpr std::string_view responses_path = "/v1/responses";
constexpr std::string_view anthropic_path = "/v1/messages";
constexpr std::string_view gemini_path = "/v1beta/models/m:generateContent";
constexpr std::string_view ollama_path = "/api/chat";

json::value fault_at(std::string_view path, int status, std::string code = "",
                     std::optional<std::chrono::milliseconds> wait = {}) {
    fault shown;
    shown.status = status;
    shown.code = std::move(code);
    shown.message = "No \"luck\".";
    shown.retry_after = wait;
    std::string out;
    format_at(path).append_fault(out, shown);
    return json::parse(out);
}

/// What a format makes of a body: the request, or "error: " and why.
result<scripted::served_chat> asked(std::string_view target, std::string_view body) {
    const auto route = scripted::find_route(request_of(target));
    providers::json_reader reader({"the request", nullptr});
    return route.format->decode(reader, route.target, body);
}

std::string wrong(std::string_view target, std::string_view body) {
    const auto read = asked(target, body);
    return read ? "nothing" : read.error().message();
}

TEST(served_routes, paths_choose_the_format) {
    EXPECT_EQ(&format_at("/v1/chat/completions"), &format_at("/chat/completions?x=1"));
    EXPECT_EQ(&format_at("/v1/messages?beta=true"), &format_at("/messages"));
    EXPECT_EQ(&format_at("/v1/models/a:generateContent"),
              &format_at("/v1beta/models/a:streamGenerateContent?alt=sse"));
    EXPECT_EQ(&format_at("/v1/api/chat"), &format_at("/api/chat"));
    EXPECT_NE(&format_at(openai_path), &format_at(responses_path));
    for (const char* path : {"/v1/completions", "/api/generate", "/v2/messages", "/v1", "x", ""}) {
        const auto route = scripted::find_route(request_of(path));
        EXPECT_EQ(route.what, served_route::kind::unknown) << path;
        EXPECT_TRUE(route.format) << path;
    }
    EXPECT_EQ(scripted::find_route(request_of("/health")).what, served_route::kind::health);
}

TEST(served_routes, the_list_of_models_is_distinguished_by_headers) {
    const auto names = [](http::server_request request) {
        const auto route = scripted::find_route(request);
        EXPECT_EQ(route.what, served_route::kind::models);
        EXPECT_EQ(route.method, "GET");
        std::string out;
        route.format->append_models(out, {"one", "two"});
        return json::parse(out);
    };
    const json::value openai = names(request_of("/v1/models", "GET"));
    EXPECT_EQ(openai.at("object"), "list");
    EXPECT_EQ(openai.at("data").at(1).at("id"), "two");
    http::server_request anthropic = request_of("/v1/models?limit=1000", "GET");
    anthropic.fields.push_back({"Anthropic-Version", "2026-10-21"});
    EXPECT_EQ(names(anthropic).at("data").at(0).at("type"), "model");
    http::server_request gemini = request_of("/v1/models", "GET");
    gemini.fields.push_back({"x-goog-api-key", "k"});
    EXPECT_EQ(names(gemini).at("models").at(0).at("name"), "models/one");
    EXPECT_EQ(names(request_of("/v1beta/models", "GET")).at("models").at(1).at("name"),
              "models/two");
    EXPECT_EQ(names(request_of("/api/tags", "GET")).at("models").at(0).at("model"), "one");
    const auto one = scripted::find_route(request_of("/v1/models/two", "GET"));
    EXPECT_EQ(one.what, served_route::kind::one_model);
    EXPECT_EQ(one.model, "two");
    for (const http::server_request& each : {anthropic, gemini, request_of("/models")}) {
        std::string out;
        scripted::find_route(each).format->append_model(out, "x");
        EXPECT_NE(out.find("x\""), std::string::npos);
    }
}

TEST(served_routes, keys_come_in_three_headers) {
    http::server_request request;
    EXPECT_EQ(scripted::key_of(request), "");
    request.fields.push_back({"x-goog-api-key", "g"});
    EXPECT_EQ(scripted::key_of(request), "g");
    request.fields.push_back({"x-api-key", "a"});
    EXPECT_EQ(scripted::key_of(request), "a");
    request.fields.push_back({"Authorization", "Bearer b"});
    EXPECT_EQ(scripted::key_of(request), "b");
    request.fields.back().value = "Basic b";
    EXPECT_EQ(scripted::key_of(request), "a");
}

TEST(served_formats, errors_have_the_shape_of_their_service) {
    EXPECT_EQ(fault_at(anthropic_path, 529), json::parse(R"({"type":"error","error":{
        "type":"overloaded_error","message":"No \"luck\"."},"request_id":null})"));
    EXPECT_EQ(fault_at(anthropic_path, 413).at("error").at("type"), "request_too_large");
    EXPECT_EQ(fault_at(anthropic_path, 429, "insufficient_quota").at("error").at("type"),
              "billing_error");
    EXPECT_EQ(fault_at(gemini_path, 429, "", 1500ms), json::parse(R"({"error":{"code":429,
        "message":"No \"luck\".","status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}})"));
    EXPECT_EQ(
        fault_at(gemini_path, 401, "invalid_api_key").at("error").at("details").at(0).at("reason"),
        "API_KEY_INVALID");
    EXPECT_FALSE(format_at(gemini_path).wait_in_headers());
    EXPECT_EQ(fault_at(ollama_path, 500), (json::value{{"error", "No \"luck\"."}}));
    EXPECT_EQ(fault_at(responses_path, 400, "c"), fault_at(openai_path, 400, "c"));
}

TEST(served_formats, requests_that_the_service_would_refuse_are_refused) {
    EXPECT_EQ(wrong(anthropic_path, R"({"model":"m","messages":[{"role":"user","content":"x"}]})"),
              "max_tokens: Field required");
    EXPECT_EQ(wrong(anthropic_path,
                    R"({"model":"m","max_tokens":5,"messages":[{"role":"system","content":"x"}]})"),
              "messages.0.role must be user or assistant");
    EXPECT_EQ(wrong(anthropic_path, R"({"model":"m","max_tokens":5,"messages":[
        {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":"{}"}]}]})"),
              "messages.0: input must be an object");
    EXPECT_EQ(wrong(gemini_path, R"({"contents":[{"role":"assistant","parts":[{"text":"x"}]}]})"),
              "contents[0].role must be user or model");
    EXPECT_EQ(wrong(gemini_path, R"({"contents":[{"parts":[]}]})"),
              "contents[0].parts must not be empty");
    EXPECT_EQ(wrong("/v1/models/m:streamGenerateContent", R"({"contents":[]})"),
              "only streams with ?alt=sse are served");
    EXPECT_EQ(wrong(ollama_path, R"({"model":"m","messages":[{"role":"assistant","content":"",
        "tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]})"),
              "messages[0]: the arguments of a call must be an object");
    EXPECT_EQ(wrong(responses_path, R"({"model":"m"})"), "input must not be empty");
    for (const auto path :
         {openai_path, responses_path, anthropic_path, gemini_path, ollama_path}) {
        for (const char* body : {"", "[]", "{", "{}", "5", R"({"model":5,"max_tokens":1})",
                                 R"({"model":"m","max_tokens":1,"messages":5,"input":5})",
                                 R"({"model":"m","max_tokens":1,"messages":[5],"input":[5],
                                     "contents":[5]})"}) {
            EXPECT_NE(wrong(path, body), "nothing") << path << body;
        }
    }
}

TEST(served_formats, texts_and_results_are_found_wherever_they_are) {
    const auto anthropic = asked(anthropic_path, R"({"model":"m","max_tokens":9,"stream":true,
        "system":[{"type":"text","text":"be "},{"type":"text","text":"terse"}],"messages":[
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,
          "content":[{"type":"text","text":"out"}]},{"type":"text","text":"and?"}]}]})");
    ASSERT_TRUE(anthropic) << anthropic.error().message();
    EXPECT_TRUE(anthropic->stream);
    ASSERT_EQ(anthropic->chat.messages.size(), 3U);
    EXPECT_EQ(anthropic->chat.messages[0].text, "be terse");
    EXPECT_EQ(anthropic->chat.messages[1].role, ports::chat_role::tool);
    EXPECT_EQ(anthropic->chat.messages[1].text, "out");
    EXPECT_TRUE(anthropic->chat.messages[1].tool_failed);
    EXPECT_EQ(anthropic->chat.messages[2].text, "and?");

    const auto gemini = asked("/v1/models/a%2Fb%zz:generateContent", R"({"contents":[
        {"parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f"}}],"role":"model"},
        {"parts":[{"functionResponse":{"name":"f","response":{"t":18}}},
                  {"functionResponse":{"name":"f","response":{"error":"bad"}}}]}]})");
    ASSERT_TRUE(gemini) << gemini.error().message();
    EXPECT_EQ(gemini->chat.model, "a/b%zz");
    EXPECT_FALSE(gemini->stream);
    ASSERT_EQ(gemini->chat.messages.size(), 3U);
    EXPECT_EQ(gemini->chat.messages[0].text, "");
    EXPECT_EQ(gemini->chat.messages[0].tool_calls.at(0).arguments_json, "{}");
    EXPECT_EQ(gemini->chat.messages[1].text, R"({"t":18})");
    EXPECT_EQ(gemini->chat.messages[2].text, "bad");

    const auto ollama = asked(ollama_path, R"({"model":"m","messages":[
        {"role":"tool","tool_name":"f","content":"r"}]})");
    ASSERT_TRUE(ollama);
    EXPECT_TRUE(ollama->stream); // unless it is switched off
    EXPECT_EQ(ollama->chat.messages[0].tool_name, "f");

    const auto responses = asked(responses_path, R"({"model":"m","instructions":"be terse","input":[
        {"role":"user","content":[{"type":"input_text","text":"q"}]},{"type":"reasoning","id":"r"},
        {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
        {"type":"function_call","call_id":"2","name":"g","arguments":"{}"},
        {"type":"function_call_output","call_id":"1","output":"one"}]})");
    ASSERT_TRUE(responses) << responses.error().message();
    ASSERT_EQ(responses->chat.messages.size(), 4U);
    EXPECT_EQ(responses->chat.messages[2].tool_calls.size(), 2U);
    EXPECT_EQ(responses->chat.messages[3].text, "one");
}

/// All events of a streamed response.
std::string streamed(std::string_view path, const ports::chat_response& response) {
    const auto pieces = scripted::stream_pieces(response.text);
    const auto events = format_at(path).events({}, response, pieces, 0);
    std::string all;
    for (std::string event; events->next(event); event.clear()) all += event;
    return all;
}

TEST(served_formats, streams_as_the_services_write_them) {
    ports::chat_response response;
    response.id = "id1";
    response.model = "m";
    response.text = "Hi you";
    response.tool_calls.push_back({"c1", "f", R"({"a":1})"});
    response.finish = ports::finish_reason::tool_calls;
    response.usage = ports::token_usage{};
    response.usage->input = 12;
    response.usage->cached = 2;
    response.usage->output = 9;
    response.usage->reasoning = 4;

    const std::string anthropic = streamed(anthropic_path, response);
    EXPECT_TRUE(anthropic.starts_with("event: message_start\ndata: {\"type\":\"message_start\""));
    EXPECT_NE(anthropic.find(R"("usage":{"input_tokens":10,"cache_creation_input_tokens":0,)"
                             R"("cache_read_input_tokens":2,"output_tokens":1})"),
              std::string::npos);
    EXPECT_NE(anthropic.find("event: ping\n"), std::string::npos);
    EXPECT_NE(anthropic.find(R"("delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"})"),
              std::string::npos);
    EXPECT_NE(anthropic.find(R"({"type":"content_block_stop","index":1})"), std::string::npos);
    EXPECT_NE(anthropic.find(R"("stop_reason":"tool_use")"), std::string::npos);
    EXPECT_TRUE(anthropic.ends_with("data: {\"type\":\"message_stop\"}\n\n"));

    const std::string gemini = streamed(gemini_path, response);
    EXPECT_EQ(gemini.find("event:"), std::string::npos);
    EXPECT_NE(gemini.find("\r\n\r\ndata: "), std::string::npos);
    EXPECT_NE(gemini.find(R"("finishReason":"STOP")"), std::string::npos);
    EXPECT_NE(gemini.find(R"("candidatesTokenCount":5,"totalTokenCount":21,)"
                          R"("cachedContentTokenCount":2,"thoughtsTokenCount":4})"),
              std::string::npos);

    const std::string ollama = streamed(ollama_path, response);
    EXPECT_EQ(std::count(ollama.begin(), ollama.end(), '\n'), 3); // text, call, end
    EXPECT_NE(ollama.find(R"("arguments":{"a":1})"), std::string::npos);
    EXPECT_NE(ollama.find(R"("done":true,"done_reason":"stop","prompt_eval_count":12)"),
              std::string::npos);
    EXPECT_NE(ollama.find("\"created_at\":\"1970-01-01T00:00:00Z\""), std::string::npos);
    EXPECT_EQ(format_at(ollama_path).stream_type(), "application/x-ndjson");

    const std::string responses = streamed(responses_path, response);
    EXPECT_NE(responses.find("event: response.output_text.delta\n"), std::string::npos);
    EXPECT_NE(responses.find(R"("sequence_number":0})"), std::string::npos);
    EXPECT_NE(responses.find("event: response.completed\n"), std::string::npos);
}

} // namespace
} // namespace heddle::testing
