// Failures of services, as an HTTP server that embeds workflows passes them on.
#include "embed_harness.hpp"

#include "loopback_server.hpp"

#include <string>
#include <string_view>

namespace heddle {
namespace {

using testing::called;
using testing::loaded;
using namespace std::chrono_literals;

constexpr const char* asks =
    "(defatom t (params q) (instructions \"{{q}}\")) (define (f q) (content (t q))) "
    "(define (mapped q) (map (lambda (each) (content (t each))) (list q)))";

std::string refusal(std::string_view status, std::string_view headers, std::string_view code) {
    const std::string body =
        R"({"error": {"message": "no", "type": "x", "code": ")" + std::string(code) + "\"}}";
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" +
           std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

/// Fails as the prompt wants it.
class failing_service {
public:
    [[nodiscard]] runtime_options options(std::string_view limits = {}) const {
        runtime_options created;
        created.config_text = "[providers.local]\ntype = \"vllm\"\nmax_retries = 0\nbase_url = \"" +
                              server_.url() + "/v1\"\n" + std::string(limits);
        created.model = "local:small";
        return created;
    }

private:
    static std::string response_to(const std::string& request) {
        const auto asks_for = [&](const char* word) {
            return request.find(word) != std::string::npos;
        };
        if (asks_for("limited"))
            return refusal("429 Too Many Requests", "Retry-After: 7200\r\n", "rate_limit_exceeded");
        if (asks_for("unpaid")) return refusal("429 Too Many Requests", {}, "insufficient_quota");
        if (asks_for("busy")) return refusal("503 Service Unavailable", {}, "overloaded");
        if (asks_for("broken")) return refusal("500 Internal Server Error", {}, "broken");
        return loopback::ok_response(
            R"({"model": "small", "choices": [{"message": {"role": "assistant",
                "content": "yes"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1}})",
            "Content-Type: application/json\r\n");
    }
    static void serve(loopback::connection& peer, int) {
        for (;;) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            peer.send(response_to(request));
        }
    }
    loopback::server server_{serve};
};

TEST(embed_service_status, is_429_with_the_wait_at_a_rate_limit) {
    const failing_service service;
    for (const char* function : {"f", "mapped"}) {
        runtime rt(service.options()); // whose limiter waits from the first refusal on
        const program flow = loaded(rt, asks);
        const auto failed = called(flow, function, "limited", {.timeout = 20s});
        ASSERT_FALSE(failed);
        EXPECT_EQ(http_status(failed.error()), 429) << to_text(failed.error());
        const json page = to_json(failed.error());
        ASSERT_TRUE(page.find("retry_after_ms")) << page.to_string();
        EXPECT_EQ(page.at("retry_after_ms").to_string(), "7200000");
        EXPECT_EQ(page.at("reason"), json("llm_error"));
    }
}

TEST(embed_service_status, is_429_without_a_wait_when_the_quota_is_exhausted) {
    const failing_service service;
    runtime rt(service.options());
    const program flow = loaded(rt, asks);
    const auto failed = called(flow, "f", "unpaid", {.timeout = 20s});
    ASSERT_FALSE(failed);
    EXPECT_EQ(http_status(failed.error()), 429) << to_text(failed.error());
    EXPECT_FALSE(to_json(failed.error()).find("retry_after_ms"));
}

TEST(embed_service_status, is_503_when_the_service_is_overloaded_and_502_when_it_fails) {
    const failing_service service;
    runtime rt(service.options());
    const program flow = loaded(rt, asks);
    const auto busy = called(flow, "f", "busy", {.timeout = 20s});
    ASSERT_FALSE(busy);
    EXPECT_EQ(http_status(busy.error()), 503) << to_text(busy.error());
    const auto broken = called(flow, "f", "broken", {.timeout = 20s});
    ASSERT_FALSE(broken);
    EXPECT_EQ(http_status(broken.error()), 502) << to_text(broken.error());
}

TEST(embed_service_status, is_429_with_the_wait_when_a_limit_leaves_no_room_before_the_deadline) {
    const failing_service service;
    runtime rt(service.options("requests_per_minute = 1\n"));
    const program flow = loaded(rt, asks);
    // The first calls may be let through at once.
    result<answer> ended = called(flow, "f", "x", {.timeout = 1s});
    for (int i = 0; i < 5 && ended; ++i) ended = called(flow, "f", "x", {.timeout = 1s});
    ASSERT_FALSE(ended);
    EXPECT_EQ(http_status(ended.error()), 429) << to_text(ended.error());
    EXPECT_TRUE(to_json(ended.error()).find("retry_after_ms")) << to_text(ended.error());
}

TEST(embed_service_status, is_402_when_a_budget_is_used_up) {
    const failing_service service;
    runtime rt(service.options());
    const program flow = loaded(rt, asks);
    const auto failed = called(flow, "f", "x", {.timeout = 20s, .max_calls = 0});
    ASSERT_FALSE(failed);
    EXPECT_EQ(http_status(failed.error()), 402) << to_text(failed.error());
}

} // namespace
} // namespace heddle
