#include "limiter_bench.hpp"

#include <gtest/gtest.h>

#include <array>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using coro::deadline;
using providers::rate_limit_headers;
using providers::limits::call_end;
using providers::limits::call_report;
using providers::limits::call_size;
using providers::limits::limiter_fsm;
using providers::limits::limiter_hold;
using providers::limits::limiter_options;

TEST(limiter_fsm, knows_nothing_and_holds_nothing_back) {
    limiter_bench at;
    for (int i = 0; i < 32; ++i) EXPECT_NE(at.go(), limiter_fsm::no_slot);
    EXPECT_EQ(at.machine.in_flight(), 32U);
}

TEST(limiter_fsm, window_doubles_with_each_round_of_responses) {
    limiter_bench at;
    for (int i = 0; i < 2000; ++i) at.wait();
    std::vector<std::uint32_t> round;
    for (const auto& each : at.waiters) {
        if (each.slot != limiter_fsm::no_slot) round.push_back(each.slot);
    }
    EXPECT_EQ(round.size(), 32U);
    for (int rounds = 0; rounds < 4; ++rounds) {
        std::vector<std::uint32_t> next;
        for (const std::uint32_t slot : round) {
            at.end(slot);
            for (const auto* each : at.released()) next.push_back(each->slot);
        }
        EXPECT_EQ(next.size(), 2 * round.size());
        round = std::move(next);
    }
}

TEST(limiter_fsm, window_does_not_grow_when_nobody_wants_more) {
    limiter_bench at;
    for (int i = 0; i < 1000; ++i) at.end(at.go());
    EXPECT_EQ(at.machine.counters(at.now).window, 32U);
}

TEST(limiter_fsm, only_a_429_shrinks_the_window_and_once_for_a_round) {
    limiter_bench at;
    std::vector<std::uint32_t> slots;
    for (int i = 0; i < 32; ++i) slots.push_back(at.go());
    at.end(slots[0], call_end::failed);
    at.end(slots[1], call_end::failed);
    EXPECT_EQ(at.machine.counters(at.now).window, 32U);
    for (std::size_t i = 2; i < 12; ++i) at.limited(slots[i]);
    EXPECT_EQ(at.machine.counters(at.now).window, 24U);
    EXPECT_EQ(at.machine.counters(at.now).limited, 10U);
}

TEST(limiter_fsm, cooldown_honours_the_longest_retry_after) {
    limiter_bench at;
    const auto first = at.go();
    const auto second = at.go();
    const auto third = at.go();
    at.limited(first, 2s);
    at.limited(second, 20s);
    at.limited(third, 1s); // a shorter one takes nothing back
    EXPECT_EQ(at.machine.counters(at.now).cooldown_until, start + 20s);
    EXPECT_EQ(at.go(), limiter_fsm::no_slot);
    at.wait();
    EXPECT_TRUE(at.released().empty());
    EXPECT_EQ(at.machine.wake_at(), start + 20s);
    at.now = start + 20s - 1ms;
    EXPECT_TRUE(at.released().empty());
    at.now = start + 20s;
    EXPECT_EQ(at.released().size(), 1U);
}

TEST(limiter_fsm, cooldown_without_advice_is_chance_below_a_ceiling_that_doubles) {
    std::array<double, 8> sum{};
    constexpr int rounds = 400;
    for (int round = 1; round <= rounds; ++round) {
        limiter_options options;
        options.seed = static_cast<std::uint64_t>(round) * 7919;
        limiter_bench at(options);
        auto ceiling = 500ms;
        for (double& each : sum) {
            at.wait();
            at.pass(3600s);
            const auto slot = at.waiters.back().slot;
            ASSERT_NE(slot, limiter_fsm::no_slot);
            at.limited(slot);
            const auto wait = at.machine.counters(at.now).cooldown_until - at.now;
            EXPECT_LE(wait, ceiling);
            each += std::chrono::duration<double>(wait).count();
            ceiling = std::min(2 * ceiling, 30'000ms);
        }
    }
    double ceiling = 0.5;
    for (const double each : sum) {
        EXPECT_NEAR(each / rounds, ceiling / 2, ceiling / 12);
        ceiling = std::min(2 * ceiling, 30.0);
    }
}

TEST(limiter_fsm, absurd_advice_is_bounded) {
    limiter_options options;
    options.max_wait = std::chrono::hours(48);
    limiter_bench at(options);
    at.limited(at.go(), std::chrono::milliseconds(std::int64_t{1} << 50));
    auto& call = at.wait(1, deadline(start + 23h));
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    EXPECT_EQ(call.refused_until, start + 24h);
    EXPECT_LE(at.machine.counters(at.now).cooldown_until, start + 26h);
}

TEST(limiter_fsm, advice_to_come_back_at_once_is_none) {
    limiter_bench at;
    at.limited(at.go(), 0ms);
    EXPECT_GT(at.machine.counters(at.now).cooldown_until, start);
    EXPECT_LE(at.machine.counters(at.now).cooldown_until, start + 500ms);
}

TEST(limiter_fsm, a_pause_that_is_too_long_for_anybody_refuses_all) {
    limiter_bench at(per_minute(60));
    while (at.go() != limiter_fsm::no_slot) {}
    auto& waits = at.wait(1);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
    at.limited(0, 600s);
    const auto reported = at.released();
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported[0], &waits);
    EXPECT_TRUE(waits.refused_for_long);
    EXPECT_EQ(waits.refused_until, start + 600s);
    auto& next = at.wait(2);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    EXPECT_TRUE(next.refused_for_long);
    EXPECT_EQ(at.machine.waiting(), 0U);
    at.now = start + 500s; // 100 s are left: that is waited for
    at.wait(3);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
    at.now = start + 650s;
    EXPECT_EQ(at.released().size(), 1U);
}

