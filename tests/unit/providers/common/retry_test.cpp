#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/providers/common/retry.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using coro::deadline;
using ports::llm_errc;
using providers::is_retryable;
using providers::parse_http_date;
using providers::read_retry_advice;
using providers::retry_options;
using providers::retry_state;

const coro::clock::time_point start = coro::clock::time_point(1000s);
const std::chrono::system_clock::time_point date =
    std::chrono::sys_days(std::chrono::year(1994) / 11 / 6) + 8h + 49min + 37s;

error failure(llm_errc code) { return error(ports::make_error_code(code), "x"); }

retry_options options_with(unsigned retries) {
    retry_options options;
    options.max_retries = options.max_rate_limit_retries = retries;
    options.seed = 42;
    return options;
}

TEST(retry, what_may_pass_and_what_never_does) {
    for (const auto code : {llm_errc::rate_limit, llm_errc::overloaded, llm_errc::server,
                            llm_errc::request_timeout, llm_errc::conflict, llm_errc::connection}) {
        EXPECT_TRUE(is_retryable(failure(code)));
    }
    for (const auto code :
         {llm_errc::invalid_request, llm_errc::authentication, llm_errc::permission,
          llm_errc::not_found, llm_errc::quota, llm_errc::protocol, llm_errc::content_refused,
          llm_errc::configuration}) {
        EXPECT_FALSE(is_retryable(failure(code)));
    }
    EXPECT_FALSE(is_retryable(failure(llm_errc::server).with_retryable(false)));
    EXPECT_TRUE(is_retryable(failure(llm_errc::not_found).with_retryable(true)));
    EXPECT_FALSE(is_retryable(error::cancelled(cancel_reason::user)));
    EXPECT_TRUE(
        is_retryable(error(ports::make_error_code(ports::http_errc::connection_reset), "x")));
    EXPECT_FALSE(is_retryable(error(ports::make_error_code(ports::http_errc::tls_failed), "x")));
    EXPECT_FALSE(is_retryable(error(errc::internal, "x")));
}

TEST(retry, waits_grow_with_full_jitter_up_to_the_cap) {
    const retry_options options = options_with(8);
    std::vector<std::chrono::milliseconds> greatest(8);
    std::vector<double> sum(8);
    constexpr int rounds = 4000;
    auto jitter = make_jitter(options);
    for (int round = 0; round < rounds; ++round) {
        retry_state state(options, jitter);
        for (std::size_t i = 0; i < 8; ++i) {
            const auto decision = state.after(failure(llm_errc::server), start, {});
            ASSERT_TRUE(decision.again);
            const auto wait =
                std::chrono::duration_cast<std::chrono::milliseconds>(decision.at - start);
            greatest[i] = std::max(greatest[i], wait);
            sum[i] += static_cast<double>(wait.count());
        }
        EXPECT_FALSE(state.after(failure(llm_errc::server), start, {}).again);
        EXPECT_EQ(state.attempts(), 9U);
    }
    std::chrono::milliseconds ceiling = 500ms;
    for (std::size_t i = 0; i < 8; ++i, ceiling = std::min(ceiling * 2, options.max_wait)) {
        EXPECT_LE(greatest[i], ceiling);
        EXPECT_GT(greatest[i], ceiling * 9 / 10);
        EXPECT_NEAR(sum[i] / rounds, static_cast<double>(ceiling.count()) / 2,
                    static_cast<double>(ceiling.count()) / 20);
    }
}

TEST(retry, behind_a_limiter_a_429_is_not_waited_for_here) {
    const retry_options options = options_with(2);
    auto jitter = make_jitter(options);
    retry_state state(options, jitter, {}, true);
    const auto limited =
        state.after(failure(llm_errc::rate_limit).with_retry_after(20s), start, {});
    EXPECT_TRUE(limited.again);
    EXPECT_EQ(limited.at, start);
    const error soon = failure(llm_errc::rate_limit).with_retry_after(20s);
    EXPECT_FALSE(state.after(soon, start, deadline(start + 10s)).again);
    const auto busy = state.after(failure(llm_errc::overloaded).with_retry_after(2s), start, {});
    EXPECT_GE(busy.at, start + 2s); // of which the limiter has not heard
    EXPECT_TRUE(state.after(failure(llm_errc::rate_limit), start, {}).again);
    EXPECT_FALSE(state.after(failure(llm_errc::rate_limit), start, {}).again);
}

