#include "embed_harness.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using testing::comes_true;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

TEST(embed_cancellation, ends_a_call_beside_a_timer) {
    using namespace asio::experimental::awaitable_operators;
    runtime rt(with_model());
    const program flow = loaded(rt);
    asio::io_context context;
    for (const char* function : {"hang", "hang-twice", "spin"}) {
        std::size_t first = 0;
        auto work = [&]() -> asio::awaitable<void> {
            asio::steady_timer timer(context, 50ms);
            auto ended = co_await (flow.call(function, {}, asio::use_awaitable) ||
                                   timer.async_wait(asio::use_awaitable));
            first = ended.index();
        };
        asio::co_spawn(context, work(), asio::detached);
        context.run();
        context.restart();
        EXPECT_EQ(first, 1U) << function;
        // The call has completed, so everything of it has ended.
        const runtime_stats stats = rt.stats();
        EXPECT_EQ(stats.all.running, 0U) << function;
        EXPECT_EQ(stats.all.requests_running, 0U) << function;
    }
    EXPECT_EQ(rt.stats().all.cancelled, 3U);
}

TEST(embed_cancellation, is_heard_by_way_of_a_slot) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    asio::io_context context;
    asio::cancellation_signal stop;
    std::optional<result<answer>> ended;
    flow.call("hang", {}, {.tag = "t"},
              asio::bind_cancellation_slot(
                  stop.slot(), asio::bind_executor(
                                   context, [&](result<answer> how) { ended = std::move(how); })));
    ASSERT_TRUE(comes_true([&] { return rt.stats().all.requests_running == 1; }));
    asio::post(context, [&] { stop.emit(asio::cancellation_type::total); });
    context.run();
    ASSERT_TRUE(ended);
    ASSERT_FALSE(*ended);
    EXPECT_EQ(ended->error().cancelled_because(), cancel_reason::user);
    EXPECT_EQ(http_status(ended->error()), 499);
    EXPECT_EQ(to_json(ended->error()).at("cancelled_because"), json("user"));
}

TEST(embed_cancellation, comes_with_the_deadline) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto late = called(flow, "hang", {}, {.deadline = clock::now() + 50ms});
    ASSERT_FALSE(late);
    EXPECT_EQ(details_of(late.error())->kind, "TimeoutError");
    EXPECT_EQ(http_status(late.error()), 504);
    const auto spins = called(flow, "spin", {}, {.timeout = 50ms});
    ASSERT_FALSE(spins);
    EXPECT_EQ(http_status(spins.error()), 504);
    EXPECT_EQ(http_status(called(flow, "hang", {}, {.timeout = -1s}).error()), 504);
}

TEST(embed_cancellation, comes_with_a_deadline_that_has_passed_or_passes_beside_the_workflow) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto kind = [](const result<answer>& ended) {
        return ended ? "ended: " + ended->text() : details_of(ended.error())->kind;
    };
    EXPECT_EQ(kind(called(flow, "nothing", {}, {.timeout = -1s})), "TimeoutError");
    // While its input is converted.
    const json::array large{json::array(500'000, json(1))};
    EXPECT_EQ(kind(called(flow, "whole", large, {.timeout = 5ms})), "TimeoutError");
}

TEST(embed_queue, holds_calls_back_and_refuses_what_is_too_much) {
    runtime rt(with_model({.max_running = 2, .max_queued = 1}));
    const program flow = loaded(rt);
    asio::cancellation_signal stop;
    asio::io_context context;
    flow.call("hang", {},
              asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(context, [](auto) {})));
    asio::cancellation_signal later;
    std::promise<void> ended;
    flow.call("hang", {},
              asio::bind_cancellation_slot(later.slot(), [&](const result<answer>& how) {
                  EXPECT_FALSE(how);
                  ended.set_value();
              }));
    auto queued = flow.call("nothing", {}, asio::use_future);
    EXPECT_EQ(rt.stats().all.running, 2U);
    EXPECT_EQ(rt.stats().all.queued, 1U);
    const auto refused = called(flow, "nothing");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), make_error_code(runtime_errc::overloaded));
    EXPECT_EQ(http_status(refused.error()), 503);
    EXPECT_EQ(rt.stats().refused, 1U);
    EXPECT_EQ(queued.wait_for(20ms), std::future_status::timeout);
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(testing::wait_for(std::move(queued)));
    later.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(ended.get_future().wait_for(hang_guard::limit), std::future_status::ready);
    context.run();
    EXPECT_TRUE(called(flow, "nothing"));
}

