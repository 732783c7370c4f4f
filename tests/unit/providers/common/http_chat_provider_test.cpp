// The provider over any codec: retries, streams, the gate. With the codec of Chat Completions.
#include "../provider_testing.hpp"

#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gtest/gtest.h>
#include <boost/asio/steady_timer.hpp>

#include <map>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using ports::chat_response;
using ports::http_errc;
using ports::llm_errc;
using providers::call_demand;
using providers::call_outcome;
using providers::call_permit;
using providers::call_ticket;

constexpr std::string_view ok =
    R"({"id":"1","model":"m","choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],)"
    R"("usage":{"prompt_tokens":7,"completion_tokens":3}})";
constexpr std::string_view piece =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"}}]}\n\n";
constexpr std::string_view last =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":"
    "{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n";
const std::vector<std::pair<std::string, std::string>> as_stream = {
    {"content-type", "text/event-stream"}};

/// Writes down what it is asked and told.
class recording_gate final : public providers::call_gate {
public:
    call_permit try_acquire(const call_demand& demand) override {
        demands.push_back(demand);
        if (!at_once || given == admits) return {};
        return {*this, {nullptr, ++given, demand.input_tokens, demand.output_tokens}};
    }
    coro::task<result<call_permit>> acquire(call_demand demand,
                                            coro::call_context context) override {
        ++waited;
        if (refusal) co_return *refusal;
        result<void> slept = co_await coro::sleep_until(context, context.loop->now() + wait);
        if (!slept) co_return std::move(slept).error();
        co_return call_permit(*this, {nullptr, ++given, demand.input_tokens, 0});
    }

    struct ended {
        std::uint64_t number = 0;
        int status = 0;
        std::optional<std::int64_t> requests_limit;
        std::optional<llm_errc> failure;
        bool cancelled = false;
        std::int64_t used = -1; // input and output
    };
    std::vector<call_demand> demands;
    std::vector<ended> ends;
    std::vector<std::uint64_t> sent_numbers;
    std::vector<std::uint64_t> answering_numbers;
    std::uint64_t given = 0;
    int waited = 0;
    bool at_once = true;
    std::uint64_t admits = 1'000'000;
    std::optional<error> refusal;
    std::chrono::milliseconds wait{1};

private:
    void sent(const call_ticket& ticket) noexcept override {
        sent_numbers.push_back(ticket.number);
    }
    void answering(const call_ticket& ticket) noexcept override {
        answering_numbers.push_back(ticket.number);
    }
    void end(const call_ticket& ticket, const call_outcome& outcome) noexcept override {
        ended seen;
        seen.number = ticket.number;
        seen.status = outcome.status;
        if (outcome.limits) seen.requests_limit = outcome.limits->requests_limit;
        if (outcome.failure) {
            seen.cancelled = outcome.failure->is_cancelled();
            if (outcome.failure->code().category() == ports::llm_category())
                seen.failure = static_cast<llm_errc>(outcome.failure->code().value());
        }
        if (outcome.usage) seen.used = outcome.usage->input + outcome.usage->output;
        ends.push_back(seen);
    }
};

struct fixture {
    test_loop on;
    fake_http http;
    recording_log log;
    std::shared_ptr<recording_gate> gate = std::make_shared<recording_gate>();
    providers::openai::options options;
    std::unique_ptr<providers::http_chat_provider> port;
    ports::chat_request request = user_request("hello");
    std::string handed_out;