TEST(limiter_fsm, a_limit_of_the_service_that_is_used_up_for_long_refuses_as_well) {
    limiter_bench at;
    rate_limit_headers headers = report_requests(200, 0); // a day's
    headers.requests_reset = 24h;
    at.answer(at.go(), headers);
    auto& call = at.wait(1);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    EXPECT_TRUE(call.refused_for_long);
    EXPECT_GT(*call.refused_until, start + 400s);
}

TEST(limiter_fsm, a_limit_on_tokens_that_is_used_up_for_long_refuses_as_well) {
    limiter_bench at;
    rate_limit_headers headers;
    headers.tokens_limit = 60; // a day's
    headers.tokens_remaining = 20;
    headers.tokens_reset = 8h;
    at.answer(at.go(10), headers);
    auto& call = at.wait(1);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    EXPECT_TRUE(call.refused_for_long);
    EXPECT_GT(*call.refused_until, start + 1h);
    at.now = start + 8h - 100s; // so much is waited for
    at.wait(2);
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
    EXPECT_TRUE(at.released().empty());
    at.now = start + 8h;
    EXPECT_EQ(at.released().size(), 1U);
    // Without a time of the service it would be a guess that the call fails by.
    limiter_bench untold;
    headers.tokens_remaining = 0;
    headers.tokens_reset.reset();
    const auto large = untold.go(1000);
    const auto second = untold.go(1000);
    untold.answer(large, headers);
    untold.answer(second, headers);
    untold.wait(1);
    EXPECT_EQ(untold.arrived, limiter_fsm::arrival::queued);
}

TEST(limiter_fsm, those_that_wait_are_refused_when_a_limit_takes_too_long) {
    limiter_options options;
    options.first_in_flight = 2;
    rate_limit_headers of_requests = report_requests(70, 0);
    of_requests.requests_reset = 10h;
    rate_limit_headers of_tokens;
    of_tokens.tokens_limit = 6000;
    of_tokens.tokens_remaining = 0;
    of_tokens.tokens_reset = 10h;
    for (const rate_limit_headers& headers : {of_requests, of_tokens}) {
        limiter_bench at(options);
        const auto first = at.go();
        const auto second = at.go();
        auto& one = at.wait(1);
        auto& other = at.wait(2);
        EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
        at.answer(first, headers);
        EXPECT_TRUE(at.released().empty()) << "the second may give back what it holds";
        at.answer(second, headers);
        EXPECT_EQ(at.released().size(), 2U);
        for (const limiter_fsm::waiter* each : {&one, &other}) {
            EXPECT_TRUE(each->refused_for_long);
            EXPECT_EQ(each->slot, limiter_fsm::no_slot);
            ASSERT_TRUE(each->refused_until);
            EXPECT_GT(*each->refused_until, start + 120s);
        }
        EXPECT_EQ(at.machine.waiting(), 0U);
        EXPECT_EQ(at.machine.counters(at.now).refused, 2U);
    }
}