TEST(embed_queue, ends_queued_calls_at_their_deadline) {
    runtime rt(with_model({.max_running = 1}));
    const program flow = loaded(rt);
    asio::cancellation_signal stop;
    std::promise<void> ended;
    flow.call("hang", {}, asio::bind_cancellation_slot(stop.slot(), [&](const result<answer>&) {
                  ended.set_value();
              }));
    const auto late = called(flow, "nothing", {}, {.timeout = 50ms});
    ASSERT_FALSE(late);
    EXPECT_EQ(http_status(late.error()), 504);
    EXPECT_EQ(rt.stats().all.running, 1U) << "the one before it runs";
    stop.emit(asio::cancellation_type::terminal);
    EXPECT_EQ(ended.get_future().wait_for(hang_guard::limit), std::future_status::ready);
    EXPECT_TRUE(called(flow, "nothing"));
    EXPECT_EQ(rt.stats().all.queued, 0U);
}

TEST(embed_queue, does_not_begin_a_call_that_leaves_it_after_its_deadline) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model({.max_running = 1}));
    const program flow = loaded(rt);
    flow.call("ask", "x", asio::bind_executor(context, [](const result<answer>&) {}));
    const auto deadline = clock::now() + 1s;
    std::optional<result<answer>> late;
    flow.call("nothing", {}, {.deadline = deadline},
              asio::bind_executor(context, [&](result<answer> how) { late = std::move(how); }));
    ASSERT_EQ(rt.stats().all.queued, 1U);
    // The place becomes free in time, and the thread is busy until that is too late.
    std::function<void()> tick = [&] {
        if (rt.stats().all.queued == 0) return std::this_thread::sleep_until(deadline + 20ms);
        asio::post(context, tick);
    };
    asio::post(context, tick);
    context.run();
    ASSERT_TRUE(late);
    ASSERT_FALSE(*late);
    EXPECT_EQ(details_of(late->error())->kind, "TimeoutError");
    EXPECT_THAT(late->error().message(), ::testing::HasSubstr("while it was in the queue"));
}

TEST(embed_cancellation, while_the_result_is_converted_reports_what_was_used) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model());
    const program flow = loaded(rt, R"lisp(
(defatom echo (params text) (instructions "Echo: {{text}}"))
(define large (range 1000000))
(define (much) (content (echo "x")) large)
)lisp");
    asio::cancellation_signal stop;
    std::optional<result<answer>> ended;
    flow.call("much", {},
              asio::bind_cancellation_slot(
                  stop.slot(), asio::bind_executor(
                                   context, [&](result<answer> how) { ended = std::move(how); })));
    // The result has 200 turns, and the workflow a few after the response has come.
    constexpr int turns_of_the_workflow = 60;
    bool asked = false;
    int turns = 0;
    std::function<void()> tick = [&] {
        const bool asks = rt.stats().all.requests_running != 0;
        asked = asked || asks;
        if (asked && !asks && ++turns == turns_of_the_workflow)
            return stop.emit(asio::cancellation_type::total);
        if (!ended) asio::post(context, tick);
    };
    asio::post(context, tick);
    context.run();
    ASSERT_TRUE(ended);
    ASSERT_FALSE(*ended);
    EXPECT_EQ(ended->error().cancelled_because(), cancel_reason::user) << ended->error().message();
    EXPECT_EQ(details_of(ended->error())->used.calls, 1U);
    EXPECT_EQ(details_of(ended->error())->used.requests, 1U);
}

