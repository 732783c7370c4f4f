// The limiter in front of the provider, over real sockets.
#include <heddle/http/client.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/routing/prefix_gate.hpp>

#include "../provider_testing.hpp"
#include "loopback_runner.hpp"
#include "loopback_server.hpp"

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <atomic>
#include <mutex>
#include <thread>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::limiter_gate;
using providers::limiter_settings;
using providers::prefix_gate;

const std::string good_response =
    R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":)"
    R"({"role":"assistant","content":"yes"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":20,"completion_tokens":1,"total_tokens":21}})";

std::string refusal(std::string_view headers) {
    const std::string body = R"({"error":{"message":"slow down","type":"requests",)"
                             R"("code":"rate_limit_exceeded"}})";
    return "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\n" +
           std::string(headers) + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

/// A provider over real sockets with gates in front.
struct real_setup {
    explicit real_setup(std::uint16_t port, limiter_settings settings = {})
        : http(http::make_http_client(at.loop, {})),
          limiter(std::make_shared<limiter_gate>(at.loop, std::move(settings))),
          gate(std::make_shared<prefix_gate>(at.loop, limiter)) {
        providers::openai::options options;
        options.base_url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
        options.gate = gate;
        options.retry.seed = 1;
        options.retry.first_wait = 1ms;
        provider = providers::make_openai_provider(*http, std::move(options), log).value();
    }
    ~real_setup() { at.run(http->close()); }

    coro::task<result<void>> ask(std::string prompt, bool streamed, coro::deadline until = {}) {
        const ports::chat_request request = user_request(std::move(prompt), "m");
        result<ports::chat_response> response = error(errc::internal, "not asked");
        if (streamed) {
            ports::chat_delta_sink sink = [](std::string_view) { return result<void>(); };
            response =
                co_await provider->stream(request, std::move(sink), at.context(nullptr, until));
        } else {
            response = co_await provider->complete(request, at.context(nullptr, until));
        }
        if (!response) co_return response.error();
        ++answered;
        co_return result<void>();
    }
    coro::task<result<void>> ask_many(int calls, std::string prompt, bool streamed) {
        coro::nursery all(at.context());
        for (int i = 0; i < calls; ++i) all.start(ask(prompt + std::to_string(i), streamed));
        result<void> ended = co_await all.join();
        co_return ended;
    }
    providers::limits::limiter_counters counters() { return limiter->counters().at(0).second; }

    loopback::runner at;
    recording_log log;
    std::shared_ptr<ports::http_port> http;
    std::shared_ptr<limiter_gate> limiter;
    std::shared_ptr<prefix_gate> gate;
    std::unique_ptr<ports::llm_port> provider;
    int answered = 0;
};

TEST(limiter_end_to_end, a_429_stops_everybody_until_its_time_is_over) {
    std::atomic<int> requests = 0;
    std::mutex mutex;
    coro::clock::time_point refused_at{};
    coro::clock::time_point next_at{};
    loopback::server server([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            const int number = ++requests;
            if (number == 41) {
                const std::lock_guard lock(mutex);
                refused_at = coro::clock::now();
                peer.send(refusal("retry-after-ms: 400\r\n"));
                continue;
            }
            if (number == 42) {
                const std::lock_guard lock(mutex);
                next_at = coro::clock::now();
            }
            peer.send(loopback::ok_response(good_response,
                                            "content-type: application/json\r\n"
                                            "x-ratelimit-limit-requests: 6000\r\n"
                                            "x-ratelimit-remaining-requests: 5990\r\n"));
        }
    });
    limiter_settings settings; // one at a time, so that nothing is under way at the 429
    settings.options.first_in_flight = settings.options.max_in_flight = 1;
    real_setup harness(server.port(), settings);
    const auto ended = harness.at.run(harness.ask_many(60, "hello ", false));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(harness.answered, 60);
    EXPECT_EQ(requests, 61);
    EXPECT_GE(next_at - refused_at, 400ms);
    const auto counters = harness.counters();
    EXPECT_EQ(counters.limited, 1U);
    EXPECT_EQ(counters.admitted, 61U);
    EXPECT_EQ(counters.in_flight, 0U);
    EXPECT_TRUE(counters.learned_per_second);
    ASSERT_TRUE(counters.left[0]); // reported by the headers
    EXPECT_GT(*counters.left[0], 500);
}

TEST(limiter_end_to_end, a_call_that_cannot_go_in_time_is_refused_at_once) {
    loopback::server server([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) peer.send(refusal("retry-after: 1000\r\n"));
    });
    real_setup harness(server.port());
    const auto first = harness.at.run(
        harness.ask("hello", false, loopback::runner::in(600s))); // reported by the service
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code(), ports::llm_errc::rate_limit);
    // At once: the runner gives up long before this deadline.
    const auto second = harness.at.run(harness.ask("hello", false, loopback::runner::in(600s)));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), ports::llm_errc::rate_limit);
    EXPECT_EQ(harness.counters().admitted, 1U);
    EXPECT_EQ(harness.counters().refused, 1U);
}

TEST(limiter_end_to_end, calls_that_begin_alike_follow_the_first_byte_of_the_first) {
    std::atomic<int> requests = 0;
    std::atomic<int> before_first_byte = -1;
    std::atomic<bool> others_came = false;
    loopback::server server([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            const bool leads = ++requests == 1;
            if (leads) {
                std::this_thread::sleep_for(300ms);
                before_first_byte = requests.load();
            }
            peer.send(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                "transfer-encoding: chunked\r\n\r\n");
            // The rest of the first waits for the others: their permits came from its head alone.
            if (leads) others_came = hang_guard::comes_true([&] { return requests == 5; });
            const std::string events =
                "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":"
                "{\"role\":\"assistant\",\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\n"
                "data: [DONE]\n\n";
            char size[16];
            std::snprintf(size, sizeof size, "%zx\r\n", events.size());
            peer.send(size + events + "\r\n0\r\n\r\n");
        }
    });
    real_setup harness(server.port());
    const auto ended = harness.at.run(harness.ask_many(5, std::string(6'000, 'x'), true));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(harness.answered, 5);
    EXPECT_EQ(before_first_byte, 1);
    EXPECT_TRUE(others_came);
}

} // namespace
} // namespace heddle::testing
