// Pauses while one of several services is down.
#include "batch/execution/service_outages.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;
using change = service_outages::change;
using contacts = std::vector<service_contact>;

constexpr coro::clock::time_point begin{};
const contacts nobody;
const contacts a_down{{"a", false}};
const contacts a_up{{"a", true}};
const contacts b_down{{"b", false}};
const contacts b_up{{"b", true}};

change fail(service_outages& services, const contacts& asked, std::uint64_t times) {
    change last = change::none;
    for (std::uint64_t i = 0; i < times; ++i)
        last = services.row_ended(asked, has_outage(asked), false, begin);
    return last;
}

TEST(outages_of_services, are_seen_between_rows_that_ask_nobody_or_another_service) {
    service_outages services;
    for (std::uint64_t i = 0; i + 1 < outage_breaker::failures_to_open; ++i) {
        EXPECT_EQ(fail(services, a_down, 1), change::none);
        EXPECT_EQ(fail(services, nobody, 1), change::none);
        EXPECT_EQ(fail(services, b_up, 1), change::none);
        EXPECT_FALSE(services.have_answered_since(a_down));
    }
    EXPECT_EQ(fail(services, a_down, 1), change::paused);
    EXPECT_TRUE(services.is_open_for(a_down));
    EXPECT_FALSE(services.is_open_for(b_down));
}

TEST(outages_of_services, end_only_with_a_response_of_that_service) {
    service_outages services;
    ASSERT_EQ(fail(services, a_down, outage_breaker::failures_to_open), change::paused);
    const auto later = begin + 5s;
    for (const contacts& asked : {nobody, b_up}) {
        ASSERT_TRUE(services.take_probe(later));
        EXPECT_FALSE(services.take_probe(later));
        EXPECT_EQ(services.row_ended(asked, false, true, later), change::none);
        EXPECT_EQ(services.next_probe(), later) << "nothing was learned";
    }
    ASSERT_TRUE(services.take_probe(later));
    EXPECT_EQ(services.row_ended(a_down, true, true, later), change::none);
    EXPECT_EQ(services.next_probe(), later + 10s);
    ASSERT_TRUE(services.take_probe(later + 10s));
    EXPECT_EQ(services.row_ended(a_up, false, true, later + 10s), change::back);
    EXPECT_TRUE(services.is_closed());
    EXPECT_TRUE(services.have_answered_since(a_down));
}

TEST(outages_of_services, do_not_end_with_rows_that_make_do_without) {
    service_outages services;
    ASSERT_EQ(fail(services, a_down, outage_breaker::failures_to_open), change::paused);
    ASSERT_TRUE(services.take_probe(begin + 5s));
    EXPECT_EQ(services.row_ended(a_down, false, true, begin + 5s), change::none);
    EXPECT_EQ(services.next_probe(), begin + 15s);
    service_outages others;
    EXPECT_EQ(others.row_ended(a_down, false, false, begin), change::none);
    EXPECT_TRUE(others.is_closed());
}

TEST(outages_of_services, last_until_the_service_has_answered) {
    service_outages services;
    ASSERT_EQ(fail(services, a_down, outage_breaker::failures_to_open), change::paused);
    EXPECT_FALSE(services.last_longer_than(1h, 60s, begin + 60s));
    EXPECT_TRUE(services.last_longer_than(1h, 60s, begin + 61s));
    // Rows of another service get on: there is a reason to wait.
    ASSERT_EQ(fail(services, b_up, 1), change::none);
    EXPECT_FALSE(services.last_longer_than(1h, 60s, begin + 61s));
    EXPECT_TRUE(services.last_longer_than(1h, 60s, begin + 61min));
    service_outages answered;
    ASSERT_EQ(fail(answered, a_up, 1), change::none);
    ASSERT_EQ(fail(answered, a_down, outage_breaker::failures_to_open), change::paused);
    EXPECT_FALSE(answered.last_longer_than(1h, 60s, begin + 61s));
}

// Rows of several steps had been answered, and the batch gave up after a minute all the same.
TEST(outages_of_services, are_waited_for_if_the_first_steps_of_rows_were_answered) {
    service_outages services;
    const contacts second_step_down{{"a", false, true}};
    ASSERT_EQ(fail(services, second_step_down, outage_breaker::failures_to_open), change::paused);
    EXPECT_FALSE(services.last_longer_than(1h, 60s, begin + 61s));
    EXPECT_TRUE(services.last_longer_than(1h, 60s, begin + 61min));
}

TEST(outages_of_services, let_rows_of_other_services_start) {
    service_outages services;
    ASSERT_EQ(fail(services, a_down, outage_breaker::failures_to_open), change::paused);
    EXPECT_FALSE(services.lets_others_start(4)) << "there may be no other service";
    ASSERT_EQ(fail(services, b_up, 1), change::none);
    EXPECT_TRUE(services.lets_others_start(4));
    ASSERT_EQ(fail(services, a_down, 6), change::none);
    EXPECT_TRUE(services.lets_others_start(4));
    ASSERT_EQ(fail(services, a_down, 1), change::none);
    EXPECT_FALSE(services.lets_others_start(4)) << "nearly all rows ask the one that is down";
    ASSERT_EQ(fail(services, b_up, 1), change::none);
    EXPECT_TRUE(services.lets_others_start(4));
    ASSERT_EQ(fail(services, b_down, outage_breaker::failures_to_open), change::none);
    EXPECT_FALSE(services.lets_others_start(100)) << "the other one is down, too";
}

TEST(outages_of_services, are_opened_for_rows_that_wait) {
    service_outages services;
    ASSERT_EQ(fail(services, a_down, 1), change::none);
    EXPECT_TRUE(services.open(a_down, begin));
    EXPECT_FALSE(services.open(a_down, begin));
    EXPECT_FALSE(services.open(a_up, begin));
    EXPECT_EQ(services.next_probe(), begin + 5s);
}

} // namespace
} // namespace heddle::cli
