// What is particular to responses of Chat Completions; the contract suite reads the samples.
#include "../provider_testing.hpp"

#include "openai/chat_wire.hpp"
#include "openai/service.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

namespace openai = providers::openai;
using namespace std::chrono_literals;
using ports::chat_response;
using ports::llm_errc;

/// Wed, 21 Oct 2026 07:28:10 GMT
const std::chrono::system_clock::time_point wall_now =
    std::chrono::sys_days(std::chrono::year(2026) / 10 / 21) + 7h + 28min + 10s;

ports::http_response response_of(int status, std::string body,
                                 std::vector<std::pair<std::string, std::string>> headers = {}) {
    ports::http_response response;
    response.status = status;
    response.headers = std::move(headers);
    response.body = std::move(body);
    return response;
}

error failure_of(const ports::http_response& response, const secret* hidden = nullptr) {
    providers::json_reader reader({"openai", hidden});
    auto read = openai::decode_response(reader, response, wall_now);
    EXPECT_FALSE(read);
    return read ? error(errc::internal, "no error") : std::move(read).error();
}

TEST(openai_wire_response, date_in_the_future_sets_the_wait_and_one_in_the_past_none) {
    const std::string body = read_file(wire_data("response-doc/err-429-retry-date.json"));
    const auto wait = [&](const char* date) {
        return failure_of(response_of(429, body, {{"retry-after", date}})).info().retry_after;
    };
    EXPECT_EQ(wait("Wed, 21 Oct 2026 07:28:40 GMT"), 30s);
    EXPECT_EQ(wait("Wed, 21 Oct 2026 07:28:00 GMT"), 0ms);
    EXPECT_EQ(wait("next week"), std::nullopt);
}

TEST(openai_wire_response, x_should_retry_decides_except_where_nothing_helps) {
    const auto retryable = [](int status, const char* says, const char* code = "") {
        const std::string body = std::string(R"({"error":{"message":"m","code":")") + code + "\"}}";
        return failure_of(response_of(status, body, {{"x-should-retry", says}})).info().retryable;
    };
    EXPECT_EQ(retryable(500, "false"), false);
    EXPECT_EQ(retryable(404, "true"), true);
    EXPECT_EQ(retryable(400, "true"), false);
    EXPECT_EQ(retryable(401, "true"), false);
    EXPECT_EQ(retryable(429, "true", "insufficient_quota"), false);
    EXPECT_EQ(retryable(529, "maybe"), true);
}

TEST(openai_wire_response, keys_that_the_server_repeats_are_not_shown) {
    const secret key("my-very-own-key-of-no-known-shape");
    const std::string own(key.reveal());
    const std::string other = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWx";
    const auto shows = [&](const std::string& body, int status = 401) {
        const error failure = failure_of(
            response_of(status, body, {{"x-request-id", own}, {"content-type", "text/plain"}}),
            &key);
        std::string all = failure.message() + failure.info().hint;
        return all.find(own) != std::string::npos || all.find("of-no-known") != std::string::npos ||
               all.find("AbCdEfGh") != std::string::npos;
    };
    EXPECT_FALSE(shows(R"({"error":{"message":"Incorrect API key provided: )" + own + "\"}}"));
    EXPECT_FALSE(
        shows(R"({"error":{"message":"key )" + other + R"( is wrong","code":")" + own + "\"}}"));
    EXPECT_FALSE(shows("plain text with " + own + " and " + other));
    EXPECT_FALSE(shows("<title>" + own + "</title>", 502));
    EXPECT_FALSE(shows(std::string(280, 'x') + own)); // the cut must not leave a part of it
    EXPECT_FALSE(shows("not json " + own, 200));
    EXPECT_FALSE(shows(std::string(5285, ' ') + own + std::string(5000, ' ')));
    EXPECT_FALSE(shows(std::string(5275, ' ') + own + std::string(5000, ' ')));
}

TEST(openai_wire_response, texts_of_the_server_are_one_bounded_line) {
    const error failure = failure_of(response_of(
        500, R"({"error":{"message":"a\n\u001b[31mb\r\n)" + std::string(100000, 'y') + "\"}}"));
    EXPECT_LT(failure.message().size(), 500U);
    EXPECT_EQ(failure.message().find('\n'), std::string::npos);
    EXPECT_EQ(failure.message().find('\x1b'), std::string::npos);
}