TEST(limiter_fsm, a_429_that_the_headers_explain_teaches_nothing_else) {
    limiter_bench at;
    std::vector<std::uint32_t> slots;
    for (int i = 0; i < 20; ++i) slots.push_back(at.go());
    rate_limit_headers headers = report_requests(10, 0);
    headers.requests_reset = 200ms;
    call_report report;
    report.end = call_end::limited;
    report.limits = &headers;
    for (std::size_t i = 10; i < 20; ++i) at.machine.settle(slots[i], report, at.now);
    const auto counters = at.machine.counters(at.now);
    EXPECT_EQ(counters.limited, 10U);
    EXPECT_FALSE(counters.learned_per_second);
    EXPECT_EQ(counters.window, 32U);
    EXPECT_LE(counters.cooldown_until, at.now);
    at.wait();
    EXPECT_TRUE(at.released().empty());
    EXPECT_EQ(at.machine.hold(), limiter_hold::requests);
    EXPECT_LE(at.machine.wake_at(), at.now + 25ms); // 50 a second
    // Time and again, though there was room: the headers do not say all.
    for (int i = 0; i < 3; ++i) {
        at.now += 10s;
        (void)at.released();
        const auto slot = at.go();
        ASSERT_NE(slot, limiter_fsm::no_slot);
        at.machine.settle(slot, report, at.now);
    }
    EXPECT_TRUE(at.machine.counters(at.now).learned_per_second);
}

TEST(limiter_fsm, what_remains_of_a_limit_that_is_not_named_explains_no_429) {
    rate_limit_headers requests;
    requests.requests_remaining = 0;
    rate_limit_headers tokens = report_requests(100, 50); // the limit that is named has room
    tokens.tokens_remaining = 0;
    rate_limit_headers no_number = requests;
    no_number.requests_limit = 0;
    for (const rate_limit_headers& headers : {requests, tokens, no_number}) {
        limiter_bench at;
        std::vector<std::uint32_t> slots;
        for (int i = 0; i < 20; ++i) slots.push_back(at.go());
        at.now += 100ms;
        call_report report;
        report.end = call_end::limited;
        report.limits = &headers;
        for (std::size_t i = 10; i < 20; ++i) at.machine.settle(slots[i], report, at.now);
        const auto counters = at.machine.counters(at.now);
        EXPECT_TRUE(counters.learned_per_second);
        EXPECT_EQ(counters.window, 24U);
        EXPECT_GT(counters.cooldown_until, at.now);
    }
}

TEST(limiter_fsm, the_window_doubles_by_time_until_a_429) {
    limiter_options options;
    options.first_in_flight = 64;
    options.doubles_every = 200ms;
    limiter_bench at(options);
    for (int i = 0; i < 2'000; ++i) at.wait();
    EXPECT_EQ(at.machine.in_flight(), 64U);
    EXPECT_TRUE(at.released().empty());
    EXPECT_EQ(at.machine.wake_at(), start + 200ms);
    EXPECT_EQ(at.pass(200ms), 64U);
    EXPECT_EQ(at.pass(200ms), 128U);
    limiter_bench refused(options);
    for (int i = 0; i < 1000; ++i) refused.wait();
    refused.now += 1ms;
    refused.limited(refused.waiters.front().slot);
    EXPECT_LE(refused.pass(1s), 40U);
}

TEST(limiter_fsm, reports_what_delays_calls_and_until_when) {
    limiter_options options = per_minute(60);
    options.first_in_flight = 12;
    limiter_bench at(options);
    EXPECT_EQ(at.machine.counters(at.now).hold, limiter_hold::nothing);
    std::vector<std::uint32_t> slots;
    for (std::uint32_t slot; (slot = at.go()) != limiter_fsm::no_slot;) slots.push_back(slot);
    at.wait();
    (void)at.released();
    EXPECT_EQ(at.machine.counters(at.now).hold, limiter_hold::requests);
    EXPECT_GT(at.machine.counters(at.now).held_until, at.now);
    at.limited(slots[0], 20s);
    (void)at.released();
    EXPECT_EQ(at.machine.counters(at.now).hold, limiter_hold::asked_pause);
    EXPECT_EQ(at.machine.counters(at.now).waiting, 1U);

    limiter_options narrow;
    narrow.first_in_flight = narrow.max_in_flight = 1;
    limiter_bench full(narrow);
    (void)full.go();
    full.wait();
    (void)full.released();
    EXPECT_EQ(full.machine.counters(full.now).hold, limiter_hold::in_flight);
    EXPECT_EQ(full.machine.counters(full.now).held_until, coro::clock::time_point::max());
}

TEST(limiter_fsm, a_thousand_waiters_come_out_of_a_cooldown_one_by_one) {
    for (const bool warm : {false, true}) {
        limiter_bench at;
        if (warm) { // 10 s at 20 calls a second, each of which takes 200 ms
            for (int i = 0; i < 200; ++i) {
                const auto slot = at.go();
                at.now += 50ms;
                at.end(slot);
            }
        }
        const auto slot = at.go();
        for (int i = 0; i < 1000; ++i) at.wait();
        at.now += 50ms;
        at.limited(slot, 20s);
        EXPECT_EQ(at.pass(20s - 1ms), 0U);
        const std::size_t at_once = at.pass(2ms);
        EXPECT_LE(at_once, 2U);
        const std::size_t first_second = at.pass(1s);
        EXPECT_LE(first_second, 12U);
        // Nobody answers: the window holds as well.
        EXPECT_LE(at.pass(60s), 31U);
    }
}

TEST(limiter_fsm, what_cannot_go_before_its_deadline_is_refused_at_once) {
    limiter_bench at;
    const auto slot = at.go();
    auto& waits = at.wait(1); // admitted: nothing holds it back
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::admitted);
    at.end(waits.slot);
    at.limited(slot, 30s);
    auto& soon = at.wait(1, deadline(at.now + 10s));
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    EXPECT_EQ(soon.refused_until, at.now + 30s);
    at.wait(1, deadline(at.now + 31s));
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
    EXPECT_EQ(at.machine.counters(at.now).refused, 1U);
}

