#include "tasks/run/task_time.hpp"

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using namespace std::chrono_literals;

class task_time_test : public ::testing::Test {
protected:
    [[nodiscard]] coro::call_context around(coro::clock::duration left) {
        return {&loop_, &cancel_, coro::deadline(loop_.now() + left)};
    }
    boost::asio::io_context io_{1};
    coro::event_loop loop_{io_, coro::event_loop::time::virtual_};
    coro::cancel_source cancel_;
    const error late_ = error::cancelled(cancel_reason::deadline);
};

TEST_F(task_time_test, counts_from_begin_and_not_from_its_creation) {
    task_time time(around(1h));
    loop_.pass(5s);
    time.begin(std::nullopt);
    loop_.pass(2s);
    EXPECT_EQ(time.elapsed(), 2s);
    EXPECT_EQ(time.context().until, coro::deadline(time.context().loop->now() + 1h - 7s));
}

TEST_F(task_time_test, a_timeout_shortens_the_deadline_around_and_never_extends_it) {
    task_time brief(around(1h));
    brief.begin(10s);
    EXPECT_EQ(brief.context().until, coro::deadline(loop_.now() + 10s));
    task_time generous(around(5s));
    generous.begin(10s);
    EXPECT_EQ(generous.context().until, coro::deadline(loop_.now() + 5s));
}

TEST_F(task_time_test, is_over_when_its_own_timeout_has_passed) {
    task_time time(around(1h));
    time.begin(10s);
    EXPECT_FALSE(time.is_over(late_)) << "a deadline inside, such as that of a tool";
    loop_.pass(10s);
    EXPECT_TRUE(time.is_over(late_));
    EXPECT_FALSE(time.is_over(error::cancelled(cancel_reason::sibling)));
    const auto limit = time.exhausted();
    EXPECT_EQ(limit.resource, "time");
    EXPECT_EQ(limit.used, 10);
    EXPECT_EQ(limit.limit, 10);
}

TEST_F(task_time_test, what_ends_the_call_around_is_not_its_end) {
    task_time inside(around(5s));
    inside.begin(5s);
    loop_.pass(5s);
    EXPECT_FALSE(inside.is_over(late_)) << "the deadline around has passed too";

    task_time cancelled(around(1h));
    cancelled.begin(1s);
    loop_.pass(1s);
    ASSERT_TRUE(cancelled.is_over(late_));
    cancel_.request(cancel_reason::user);
    EXPECT_FALSE(cancelled.is_over(late_));
}

TEST_F(task_time_test, finds_the_task_around_whose_time_is_over) {
    task_time outer(around(1h));
    outer.begin(5s);
    task_time inner(outer.context(), &outer);
    inner.begin(60s);
    EXPECT_EQ(inner.levels_over(late_), std::nullopt);
    loop_.pass(5s);
    EXPECT_EQ(inner.levels_over(late_), 1U);
    EXPECT_EQ(outer.levels_over(late_), 0U);
    EXPECT_EQ(inner.levels_over(error::cancelled(cancel_reason::user)), std::nullopt);
}

// In a repetition no time passes.
TEST_F(task_time_test, is_over_for_the_task_that_a_kept_cancellation_names_and_no_other) {
    task_time outer(around(1h));
    outer.begin(5s);
    task_time inner(outer.context(), &outer);
    inner.begin(60s);
    const error kept = inner.ended(error::cancelled(cancel_reason::deadline), 1);
    EXPECT_FALSE(inner.is_over(kept));
    EXPECT_TRUE(outer.is_over(kept));
    const error own = inner.ended(error::cancelled(cancel_reason::deadline), 0);
    EXPECT_TRUE(inner.is_over(own));
    EXPECT_FALSE(outer.is_over(own));
    const error further = inner.ended(error::cancelled(cancel_reason::deadline), 7);
    EXPECT_FALSE(inner.is_over(further) || outer.is_over(further))
        << "no task around is so far out";
}

} // namespace
} // namespace heddle::tasks
