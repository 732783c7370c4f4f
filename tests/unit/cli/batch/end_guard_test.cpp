#include "batch/rows/end_guard.hpp"

#include <heddle/coro/nursery.hpp>

#include "loopback_runner.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace heddle::cli {
namespace {

coro::task<result<void>> ends(end_guard guard) {
    guard.ended();
    co_return result<void>();
}

coro::task<result<void>> throws(coro::call_context context, end_guard guard) {
    result<void> slept = co_await coro::sleep_until(context, context.loop->now());
    if (slept) throw std::runtime_error("a bug");
    guard.ended();
    co_return slept;
}

/// Starts work and waits for its end as a batch waits for its rows.
coro::task<result<void>> waits(loopback::runner* loop, bool is_broken, int* lost) {
    coro::wait_point changed;
    int in_progress = 1;
    coro::nursery rows(loop->context());
    end_guard guard([&] {
        ++*lost;
        --in_progress;
        changed.notify();
    });
    if (is_broken) {
        rows.start(throws(loop->context(), std::move(guard)));
    } else {
        rows.start(ends(std::move(guard)));
        in_progress = 0;
    }
    while (in_progress != 0) (void)co_await changed.wait(loop->context());
    result<void> joined = co_await rows.join();
    co_return joined;
}

TEST(end_guard_test, reports_work_that_threw) {
    loopback::runner loop;
    int lost = 0;
    const result<void> ended = loop.run(waits(&loop, true, &lost));
    ASSERT_FALSE(ended);
    EXPECT_NE(ended.error().message().find("a bug"), std::string::npos);
    EXPECT_EQ(lost, 1);
}

TEST(end_guard_test, is_silent_about_work_that_has_ended) {
    loopback::runner loop;
    int lost = 0;
    EXPECT_TRUE(loop.run(waits(&loop, false, &lost)));
    EXPECT_EQ(lost, 0);
}

TEST(end_guard_test, reports_work_that_never_began) {
    int lost = 0;
    {
        const auto work = ends(end_guard([&] { ++lost; }));
        EXPECT_EQ(lost, 0);
    }
    EXPECT_EQ(lost, 1);
}

} // namespace
} // namespace heddle::cli
