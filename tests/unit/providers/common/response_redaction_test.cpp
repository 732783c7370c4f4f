// The key of a service in what the service answers, wherever it puts it.
#include "../provider_testing.hpp"

#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <hard_numbers.hpp>

namespace heddle::testing {
namespace {

using ports::chat_response;

const std::string key = "sk-0123456789/abcdefghijk";
const std::vector<std::pair<std::string, std::string>> as_stream = {
    {"content-type", "text/event-stream"}};

struct service {
    test_loop on;
    fake_http http;
    recording_log log;
    std::unique_ptr<providers::http_chat_provider> port;
    ports::chat_request request = user_request("hello");
    std::vector<std::string> pieces;

    explicit service(const std::string& with_key = key) {
        providers::openai::options options;
        options.base_url = "http://127.0.0.1/v1";
        options.api_key = secret(with_key);
        options.retry.max_retries = 0;
        port = providers::make_openai_provider(http, options, log).value();
    }
    result<chat_response> complete() { return on.run(port->complete(request, on.context())); }
    result<chat_response> stream() {
        return on.run(port->stream(
            request,
            [this](std::string_view text) -> result<void> {
                pieces.emplace_back(text);
                return {};
            },
            on.context()));
    }
    [[nodiscard]] std::string handed_out() const {
        std::string all;
        for (const std::string& each : pieces) all += each;
        return all;
    }
};

std::string event(const std::string& text) {
    return R"(data: {"choices":[{"index":0,"delta":{"content":")" + text + "\"}}]}\n\n";
}

const std::string end_of_stream =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

TEST(response_redaction, every_string_of_a_response) {
    service with;
    with.http.reply(200, R"({"id":"1 )" + key + R"(","model":"m )" + key +
                             R"(","choices":[{"message":{"content":"a )" + key +
                             R"( b","reasoning_content":"It is )" + key +
                             R"(.","tool_calls":[{"id":"c )" + key +
                             R"(","type":"function","function":{"name":"t","arguments":"{\")" +
                             key + R"(\":[\"sk-0123456789\\/abcdefghijk\", 1]}"}}]},)" +
                             R"("finish_reason":"tool_calls"}]})");
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->id, "1 [hidden]");
    EXPECT_EQ(response->model, "m [hidden]");
    EXPECT_EQ(response->text, "a [hidden] b");
    ASSERT_EQ(response->reasoning.size(), 1U);
    EXPECT_EQ(response->reasoning[0].text, "It is [hidden].");
    ASSERT_EQ(response->tool_calls.size(), 1U);
    EXPECT_EQ(response->tool_calls[0].id, "c [hidden]");
    EXPECT_EQ(boost::json::parse(response->tool_calls[0].arguments_json),
              boost::json::parse(R"({"[hidden]": ["[hidden]", 1]})"))
        << response->tool_calls[0].arguments_json;
}

TEST(response_redaction, numbers_beside_a_key_stay) {
    service with;
    const std::string numbers = json_of_numbers(hard_numbers());
    with.http.reply(200, R"({"choices":[{"message":{"tool_calls":[{"id":"c","type":"function",)"
                         R"("function":{"name":"t","arguments":"{\"key\":\")" +
                             key + R"(\",\"n\":)" + numbers +
                             R"(}"}}]},"finish_reason":"tool_calls"}]})");
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    const std::string& arguments = response->tool_calls.at(0).arguments_json;
    EXPECT_EQ(arguments.find(key), std::string::npos);
    EXPECT_EQ(bits_in(arguments), bits_of(hard_numbers()));
}

TEST(response_redaction, a_stream_is_what_was_handed_out) {
    const std::string text = "my key: " + key + ", and s" + key.substr(0, 9);
    for (std::size_t size = 1; size <= text.size(); ++size) {
        service with;
        std::string body;
        for (std::size_t at = 0; at < text.size(); at += size) body += event(text.substr(at, size));
        with.http.reply(200, body + end_of_stream, as_stream);
        const auto response = with.stream();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->text, "my key: [hidden], and ssk-012345") << size;
        EXPECT_EQ(with.handed_out(), response->text) << size;
    }
}

TEST(response_redaction, text_that_holds_no_key_arrives_as_it_was_sent) {
    service with;
    with.http.reply(200, event("One, ") + event("two") + event(" and three.") + end_of_stream,
                    as_stream);
    const auto response = with.stream();
    ASSERT_TRUE(response);
    EXPECT_EQ(with.pieces, (std::vector<std::string>{"One, ", "two", " and three."}));
}

TEST(response_redaction, a_receiver_that_refuses_the_end_has_been_paid_for) {
    service with;
    with.http.reply(200, event("Yes") + end_of_stream, as_stream); // s may begin the key
    const auto response = with.on.run(with.port->stream(
        with.request,
        [](std::string_view text) -> result<void> {
            if (text == "s") return error(errc::invalid_argument, "no s");
            return {};
        },
        with.on.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().message(), "no s");
    const chat_response* part = ports::part_of(response.error());
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->text, "Yes");
}

TEST(response_redaction, a_server_that_does_not_stream) {
    service with;
    with.http.reply(
        200, R"({"choices":[{"message":{"content":")" + key + R"( s"},"finish_reason":"stop"}]})");
    const auto response = with.stream();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "[hidden] s");
    EXPECT_EQ(with.handed_out(), "[hidden] s");
}

TEST(response_redaction, the_part_that_came_before_a_failure) {
    service with;
    with.http.reply(200, event("It is " + key) + event("."), as_stream);
    const auto response = with.stream();
    ASSERT_FALSE(response);
    const chat_response* part = ports::part_of(response.error());
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->text, "It is [hidden].");
    EXPECT_EQ(with.handed_out(), "It is [hidden].");
}

TEST(response_redaction, the_names_of_models) {
    service with;
    with.http.reply(200, R"({"data":[{"id":"m"},{"id":"of )" + key + R"("}]})");
    const auto names = with.on.run(with.port->list_models(with.on.context()));
    ASSERT_TRUE(names) << names.error().message();
    EXPECT_EQ(*names, (std::vector<std::string>{"m", "of [hidden]"}));
}

TEST(response_redaction, a_short_key) {
    for (const std::string small : {"hunter22", "tiny-key-11"}) {
        service with(small);
        with.http.reply(
            200,
            event("It is " + small.substr(0, 3)) + event(small.substr(3) + ".") + end_of_stream,
            as_stream);
        const auto response = with.stream();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->text, "It is [hidden].");
        EXPECT_EQ(with.handed_out(), "It is [hidden].");
    }
}

TEST(response_redaction, words_that_are_used_as_keys_stay) {
    service with("ollama");
    with.http.reply(200,
                    R"({"choices":[{"message":{"content":"an ollama"},"finish_reason":"stop"}]})");
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "an ollama");
}

} // namespace
} // namespace heddle::testing
