// The provider over any codec: what is tried again, and what that costs.
#include "http_chat_testing.hpp"

#include <heddle/ports/send_gate.hpp>

#include <gtest/gtest.h>

#include <map>

namespace heddle::testing {
namespace {

using namespace http_chat;

TEST(http_chat_provider, what_is_tried_again_and_what_is_not) {
    struct expectation {
        int status;
        const char* code;
        std::size_t requests;
    };
    for (const auto& [status, code, requests] : {expectation{408, "", 3},
                                                 {409, "", 3},
                                                 {429, "rate_limit_exceeded", 3},
                                                 {429, "insufficient_quota", 1},
                                                 {500, "", 3},
                                                 {502, "", 3},
                                                 {503, "", 3},
                                                 {504, "", 3},
                                                 {529, "", 3},
                                                 {400, "", 1},
                                                 {401, "", 1},
                                                 {402, "", 1},
                                                 {403, "", 1},
                                                 {404, "", 1},
                                                 {413, "", 1},
                                                 {422, "", 1}}) {
        SCOPED_TRACE(std::to_string(status) + code);
        for (const bool streamed : {false, true}) {
            fixture with;
            for (int i = 0; i < 3; ++i) {
                with.http.reply(status,
                                std::string(R"({"error":{"message":"m","code":")") + code + "\"}}");
            }
            const auto response = streamed ? with.stream() : with.complete();
            ASSERT_FALSE(response);
            EXPECT_EQ(with.http.requests.size(), requests);
        }
    }
}

TEST(http_chat_provider, what_the_connection_does_is_tried_again) {
    const std::map<http_errc, std::size_t> requests = {
        {http_errc::resolve_failed, 3},   {http_errc::connect_failed, 3},
        {http_errc::connect_timeout, 3},  {http_errc::first_byte_timeout, 3},
        {http_errc::idle_timeout, 3},     {http_errc::connection_closed, 3},
        {http_errc::connection_reset, 3}, {http_errc::tls_failed, 1},
        {http_errc::protocol_error, 1},   {http_errc::body_too_large, 1},
        {http_errc::header_too_large, 1}, {http_errc::total_timeout, 1},
        {http_errc::shut_down, 1}};
    for (const auto& [code, wanted] : requests) {
        SCOPED_TRACE(make_error_code(code).message());
        for (const bool streamed : {false, true}) {
            fixture with;
            for (int i = 0; i < 3; ++i) with.breaks(code);
            const auto response = streamed ? with.stream() : with.complete();
            ASSERT_FALSE(response);
            EXPECT_EQ(with.http.requests.size(), wanted);
            ASSERT_TRUE(response.error().info().cause);
            EXPECT_EQ(response.error().info().cause->code(), make_error_code(code));
        }
    }
}

/// Counts what is sent, and what of it was free of charge.
class counted_sends final : public ports::send_gate {
public:
    coro::task<result<ports::send_terms>> before_sending(const ports::chat_request&,
                                                         const std::vector<ports::lost_request>&,
                                                         coro::call_context) override {
        ++admitted;
        co_return ports::send_terms{};
    }
    void on_unpaid() noexcept override { ++unpaid; }
    int admitted = 0;
    int unpaid = 0;
};

TEST(http_chat_provider, requests_that_cost_nothing_are_reported) {
    struct expectation {
        int status;
        int admitted;
        int unpaid;
    };
    for (const auto& [status, admitted, unpaid] :
         {expectation{429, 3, 3}, {503, 3, 3}, {400, 1, 1}, {500, 3, 0}}) {
        SCOPED_TRACE(status);
        for (const bool streamed : {false, true}) {
            fixture with;
            counted_sends sends;
            with.request.sends = &sends;
            for (int i = 0; i < 3; ++i)
                with.http.reply(status, R"({"error":{"message":"m","code":"c"}})");
            const auto response = streamed ? with.stream() : with.complete();
            ASSERT_FALSE(response);
            EXPECT_EQ(sends.admitted, admitted);
            EXPECT_EQ(sends.unpaid, unpaid);
        }
    }
}

// The connection broke after the request was written, and could not be made again.
TEST(http_chat_provider, a_request_that_was_sent_again_in_vain_may_be_charged_for) {
    fixture with;
    counted_sends sends;
    with.request.sends = &sends;
    for (int i = 0; i < 3; ++i) with.breaks(http_errc::connect_failed);
    with.http.responses.front().resent = 1;
    const auto response = with.complete();
    ASSERT_FALSE(response);
    EXPECT_EQ(sends.admitted, 3);
    EXPECT_EQ(sends.unpaid, 2);
    EXPECT_EQ(ports::lost_with(response.error()).size(), 1U);
    EXPECT_EQ(ports::attempts_of(response.error()), 4U);
}

TEST(http_chat_provider, what_the_client_sent_again_counts_among_the_attempts) {
    for (const bool streamed : {false, true}) {
        fixture with;
        with.http.reply(500, "{}");
        with.http.responses.back().resent = 1;
        with.http.reply(200, std::string(ok));
        with.http.responses.back().resent = 1;
        const auto response = streamed ? with.stream() : with.complete();
        ASSERT_TRUE(response) << response.error().message();
        EXPECT_EQ(response->attempts, 4U);
    }
}

TEST(http_chat_provider, the_service_decides_by_its_headers) {
    fixture no;
    no.http.reply(500, "{}", {{"x-should-retry", "false"}});
    EXPECT_FALSE(no.complete());
    EXPECT_EQ(no.http.requests.size(), 1U);
    fixture yes;
    yes.http.reply(404, "{}", {{"x-should-retry", "true"}});
    yes.http.reply(200, std::string(ok));
    EXPECT_TRUE(yes.complete());

    fixture later;
    later.http.reply(503, "{}", {{"retry-after-ms", "60"}, {"retry-after", "9"}});
    later.http.reply(200, std::string(ok));
    const auto begin = later.on.loop.now();
    EXPECT_TRUE(later.complete());
    EXPECT_EQ(later.on.loop.now() - begin, 60ms);
    EXPECT_NE(later.log.text.find("; attempt 2 in 60 ms"), std::string::npos) << later.log.text;
}

TEST(http_chat_provider, a_wait_that_is_too_long_goes_up_with_the_error) {
    fixture with;
    with.http.reply(429, "{}", {{"retry-after", "3600"}});
    const auto response = with.complete();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().info().retry_after, 1h);
    EXPECT_EQ(with.http.requests.size(), 1U);
}

TEST(http_chat_provider, no_try_begins_after_the_time_for_all_tries) {
    fixture with;
    with.options.retry.total = 20ms;
    with.http.reply(503, "{}", {{"retry-after-ms", "1"}});
    with.http.reply(503, "{}", {{"retry-after-ms", "500"}});
    const auto response = with.complete();
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(llm_errc::overloaded));
    EXPECT_LE(with.http.requests.size(), 2U);
    EXPECT_NE(with.log.text.find("after the time for all attempts"), std::string::npos)
        << with.log.text;
}