TEST(limiter_fsm, those_that_wait_are_refused_when_a_cooldown_takes_too_long) {
    limiter_bench at(per_minute(6));
    const auto slot = at.go();
    auto& soon = at.wait(1, deadline(at.now + 15s));
    auto& patient = at.wait(1);
    EXPECT_TRUE(at.released().empty());
    at.limited(slot, 60s);
    const auto reported = at.released();
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported[0], &soon);
    EXPECT_EQ(soon.refused_until, at.now + 60s);
    EXPECT_EQ(soon.slot, limiter_fsm::no_slot);
    EXPECT_TRUE(patient.queued());
}

TEST(limiter_fsm, a_deadline_behind_a_long_queue_of_ones_own_is_refused) {
    limiter_bench at(per_minute(60));
    while (at.go() != limiter_fsm::no_slot) {}
    for (int i = 0; i < 30; ++i) at.wait(7);
    at.wait(7, deadline(at.now + 5s));
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::refused);
    at.wait(8, deadline(at.now + 5s)); // another flow is served in turn
    EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
}

TEST(limiter_fsm, leaving_at_every_step_returns_the_reservation) {
    limiter_options options = per_minute(600);
    options.per_minute[1] = 600'000;
    for (int step = 0; step < 4; ++step) {
        limiter_bench at(options);
        const auto fresh = at.machine.counters(at.now);
        auto& call = at.wait();
        ASSERT_EQ(at.arrived, limiter_fsm::arrival::admitted);
        if (step == 0) at.end(call.slot, call_end::not_sent);
        std::vector<std::uint32_t> others;
        if (step > 0) {
            for (std::uint32_t slot; (slot = at.go(1)) != limiter_fsm::no_slot;) {
                others.push_back(slot);
            }
            auto& late = at.wait();
            EXPECT_EQ(at.arrived, limiter_fsm::arrival::queued);
            if (step == 1) at.machine.leave(late); // before anything happened
            if (step == 2) {                       // after it was looked at
                EXPECT_TRUE(at.released().empty());
                at.machine.leave(late);
            }
            if (step == 3) { // when it had just been let go
                at.end(call.slot, call_end::not_sent);
                ASSERT_EQ(at.released().size(), 1U);
                at.end(late.slot, call_end::not_sent);
            } else {
                at.end(call.slot, call_end::not_sent);
            }
            EXPECT_FALSE(late.queued());
        }
        for (const std::uint32_t slot : others) at.end(slot, call_end::not_sent);
        const auto after = at.machine.counters(at.now);
        EXPECT_EQ(after.in_flight, 0U) << step;
        EXPECT_EQ(after.waiting, 0U) << step;
        EXPECT_EQ(after.left, fresh.left) << step;
    }
}

TEST(limiter_fsm, settling_a_slot_twice_is_harmless) {
    limiter_bench at;
    const auto slot = at.go();
    at.end(slot);
    at.end(slot);
    EXPECT_EQ(at.machine.in_flight(), 0U);
    EXPECT_NE(at.go(), at.go());
}

TEST(limiter_fsm, daily_limits_are_distinguished_from_those_of_a_minute) {
    limiter_bench at;
    for (int i = 1; i <= 6; ++i) {
        rate_limit_headers headers = report_requests(8'640, 8'640 - 10 * i);
        headers.requests_reset = 100'000ms * i; // 10 s for each
        at.answer(at.go(), headers);
    }
    EXPECT_NEAR(*at.machine.counters(at.now).per_second[0], 0.1, 0.001);
    // 8,580 but for a twentieth of all. Half of each change is believed, so the copy lags by one.
    EXPECT_NEAR(static_cast<double>(*at.machine.counters(at.now).left[0]), 8'148, 10);
}

} // namespace
} // namespace heddle::testing