TEST(embed_end, of_the_runtime_ends_calls_in_progress) {
    std::vector<std::future<result<answer>>> ended;
    { // the end of the runtime waits for no model
        runtime rt(with_model({.threads = 2, .max_running = 8}));
        const program flow = loaded(rt);
        for (int i = 0; i < 100; ++i) {
            ended.push_back(flow.call(i % 3 == 0 ? "hang-twice" : "hang", {}, asio::use_future));
        }
        ASSERT_TRUE(comes_true([&] { return rt.stats().all.requests_running >= 4; }));
    }
    for (auto& each : ended) {
        const auto how = testing::wait_for(std::move(each));
        ASSERT_FALSE(how);
        EXPECT_EQ(how.error().cancelled_because(), cancel_reason::shutdown);
        EXPECT_EQ(http_status(how.error()), 503);
    }
}

TEST(embed_end, from_a_completion_handler_is_clean) {
    auto rt = std::make_unique<runtime>(with_model());
    const program flow = loaded(*rt);
    auto other = flow.call("hang", {}, asio::use_future);
    std::promise<void> done;
    flow.call("nothing", {}, [&](const result<answer>&) {
        rt.reset(); // on the thread of the runtime
        done.set_value();
    });
    done.get_future().wait();
    EXPECT_FALSE(testing::wait_for(std::move(other)));
}

TEST(embed_shutdown, drains_then_cancels) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    auto quick = flow.call("ask", "x", asio::use_future);
    auto endless = flow.call("hang", {}, asio::use_future);
    ASSERT_TRUE(comes_true([&] { return rt.stats().all.running == 2; }));
    const auto begun = clock::now();
    auto closed = rt.shutdown(300ms, asio::use_future);
    EXPECT_TRUE(testing::wait_for(std::move(quick)));
    EXPECT_EQ(called(flow, "nothing").error().code(), make_error_code(runtime_errc::stopped));
    closed.get();
    EXPECT_GE(clock::now() - begun, 300ms);
    EXPECT_EQ(testing::wait_for(std::move(endless)).error().cancelled_because(),
              cancel_reason::shutdown);
    rt.shutdown(1s, asio::use_future).get(); // again: at once
}

TEST(embed_shutdown, of_an_idle_runtime_is_quick) {
    runtime rt(with_model({.threads = 3}));
    asio::io_context context;
    bool done = false;
    const auto begun = clock::now();
    rt.shutdown(hang_guard::far_beyond, asio::bind_executor(context, [&] { done = true; }));
    context.run();
    EXPECT_TRUE(done);
    EXPECT_LT(clock::now() - begun, hang_guard::limit);
}

TEST(embed_host_context, runs_workflows_in_its_thread) {
    asio::io_context context;
    std::vector<std::thread::id> where;
    runtime_options options = with_model();
    options.print = [&](std::string_view) { where.push_back(std::this_thread::get_id()); };
    runtime rt(context, host_threads::one, options);
    const program flow =
        loaded(rt, std::string(testing::program_text) + "(define (say) (print \"x\"))");
    std::string text;
    auto work = [&]() -> asio::awaitable<void> {
        (void)co_await flow.call("say", {}, asio::use_awaitable);
        auto ended = co_await flow.call("ask", "a", asio::use_awaitable);
        text = ended.value().text();
        co_await rt.shutdown(1s, asio::use_awaitable);
    };
    asio::co_spawn(context, work(), asio::detached);
    context.run();
    EXPECT_EQ(text, "a!");
    EXPECT_EQ(where, std::vector{std::this_thread::get_id()});
}

TEST(embed_host_context, may_be_stopped_in_the_middle) {
    asio::io_context context;
    std::optional<result<answer>> ended;
    {
        runtime rt(context, host_threads::one, with_model());
        const program flow = loaded(rt);
        flow.call("hang-twice", {}, asio::bind_executor(context, [&](result<answer> how) {
                      ended = std::move(how);
                  }));
        context.run_for(100ms);
        EXPECT_EQ(rt.stats().all.requests_running, 2U);
        context.stop();
    }
    context.restart();
    context.run();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->error().cancelled_because(), cancel_reason::shutdown);
}

