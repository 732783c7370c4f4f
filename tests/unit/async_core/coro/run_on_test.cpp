#include <heddle/coro/run_on.hpp>

#include <heddle/coro/nursery.hpp>

#include <loop_thread.hpp>
#include <loopback_runner.hpp>

#include <boost/asio/post.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

namespace heddle::coro {
namespace {

using namespace std::chrono_literals;
using loopback::loop_thread;
using loopback::runner;
using ::testing::HasSubstr;
using text = result<std::string>;

constexpr auto a_long_time = 2min;

/// Waits until it is cancelled; then `left` has the reason.
task<text> wait_there(call_context context, std::promise<void>* begun,
                      std::promise<cancel_reason>* left) {
    begun->set_value();
    const result<void> slept = co_await sleep_until(context, clock::now() + a_long_time);
    left->set_value(slept ? cancel_reason::none : slept.error().cancelled_because());
    if (!slept) co_return text(slept.error());
    co_return text("slept");
}

struct long_work {
    std::promise<void> begun;
    std::promise<cancel_reason> left;

    [[nodiscard]] auto on(const loop_address& at, call_context context) {
        return run_on(at, context,
                      [this](call_context there) { return wait_there(there, &begun, &left); });
    }
    [[nodiscard]] cancel_reason reason() {
        auto ended = left.get_future();
        if (ended.wait_for(a_long_time) != std::future_status::ready) return cancel_reason::none;
        return ended.get();
    }
};

task<text> name_thread(call_context context, std::thread::id* ran) {
    co_await yield_now(*context.loop);
    *ran = std::this_thread::get_id();
    co_return text("done");
}

TEST(run_on, works_there_and_continues_here) {
    runner test;
    loop_thread other;
    std::thread::id ran;
    std::thread::id continued;
    const auto work = [&]() -> task<text> {
        text outcome = co_await run_on(other.address(), test.context(), [&ran](call_context there) {
            return name_thread(there, &ran);
        });
        continued = std::this_thread::get_id();
        co_return outcome;
    };
    EXPECT_EQ(test.run(work()).value(), "done");
    EXPECT_EQ(ran, other.id());
    EXPECT_EQ(continued, std::this_thread::get_id());
}

task<text> fail_there(call_context context) {
    co_await yield_now(*context.loop);
    co_return text(error(errc::not_found, "no such thing").with_hint("look elsewhere"));
}

task<text> throw_there(call_context context) {
    co_await yield_now(*context.loop);
    throw std::runtime_error("a bug");
}

TEST(run_on, errors_and_exceptions_arrive_as_errors) {
    runner test;
    loop_thread other;
    const text failed = test.run(run_on(other.address(), test.context(), fail_there));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), errc::not_found);
    EXPECT_EQ(failed.error().info().hint, "look elsewhere");
    const text thrown = test.run(run_on(other.address(), test.context(), throw_there));
    ASSERT_FALSE(thrown);
    EXPECT_EQ(thrown.error().code(), errc::internal);
    EXPECT_THAT(thrown.error().message(), HasSubstr("a bug"));
}

TEST(run_on, a_cancellation_crosses_with_its_reason_and_the_end_is_awaited) {
    runner test;
    loop_thread other;
    cancel_source cancel;
    long_work work;
    auto begun = work.begun.get_future();
    test.later([&] {
        begun.wait();
        cancel.request(cancel_reason::budget);
    });
    const text outcome = test.run(work.on(other.address(), test.context(&cancel)));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::budget);
    auto left = work.left.get_future();
    ASSERT_EQ(left.wait_for(0s), std::future_status::ready); // before the call was
    EXPECT_EQ(left.get(), cancel_reason::budget);
}

TEST(run_on, the_deadline_holds_there) {
    runner test;
    loop_thread other;
    long_work work;
    const text outcome =
        test.run(work.on(other.address(), test.context(nullptr, runner::in(10ms))));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(work.reason(), cancel_reason::deadline);
}

TEST(run_on, what_is_cancelled_before_does_not_begin) {
    runner test;
    loop_thread other;
    cancel_source cancel;
    cancel.request(cancel_reason::user);
    std::atomic<bool> begun = false;
    const text outcome =
        test.run(run_on(other.address(), test.context(&cancel), [&begun](call_context there) {
            begun = true;
            return fail_there(there);
        }));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::user);
    other.end();
    EXPECT_FALSE(begun);
}

TEST(run_on, the_same_loop_is_not_left) {
    runner test;
    std::thread::id ran;
    const text outcome =
        test.run(run_on(test.loop.address(), test.context(),
                        [&ran](call_context there) { return name_thread(there, &ran); }));
    EXPECT_EQ(outcome.value(), "done");
    EXPECT_EQ(ran, std::this_thread::get_id());
}

