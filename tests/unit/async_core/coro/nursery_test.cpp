#include <heddle/coro/nursery.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace heddle::coro {
namespace {

using namespace std::chrono_literals;
using loopback::runner;

task<result<void>> sleeper(call_context context, clock::duration span, int* ended) {
    auto slept = co_await sleep_until(context, clock::now() + span);
    ++*ended;
    co_return slept;
}

task<result<void>> failer(call_context context) {
    co_await yield_now(*context.loop);
    co_return error(errc::not_found, "nothing there");
}

task<result<void>> thrower(call_context context) {
    co_await yield_now(*context.loop);
    throw std::runtime_error("a bug");
}

task<result<void>> three(call_context context, int* ended) {
    nursery children(context);
    for (int i = 0; i < 3; ++i) children.start(sleeper(children.context(), 1ms, ended));
    auto outcome = co_await children.join();
    EXPECT_EQ(children.living(), 0U);
    co_return outcome;
}

TEST(nursery, join_waits_for_every_child) {
    runner test;
    int ended = 0;
    EXPECT_TRUE(test.run(three(test.context(), &ended)));
    EXPECT_EQ(ended, 3);
}

task<result<void>> join_none(call_context context) {
    nursery children(context);
    auto outcome = co_await children.join();
    co_return outcome;
}

TEST(nursery, join_without_children_returns_at_once) {
    runner test;
    EXPECT_TRUE(test.run(join_none(test.context())));
}

task<result<void>> one_fails(call_context context, int* ended) {
    nursery children(context);
    for (int i = 0; i < 3; ++i) children.start(sleeper(children.context(), 1h, ended));
    children.start(failer(children.context()));
    auto outcome = co_await children.join();
    co_return outcome;
}

TEST(nursery, the_first_error_cancels_the_siblings_and_is_the_outcome) {
    runner test;
    int ended = 0;
    auto outcome = test.run(one_fails(test.context(), &ended));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), make_error_code(errc::not_found));
    EXPECT_EQ(ended, 3);
}

task<result<void>> one_fails_for_itself(call_context context, int* ended) {
    nursery children(context, nursery::on_failure::ignore);
    children.start(failer(children.context()));
    children.start([]() -> task<result<void>> { throw std::bad_alloc(); });
    children.start(sleeper(children.context(), 1ms, ended));
    auto outcome = co_await children.join();
    co_return outcome;
}

TEST(nursery, siblings_go_on_after_a_failure_that_is_ignored) {
    runner test;
    int ended = 0;
    EXPECT_TRUE(test.run(one_fails_for_itself(test.context(), &ended)));
    EXPECT_EQ(ended, 1);
}

task<result<void>> one_throws(call_context context) {
    nursery children(context);
    children.start(thrower(children.context()));
    auto outcome = co_await children.join();
    co_return outcome;
}

TEST(nursery, an_exception_of_a_child_becomes_an_internal_error) {
    runner test;
    auto outcome = test.run(one_throws(test.context()));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), make_error_code(errc::internal));
}

TEST(nursery, cancelling_the_parent_reaches_the_children) {
    runner test;
    int ended = 0;
    cancel_source cancel;
    struct local {
        static task<result<void>> run(call_context context, int* ended) {
            nursery children(context);
            for (int i = 0; i < 100; ++i) children.start(sleeper(children.context(), 1h, ended));
            auto outcome = co_await children.join();
            co_return outcome;
        }
    };
    test.later([&] { test.later([&] { cancel.request(cancel_reason::user); }); });
    auto outcome = test.run(local::run(test.context(&cancel), &ended));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::user);
    EXPECT_EQ(ended, 100);
}

TEST(nursery, the_parents_deadline_holds_for_the_children) {
    runner test;
    int ended = 0;
    struct local {
        static task<result<void>> run(call_context context, int* ended) {
            nursery children(context);
            children.start(sleeper(children.context(), 1h, ended));
            auto outcome = co_await children.join();
            co_return outcome;
        }
    };
    auto outcome = test.run(local::run(test.context(nullptr, runner::in(2ms)), &ended));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::deadline);
}

task<result<void>> nest(call_context context, int levels, int* reached) {
    ++*reached;
    if (levels == 0) co_return result<void>();
    nursery children(context);
    children.start(nest(children.context(), levels - 1, reached));
    EXPECT_EQ(children.living(), 1U); // it runs at the next turn, not inside start()
    auto outcome = co_await children.join();
    co_return outcome;
}

TEST(nursery, nesting_does_not_grow_the_native_stack) {
    runner test;
    int reached = 0;
    EXPECT_TRUE(test.run(nest(test.context(), 20'000, &reached)));
    EXPECT_EQ(reached, 20'001);
}

using nursery_death_test = ::testing::Test;

TEST(nursery_death_test, destroying_it_with_living_children_stops_the_program) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(
        {
            runner test;
            int ended = 0;
            nursery children(test.context());
            children.start(sleeper(children.context(), 1h, &ended));
        },
        "join it first");
}

} // namespace
} // namespace heddle::coro