TEST(retry, the_same_seed_yields_the_same_waits) {
    const retry_options options = options_with(5);
    auto one = make_jitter(options);
    auto two = make_jitter(options);
    retry_state first(options, one);
    retry_state second(options, two);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(first.after(failure(llm_errc::server), start, {}).at,
                  second.after(failure(llm_errc::server), start, {}).at);
    }
}

TEST(retry, the_service_is_not_asked_before_its_time) {
    const retry_options options = options_with(100);
    auto jitter = make_jitter(options);
    retry_state state(options, jitter);
    for (int i = 0; i < 50; ++i) {
        const auto decision =
            state.after(failure(llm_errc::rate_limit).with_retry_after(20s), start, {});
        ASSERT_TRUE(decision.again);
        EXPECT_GE(decision.at, start + 20s);
        EXPECT_LE(decision.at, start + 21s); // also the last of many
    }
    EXPECT_FALSE(
        state.after(failure(llm_errc::rate_limit).with_retry_after(121s), start, {}).again);
}

TEST(retry, a_try_that_cannot_end_in_time_is_not_started) {
    retry_options options = options_with(10);
    options.min_try = 100ms;
    auto jitter = make_jitter(options);
    retry_state state(options, jitter);
    const error busy = failure(llm_errc::rate_limit).with_retry_after(1s);
    EXPECT_FALSE(state.after(busy, start, deadline(start + 1s)).again);
    EXPECT_FALSE(state.after(busy, start, deadline(start + 1050ms)).again);
    EXPECT_TRUE(state.after(busy, start, deadline(start + 4s)).again);
    EXPECT_EQ(state.attempts(), 2U);
}

TEST(retry, rate_limits_and_failures_have_budgets_of_their_own) {
    retry_options options;
    options.max_retries = 1;
    options.max_rate_limit_retries = 2;
    auto jitter = make_jitter(options);
    retry_state state(options, jitter);
    EXPECT_TRUE(state.after(failure(llm_errc::rate_limit), start, {}).again);
    EXPECT_TRUE(state.after(failure(llm_errc::server), start, {}).again);
    EXPECT_TRUE(state.after(failure(llm_errc::rate_limit), start, {}).again);
    EXPECT_FALSE(state.after(failure(llm_errc::server), start, {}).again);
    EXPECT_FALSE(state.after(failure(llm_errc::rate_limit), start, {}).again);
    EXPECT_FALSE(state.after(failure(llm_errc::quota), start, {}).again);
    EXPECT_FALSE(state.after(error::cancelled(cancel_reason::user), start, {}).again);
}

TEST(retry, the_time_for_all_tries_ends_them) {
    retry_options options = options_with(10);
    options.total = 10s;
    auto jitter = make_jitter(options);
    retry_state state(options, jitter, start);
    const error busy = failure(llm_errc::rate_limit).with_retry_after(2s);
    EXPECT_TRUE(state.after(busy, start + 5s, {}).again);
    EXPECT_FALSE(state.after(busy, start + 9s, {}).again);
    options.total = 0s; // no bound
    EXPECT_TRUE(state.after(busy, start + 9s, {}).again);
}