    fixture() {
        options.api_key = secret("sk-0123456789abcdef");
        options.retry.first_wait = 1ms;
        options.retry.max_retries = options.retry.max_rate_limit_retries = 2;
        options.retry.seed = 1;
    }
    providers::http_chat_provider& provider() {
        if (!port) {
            port = providers::make_openai_provider(http, options, on.loop, log).value();
        }
        return *port;
    }
    void gated() { options.gate = gate; }
    result<chat_response> complete(coro::cancel_source* cancel = nullptr) {
        return on.run(provider().complete(request, on.context(cancel)));
    }
    result<chat_response> stream(coro::cancel_source* cancel = nullptr) {
        const ports::chat_delta_sink sink = [this](std::string_view text) -> result<void> {
            handed_out += text;
            return {};
        };
        return on.run(provider().stream(request, sink, on.context(cancel)));
    }
    void breaks(http_errc code, std::string body = {}) {
        http.reply(200, std::move(body), as_stream);
        http.answers.back().ends_with = error(make_error_code(code), "broke");
    }
};

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
            const auto answer = streamed ? with.stream() : with.complete();
            ASSERT_FALSE(answer);
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
            const auto answer = streamed ? with.stream() : with.complete();
            ASSERT_FALSE(answer);
            EXPECT_EQ(with.http.requests.size(), wanted);
            ASSERT_TRUE(answer.error().info().cause);
            EXPECT_EQ(answer.error().info().cause->code(), make_error_code(code));
        }
    }
}

TEST(http_chat_provider, what_the_client_sent_again_counts_among_the_attempts) {
    for (const bool streamed : {false, true}) {
        fixture with;
        with.http.reply(500, "{}");
        with.http.answers.back().resent = 1;
        with.http.reply(200, std::string(ok));
        with.http.answers.back().resent = 1;
        const auto answer = streamed ? with.stream() : with.complete();
        ASSERT_TRUE(answer) << answer.error().message();
        EXPECT_EQ(answer->attempts, 4U);
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
    const auto begin = coro::clock::now();
    EXPECT_TRUE(later.complete());
    EXPECT_GE(coro::clock::now() - begin, 60ms);
    EXPECT_LT(coro::clock::now() - begin, 9s);
    EXPECT_NE(later.log.text.find("; attempt 2 in 60 ms"), std::string::npos) << later.log.text;
}

TEST(http_chat_provider, a_wait_that_is_too_long_goes_up_with_the_error) {
    fixture with;
    with.http.reply(429, "{}", {{"retry-after", "3600"}});
    const auto answer = with.complete();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().info().retry_after, 1h);
    EXPECT_EQ(with.http.requests.size(), 1U);
}

TEST(http_chat_provider, no_try_begins_after_the_time_for_all_tries) {
    fixture with;
    with.options.retry.total = 20ms;
    with.http.reply(503, "{}", {{"retry-after-ms", "1"}});
    with.http.reply(503, "{}", {{"retry-after-ms", "500"}});
    const auto answer = with.complete();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), make_error_code(llm_errc::overloaded));
    EXPECT_LE(with.http.requests.size(), 2U);
    EXPECT_NE(with.log.text.find("after the time for all tries"), std::string::npos)
        << with.log.text;
}

TEST(http_chat_provider, silence_inside_a_stream_keeps_what_came) {
    fixture with;
    with.breaks(http_errc::idle_timeout, std::string(piece));
    const auto answer = with.stream();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), make_error_code(llm_errc::request_timeout));
    EXPECT_EQ(with.http.requests.size(), 1U);
    const auto kept =
        std::dynamic_pointer_cast<const ports::partial_response>(answer.error().info().payload);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->so_far.text, "ab");
}

TEST(http_chat_provider, a_stream_is_begun_again_after_text_only_where_asked_for) {
    fixture with;
    with.request.scheduling.retry_after_text = true;
    with.breaks(http_errc::connection_reset, std::string(piece));
    with.http.reply(200, std::string(piece) + std::string(last), as_stream);
    const auto answer = with.stream();
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->text, "ab");
    EXPECT_EQ(answer->attempts, 2U);
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
        const auto answer =
            with.on.run(with.provider().stream(with.request, sink, with.on.context()));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().message(), "enough");
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
    with.http.answers.back().piece = 64;
    const auto answer = with.stream();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), make_error_code(llm_errc::protocol));
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

