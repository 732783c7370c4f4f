// The provider over any codec: the gate that it asks before each request.
#include "http_chat_testing.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace http_chat;

TEST(http_chat_provider_gate, is_asked_before_each_try_and_notified_of_its_end) {
    fixture with;
    with.gated();
    with.request.max_output_tokens = 50;
    with.http.reply(429, "{}", {{"x-ratelimit-limit-requests", "500"}});
    with.breaks(http_errc::connection_reset);
    with.http.reply(200, std::string(ok));
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    ASSERT_EQ(with.gate->demands.size(), 3U);
    EXPECT_TRUE(with.gate->demands[0].reports_sent);
    EXPECT_EQ(with.gate->sent_numbers, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(with.gate->demands[0].request, &with.request);
    EXPECT_EQ(with.gate->demands[0].output_tokens, 50);
    EXPECT_GE(with.gate->demands[0].input_tokens, 2);
    EXPECT_EQ(with.gate->demands[2].attempt, 3U);
    ASSERT_EQ(with.gate->ends.size(), 3U);
    EXPECT_EQ(with.gate->ends[0].status, 429);
    EXPECT_EQ(with.gate->ends[0].requests_limit, 500);
    EXPECT_EQ(with.gate->ends[0].failure, llm_errc::rate_limit);
    EXPECT_EQ(with.gate->ends[1].status, 0);
    EXPECT_EQ(with.gate->ends[1].failure, llm_errc::connection);
    EXPECT_EQ(with.gate->ends[2].status, 200);
    EXPECT_EQ(with.gate->ends[2].failure, std::nullopt);
    EXPECT_EQ(with.gate->ends[2].used, 10);
}

TEST(http_chat_provider_gate, is_notified_of_a_stream_when_its_head_comes) {
    fixture with;
    with.gated();
    with.http.reply(200, std::string(piece) + std::string(last), as_stream);
    ASSERT_TRUE(with.stream());
    EXPECT_EQ(with.gate->sent_numbers, std::vector<std::uint64_t>{1});
    EXPECT_EQ(with.gate->answering_numbers, std::vector<std::uint64_t>{1});
    ASSERT_EQ(with.gate->ends.size(), 1U);
    EXPECT_EQ(with.gate->ends[0].used, 8);
}

TEST(http_chat_provider_gate, is_waited_for_where_there_is_no_room) {
    fixture with;
    with.gated();
    with.gate->at_once = false;
    with.http.reply(200, std::string(ok));
    ASSERT_TRUE(with.complete());
    EXPECT_EQ(with.gate->waited, 1);
    ASSERT_EQ(with.gate->ends.size(), 1U);
    EXPECT_EQ(with.gate->ends[0].status, 200);
}

TEST(http_chat_provider_gate, may_refuse) {
    fixture with;
    with.gated();
    with.gate->at_once = false;
    with.gate->refusal =
        error(make_error_code(llm_errc::rate_limit), "never").with_retryable(false);
    const auto response = with.complete();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().message(), "openai: never");
    EXPECT_EQ(response.error().info().attempts, 0U);
    EXPECT_FALSE(with.stream());
    EXPECT_TRUE(with.http.requests.empty());
    EXPECT_TRUE(with.gate->ends.empty());
}

TEST(http_chat_provider_gate, that_refuses_a_second_attempt_leaves_the_word_to_the_service) {
    for (const bool streamed : {false, true}) {
        fixture with;
        with.gated();
        with.gate->admits = 1;
        with.gate->refusal = error(make_error_code(llm_errc::rate_limit), "no room")
                                 .with_retryable(false)
                                 .with_retry_after(7s)
                                 .with_hint("wait");
        with.http.reply(429, R"({"error":{"message":"slow down"}})");
        const auto response = streamed ? with.stream() : with.complete();
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().message(), "openai: rate limited (HTTP 429): slow down");
        ASSERT_FALSE(response.error().info().trace.empty());
        EXPECT_EQ(response.error().info().trace.back().what, "not tried again: no room");
        EXPECT_EQ(response.error().info().retry_after, 7s);
        EXPECT_EQ(response.error().info().retryable, false);
        EXPECT_EQ(response.error().info().hint, "wait");
        EXPECT_EQ(response.error().info().attempts, 1U);
    }
}

TEST(http_chat_provider_gate, chooses_when_a_429_is_tried_again) {
    fixture with;
    with.gated();
    with.http.reply(429, "{}", {{"retry-after", "30"}});
    with.http.reply(200, std::string(ok));
    const auto begin = with.on.loop.now();
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(with.on.loop.now(), begin) << "and not the thirty seconds later";
    EXPECT_EQ(response->attempts, 2U);
    EXPECT_NE(with.log.text.find("; attempt 2 when the limiter allows it"), std::string::npos);
}

TEST(http_chat_provider_gate, that_is_left_between_attempts_has_lost_those_before) {
    fixture with;
    with.gated();
    with.gate->admits = 1;
    with.gate->wait = 1h;
    with.http.reply(500, "");
    coro::cancel_source cancel;
    with.cancel_in(10ms, cancel);
    const auto response = with.complete(&cancel);
    ASSERT_FALSE(response);
    EXPECT_TRUE(response.error().is_cancelled());
    EXPECT_EQ(response.error().info().attempts, 1U);
    EXPECT_FALSE(ports::is_unpaid(response.error())) << "the last request is the one before";
    EXPECT_TRUE(ports::lost_with(response.error()).empty());
}

TEST(http_chat_provider_gate, gets_back_what_was_never_sent) {
    fixture with;
    with.gated();
    with.request.model.clear();
    EXPECT_FALSE(with.complete());
    ASSERT_EQ(with.gate->ends.size(), 1U);
    EXPECT_EQ(with.gate->ends[0].status, 0);
    EXPECT_EQ(with.gate->ends[0].failure, std::nullopt);
}

TEST(http_chat_provider_gate, is_left_when_the_wait_is_cancelled) {
    fixture with;
    with.gated();
    with.gate->at_once = false;
    with.gate->wait = 1h;
    coro::cancel_source cancel;
    with.cancel_in(10ms, cancel);
    const auto response = with.complete(&cancel);
    ASSERT_FALSE(response);
    EXPECT_TRUE(response.error().is_cancelled());
    EXPECT_EQ(with.gate->waited, 1);
    EXPECT_EQ(with.gate->given, 0U);
}

TEST(http_chat_provider_gate, is_notified_that_a_call_was_cancelled) {
    fixture with;
    with.gated();
    with.http.reply(200, "", as_stream);
    with.http.responses.back().ends_with = error::cancelled(cancel_reason::user);
    EXPECT_FALSE(with.stream());
    ASSERT_EQ(with.gate->ends.size(), 1U);
    EXPECT_TRUE(with.gate->ends[0].cancelled);
}

} // namespace
} // namespace heddle::testing