TEST(retry, waits_as_texts_of_services_ask_for_them) {
    using providers::read_retry_text;
    EXPECT_EQ(read_retry_text("Rate limit reached for gpt-4o in organization x on tokens per min "
                              "(TPM): Limit 30000. Please try again in 1.2s. Visit the page."),
              1'200ms);
    EXPECT_EQ(read_retry_text("Please try again in 6m0s."), 6min);
    EXPECT_EQ(read_retry_text("please TRY AGAIN IN 120ms"), 120ms);
    EXPECT_EQ(read_retry_text("Please retry in 34.074824224s."), 34'075ms);
    EXPECT_EQ(read_retry_text("exceeded the limit. Please retry after 26 seconds. See"), 26s);
    EXPECT_EQ(read_retry_text("try again in 2 minutes"), 2min);
    EXPECT_EQ(read_retry_text("try again in 250 milliseconds"), 250ms);
    EXPECT_EQ(read_retry_text("retry after 99999999999 hours"), std::chrono::weeks(1));
    for (const char* none :
         {"", "slow down", "try again in ", "try again in a while", "retry after 7",
          "retry after 7 apples", "try again in -3s", "try again in 1.2.3s", "try again in 1e9s"}) {
        EXPECT_FALSE(read_retry_text(none)) << none;
    }
}

TEST(retry, dates_beyond_what_nanoseconds_can_count) {
    for (const char* text : {"Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 12 Apr 2263 00:00:00 GMT"}) {
        EXPECT_EQ(read_retry_advice({}, {}, text, date).wait, std::chrono::weeks(1)) << text;
    }
    for (const char* text : {"Sat, 01 Jan 0000 00:00:00 GMT", "Tue, 10 Sep 1677 00:00:00 GMT"}) {
        EXPECT_EQ(read_retry_advice({}, {}, text, date).wait, 0ms) << text;
    }
}

TEST(retry, durations_as_services_write_them) {
    using providers::parse_duration;
    EXPECT_EQ(parse_duration("23.4s"), 23'400ms);
    EXPECT_EQ(parse_duration("6m0s"), 6min);
    EXPECT_EQ(parse_duration("1h2m3.5s"), 1h + 2min + 3'500ms);
    EXPECT_EQ(parse_duration("120ms"), 120ms);
    EXPECT_EQ(parse_duration(" 0.25 "), 250ms); // a number alone: seconds
    EXPECT_EQ(parse_duration("1us"), 1ms);      // rounded up
    EXPECT_EQ(parse_duration("0s"), 0ms);
    EXPECT_EQ(parse_duration("99999999h"), std::chrono::weeks(1));
    for (const char* wrong :
         {"", " ", "s", "5x", "-1s", "1s2", "1 s", "nan", "infs", "1e3s", "5s 5s", "1d"}) {
        EXPECT_FALSE(parse_duration(wrong)) << wrong;
    }
}

TEST(retry, dates_in_all_three_forms) {
    EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), date);
    EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), date);
    EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), date + std::chrono::days(36525));
    for (const char* wrong :
         {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
          "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
          "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08-49-37 GMT", "1994-11-06"}) {
        EXPECT_FALSE(parse_http_date(wrong)) << wrong;
    }
}

TEST(retry, advice_of_the_headers) {
    EXPECT_EQ(read_retry_advice({}, "1500", "9", date).wait, 1500ms);
    EXPECT_EQ(read_retry_advice({}, "x", "9", date).wait, 9s);
    EXPECT_EQ(read_retry_advice({}, {}, " 0.25 ", date).wait, 250ms);
    EXPECT_EQ(read_retry_advice({}, {}, "Sun, 06 Nov 1994 08:49:47 GMT", date).wait, 10s);
    EXPECT_EQ(read_retry_advice({}, {}, "Sun, 06 Nov 1994 08:49:27 GMT", date).wait, 0s);
    for (const char* wrong : {"", "-1", "nan", "inf", "1e3", "0x10", "soon"}) {
        EXPECT_FALSE(read_retry_advice({}, wrong, wrong, date).wait) << wrong;
    }
    EXPECT_EQ(read_retry_advice({}, {}, "99999999999999999999999", date).wait,
              std::chrono::weeks(1));
    EXPECT_EQ(read_retry_advice("true", {}, {}, date).should_retry, true);
    EXPECT_EQ(read_retry_advice("false", {}, {}, date).should_retry, false);
    EXPECT_EQ(read_retry_advice("yes", {}, {}, date).should_retry, std::nullopt);
}

} // namespace
} // namespace heddle::testing