TEST(run_on, a_loop_that_ends_during_the_call_ends_it) {
    runner test;
    loop_thread other;
    long_work work;
    auto begun = work.begun.get_future();
    std::thread ender([&] {
        begun.wait();
        other.end();
    });
    const text outcome = test.run(work.on(other.address(), test.context()));
    ender.join();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::shutdown);
}

TEST(run_on, a_loop_that_is_gone_takes_no_work) {
    runner test;
    loop_thread other;
    const loop_address address = other.address();
    other.end();
    const text outcome = test.run(run_on(address, test.context(), fail_there));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::shutdown);
}

TEST(run_on, a_loop_that_never_ran_drops_the_call_when_it_is_destroyed) {
    runner test;
    boost::asio::io_context idle{1};
    std::optional<event_loop> loop(std::in_place, idle);
    auto alive = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = alive;
    test.later([&] { loop.reset(); });
    const text outcome = test.run(
        run_on(loop->address(), test.context(),
               [held = std::move(alive)](call_context there) { return fail_there(there); }));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().cancelled_because(), cancel_reason::shutdown);
    idle.restart();
    idle.poll(); // the host's own context goes on
    EXPECT_TRUE(watched.expired());
}

TEST(run_on, a_caller_whose_loop_ends_cancels_the_work) {
    loop_thread other;
    long_work work;
    auto begun = work.begun.get_future();
    auto alive = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = alive;
    {
        loop_thread caller;
        boost::asio::post(caller.loop().get_executor(), [&] {
            const auto call = [](call_context context, loop_address at, long_work* todo,
                                 std::shared_ptr<int> held) -> task<void> {
                text outcome = co_await todo->on(at, context);
                (void)outcome;
                (void)held;
            };
            spawn(caller.loop(),
                  call({&caller.loop(), nullptr, {}}, other.address(), &work, std::move(alive)),
                  [](std::exception_ptr) {});
        });
        begun.wait();
    }
    EXPECT_TRUE(watched.expired()); // the frame is gone with its loop
    EXPECT_EQ(work.reason(), cancel_reason::shutdown);
}

task<result<int>> add_one(call_context context, int* sum) {
    co_await yield_now(*context.loop);
    co_return result<int>(++*sum); // only one thread uses it
}

task<result<void>> add_often(call_context context, loop_address home, int* sum, int count) {
    for (int i = 0; i < count; ++i) {
        const result<int> added = co_await run_on(
            home, context, [sum](call_context there) { return add_one(there, sum); });
        if (!added) co_return added.error();
    }
    co_return result<void>();
}

task<void> add_side_by_side(call_context context, loop_address home, int* sum,
                            std::promise<bool>* done) {
    nursery children(context);
    for (int i = 0; i < 20; ++i)
        children.start([&] { return add_often(children.context(), home, sum, 50); });
    const result<void> joined = co_await children.join();
    done->set_value(joined.has_value());
}

TEST(run_on, many_calls_of_several_loops_share_one) {
    loop_thread home;
    loop_thread loops[3];
    std::promise<bool> done[3];
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        event_loop& loop = loops[i].loop();
        boost::asio::post(loop.get_executor(), [&, i] {
            spawn(loops[i].loop(),
                  add_side_by_side({&loops[i].loop(), nullptr, {}}, home.address(), &sum, &done[i]),
                  [](std::exception_ptr) {});
        });
    }
    for (auto& each : done) EXPECT_TRUE(each.get_future().get());
    home.end();
    EXPECT_EQ(sum, 3 * 20 * 50);
}

TEST(run_on, loops_that_end_at_any_moment_leave_nothing_behind) {
    for (int round = 0; round < 200; ++round) {
        loop_thread home;
        int sum = 0;
        std::promise<bool> done;
        auto ended = done.get_future();
        {
            loop_thread caller;
            boost::asio::post(caller.loop().get_executor(), [&] {
                spawn(
                    caller.loop(),
                    [](call_context context, loop_address at, int* into) -> task<void> {
                        for (;;) {
                            const result<void> added = co_await add_often(context, at, into, 5);
                            if (!added) co_return;
                        }
                    }({&caller.loop(), nullptr, {}}, home.address(), &sum),
                    [](std::exception_ptr) {});
            });
            std::this_thread::sleep_for(std::chrono::microseconds(50 * (round % 20)));
            if (round % 2 == 0) home.end();
        }
        home.end();
    }
    SUCCEED();
}

} // namespace
} // namespace heddle::coro