TEST(openai_wire_response, shapes_of_errors_that_other_servers_use) {
    EXPECT_NE(failure_of(response_of(404, R"({"error":"model 'x' not found"})"))
                  .message()
                  .find("not found"),
              std::string::npos);
    EXPECT_NE(failure_of(response_of(400, R"({"object":"error","message":"too long","code":400})"))
                  .message()
                  .find("too long"),
              std::string::npos);
    EXPECT_NE(failure_of(response_of(422, R"({"detail":"bad field"})")).message().find("bad field"),
              std::string::npos);
    EXPECT_NE(
        failure_of(response_of(422, R"({"object":"error","message":{"detail":[{"msg":"extra"}]}})"))
            .message()
            .find("extra"),
        std::string::npos);
    const error routed =
        failure_of(response_of(200, R"({"error":{"code":502,"message":"behind us"}})"));
    EXPECT_EQ(routed.code(), make_error_code(llm_errc::server));
    EXPECT_EQ(routed.info().retryable, true);
}

TEST(openai_wire_response, hostile_responses_end_in_an_error) {
    const std::string deep(100000, '[');
    EXPECT_EQ(failure_of(response_of(200, deep)).code(), make_error_code(llm_errc::protocol));
    for (const char* body :
         {"", "null", "[]", "{}", R"({"choices":{}})", R"({"choices":[1]})", R"({"choices":[{}]})",
          R"({"choices":[{"message":3}]})", R"({"choices":[{"message":{"tool_calls":[4]}}]})",
          "\xff\xfe", "{\"a\":\"\xff\"}"}) {
        EXPECT_EQ(failure_of(response_of(200, body)).code(), make_error_code(llm_errc::protocol))
            << body;
    }
    std::string many = R"({"choices":[{"message":{"tool_calls":[)";
    for (int i = 0; i < 1000; ++i)
        many += R"({"id":"x","function":{"name":"f","arguments":"{}"}},)";
    many.pop_back();
    many += "]}}]}";
    EXPECT_EQ(failure_of(response_of(200, many)).code(), make_error_code(llm_errc::protocol));
}

TEST(openai_wire_response, content_in_parts_and_arguments_as_objects_are_taken) {
    providers::json_reader reader({"openai"});
    const auto read = openai::decode_response(
        reader, response_of(200, R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},
            {"type":"image"},{"type":"text","text":"b"}],"tool_calls":[{"id":"1","function":
            {"name":"f","arguments":{"x":1}}},{"id":"2","function":{"name":"g","arguments":""}}]},
            "finish_reason":"tool_calls"}]})"),
        wall_now);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "ab");
    EXPECT_EQ(read->tool_calls[0].arguments_json, R"({"x":1})");
    EXPECT_EQ(read->tool_calls[1].arguments_json, "{}");
}

TEST(openai_wire_response, http_errors_become_errors_of_the_model) {
    using ports::http_errc;
    const auto mapped = [](http_errc code) {
        return providers::from_http_error(error(ports::make_error_code(code), "x"), "openai");
    };
    EXPECT_EQ(mapped(http_errc::connection_reset).code(), make_error_code(llm_errc::connection));
    EXPECT_EQ(mapped(http_errc::connection_reset).info().retryable, true);
    EXPECT_EQ(mapped(http_errc::idle_timeout).code(), make_error_code(llm_errc::request_timeout));
    EXPECT_EQ(mapped(http_errc::body_too_large).code(), make_error_code(llm_errc::protocol));
    EXPECT_EQ(mapped(http_errc::body_too_large).info().retryable, false);
    EXPECT_EQ(mapped(http_errc::tls_failed).info().retryable, false);
    EXPECT_EQ(mapped(http_errc::invalid_url).code(), make_error_code(llm_errc::configuration));
    const error gone = providers::from_http_error(error::cancelled(cancel_reason::user), "openai");
    EXPECT_TRUE(gone.is_cancelled());
}

/// Feeds events one by one and ends the stream.
result<chat_response> stream_of(const std::vector<std::string>& events, std::string* deltas) {
    providers::json_reader reader({"openai"});
    openai::chat_stream stream(reader);
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        *deltas += text;
        return {};
    };
    for (const std::string& event : events) {
        HEDDLE_CHECK(stream.feed("data: " + event + "\n\n", sink));
    }
    return stream.finish();
}

TEST(openai_wire_response, a_last_choice_without_a_delta_repeats_no_text) {
    std::string deltas;
    const auto read = stream_of({R"({"choices":[{"index":0,"delta":{"content":"once"}}]})",
                                 R"({"choices":[{"index":0,"finish_reason":"stop"}]})"},
                                &deltas);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "once");
    EXPECT_EQ(deltas, "once");
}

