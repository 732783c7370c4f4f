#include "../provider_testing.hpp"

#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

namespace openai = providers::openai;
using namespace std::chrono_literals;
using ports::llm_errc;

constexpr std::string_view key = "sk-live-0123456789abcdefghij";

openai::options options_for(std::string url = "https://api.openai.com/v1") {
    openai::options options;
    options.base_url = std::move(url);
    options.api_key = secret(std::string(key));
    options.retry.first_wait = 1ms;
    options.retry.seed = 1;
    return options;
}

struct fixture {
    test_loop on;
    fake_http http;
    recording_log log;

    std::unique_ptr<ports::llm_port> make(openai::options options) {
        auto opened = providers::make_openai_provider(http, std::move(options), log);
        if (!opened) throw std::runtime_error(opened.error().message());
        return *std::move(opened);
    }
    error refused(openai::options options) {
        auto opened = providers::make_openai_provider(http, std::move(options), log);
        EXPECT_FALSE(opened);
        return opened ? error(errc::internal, "made") : std::move(opened).error();
    }
    /// The origin and target that a base URL leads to.
    std::string leads_to(std::string url) {
        auto port = make(options_for(std::move(url)));
        http.reply(200, read_file(wire_data("response-doc/ok.json")));
        EXPECT_TRUE(on.run(port->complete(request, on.context())));
        return http.requests.back().origin->name() + " " + http.requests.back().target;
    }

    /// Keeps the pieces in `seen`.
    result<ports::chat_response> stream(ports::llm_port& port) {
        const ports::chat_delta_sink sink = [this](std::string_view text) -> result<void> {
            seen += text;
            return {};
        };
        return on.run(port.stream(request, sink, on.context()));
    }

    ports::chat_request request = user_request("hello");
    std::string seen;
};

std::string stream_of(std::string_view text) {
    std::string body;
    for (const char c : text) {
        body += std::string(
                    R"(data: {"id":"1","model":"m","choices":[{"index":0,"delta":{"content":")") +
                c + "\"},\"finish_reason\":null}]}\n\n";
    }
    return body;
}

constexpr std::string_view stream_end =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: "
    "[DONE]\n\n";

const std::vector<std::pair<std::string, std::string>> as_stream = {
    {"content-type", "text/event-stream"}};

TEST(openai_provider, base_urls_keep_their_prefix) {
    fixture with;
    EXPECT_EQ(with.leads_to("https://api.openai.com/v1"),
              "https://api.openai.com /v1/chat/completions");
    EXPECT_EQ(with.leads_to("https://openrouter.ai/api/v1/"),
              "https://openrouter.ai /api/v1/chat/completions");
    EXPECT_EQ(with.leads_to("http://127.0.0.1:8080"), "http://127.0.0.1:8080 /chat/completions");
    EXPECT_EQ(with.leads_to("HTTP://[::1]:80/a/b"), "http://[::1]:80 /a/b/chat/completions");
}

TEST(openai_provider, wrong_base_urls_are_refused_and_their_secrets_not_shown) {
    fixture with;
    for (const char* url :
         {"", "api.openai.com", "ftp://x", "https://", "https:///v1", "https://user:pass@host/v1",
          "https://host/v1?key=abc", "https://host/#x", "https://ho st/", "http://[::1/v1",
          "https://host/v1\r\nx: y"}) {
        const error failure = with.refused(options_for(url));
        EXPECT_EQ(failure.code(), make_error_code(llm_errc::configuration)) << url;
        EXPECT_EQ(failure.message().find("pass"), failure.message().find("password")) << url;
        EXPECT_EQ(failure.message().find("abc"), std::string::npos);
    }
}

TEST(openai_provider, keys_are_trimmed_checked_and_needed_where_there_is_no_other_way) {
    fixture with;
    openai::options none = options_for();
    none.api_key = secret(" \n");
    EXPECT_EQ(with.refused(none).code(), make_error_code(llm_errc::configuration));
    EXPECT_FALSE(with.refused(none).info().hint.empty());
    openai::options broken = options_for();
    broken.api_key = secret("sk-a\r\nx-other: b");
    EXPECT_EQ(with.refused(broken).message().find("sk-a"), std::string::npos);

    openai::options file = options_for();
    file.api_key = secret(std::string(key) + "\r\n");
    file.organization = "org-1";
    file.project = "proj-1";
    auto port = with.make(file);
    with.http.reply(200, read_file(wire_data("response-doc/ok.json")));
    EXPECT_TRUE(with.on.run(port->complete(with.request, with.on.context())));
    bool sent = false;
    for (const auto& header : with.http.requests[0].headers) {
        if (header.name == "authorization") {
            sent = true;
            EXPECT_TRUE(header.sensitive);
            EXPECT_EQ(header.value, "Bearer " + std::string(key));
        }
    }
    EXPECT_TRUE(sent);
    EXPECT_EQ(with.http.requests[0].headers.size(), 5U);

    openai::options local = options_for("http://localhost:1/v1");
    local.api_key = {};
    auto open = with.make(local);
    with.http.reply(200, read_file(wire_data("response-doc/ok.json")));
    EXPECT_TRUE(with.on.run(open->complete(with.request, with.on.context())));
    for (const auto& header : with.http.requests[1].headers)
        EXPECT_NE(header.name, "authorization");
}

