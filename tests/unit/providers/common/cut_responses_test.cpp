// A response that is not streamed and is cut off: what arrived of it counts.
#include "../provider_testing.hpp"

#include <heddle/ports/http_port.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;

struct cut_responses : ::testing::Test {
    void cut_after(std::string body) {
        http.reply(200, std::move(body));
        http.responses.back().ends_with =
            error(make_error_code(ports::http_errc::connection_closed), "broke")
                .with_retryable(true);
    }
    result<ports::chat_response> complete(std::chrono::milliseconds first_wait = 1ms,
                                          coro::cancel_source* cancel = nullptr) {
        providers::openai::options options;
        options.api_key = secret("sk-0123456789abcdef");
        options.retry.first_wait = first_wait;
        options.retry.max_retries = 2;
        options.retry.seed = 1;
        auto port = providers::make_openai_provider(http, options, log).value();
        return on.run(port->complete(user_request("hello"), on.context(cancel)));
    }
    static std::vector<std::size_t> received(const std::vector<ports::lost_request>& lost) {
        std::vector<std::size_t> sizes;
        for (const ports::lost_request& each : lost) sizes.push_back(each.received);
        return sizes;
    }

    test_loop on;
    fake_http http;
    recording_log log;
};

TEST_F(cut_responses, count_with_what_arrived_where_the_call_fails) {
    for (const int size : {400, 0, 5}) cut_after(std::string(static_cast<std::size_t>(size), 'x'));
    const auto ended = complete();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ports::attempts_of(ended.error()), 3U);
    EXPECT_EQ(received(ports::lost_with(ended.error())), (std::vector<std::size_t>{400, 0}));
    // The last one is the call's own, which a budget counts with an estimate.
    EXPECT_FALSE(ports::is_unpaid(ended.error()));
    EXPECT_FALSE(ports::part_of(ended.error()));
    std::vector<ports::lost_request> all;
    ports::add_lost(all, ended.error());
    EXPECT_EQ(received(all), (std::vector<std::size_t>{400, 0, 5}));
}

TEST_F(cut_responses, count_with_what_arrived_where_a_later_attempt_succeeds) {
    cut_after(std::string(400, 'x'));
    http.reply(200, R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]})");
    const auto ended = complete();
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->attempts, 2U);
    EXPECT_EQ(received(ended->lost), (std::vector<std::size_t>{400}));
}

// Its last request counted with what had arrived alone, and a budget that such calls use up held
// for none of them.
TEST_F(cut_responses, count_as_the_last_request_where_the_wait_for_another_is_cancelled) {
    for (const std::size_t size : {0U, 40U}) {
        http.requests.clear();
        for (int i = 0; i < 3; ++i) cut_after(std::string(size, 'x'));
        coro::cancel_source cancel;
        coro::spawn(
            on.loop,
            [](coro::event_loop* loop, coro::cancel_source* source) -> coro::task<void> {
                const auto slept =
                    co_await coro::sleep_until({loop, nullptr, {}}, loop->now() + 1ms);
                (void)slept;
                source->request(cancel_reason::user);
            }(&on.loop, &cancel),
            [](std::exception_ptr) {});
        const auto ended = complete(3600s, &cancel);
        ASSERT_FALSE(ended);
        EXPECT_TRUE(ended.error().is_cancelled()) << ended.error().message();
        const std::size_t sent = http.requests.size();
        EXPECT_EQ(ports::attempts_of(ended.error()), sent);
        EXPECT_FALSE(ports::is_unpaid(ended.error()));
        EXPECT_EQ(ports::lost_with(ended.error()).size(), sent - 1);
        std::vector<ports::lost_request> all;
        ports::add_lost(all, ended.error());
        EXPECT_EQ(received(all), std::vector<std::size_t>(sent, size));
        http.responses.clear();
    }
}

} // namespace
} // namespace heddle::testing
