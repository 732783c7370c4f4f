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
    result<ports::chat_response> complete() {
        providers::openai::options options;
        options.api_key = secret("sk-0123456789abcdef");
        options.retry.first_wait = 1ms;
        options.retry.max_retries = 2;
        options.retry.seed = 1;
        auto port = providers::make_openai_provider(http, options, log).value();
        return on.run(port->complete(user_request("hello"), on.context()));
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

} // namespace
} // namespace heddle::testing
