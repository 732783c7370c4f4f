// Limits per minute and per day: those of the user, and those that the headers of a service state.
#include "limiter_bench.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::rate_limit_headers;
using providers::limits::account_bounds;
using providers::limits::call_end;
using providers::limits::call_report;
using providers::limits::call_size;
using providers::limits::limiter_fsm;
using providers::limits::limiter_hold;
using providers::limits::limiter_options;
using providers::limits::measure;

TEST(limiter_rates, requests_per_minute_pace_calls) {
    limiter_options options = per_minute(600);
    options.first_in_flight = 3000;
    limiter_bench at(options);
    for (int i = 0; i < 2000; ++i) at.wait();
    EXPECT_EQ(at.machine.in_flight(), 100U); // a burst of 10 s, then evenly
    EXPECT_NEAR(static_cast<double>(at.pass(60s)), 490, 3);
    EXPECT_NEAR(static_cast<double>(at.pass(120s)), 1'176, 4); // a second beside each minute
}

TEST(limiter_rates, a_limit_of_the_user_holds_where_the_service_allows_more) {
    limiter_bench at(per_minute(60));
    rate_limit_headers headers = report_requests(6'000, 5'999);
    headers.requests_reset = 10ms;
    at.answer(at.go(), headers);
    EXPECT_EQ(at.machine.counters(at.now).per_second[0], 1);
    for (int i = 0; i < 200; ++i) at.wait();
    EXPECT_LE(at.machine.in_flight() + at.pass(59s), 60U);
    // And the other way round: a day's limit is not a leave to send all of it in a minute.
    limiter_bench daily(per_minute(60));
    headers = report_requests(1'440, 1'439);
    headers.requests_reset = 60s;
    daily.answer(daily.go(), headers);
    for (int i = 0; i < 2000; ++i) daily.wait();
    EXPECT_LE(daily.machine.in_flight() + daily.pass(59s), 60U);
}

TEST(limiter_rates, a_call_that_was_refused_has_been_sent_all_the_same) {
    limiter_bench at(per_minute(6));
    const auto slot = at.go();
    ASSERT_NE(slot, limiter_fsm::no_slot);
    at.limited(slot, 1ms);
    for (int i = 0; i < 50; ++i) at.wait();
    std::size_t sent = 1;
    const auto end = at.now + 59s;
    while (at.now < end) {
        at.now += 100ms;
        for (const auto* each : at.released()) {
            ++sent;
            at.limited(each->slot, 1ms);
        }
    }
    EXPECT_LE(sent, 6U);
}

TEST(limiter_rates, headers_set_the_limit_and_are_believed_at_once) {
    limiter_bench at;
    const auto slot = at.go();
    at.answer(slot, report_requests(60, 8)); // three of them stay in reserve
    EXPECT_EQ(at.machine.counters(at.now).left[0], 5);
    for (int i = 0; i < 5; ++i) EXPECT_NE(at.go(), limiter_fsm::no_slot);
    EXPECT_EQ(at.go(), limiter_fsm::no_slot);
    at.wait();
    (void)at.released();
    EXPECT_EQ(at.machine.wake_at(), at.now + 1s);
}

TEST(limiter_rates, headers_that_show_others_at_work_hold_back) {
    limiter_bench at;
    at.answer(at.go(), report_requests(6000, 6000));
    const auto before = *at.machine.counters(at.now).left[0];
    for (int i = 0; i < 12; ++i) at.answer(at.go(), report_requests(6000, 310));
    EXPECT_LT(*at.machine.counters(at.now).left[0], 30);
    EXPECT_EQ(before, 5700); // all of it but the reserve
}

TEST(limiter_rates, tokens_are_reserved_and_what_was_not_used_comes_back) {
    limiter_options options;
    options.per_minute[1] = 60'000; // 10,000 of them at once
    limiter_bench at(options);
    const auto left = [&] { return *at.machine.counters(at.now).left[1]; };
    EXPECT_EQ(left(), 10'000);
    const auto slot = at.machine.try_admit({4'000, 300}, at.now);
    EXPECT_EQ(left(), 5'700);
    ports::token_usage usage;
    usage.input = 1'000;
    usage.output = 100;
    at.answer(slot, {}, &usage);
    EXPECT_EQ(left(), 8'900);
    const auto more = at.machine.try_admit({4'000, 300}, at.now);
    usage.output = 7'000; // more than thought: a debt
    at.answer(more, {}, &usage);
    EXPECT_EQ(left(), 900);
}

TEST(limiter_rates, input_and_output_have_their_own_limits) {
    limiter_options options;
    options.per_minute[2] = 600'000;
    options.per_minute[3] = 6'000; // 1,000 at once
    limiter_bench at(options);
    EXPECT_NE(at.machine.try_admit({10, 900}, at.now), limiter_fsm::no_slot); // 512 are expected
    EXPECT_EQ(at.machine.try_admit({10, 900}, at.now), limiter_fsm::no_slot);
    EXPECT_NE(at.machine.try_admit({10, 50}, at.now), limiter_fsm::no_slot);
}

TEST(limiter_rates, guesses_of_input_are_corrected_by_what_was_used) {
    limiter_options options;
    options.per_minute[2] = 60'000'000;
    limiter_bench at(options);
    ports::token_usage usage;
    usage.input = 200;
    for (int i = 0; i < 200; ++i) at.answer(at.go(100), {}, &usage);
    const auto before = *at.machine.counters(at.now).left[2];
    (void)at.go(1'000);
    EXPECT_NEAR(static_cast<double>(before - *at.machine.counters(at.now).left[2]), 2'000, 20);
}

TEST(limiter_rates, hostile_figures_do_no_harm) {
    limiter_bench at;
    ports::token_usage usage;
    usage.input = std::numeric_limits<std::int64_t>::max();
    usage.output = std::numeric_limits<std::int64_t>::min();
    rate_limit_headers headers = report_requests(-5, 7);
    headers.tokens_limit = std::numeric_limits<std::int64_t>::max();
    headers.tokens_remaining = std::numeric_limits<std::int64_t>::min();
    headers.tokens_reset = std::chrono::milliseconds(-1);
    headers.output_tokens_limit = 0;
    headers.output_tokens_remaining = 0;
    for (int i = 0; i < 100; ++i) {
        at.wait();
        at.pass(100s);
        ASSERT_NE(at.waiters.back().slot, limiter_fsm::no_slot) << i;
        at.answer(at.waiters.back().slot, headers, &usage);
    }
    EXPECT_LT(at.machine.counters(at.now).window, 100'000U);
}

TEST(limiter_rates, a_prompt_larger_than_a_limit_of_the_user_is_refused) {
    for (const measure which : {measure::tokens, measure::input_tokens}) {
        limiter_options options;
        options.per_minute[index_of(which)] = 6'000;
        limiter_bench at(options);
        EXPECT_EQ(at.go(6'001), limiter_fsm::no_slot);
        limiter_fsm::waiter large;
        large.size = {6'001, 0};
        EXPECT_EQ(at.machine.arrive(large, at.now), limiter_fsm::arrival::refused);
        ASSERT_TRUE(large.too_large);
        EXPECT_EQ(large.too_large->of, which);
        EXPECT_EQ(large.too_large->needed, 6'001);
        EXPECT_EQ(large.too_large->limit, 6'000);
        EXPECT_EQ(at.machine.waiting(), 0U);
        EXPECT_NE(at.go(6'000), limiter_fsm::no_slot)
            << "with its output it is more, and goes alone";
    }
}

TEST(limiter_rates, what_a_response_used_beyond_a_limit_of_the_user_holds_back_for_a_minute) {
    limiter_options options;
    options.per_minute[index_of(measure::tokens)] = 1'000;
    limiter_bench at(options);
    const std::uint32_t slot = at.go();
    ASSERT_NE(slot, limiter_fsm::no_slot);
    ports::token_usage usage;
    usage.input = 100;
    usage.output = 100'000;
    at.answer(slot, {}, &usage);
    at.wait();
    (void)at.released();
    EXPECT_GE(at.machine.wake_at(), start + 60s);
    EXPECT_LE(at.machine.wake_at(), start + 62s);
    EXPECT_EQ(at.pass(62s), 1U);
}

TEST(limiter_rates, a_call_that_waits_is_refused_when_a_limit_becomes_too_strict_for_it) {
    limiter_options options;
    options.max_in_flight = options.first_in_flight = 1;
    limiter_bench at(options);
    ASSERT_NE(at.go(), limiter_fsm::no_slot);
    limiter_fsm::waiter& large = at.wait();
    ASSERT_EQ(at.arrived, limiter_fsm::arrival::queued);
    account_bounds bounds;
    bounds.per_minute[index_of(measure::tokens)] = 50;
    at.machine.tighten(bounds, at.now);
    EXPECT_EQ(at.released(), std::vector<limiter_fsm::waiter*>{&large});
    EXPECT_TRUE(large.too_large);
    EXPECT_EQ(large.slot, limiter_fsm::no_slot);
}

} // namespace
} // namespace heddle::testing
