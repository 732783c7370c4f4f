#include <heddle/coro/wait_point.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heddle::coro {
namespace {

using namespace std::chrono_literals;
using loopback::runner;

TEST(wait_point, a_notification_before_the_wait_is_kept_once) {
    runner test;
    wait_point point;
    point.notify();
    point.notify();
    EXPECT_EQ(test.run(point.wait(test.context())), wake::notified);
    EXPECT_EQ(test.run(point.wait(test.context(nullptr, runner::in(1ms)))), wake::timed_out);
}

task<void> wait_and_note(wait_point* point, call_context context, bool* resumed) {
    const wake how = co_await point->wait(context);
    *resumed = how == wake::notified;
}

TEST(wait_point, notify_wakes_the_waiter_and_never_inline) {
    runner test;
    wait_point point;
    bool resumed = false;
    test.later([&] {
        EXPECT_TRUE(point.waiting());
        point.notify();
        EXPECT_FALSE(resumed);
    });
    test.run(wait_and_note(&point, test.context(), &resumed));
    EXPECT_TRUE(resumed);
}

TEST(wait_point, cancellation_wakes_and_a_cancelled_context_does_not_park) {
    runner test;
    wait_point point;
    cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); });
    EXPECT_EQ(test.run(point.wait(test.context(&cancel))), wake::cancelled);
    EXPECT_EQ(test.run(point.wait(test.context(&cancel))), wake::cancelled);
}

TEST(wait_point, the_deadline_wakes_and_not_before_its_time) {
    runner test;
    wait_point point;
    const auto until = runner::in(5ms);
    EXPECT_EQ(test.run(point.wait(test.context(nullptr, until))), wake::timed_out);
    EXPECT_GE(clock::now(), until.at());
    EXPECT_EQ(test.run(point.wait(test.context(nullptr, until))),
              wake::timed_out); // already passed
}

TEST(wait_point, a_notification_that_came_first_wins_over_cancellation) {
    runner test;
    wait_point point;
    cancel_source cancel;
    test.later([&] {
        point.notify();
        cancel.request(cancel_reason::user);
    });
    EXPECT_EQ(test.run(point.wait(test.context(&cancel))), wake::notified);
}

TEST(wait_point, a_finished_wait_leaves_neither_hook_nor_timer) {
    runner test;
    cancel_source cancel;
    {
        wait_point point;
        test.later([&] { point.notify(); });
        EXPECT_EQ(test.run(point.wait(test.context(&cancel, runner::in(3ms)))), wake::notified);
    }
    cancel.request(cancel_reason::user); // would touch a dead hook
    test.turn(5ms);                      // would fire a dead timer
}

TEST(sleep_until, distinguishes_its_end_from_the_deadline_and_from_cancellation) {
    runner test;
    auto slept = test.run(sleep_until(test.context(), clock::now() + 2ms));
    EXPECT_TRUE(slept);
    auto cut = test.run(sleep_until(test.context(nullptr, runner::in(2ms)), clock::now() + 1h));
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().cancelled_because(), cancel_reason::deadline);
    cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::budget); });
    auto cancelled = test.run(sleep_until(test.context(&cancel), clock::now() + 1h));
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().cancelled_because(), cancel_reason::budget);
}

task<void> note_twice(event_loop* loop, std::vector<int>* order, int first) {
    order->push_back(first);
    co_await yield_now(*loop);
    order->push_back(first + 10);
}

TEST(yield_now, lets_others_run_first) {
    runner test;
    std::vector<int> order;
    spawn(test.loop, note_twice(&test.loop, &order, 1), [](std::exception_ptr) {});
    spawn(test.loop, note_twice(&test.loop, &order, 2), [](std::exception_ptr) {});
    test.io.run();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 11, 12}));
}

TEST(event_loop, a_nearer_timer_fires_before_a_farther_one_that_was_armed) {
    runner test;
    wait_point far;
    wait_point near;
    std::vector<int> order;
    struct wait {
        static task<void> note(wait_point* point, call_context context, std::vector<int>* order,
                               int id) {
            const wake how = co_await point->wait(context);
            if (how == wake::timed_out) order->push_back(id);
        }
    };
    spawn(test.loop, wait::note(&far, test.context(nullptr, runner::in(20ms)), &order, 2),
          [](std::exception_ptr) {});
    spawn(test.loop, wait::note(&near, test.context(nullptr, runner::in(2ms)), &order, 1),
          [](std::exception_ptr) {});
    test.io.run();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(call_context, stop_error_names_the_reason) {
    runner test;
    EXPECT_FALSE(test.context().stop_error());
    cancel_source cancel;
    cancel.request(cancel_reason::sibling);
    EXPECT_EQ(test.context(&cancel).stop_error()->cancelled_because(), cancel_reason::sibling);
    EXPECT_EQ(test.context(nullptr, runner::in(-1ms)).stop_error()->cancelled_because(),
              cancel_reason::deadline);
}

} // namespace
} // namespace heddle::coro