TEST(openai_wire_response, reasoning_is_kept_apart_from_the_text) {
    std::string deltas;
    const auto read =
        stream_of({R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm, "}}]})",
                   R"({"choices":[{"index":0,"delta":{"reasoning_content":"well"}}]})",
                   R"({"choices":[{"index":0,"delta":{"content":"42"}, "finish_reason":"stop"}]})",
                   R"({"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":12,)"
                   R"("prompt_cache_hit_tokens":64}})"},
                  &deltas);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->text, "42");
    EXPECT_EQ(deltas, "42");
    ASSERT_EQ(read->reasoning.size(), 1U);
    EXPECT_EQ(read->reasoning[0].text, "hm, well");
    EXPECT_EQ(read->usage.value().cached, 64);
}

TEST(openai_wire_response, limits_of_the_account_are_read_from_the_headers) {
    ports::http_response head;
    head.headers = {
        {"x-ratelimit-limit-requests", "500"},   {"x-ratelimit-remaining-requests", "0"},
        {"x-ratelimit-reset-requests", "120ms"}, {"x-ratelimit-limit-tokens", "200000"},
        {"x-ratelimit-remaining-tokens", "-3"},  {"x-ratelimit-reset-tokens", "6m0s"}};
    const auto read = openai::read_limits(head, wall_now);
    EXPECT_EQ(read.requests_limit, 500);
    EXPECT_EQ(read.requests_remaining, 0);
    EXPECT_EQ(read.requests_reset, 120ms);
    EXPECT_EQ(read.tokens_limit, 200000);
    EXPECT_EQ(read.tokens_remaining, std::nullopt); // what makes no sense is not said
    EXPECT_EQ(read.tokens_reset, 6min);
    EXPECT_EQ(read.input_tokens_limit, std::nullopt);
}

TEST(openai_wire_response, limits_may_have_a_fraction_of_zeros) {
    ports::http_response head;
    head.headers = {{"x-ratelimit-limit-requests", "60.0"},
                    {"x-ratelimit-remaining-requests", "12.00"},
                    {"x-ratelimit-limit-tokens", "unlimited"},
                    {"x-ratelimit-remaining-tokens", "1.5"}};
    const auto read = openai::read_limits(head, wall_now);
    EXPECT_EQ(read.requests_limit, 60);
    EXPECT_EQ(read.requests_remaining, 12);
    EXPECT_EQ(read.tokens_limit, std::nullopt);
    EXPECT_EQ(read.tokens_remaining, std::nullopt);
    for (const char* wrong : {".0", "-5.0", "5.", "5.0.0", "5.0e1"}) {
        head.headers = {{"x-ratelimit-limit-requests", wrong}};
        EXPECT_EQ(openai::read_limits(head, wall_now).requests_limit, std::nullopt) << wrong;
    }
}

TEST(openai_wire_response, resets_may_be_points_in_time) {
    using std::chrono::floor;
    using std::chrono::seconds;
    const auto soon = floor<seconds>(wall_now) + seconds(20);
    const std::string unix_time = std::to_string(soon.time_since_epoch().count());
    ports::http_response head;
    head.headers = {{"x-ratelimit-reset-requests", unix_time},
                    {"x-ratelimit-reset-tokens", unix_time + "000"}};
    const auto read = openai::read_limits(head, wall_now);
    const auto wait = soon - floor<std::chrono::milliseconds>(wall_now);
    EXPECT_EQ(read.requests_reset, wait);
    EXPECT_EQ(read.tokens_reset, wait);
    EXPECT_EQ(read.reset_grain, seconds(1));
}

TEST(openai_wire_response, models_come_in_two_shapes) {
    providers::json_reader reader({"openai"});
    const auto list = openai::read_models(
        reader, response_of(200, R"({"object":"list","data":[{"id":"b"},{"id":"a"},7,{"x":1}]})"),
        wall_now);
    ASSERT_TRUE(list);
    EXPECT_EQ(*list, (std::vector<std::string>{"a", "b"}));
    const auto bare = openai::read_models(reader, response_of(200, R"([{"id":"m"}])"), wall_now);
    ASSERT_TRUE(bare);
    EXPECT_EQ(*bare, std::vector<std::string>{"m"});
    const auto wrong = openai::read_models(reader, response_of(401, "{}"), wall_now);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code(), make_error_code(llm_errc::authentication));
}

} // namespace
} // namespace heddle::testing
