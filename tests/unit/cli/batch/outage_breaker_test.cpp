// Pauses while a service is down.
#include "batch/execution/outage_breaker.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;
using state = outage_breaker::state;

constexpr coro::clock::time_point begin{};

outage_breaker opened() {
    outage_breaker breaker;
    for (std::uint64_t i = 0; i < outage_breaker::failures_to_open; ++i)
        breaker.row_ended(true, false, begin);
    return breaker;
}

TEST(an_outage_breaker, opens_after_failures_in_a_row) {
    outage_breaker breaker;
    for (int rounds = 0; rounds < 10; ++rounds) {
        for (int i = 0; i < 4; ++i) breaker.row_ended(true, false, begin);
        breaker.row_ended(false, false, begin);
    }
    EXPECT_TRUE(breaker.is_closed());
    EXPECT_FALSE(opened().is_closed());
}

TEST(an_outage_breaker, lets_one_row_try_after_growing_pauses) {
    outage_breaker breaker = opened();
    auto now = begin;
    for (const auto pause : {5s, 10s, 20s, 40s, 60s, 60s, 60s, 60s}) {
        EXPECT_EQ(breaker.next_probe(), now + pause);
        EXPECT_FALSE(breaker.take_probe(now + pause - 1ms));
        now += pause;
        EXPECT_TRUE(breaker.take_probe(now));
        EXPECT_FALSE(breaker.take_probe(now));
        breaker.row_ended(true, true, now);
    }
}

TEST(an_outage_breaker, does_not_count_rows_that_had_started_before_as_probes) {
    outage_breaker breaker = opened();
    ASSERT_TRUE(breaker.take_probe(begin + 5s));
    breaker.row_ended(true, false, begin + 6s);
    EXPECT_EQ(breaker.now(), state::probing);
}

TEST(an_outage_breaker, closes_with_any_row_that_is_answered) {
    outage_breaker breaker = opened();
    breaker.row_ended(false, false, begin + 1s);
    EXPECT_TRUE(breaker.is_closed());
    EXPECT_TRUE(breaker.has_worked());
    breaker.row_ended(true, false, begin + 2s);
    EXPECT_TRUE(breaker.is_closed());
}

TEST(an_outage_breaker, takes_another_probe_when_one_is_lost) {
    outage_breaker breaker = opened();
    ASSERT_TRUE(breaker.take_probe(begin + 5s));
    breaker.probe_lost(begin + 6s);
    EXPECT_TRUE(breaker.take_probe(begin + 6s));
}

TEST(an_outage_breaker, opens_early_when_nothing_else_may_run) {
    outage_breaker breaker;
    breaker.row_ended(true, false, begin);
    breaker.open(begin + 1s);
    EXPECT_EQ(breaker.now(), state::open);
    EXPECT_FALSE(breaker.take_probe(begin + 5s));
    EXPECT_TRUE(breaker.take_probe(begin + 6s));
    breaker.open(begin + 7s);
    EXPECT_EQ(breaker.now(), state::probing);
}

TEST(an_outage_breaker, finds_rows_at_which_a_service_fails) {
    outage_breaker first = opened();
    EXPECT_FALSE(first.is_fault_of_row(9, begin + 50min)) << "no row was answered";
    outage_breaker breaker;
    breaker.row_ended(false, false, begin);
    EXPECT_FALSE(breaker.is_fault_of_row(9, begin + 50min)) << "the service answers";
    for (int i = 0; i < 5; ++i) breaker.row_ended(true, false, begin);
    EXPECT_FALSE(breaker.is_fault_of_row(2, begin + 50min));
    EXPECT_FALSE(breaker.is_fault_of_row(3, begin + 9min));
    EXPECT_TRUE(breaker.is_fault_of_row(3, begin + 10min));
}

} // namespace
} // namespace heddle::cli