TEST(http_chat_provider, the_models_of_the_service) {
    fixture with;
    with.http.reply(200, R"({"data":[{"id":"b"},{"id":"a"}]})");
    const auto models = with.on.run(with.provider().list_models(with.on.context()));
    ASSERT_TRUE(models);
    EXPECT_EQ(*models, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(with.http.requests[0].method, "GET");
    EXPECT_TRUE(with.http.requests[0].idempotent);
    with.http.reply(503, "{}"); // not tried again: whoever asks wants to know how it is
    EXPECT_FALSE(with.on.run(with.provider().list_models(with.on.context())));
    with.breaks(http_errc::connect_failed);
    const auto away = with.on.run(with.provider().list_models(with.on.context()));
    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().code(), make_error_code(llm_errc::connection));
    EXPECT_EQ(with.http.requests.size(), 3U);
}

TEST(http_chat_provider, errors_count_the_requests_that_were_sent) {
    for (const bool streamed : {false, true}) {
        fixture with;
        for (int i = 0; i < 3; ++i) with.http.reply(500, "{}");
        const auto response = streamed ? with.stream() : with.complete();
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().info().attempts, 3U);
        fixture wrong;
        wrong.http.reply(400, "{}");
        const auto refused = streamed ? wrong.stream() : wrong.complete();
        EXPECT_EQ(refused.error().info().attempts, 1U);
        fixture unsent;
        unsent.request.model.clear();
        const auto bad = streamed ? unsent.stream() : unsent.complete();
        EXPECT_EQ(bad.error().info().attempts, 0U);
    }
}

TEST(http_chat_provider, attempts_that_may_be_charged_for_go_along) {
    fixture at;
    at.http.reply(500, "");
    at.http.reply(429, "");
    at.http.reply(200, std::string(ok));
    const auto response = at.complete();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->attempts, 3U);
    EXPECT_EQ(response->lost.size(), 1U) << "the 429 is charged for by nobody";

    fixture failing;
    for (int i = 0; i < 3; ++i) failing.http.reply(500, "");
    const auto failed = failing.complete();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().info().attempts, 3U);
    EXPECT_EQ(ports::lost_with(failed.error()).size(), 2U);
    EXPECT_FALSE(ports::is_unpaid(failed.error()));

    fixture busy;
    busy.http.reply(500, "");
    busy.http.reply(400, "");
    const auto refused = busy.complete();
    ASSERT_FALSE(refused);
    EXPECT_TRUE(ports::is_unpaid(refused.error()));
    EXPECT_EQ(ports::lost_with(refused.error()).size(), 1U);
}

/// The time of a call ends during name look-up or connect, or while it waits for a connection.
TEST(http_chat_provider, a_request_that_was_never_written_costs_nothing) {
    for (const bool streamed : {false, true}) {
        for (const bool sent : {false, true}) {
            fixture at;
            fake_http::response cut;
            cut.ends_with = error::cancelled(cancel_reason::deadline);
            cut.sent = sent;
            at.http.responses.push_back(cut);
            const auto response = streamed ? at.stream() : at.complete();
            ASSERT_FALSE(response);
            EXPECT_TRUE(response.error().is_cancelled());
            EXPECT_EQ(response.error().cancelled_because(), cancel_reason::deadline);
            EXPECT_EQ(response.error().info().attempts, 1U) << "it counts as a call";
            EXPECT_EQ(ports::is_unpaid(response.error()), !sent);
            EXPECT_TRUE(ports::lost_with(response.error()).empty());
        }
        // What was sent before it is charged for all the same.
        fixture again;
        again.http.reply(500, "");
        fake_http::response cut;
        cut.ends_with = error::cancelled(cancel_reason::deadline);
        cut.sent = false;
        again.http.responses.push_back(cut);
        const auto response = streamed ? again.stream() : again.complete();
        ASSERT_FALSE(response);
        EXPECT_TRUE(ports::is_unpaid(response.error()));
        EXPECT_EQ(ports::lost_with(response.error()).size(), 1U);
        EXPECT_EQ(response.error().info().attempts, 2U);
    }
}

} // namespace
} // namespace heddle::testing
