#include "function_harness.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::find_later;
using namespace std::chrono_literals;

class function_end : public testing::function_caller {};

asio::awaitable<std::string> wait_for_ever(std::shared_ptr<bool> ended) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 1h);
    const std::shared_ptr<void> guard(nullptr, [ended](void*) { *ended = true; });
    co_await timer.async_wait(asio::use_awaitable);
    co_return "waited";
}

TEST_F(function_end, fails_with_the_exception) {
    const std::string text = "the function 'bad' threw an exception: disk full";
    EXPECT_EQ(
        call_now(make_function("bad", "", []() -> int { throw std::runtime_error("disk full"); }),
                 {}),
        text);
    EXPECT_EQ(code(), errc::internal);
    EXPECT_EQ(call_now(make_function("bad", "",
                                     []() -> asio::awaitable<int> {
                                         throw std::runtime_error("disk full");
                                         co_return 1;
                                     }),
                       {}),
              text);
    EXPECT_EQ(
        call_now(make_function("bad", "",
                               [](completion<int>) { throw std::runtime_error("disk full"); }),
                 {}),
        text);
    EXPECT_EQ(
        call_now(make_function("bad", "",
                               [](completion<int> done) {
                                   done(std::make_exception_ptr(std::runtime_error("disk full")));
                               }),
                 {}),
        text);
    EXPECT_EQ(call_now(make_function(
                           "bad", "",
                           []() -> int { throw error_exception(error(errc::not_found, "gone")); }),
                       {}),
              "gone");
    EXPECT_EQ(code(), errc::not_found);
    EXPECT_EQ(ends_, 5);
}

TEST_F(function_end, fails_when_its_completion_is_dropped) {
    const auto forgetful = make_function("forgetful", "", [](completion<int>) {});
    EXPECT_EQ(call_now(forgetful, {}), "the function 'forgetful' never completed");
    EXPECT_EQ(code(), errc::internal);

    const auto later = make_function("later", "", [](const call& by, completion<int> done) {
        asio::post(by.executor(), [done] { static_cast<void>(done); });
    });
    outcome_.reset();
    start(later, {});
    EXPECT_EQ(text(), "has not ended");
    run_loop();
    EXPECT_EQ(text(), "the function 'later' never completed");
}

TEST_F(function_end, ignores_the_second_completion) {
    std::vector<bool> taken;
    const auto eager = make_function("eager", "", [&](completion<int> done) {
        taken.push_back(done(1));
        taken.push_back(done(2));
        taken.push_back(done(error(errc::internal, "late")));
        throw std::runtime_error("later still");
    });
    EXPECT_EQ(call_now(eager, {}), "1");
    EXPECT_EQ(taken, (std::vector<bool>{true, false, false}));
    EXPECT_EQ(ends_, 1);
}

TEST_F(function_end, may_complete_on_another_thread) {
    std::optional<std::jthread> worker;
    const auto far = make_function("far", "", {"number"}, [&](int number, completion<int> done) {
        worker.emplace([number, done] {
            std::this_thread::sleep_for(5ms);
            done(number + 1);
        });
    });
    start(far, {1});
    const std::thread::id there = worker->get_id();
    ASSERT_TRUE(wait_for_end());
    EXPECT_EQ(text(), "2");
    EXPECT_EQ(ended_on_, there);
}

TEST_F(function_end, lets_only_one_of_many_threads_complete) {
    std::atomic<int> taken = 0;
    for (int round = 0; round < 50; ++round) {
        std::vector<std::jthread> workers;
        const auto contested = make_function("contested", "", [&](const completion<int>& done) {
            for (int i = 0; i < 4; ++i) {
                workers.emplace_back([&, done, i] {
                    if (done(i)) ++taken;
                });
            }
        });
        start(contested, {});
    }
    ASSERT_TRUE(wait_for_end());
    EXPECT_EQ(taken, 50);
    EXPECT_EQ(ends_, 50);
}

