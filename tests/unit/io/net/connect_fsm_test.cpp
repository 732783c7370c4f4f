#include <heddle/net/connect_fsm.hpp>

#include <gtest/gtest.h>

namespace heddle::net {
namespace {

using namespace std::chrono_literals;

const connect_fsm::time_point start{};

TEST(connect_fsm, one_address_that_connects) {
    connect_fsm fsm(1, 250ms);
    EXPECT_EQ(fsm.start(), connect_step::try_next);
    EXPECT_EQ(fsm.next_index(), 0U);
    EXPECT_EQ(fsm.begun(start), connect_step::wait);
    EXPECT_EQ(fsm.next_time(), connect_fsm::time_point::max()); // nothing to stagger
    EXPECT_EQ(fsm.attempt_connected(), connect_step::succeed);
}

TEST(connect_fsm, no_address_fails_at_once) {
    connect_fsm fsm(0, 250ms);
    EXPECT_EQ(fsm.start(), connect_step::fail);
}

TEST(connect_fsm, a_failed_attempt_is_followed_by_the_next_address) {
    connect_fsm fsm(3, 250ms);
    EXPECT_EQ(fsm.start(), connect_step::try_next);
    EXPECT_EQ(fsm.attempt_failed(false), connect_step::try_next); // failed before it began
    EXPECT_EQ(fsm.next_index(), 1U);
    EXPECT_EQ(fsm.begun(start), connect_step::wait);
    EXPECT_EQ(fsm.attempt_failed(true), connect_step::try_next);
    EXPECT_EQ(fsm.next_index(), 2U);
    EXPECT_EQ(fsm.begun(start), connect_step::wait);
    EXPECT_EQ(fsm.attempt_failed(true), connect_step::fail);
}

TEST(connect_fsm, a_slow_attempt_gets_company_after_the_stagger) {
    connect_fsm fsm(3, 250ms);
    (void)fsm.start();
    (void)fsm.begun(start);
    EXPECT_EQ(fsm.next_time(), start + 250ms);
    EXPECT_EQ(fsm.timed(start + 249ms), connect_step::wait);
    EXPECT_EQ(fsm.timed(start + 250ms), connect_step::try_next);
    (void)fsm.begun(start + 250ms);
    EXPECT_EQ(fsm.next_time(), start + 500ms);
    EXPECT_EQ(fsm.attempt_connected(), connect_step::succeed);
    EXPECT_EQ(fsm.next_time(), connect_fsm::time_point::max());
    EXPECT_EQ(fsm.attempt_failed(true), connect_step::wait); // the loser's end does not matter
    EXPECT_EQ(fsm.attempt_connected(), connect_step::wait);
}

TEST(connect_fsm, it_fails_only_when_the_last_pending_attempt_has) {
    connect_fsm fsm(2, 250ms);
    (void)fsm.start();
    (void)fsm.begun(start);
    (void)fsm.timed(start + 1s);
    (void)fsm.begun(start + 1s);
    EXPECT_EQ(fsm.attempt_failed(true), connect_step::wait);
    EXPECT_EQ(fsm.attempt_failed(true), connect_step::fail);
}

} // namespace
} // namespace heddle::net
