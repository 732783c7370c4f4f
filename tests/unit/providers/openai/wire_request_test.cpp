// Every recorded request of the official client, made from a neutral request by the provider.
#include "../provider_testing.hpp"

#include <heddle/providers/openai/chat_wire.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include <functional>
#include <map>
#include <set>

namespace heddle::testing {
namespace {

namespace json = boost::json;
namespace openai = providers::openai;
using ports::chat_request;
using ports::chat_role;

constexpr std::string_view weather_parameters =
    R"({"type":"object","properties":{"city":{"type":"string"},
        "unit":{"type":"string","enum":["celsius","fahrenheit"]}},
        "required":["city","unit"],"additionalProperties":false})";
constexpr std::string_view time_parameters =
    R"({"type":"object","properties":{"tz":{"type":"string"}},"required":["tz"],
        "additionalProperties":false})";
constexpr std::string_view person_schema =
    R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},
        "tags":{"type":"array","items":{"type":"string"}}},
        "required":["name","age","tags"],"additionalProperties":false})";

chat_request with_tools(chat_request request) {
    request.tools.push_back(
        {"get_weather", "Weather of a city", std::string(weather_parameters), true});
    request.tools.push_back({"get_time", "Time in a zone", std::string(time_parameters), true});
    return request;
}

chat_request with_system(chat_request request) {
    request.messages.insert(request.messages.begin(),
                            {chat_role::system, "You are a terse assistant.", {}, {}, {}});
    return request;
}

struct wire_case {
    chat_request request;
    openai::answer_mode mode = openai::answer_mode::whole;
};

std::map<std::string, wire_case> cases() {
    using openai::answer_mode;
    std::map<std::string, wire_case> made;
    made["plain"] = {user_request("canon:plain"), {}};
    made["finish-content-filter"] = {user_request("canon:filter"), {}};
    made["finish-length"] = {user_request("canon:length"), {}};
    made["retry-after-429.1"] = {user_request("canon:once429"), {}};
    made["system"] = {with_system(user_request("canon:plain")), {}};

    chat_request turns = with_system(user_request("My name is Ada."));
    turns.messages.push_back({chat_role::assistant, "Hello Ada.", {}, {}, {}});
    turns.messages.push_back({chat_role::user, "canon:multi", {}, {}, {}});
    made["multi-turn"] = {turns, {}};

    chat_request object = user_request("canon:schema");
    object.format.type = ports::response_format::kind::json_object;
    made["json-object"] = {object, {}};
    chat_request schema = user_request("canon:schema");
    schema.format = {ports::response_format::kind::json_schema, "person",
                     std::string(person_schema), true};
    made["json-schema"] = {schema, {}};

    chat_request settings = user_request("canon:plain");
    settings.temperature = 0.2;
    settings.top_p = 0.9;
    settings.max_output_tokens = 64;
    settings.stop = {"END"};
    settings.seed = 7;
    settings.extra = {{"n", "1"}, {"user", "\"u-1\""}};
    made["params"] = {settings, {}};
    chat_request effort = user_request("canon:plain", "gpt-5-mini");
    effort.reasoning_effort = "low";
    made["reasoning-effort"] = {effort, {}};

    chat_request tools = with_tools(user_request("canon:tool1"));
    made["tool-forced"] = {tools, {}};
    made["tool-forced"].request.tool_choice = "get_weather";
    made["tool-roundtrip.1"] = {tools, {}};
    made["tool-roundtrip.1"].request.tool_choice = "auto";
    chat_request answered = tools;
    answered.messages.push_back(
        {chat_role::assistant,
         "",
         {{"call_abc123", "get_weather", R"({"city":"Paris","unit":"celsius"})"}},
         {},
         {}});
    answered.messages.push_back(
        {chat_role::tool, R"({"temp":18,"unit":"celsius"})", {}, "call_abc123", "get_weather"});
    made["tool-roundtrip.2"] = {answered, {}};

    chat_request two = with_tools(user_request("canon:tool2"));
    made["two-tools-roundtrip.1"] = {two, {}};
    made["two-tools-roundtrip.1"].request.parallel_tool_calls = true;
    chat_request both = two;
    both.messages.push_back({chat_role::assistant,
                             "",
                             {{"call_a", "get_weather", R"({"city":"Paris","unit":"celsius"})"},
                              {"call_b", "get_time", R"({"tz":"Europe/Paris"})"}},
                             {},
                             {}});
    both.messages.push_back({chat_role::tool, R"({"ok":true})", {}, "call_a", "get_weather"});
    both.messages.push_back({chat_role::tool, R"({"ok":true})", {}, "call_b", "get_time"});
    made["two-tools-roundtrip.2"] = {both, {}};

    made["stream"] = {user_request("canon:plain"), answer_mode::stream_with_usage};
    made["stream-cut"] = {user_request("canon:disconnect"), answer_mode::stream};
    made["stream-unicode"] = {user_request("canon:unicode"), answer_mode::stream};
    made["stream-tool"] = {with_tools(user_request("canon:tool2")), answer_mode::stream_with_usage};
    made["stream-text-and-tool"] = {with_tools(user_request("canon:texttool")),
                                    answer_mode::stream};
    return made;
}

json::object recorded(const std::string& name) {
    return json::parse(read_file(wire_data("request/" + name + ".json"))).as_object();
}