TEST(http_chat_provider_gate, is_asked_before_each_try_and_told_its_end) {
    fixture with;
    with.gated();
    with.request.max_output_tokens = 50;
    with.http.reply(429, "{}", {{"x-ratelimit-limit-requests", "500"}});
    with.breaks(http_errc::connection_reset);
    with.http.reply(200, std::string(ok));
    const auto answer = with.complete();
    ASSERT_TRUE(answer) << answer.error().message();
    ASSERT_EQ(with.gate->demands.size(), 3U);
    EXPECT_TRUE(with.gate->demands[0].tells_sent);
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

TEST(http_chat_provider_gate, hears_of_a_stream_when_its_head_comes) {
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
    const auto answer = with.complete();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message(), "openai: never");
    EXPECT_EQ(answer.error().info().attempts, 0U);
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
        const auto answer = streamed ? with.stream() : with.complete();
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().message(), "openai: rate limited (HTTP 429): slow down");
        ASSERT_FALSE(answer.error().info().trace.empty());
        EXPECT_EQ(answer.error().info().trace.back().what, "not tried again: no room");
        EXPECT_EQ(answer.error().info().retry_after, 7s);
        EXPECT_EQ(answer.error().info().retryable, false);
        EXPECT_EQ(answer.error().info().hint, "wait");
        EXPECT_EQ(answer.error().info().attempts, 1U);
    }
}

TEST(http_chat_provider_gate, chooses_when_a_429_is_tried_again) {
    fixture with;
    with.gated();
    with.http.reply(429, "{}", {{"retry-after", "30"}});
    with.http.reply(200, std::string(ok));
    const auto begin = coro::clock::now();
    const auto answer = with.complete();
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_LT(coro::clock::now() - begin, 10s);
    EXPECT_EQ(answer->attempts, 2U);
    EXPECT_NE(with.log.text.find("; attempt 2 when the limiter lets it go"), std::string::npos);
}

TEST(http_chat_provider, errors_count_the_requests_that_were_sent) {
    for (const bool streamed : {false, true}) {
        fixture with;
        for (int i = 0; i < 3; ++i) with.http.reply(500, "{}");
        const auto answer = streamed ? with.stream() : with.complete();
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().info().attempts, 3U);
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
    const auto answer = at.complete();
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->attempts, 3U);
    EXPECT_EQ(answer->lost.size(), 1U) << "the 429 is charged for by nobody";

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

TEST(http_chat_provider, a_stream_that_is_begun_again_has_lost_what_came) {
    fixture at;
    at.request.scheduling.retry_after_text = true;
    at.breaks(http_errc::connection_reset, std::string(piece));
    at.http.reply(200, std::string(last), as_stream);
    const auto answer = at.stream();
    ASSERT_TRUE(answer) << answer.error().message();
    ASSERT_EQ(answer->lost.size(), 1U);
    EXPECT_EQ(answer->lost[0].received, 2U);
}

TEST(http_chat_provider_gate, that_is_left_between_attempts_has_lost_those_before) {
    fixture with;
    with.gated();
    with.gate->admits = 1;
    with.gate->wait = 1h;
    with.http.reply(500, "");
    coro::cancel_source cancel;
    boost::asio::steady_timer later(with.on.io, 10ms);
    later.async_wait([&](boost::system::error_code) { cancel.request(cancel_reason::user); });
    const auto answer = with.complete(&cancel);
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().is_cancelled());
    EXPECT_EQ(answer.error().info().attempts, 1U);
    EXPECT_TRUE(ports::is_unpaid(answer.error())) << "no request is under way";
    EXPECT_EQ(ports::lost_with(answer.error()).size(), 1U);
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
    boost::asio::steady_timer later(with.on.io, 10ms);
    later.async_wait([&](boost::system::error_code) { cancel.request(cancel_reason::user); });
    const auto answer = with.complete(&cancel);
    ASSERT_FALSE(answer);
    EXPECT_TRUE(answer.error().is_cancelled());
    EXPECT_EQ(with.gate->waited, 1);
    EXPECT_EQ(with.gate->given, 0U);
}

TEST(http_chat_provider_gate, hears_that_a_call_was_cancelled) {
    fixture with;
    with.gated();
    with.http.reply(200, "", as_stream);
    with.http.answers.back().ends_with = error::cancelled(cancel_reason::user);
    EXPECT_FALSE(with.stream());
    ASSERT_EQ(with.gate->ends.size(), 1U);
    EXPECT_TRUE(with.gate->ends[0].cancelled);
}

} // namespace
} // namespace heddle::testing
