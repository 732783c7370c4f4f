// The provider over any codec: streams that break off, end early or do not end.
#include "http_chat_testing.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace http_chat;

TEST(http_chat_provider, silence_inside_a_stream_keeps_what_came) {
    fixture with;
    with.breaks(http_errc::idle_timeout, std::string(piece));
    const auto response = with.stream();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(llm_errc::request_timeout));
    EXPECT_EQ(with.http.requests.size(), 1U);
    const auto kept =
        std::dynamic_pointer_cast<const ports::partial_response>(response.error().info().payload);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->so_far.text, "ab");
}

TEST(http_chat_provider, a_stream_is_begun_again_after_text_only_where_asked_for) {
    fixture with;
    with.request.scheduling.retry_after_text = true;
    with.breaks(http_errc::connection_reset, std::string(piece));
    with.http.reply(200, std::string(piece) + std::string(last), as_stream);
    const auto response = with.stream();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "ab");
    EXPECT_EQ(response->attempts, 2U);
    EXPECT_EQ(with.handed_out, "abab"); // twice: that is what was asked for
}

TEST(http_chat_provider, the_receiver_ends_a_stream_for_good_whatever_its_error_looks_like) {
    for (const bool as_json : {false, true}) { // a server that does not stream
        fixture with;
        with.request.scheduling.retry_after_text = true;
        if (as_json) with.http.reply(200, std::string(ok));
        else with.http.reply(200, std::string(piece) + std::string(last), as_stream);
        int calls = 0;
        const ports::chat_delta_sink sink = [&](std::string_view) -> result<void> {
            ++calls;
            return error(make_error_code(llm_errc::overloaded), "enough").with_retryable(true);
        };
        const auto response =
            with.on.run(with.provider().stream(with.request, sink, with.on.context()));
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().message(), "enough");
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(with.http.requests.size(), 1U);
    }
}

TEST(http_chat_provider, an_endless_stream_is_bounded) {
    fixture with;
    with.options.limits.max_body_bytes = 1'000;
    std::string body;
    while (body.size() < 2'000) body += piece;
    with.http.reply(200, body, as_stream);
    with.http.responses.back().piece = 64;
    const auto response = with.stream();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(llm_errc::protocol));
}

constexpr std::string_view finished =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

TEST(http_chat_provider, a_complete_stream_counts_however_its_connection_ends) {
    for (const auto code : {http_errc::connection_reset, http_errc::connection_closed,
                            http_errc::idle_timeout, http_errc::total_timeout}) {
        fixture with;
        with.breaks(code, std::string(piece) + std::string(last));
        auto response = with.stream();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->text, "ab");
        EXPECT_EQ(response->finish, ports::finish_reason::stop);
        ASSERT_TRUE(response->usage);
        EXPECT_EQ(response->usage->output, 1);
        EXPECT_TRUE(response->usage->output_reported);
        EXPECT_EQ(response->attempts, 1U);
        EXPECT_NE(with.http.requests.back().enough, nullptr);
        // A finish reason is enough, although there may be no usage.
        with.breaks(code, std::string(piece) + std::string(finished));
        response = with.stream();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->text, "ab");
        EXPECT_FALSE(response->usage);
        EXPECT_EQ(with.http.requests.size(), 2U);
        EXPECT_EQ(with.handed_out, "abab");
    }
}

TEST(http_chat_provider, the_end_mark_ends_a_stream_whatever_follows) {
    fixture with;
    with.options.limits.max_body_bytes = 1'000;
    std::string body = std::string(piece) + std::string(last);
    body += "data: {\"error\":{\"message\":\"late\"}}\n\n" + std::string(2'000, ' ');
    with.http.reply(200, body, as_stream);
    with.http.responses.back().piece = 16;
    auto response = with.stream();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "ab");
}

TEST(http_chat_provider, a_complete_stream_counts_whatever_cancels_its_call) {
    for (const std::string_view end : {last, finished}) {
        for (const auto reason : {cancel_reason::deadline, cancel_reason::user}) {
            fixture with;
            with.http.reply(200, std::string(piece) + std::string(end), as_stream);
            with.http.responses.back().ends_with = error::cancelled(reason);
            const auto response = with.stream();
            ASSERT_TRUE(response) << response.error().message();
            EXPECT_EQ(response->text, "ab");
            EXPECT_EQ(response->usage.has_value(), end == last);
        }
    }
    fixture with; // and one that has not ended does not
    with.http.reply(200, std::string(piece), as_stream);
    with.http.responses.back().ends_with = error::cancelled(cancel_reason::deadline);
    const auto response = with.stream();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().cancelled_because(), cancel_reason::deadline);
}

TEST(http_chat_provider, what_is_wrong_after_the_finish_reason_is_passed_over) {
    for (const char* wrong :
         {"data: {\"error\":{\"message\":\"late\"}}\n\n", "data: nonsense\n\n"}) {
        fixture with;
        with.http.reply(200, std::string(piece) + std::string(finished) + wrong, as_stream);
        const auto response = with.stream();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->text, "ab");
    }
}

TEST(http_chat_provider, a_stream_that_is_begun_again_has_lost_what_came) {
    fixture at;
    at.request.scheduling.retry_after_text = true;
    at.breaks(http_errc::connection_reset, std::string(piece));
    at.http.reply(200, std::string(last), as_stream);
    const auto response = at.stream();
    ASSERT_TRUE(response) << response.error().message();
    ASSERT_EQ(response->lost.size(), 1U);
    EXPECT_EQ(response->lost[0].received, 2U);
}

} // namespace
} // namespace heddle::testing