TEST_F(function_end, runs_on_its_executor) {
    asio::thread_pool pool(2);
    const function_options on_pool{.executor = pool.get_executor()};
    const auto here = std::this_thread::get_id();
    std::atomic<bool> elsewhere = false;
    const auto block = make_function(
        "block", "", {"id"},
        [&](std::int64_t id) {
            elsewhere = std::this_thread::get_id() != here;
            return id;
        },
        on_pool);
    EXPECT_TRUE(block.completes_later);
    start(block, {7});
    ASSERT_TRUE(wait_for_end());
    EXPECT_EQ(text(), "7");
    EXPECT_TRUE(elsewhere);

    ends_ = 0;
    start(make_function("find", "", {"id"}, find_later, on_pool), {8});
    ASSERT_TRUE(wait_for_end());
    EXPECT_EQ(text(), R"({"id":8,"name":"Ada"})");
    EXPECT_NE(ended_on_, here);
    pool.join();
}

TEST_F(function_end, cancels_the_coroutine_that_waits) {
    const auto ended = std::make_shared<bool>(false);
    const auto endless = make_function("endless", "", [ended]() { return wait_for_ever(ended); });
    start(endless, {});
    loop_.run_for(10ms);
    EXPECT_EQ(text(), "has not ended");
    std::jthread([this] { cancel_.request_stop(); }).join();
    run_loop();
    ASSERT_TRUE(outcome_.has_value());
    EXPECT_TRUE(outcome_->error().is_cancelled());
    EXPECT_TRUE(*ended);
}

TEST_F(function_end, cancels_the_coroutine_on_another_executor) {
    asio::thread_pool pool(2);
    for (int round = 0; round < 20; ++round) {
        cancel_ = std::stop_source();
        outcome_.reset();
        ends_ = 0;
        const auto ended = std::make_shared<bool>(false);
        start(make_function("endless", "", [ended]() { return wait_for_ever(ended); },
                            {.executor = pool.get_executor()}),
              {});
        if (round % 2 == 0) std::this_thread::sleep_for(1ms);
        cancel_.request_stop();
        ASSERT_TRUE(wait_for_end());
        EXPECT_TRUE(outcome_->error().is_cancelled());
    }
    pool.join();
}

TEST_F(function_end, cancels_what_a_callback_waits_for) {
    const auto slow = make_function("slow", "", [](const call& by, completion<int> done) {
        auto timer = std::make_shared<asio::steady_timer>(by.executor(), 1h);
        timer->async_wait(asio::bind_cancellation_slot(
            by.slot(), [timer, done, by](boost::system::error_code code) {
                if (!code) return void(done(1));
                // A second operation of a cancelled call is cancelled as well.
                timer->expires_after(1h);
                timer->async_wait(asio::bind_cancellation_slot(
                    by.slot(), [timer, done](boost::system::error_code again) {
                        done(error(errc::io_error, "stopped: " + again.message()));
                    }));
            }));
    });
    start(slow, {});
    loop_.run_for(10ms);
    EXPECT_EQ(text(), "has not ended");
    cancel_.request_stop();
    run_loop();
    EXPECT_EQ(text(), "stopped: Operation canceled");
}

TEST_F(function_end, cancels_a_thread_by_its_stop_token) {
    std::optional<std::jthread> worker;
    const auto waiting = make_function("waiting", "", [&](const call& by, completion<int> done) {
        worker.emplace([token = by.stop_token(), done] {
            std::mutex mutex;
            std::condition_variable_any never;
            std::unique_lock lock(mutex);
            never.wait(lock, token, [] { return false; });
            done(error::cancelled(cancel_reason::user));
        });
    });
    start(waiting, {});
    cancel_.request_stop();
    ASSERT_TRUE(wait_for_end());
    EXPECT_TRUE(outcome_->error().is_cancelled());
}

TEST_F(function_end, outlives_the_definition) {
    auto definition = std::make_unique<function_definition>(
        make_function("find", "", {"id"}, [](std::int64_t id) -> asio::awaitable<std::int64_t> {
            const auto executor = co_await asio::this_coro::executor;
            asio::steady_timer timer(executor, 1ms);
            co_await timer.async_wait(asio::use_awaitable);
            co_return id;
        }));
    start(*definition, {5});
    definition.reset();
    run_loop();
    EXPECT_EQ(text(), "5");
}

} // namespace
} // namespace heddle