/// The headers as the samples write them: names in lower case, the key left out.
json::object seen_headers(const std::vector<ports::http_header>& headers, std::string_view key) {
    json::object seen;
    for (const auto& header : headers) {
        std::string value = header.value;
        if (const auto at = value.find(key); at != std::string::npos) {
            EXPECT_TRUE(header.sensitive) << header.name;
            value.replace(at, key.size(), "<REDACTED>");
        }
        seen[header.name] = value;
    }
    return seen;
}

constexpr std::string_view test_key = "sk-test-0123456789abcdef";

openai::options test_options() {
    openai::options options;
    options.api_key = secret(std::string(test_key));
    options.retry.first_wait = std::chrono::milliseconds(1);
    options.retry.seed = 1;
    return options;
}

void expect_same(const json::object& wanted, const ports::http_request& sent) {
    EXPECT_EQ(sent.method, wanted.at("method").as_string());
    EXPECT_EQ(sent.target, wanted.at("path").as_string());
    EXPECT_EQ(sent.origin->name(), "https://api.openai.com");
    EXPECT_EQ(seen_headers(sent.headers, test_key), wanted.at("headers").as_object());
    EXPECT_EQ(json::parse(sent.body), wanted.at("body")) << sent.body;
}

TEST(openai_wire_request, every_recorded_request_is_reproduced) {
    const auto made = cases();
    std::set<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(wire_data("request"))) {
        left.insert(entry.path().stem().string());
    }
    left.erase("models-list"); // the two tests below
    left.erase("retry-after-429.2");
    for (const auto& [name, wanted] : made) {
        SCOPED_TRACE(name);
        EXPECT_EQ(left.erase(name), 1U);
        const json::object sample = recorded(name);
        const auto body = openai::encode_request(wanted.request, {wanted.mode, {}});
        ASSERT_TRUE(body) << body.error().message();
        EXPECT_EQ(json::parse(*body), sample.at("body")) << *body;
        if (wanted.mode == openai::answer_mode::stream) continue; // the provider asks for usage

        test_loop on;
        fake_http http;
        auto provider = providers::make_openai_provider(http, test_options(), on.loop, null_log());
        ASSERT_TRUE(provider);
        if (wanted.mode == openai::answer_mode::whole) {
            http.reply(200, read_file(wire_data("response-doc/ok.json")));
            EXPECT_TRUE(on.run((*provider)->complete(wanted.request, on.context())));
        } else {
            http.reply(200, read_file(wire_data("response-doc/stream.sse")),
                       {{"content-type", "text/event-stream"}});
            EXPECT_TRUE(on.run((*provider)->stream(wanted.request, nullptr, on.context())));
        }
        ASSERT_EQ(http.requests.size(), 1U);
        expect_same(sample, http.requests[0]);
    }
    EXPECT_TRUE(left.empty()) << "no case for " << *left.begin();
    RecordProperty("requests", static_cast<int>(made.size()));
}

TEST(openai_wire_request, retry_is_sent_as_recorded) {
    test_loop on;
    fake_http http;
    auto provider = providers::make_openai_provider(http, test_options(), on.loop, null_log());
    ASSERT_TRUE(provider);
    http.reply(429, read_file(wire_data("response-mock/retry-after-429.1.json")));
    http.reply(200, read_file(wire_data("response-mock/retry-after-429.2.json")));
    const chat_request request = user_request("canon:once429");
    const auto answer = on.run((*provider)->complete(request, on.context()));
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->text, "recovered after one 429");
    EXPECT_EQ(answer->attempts, 2U);
    ASSERT_EQ(http.requests.size(), 2U);
    expect_same(recorded("retry-after-429.1"), http.requests[0]);
    expect_same(recorded("retry-after-429.2"), http.requests[1]);
}

TEST(openai_wire_request, models_list_as_recorded) {
    const json::object wanted = recorded("models-list");
    EXPECT_EQ("/v1" + std::string(openai::models_path), wanted.at("path").as_string());
    const auto headers =
        openai::request_headers(secret(std::string(test_key)), "", "", openai::request_body::none);
    EXPECT_EQ(seen_headers(headers, test_key), wanted.at("headers").as_object());
}

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
    chat_request request = cases()["tool-roundtrip.2"].request;
    request.max_output_tokens = 5;
    const auto body = openai::encode_request(
        request, {openai::answer_mode::whole, openai::wire_dialect::compatible});
    ASSERT_TRUE(body);
    const json::value read = json::parse(*body);
    EXPECT_EQ(read.at("max_tokens").as_int64(), 5);
    EXPECT_FALSE(read.as_object().contains("max_completion_tokens"));
    EXPECT_FALSE(read.at("messages").at(1).as_object().contains("refusal"));
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
    EXPECT_EQ(message(schema), "the schema of the answer is not a JSON object");
    chat_request tool = user_request("x");
    tool.tools.push_back({"t", "", "[]", true});
    EXPECT_EQ(message(tool), "the parameters of tool 't' are not a JSON object");
    chat_request extra = user_request("x");
    extra.extra = {{"messages", "[]"}};
    EXPECT_EQ(message(extra), "the extra parameter 'messages' has a setting of its own");
    extra.extra = {{"top_k", "1,\"model\":2"}};
    EXPECT_EQ(message(extra), "the extra parameter 'top_k' is not JSON");
    chat_request number = user_request("x");
    number.temperature = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(message(number), "temperature is not a finite number");
}

} // namespace
} // namespace heddle::testing