TEST(embed_host_context, on_several_threads_leaves_workflows_to_another) {
    asio::io_context context;
    runtime rt(context, host_threads::several, with_model({.max_running = 16}));
    const program flow = loaded(rt);
    std::atomic<int> right{0};
    for (int i = 0; i < 100; ++i) {
        flow.call("ask", "x", asio::bind_executor(context, [&](const result<answer>& how) {
                      if (how) ++right;
                  }));
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run(); });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(right, 100);
}

#ifndef NDEBUG
TEST(embed_host_context_death, names_the_mistake_of_several_threads) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto mistaken = [] {
        asio::io_context context;
        runtime rt(context, host_threads::one, with_model());
        const program flow = loaded(rt);
        auto guard = asio::make_work_guard(context);
        // Calls for as long as the threads run, so that two of them meet however late one begins.
        std::atomic<bool> is_over{false};
        std::function<void()> ask_on = [&] {
            if (is_over) return;
            flow.call("ask", "x", [&](const result<answer>&) { ask_on(); });
        };
        for (int i = 0; i < 100; ++i) ask_on();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run_for(20s); });
        for (std::thread& each : threads) each.join();
        is_over = true;
    };
    // In one of ten runs two threads have destroyed the heap before one of them came to the check.
    EXPECT_DEATH(mistaken(), "host_threads::several|malloc|free\\(\\)|corrupt");
}

/// Does something on this thread while another one runs the context, with a call in progress.
template <class Mistake>
void on_another_thread(Mistake mistake) {
    asio::io_context context;
    auto guard = asio::make_work_guard(context);
    auto rt = std::make_unique<runtime>(context, host_threads::one, with_model());
    const program flow = loaded(*rt);
    std::promise<void> begun;
    std::thread runs([&] {
        asio::post(context, [&] { flow.call("hang", {}, [](const result<answer>&) {}); });
        asio::steady_timer later(context, 50ms);
        later.async_wait([&](auto) { begun.set_value(); });
        context.run_for(20s);
    });
    begun.get_future().get();
    mistake(rt);
    context.stop();
    runs.join();
}

TEST(embed_host_context_death, names_entries_that_another_thread_calls) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    using runtimes = std::unique_ptr<runtime>;
    const char* const belongs = ".*another thread than the one that runs the io_context";
    EXPECT_DEATH(on_another_thread([](runtimes& rt) { (void)rt->load_text("a", "(define a 1)"); }),
                 std::string("runtime::load_text: ") + belongs);
    EXPECT_DEATH(on_another_thread([](runtimes& rt) { (void)rt->load("a.heddle"); }),
                 std::string("runtime::load: ") + belongs);
    EXPECT_DEATH(on_another_thread([](runtimes& rt) {
                     rt->function("f", "", {"x"}, [](std::int64_t x) { return x; });
                 }),
                 std::string("runtime::function: ") + belongs);
    EXPECT_DEATH(on_another_thread([](runtimes& rt) { rt->shutdown(0s, asio::detached); }),
                 std::string("runtime::shutdown: ") + belongs);
    EXPECT_DEATH(on_another_thread([](runtimes& rt) { rt.reset(); }),
                 std::string("the destructor of a runtime: ") + belongs);
}

TEST(embed_host_context, may_be_asked_by_other_threads) {
    on_another_thread([](std::unique_ptr<runtime>& rt) { EXPECT_EQ(rt->stats().all.running, 1U); });
}

TEST(embed_call_death, names_a_slot_that_two_threads_use) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto mistaken = [] {
        asio::io_context context;
        const call about({.executor = context.get_executor()});
        (void)about.slot();
        std::thread([&] { (void)about.slot(); }).join();
    };
    EXPECT_DEATH(mistaken(), "call::slot: used by several threads");
}
#endif

} // namespace
} // namespace heddle