TEST(openai_provider, a_key_sent_without_encryption_is_warned_about) {
    fixture with;
    for (const char* url : {"http://127.0.0.1:1/v1", "http://models.localhost:1/v1"}) {
        with.make(options_for(url));
        EXPECT_EQ(with.log.text, "") << url;
    }
    for (const char* url : {"http://example.org/v1", "http://127.0.0.1.example.org/v1",
                            "http://localhost.example.org/v1"}) {
        with.log.text.clear();
        with.make(options_for(url));
        EXPECT_NE(with.log.text.find("without encryption"), std::string::npos) << url;
        EXPECT_EQ(with.log.text.find(key), std::string::npos);
    }
}

TEST(openai_provider, no_error_and_no_log_line_shows_the_key) {
    for (const int status : {200, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503, 529}) {
        fixture with;
        openai::options options = options_for();
        options.retry.max_retries = options.retry.max_rate_limit_retries = 1;
        auto port = with.make(options);
        const std::string body = R"({"error":{"message":"you sent Bearer )" + std::string(key) +
                                 R"(","type":")" + std::string(key) + R"(","code":")" +
                                 std::string(key) + "\"}}";
        for (int i = 0; i < 3; ++i)
            with.http.reply(status, body, {{"x-request-id", std::string(key)}});
        const auto response = with.on.run(port->complete(with.request, with.on.context()));
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().message().find(key), std::string::npos)
            << response.error().message();
        EXPECT_EQ(with.log.text.find(key), std::string::npos) << with.log.text;
        EXPECT_FALSE(with.log.text.empty());
    }
}

TEST(openai_provider, connection_errors_are_retried_and_reported_as_such) {
    fixture with;
    openai::options options = options_for();
    options.retry.max_retries = 2;
    auto port = with.make(options);
    for (int i = 0; i < 3; ++i) {
        fake_http::response broken;
        broken.ends_with =
            error(make_error_code(ports::http_errc::connection_reset), "reset by peer");
        with.http.responses.push_back(std::move(broken));
    }
    const auto response = with.on.run(port->complete(with.request, with.on.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(with.http.requests.size(), 3U);
    EXPECT_EQ(response.error().code(), make_error_code(llm_errc::connection));
    EXPECT_EQ(response.error().message(), "openai: reset by peer");
    ASSERT_TRUE(response.error().info().cause);
    EXPECT_EQ(response.error().info().cause->code(),
              make_error_code(ports::http_errc::connection_reset));
}

TEST(openai_provider, a_stream_is_not_begun_again_once_text_was_handed_out) {
    fixture with;
    auto port = with.make(options_for());
    with.http.reply(200, stream_of("abc"), as_stream);
    with.http.responses.back().ends_with =
        error(make_error_code(ports::http_errc::connection_closed), "closed");
    with.http.responses.back().piece = 7;
    const auto response = with.stream(*port);
    ASSERT_FALSE(response);
    EXPECT_EQ(with.http.requests.size(), 1U);
    EXPECT_EQ(with.seen, "abc");
    const auto kept =
        std::dynamic_pointer_cast<const ports::partial_response>(response.error().info().payload);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->so_far.text, "abc");
}

TEST(openai_provider, a_stream_that_fails_before_its_first_piece_is_tried_again) {
    fixture with;
    auto port = with.make(options_for());
    with.http.reply(503, "{}");
    with.http.reply(200, "data: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\"}}\n\n",
                    as_stream);
    with.http.reply(200, stream_of("ok") + std::string(stream_end), as_stream);
    const auto response = with.stream(*port);
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->attempts, 3U);
    EXPECT_EQ(with.seen, "ok");
}

TEST(openai_provider, a_server_that_does_not_stream_is_read_whole) {
    fixture with;
    auto port = with.make(options_for());
    with.http.reply(200, read_file(wire_data("response-doc/ok.json")));
    with.http.responses.back().piece = 5;
    const auto response = with.stream(*port);
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "Paris.");
    EXPECT_EQ(with.seen, "Paris.");
}

TEST(openai_provider, a_wrong_request_is_not_sent) {
    fixture with;
    auto port = with.make(options_for());
    ports::chat_request wrong = with.request;
    wrong.model.clear();
    const auto response = with.on.run(port->complete(wrong, with.on.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(llm_errc::invalid_request));
    EXPECT_TRUE(with.http.requests.empty());
}

} // namespace
} // namespace heddle::testing
