#include <heddle/coro/semaphore.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heddle::coro {
namespace {

using namespace std::chrono_literals;
using loopback::runner;

task<result<void>> hold(semaphore* permits, call_context context, std::vector<int>* order, int id) {
    auto got = co_await permits->acquire(context);
    if (!got) co_return got;
    order->push_back(id);
    co_await yield_now(*context.loop);
    permits->release();
    co_return result<void>();
}

task<result<void>> start_holders(semaphore* permits, call_context context, std::vector<int>* order,
                                 int count) {
    nursery holders(context);
    for (int i = 0; i < count; ++i) holders.start(hold(permits, holders.context(), order, i));
    co_return co_await holders.join();
}

TEST(semaphore, waiters_are_served_in_order) {
    runner test;
    semaphore permits(2);
    std::vector<int> order;
    EXPECT_TRUE(test.run(start_holders(&permits, test.context(), &order, 7)));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(permits.available(), 2U);
    EXPECT_EQ(permits.waiting(), 0U);
}

TEST(semaphore, a_cancelled_waiter_takes_no_permit_with_it) {
    runner test;
    semaphore permits(1);
    ASSERT_TRUE(permits.try_acquire());
    EXPECT_FALSE(permits.try_acquire());
    cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); });
    auto cancelled = test.run(permits.acquire(test.context(&cancel)));
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().cancelled_because(), cancel_reason::user);
    EXPECT_EQ(permits.waiting(), 0U);
    auto late = test.run(permits.acquire(test.context(nullptr, runner::in(1ms))));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
    permits.release();
    EXPECT_TRUE(permits.try_acquire());
}

TEST(semaphore, release_and_cancel_in_one_turn_lose_no_permit) {
    runner test;
    semaphore permits(1);
    ASSERT_TRUE(permits.try_acquire());
    cancel_source cancel;
    // Both orders: granted first keeps the permit, cancelled first leaves it to others.
    test.later([&] {
        permits.release();
        cancel.request(cancel_reason::user);
    });
    auto granted = test.run(permits.acquire(test.context(&cancel)));
    EXPECT_TRUE(granted);
    cancel_source other;
    test.later([&] {
        other.request(cancel_reason::user);
        permits.release();
    });
    auto cancelled = test.run(permits.acquire(test.context(&other)));
    EXPECT_FALSE(cancelled);
    EXPECT_EQ(permits.available(), 1U);
}

TEST(semaphore, acquire_with_a_cancelled_context_does_not_take_a_free_permit) {
    runner test;
    semaphore permits(1);
    cancel_source cancel;
    cancel.request(cancel_reason::user);
    EXPECT_FALSE(test.run(permits.acquire(test.context(&cancel))));
    EXPECT_EQ(permits.available(), 1U);
}

} // namespace
} // namespace heddle::coro
