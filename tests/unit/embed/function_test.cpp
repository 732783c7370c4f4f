#include <heddle/function.hpp>

#include <gtest/gtest.h>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe/class.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heddle {

namespace function_samples {

struct customer {
    std::int64_t id = 0;
    std::string name;
};
BOOST_DESCRIBE_STRUCT(customer, (), (id, name))

struct query {
    std::string text;
    std::optional<int> limit;
};
BOOST_DESCRIBE_STRUCT(query, (), (text, limit))

} // namespace function_samples

namespace {

namespace asio = boost::asio;
using function_samples::customer;
using function_samples::query;
using namespace std::chrono_literals;

/// A loop as that of a workflow, which waits for the results of functions.
class function : public testing::Test {
protected:
    [[nodiscard]] call caller() {
        return call({.executor = loop_.get_executor(),
                     .deadline = std::chrono::steady_clock::now() + 1h,
                     .tag = "request 7",
                     .cancel = cancel_.get_token()});
    }

    /// Starts a call; its end is noted in outcome_, on whichever thread it happens.
    void start(const function_definition& definition, json::array arguments) {
        definition.invoke(caller(), std::move(arguments), [this](result<json> outcome) {
            const std::lock_guard lock(mutex_);
            ++ends_;
            ended_on_ = std::this_thread::get_id();
            outcome_ = std::move(outcome);
            changed_.notify_all();
        });
    }
    void run_loop() {
        loop_.restart();
        loop_.run();
    }
    [[nodiscard]] bool wait_for_end() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 20s, [this] { return ends_ != 0; });
    }

    /// The result as text, or the message of the error.
    std::string text() {
        const std::lock_guard lock(mutex_);
        if (!outcome_) return "has not ended";
        return *outcome_ ? (*outcome_)->to_string() : outcome_->error().message();
    }
    std::string call_now(const function_definition& definition, json::array arguments) {
        outcome_.reset();
        start(definition, std::move(arguments));
        run_loop();
        return text();
    }
    boost::system::error_code code() { return outcome_->error().code(); }

    asio::io_context loop_;
    std::stop_source cancel_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int ends_ = 0;
    std::thread::id ended_on_;
    std::optional<result<json>> outcome_;
};

int twice(int number) { return 2 * number; }

asio::awaitable<customer> find_later(call by, std::int64_t id) {
    asio::steady_timer timer(by.executor(), 1ms);
    co_await timer.async_wait(asio::use_awaitable);
    co_return customer{id, "Ada"};
}

asio::awaitable<std::string> wait_for_ever(std::shared_ptr<bool> ended) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, 1h);
    const std::shared_ptr<void> guard(nullptr, [ended](void*) { *ended = true; });
    co_await timer.async_wait(asio::use_awaitable);
    co_return "waited";
}

TEST_F(function, calls_plain_functions) {
    EXPECT_EQ(call_now(make_function("twice", "Doubles.", {"number"}, twice), {21}), "42");
    EXPECT_EQ(call_now(make_function("twice", "Doubles.", {"number"}, &twice), {21}), "42");
    EXPECT_EQ(call_now(make_function("now", "", [] { return "now"; }), {}), "\"now\"");
    int calls = 0;
    const auto count = make_function("count", "", {"by"}, [&](int by) mutable { calls += by; });
    EXPECT_EQ(call_now(count, {2}), "null");
    EXPECT_EQ(calls, 2);
    const auto reversed =
        make_function("reversed", "", {"text", "times"},
                      [](const std::string& text, std::optional<int> times) -> result<std::string> {
                          if (text.empty()) return error(errc::not_found, "no text");
                          std::string out;
                          for (int i = 0; i < times.value_or(1); ++i)
                              out.append(text.rbegin(), text.rend());
                          return out;
                      });
    EXPECT_EQ(call_now(reversed, {"ab", nullptr}), "\"ba\"");
    EXPECT_EQ(call_now(reversed, {"ab", 2}), "\"baba\"");
    EXPECT_EQ(call_now(reversed, {"", nullptr}), "no text");
    EXPECT_EQ(code(), errc::not_found);
}

TEST_F(function, hands_over_the_call) {
    const auto about = make_function("about", "", {"plus"}, [](const call& by, int plus) {
        return by.tag() + (by.deadline() && by.time_left() > 59min ? " +" : " -") +
               std::to_string(plus) + (by.cancelled() ? " cancelled" : "");
    });
    EXPECT_EQ(call_now(about, {3}), "\"request 7 +3\"");
    cancel_.request_stop();
    EXPECT_EQ(call_now(about, {3}), "\"request 7 +3 cancelled\"");
}

TEST_F(function, takes_the_members_of_a_described_struct_as_parameters) {
    const auto search = make_function("search", "Searches.", [](call, const query& by) {
        return by.text + ":" + std::to_string(by.limit.value_or(10));
    });
    ASSERT_TRUE(search.check().has_value());
    ASSERT_EQ(search.parameters.size(), 2U);
    EXPECT_EQ(search.parameters[0].name, "text");
    EXPECT_FALSE(search.parameters[0].optional);
    EXPECT_TRUE(search.parameters[1].optional);
    EXPECT_EQ(call_now(search, {"a", 3}), "\"a:3\"");
    EXPECT_EQ(call_now(search, {"a", nullptr}), "\"a:10\"");
    EXPECT_EQ(call_now(search, {"a", "3"}),
              "search: limit: expected an integer but found the string \"3\"");
}

TEST_F(function, awaits_coroutines) {
    const auto find = make_function("find", "", {"id"}, find_later);
    EXPECT_TRUE(find.completes_later);
    EXPECT_EQ(call_now(find, {7}), R"({"id":7,"name":"Ada"})");
    const auto refuse = make_function("refuse", "", [](call) -> asio::awaitable<result<int>> {
        co_return error(errc::not_found, "nothing here");
    });
    EXPECT_EQ(call_now(refuse, {}), "nothing here");
    int calls = 0;
    const auto nothing = make_function("nothing", "", [&]() -> asio::awaitable<void> {
        ++calls; // the function lives as long as its definition
        co_return;
    });
    EXPECT_EQ(call_now(nothing, {}), "null");
    EXPECT_EQ(calls, 1);
}

TEST_F(function, calls_functions_that_call_back) {
    const auto find = make_function(
        "find", "", {"id"}, [](const call& by, std::int64_t id, completion<customer> done) {
            asio::post(by.executor(), [id, done] { done(customer{id, "Ada"}); });
        });
    EXPECT_TRUE(find.completes_later);
    EXPECT_EQ(call_now(find, {7}), R"({"id":7,"name":"Ada"})");
    const auto nothing = make_function("nothing", "", [](completion<void> done) { done(); });
    EXPECT_EQ(call_now(nothing, {}), "null");
    const auto refuse = make_function(
        "refuse", "", [](completion<int> done) { done(error(errc::not_found, "nothing here")); });
    EXPECT_EQ(call_now(refuse, {}), "nothing here");
}

TEST_F(function, refuses_arguments_that_do_not_fit) {
    bool called = false;
    const auto small = make_function("small", "", {"number", "text"},
                                     [&](std::int8_t, const std::string&) { called = true; });
    EXPECT_EQ(call_now(small, {300, "a"}),
              "small: number: expected an integer from -128 to 127 but found 300");
    EXPECT_EQ(code(), errc::invalid_argument);
    EXPECT_EQ(call_now(small, {1, nullptr}), "small: text: expected a string but found null");
    EXPECT_EQ(call_now(small, {std::nan(""), "a"}),
              "small: number: expected an integer but found nan");
    EXPECT_EQ(call_now(small, {1}), "small: expected 2 arguments but found 1");
    EXPECT_FALSE(called);
}

TEST_F(function, refuses_results_that_json_cannot_express) {
    const auto wrong = make_function("wrong", "", [] {
        return std::vector<double>{1, std::nan("")};
    });
    EXPECT_EQ(call_now(wrong, {}), "result[1]: JSON cannot express the number nan");
    ASSERT_EQ(outcome_->error().info().trace.size(), 1U);
    EXPECT_EQ(outcome_->error().info().trace[0].what, "in the function 'wrong'");
    const auto bytes =
        make_function("bytes", "", [](completion<std::string> done) { done(std::string("\xFF")); });
    EXPECT_EQ(call_now(bytes, {}), "result: the string is not UTF-8: invalid bytes at offset 0");
}

TEST_F(function, fails_with_the_exception) {
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

TEST_F(function, fails_when_its_completion_is_dropped) {
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

TEST_F(function, ignores_the_second_completion) {
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

TEST_F(function, may_complete_on_another_thread) {
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

TEST_F(function, lets_only_one_of_many_threads_complete) {
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

TEST_F(function, runs_on_its_executor) {
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

TEST_F(function, cancels_the_coroutine_that_waits) {
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

TEST_F(function, cancels_the_coroutine_on_another_executor) {
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

TEST_F(function, cancels_what_a_callback_waits_for) {
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

TEST_F(function, cancels_a_thread_by_its_stop_token) {
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

TEST_F(function, outlives_the_definition) {
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

TEST(function_definition, has_the_schema_that_models_read) {
    const auto search = make_function(
        "search", "Searches.", {{"text", "What to look for"}, {"limit"}, {"from"}},
        [](const std::string&, std::optional<std::int64_t>, std::optional<customer>) { return 1; });
    EXPECT_EQ(search.schema(), json::parse(R"({"type": "object",
                  "properties": {
                      "text": {"type": "string", "description": "What to look for"},
                      "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                      "from": {"anyOf": [
                          {"type": "object",
                           "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                           "required": ["id", "name"], "additionalProperties": false},
                          {"type": "null"}]}},
                  "required": ["text"], "additionalProperties": false})")
                                   .value())
        << search.schema().to_string(2);
    EXPECT_EQ(make_function("now", "", [] {}).schema().to_string(),
              R"({"type":"object","properties":{},"required":[],"additionalProperties":false})");
}

TEST(function_definition, binds_arguments_by_name) {
    const auto search = make_function("search", "", {"text", "limit"},
                                      [](const std::string&, std::optional<int>) {});
    EXPECT_EQ(search.by_name({{"limit", 2}, {"text", "a"}}).value(), (json::array{"a", 2}));
    EXPECT_EQ(search.by_name({{"text", "a"}}).value(), (json::array{"a", nullptr}));
    EXPECT_EQ(search.by_name({{"limit", 2}}).error().message(),
              "search: the argument 'text' is missing");
    const auto unknown = search.by_name({{"text", "a"}, {"limti", 2}});
    EXPECT_EQ(unknown.error().message(), "search: there is no parameter \"limti\"");
    EXPECT_EQ(unknown.error().info().hint, "did you mean 'limit'?");
}

TEST(function_definition, binds_arguments_by_position) {
    const auto search = make_function("search", "", {"text", "limit"},
                                      [](const std::string&, std::optional<int>) {});
    EXPECT_EQ(search.by_position({"a"}).value(), (json::array{"a", nullptr}));
    EXPECT_EQ(search.by_position({"a", 1}).value(), (json::array{"a", 1}));
    EXPECT_EQ(search.by_position({}).error().message(),
              "search: expected 1 to 2 arguments but found 0");
    EXPECT_EQ(search.by_position({"a", 1, 2}).error().message(),
              "search: expected 1 to 2 arguments but found 3");
}

TEST(function_definition, refuses_what_cannot_be_called) {
    const auto problem = [](const function_definition& definition) {
        const auto checked = definition.check();
        return checked ? "is usable" : checked.error().message();
    };
    const auto one = [](int) {};
    const auto two = [](int, int) {};
    EXPECT_EQ(problem(make_function("lookup-customer", "", {"id"}, one)), "is usable");
    EXPECT_EQ(problem(make_function("even?", "", {"id"}, one, {.pure = true})), "is usable");
    EXPECT_NE(problem(make_function("", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("look up", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("7up", "", {"id"}, one)), "is usable");
    EXPECT_NE(problem(make_function("a\xFF", "", {"id"}, one)), "is usable");
    EXPECT_EQ(problem(make_function("one", "", {"an id"}, one)),
              "the function 'one': the name of a parameter is unusable: \"an id\"");
    EXPECT_EQ(problem(make_function("two", "", {"id", "id"}, two)),
              "the function 'two': two parameters have the name 'id'");
    const std::string late =
        "the function 'late': a pure function must return its result, not "
        "complete later";
    EXPECT_EQ(problem(make_function("late", "", {"id"}, find_later, {.pure = true})), late);
    asio::io_context elsewhere;
    EXPECT_EQ(problem(make_function("late", "", {"id"}, one,
                                    {.pure = true, .executor = elsewhere.get_executor()})),
              late);
    function_definition empty;
    empty.name = "empty";
    EXPECT_EQ(problem(empty), "the function 'empty': nothing to invoke");
}

TEST(function_definition, repeats_pure_functions) {
    EXPECT_EQ(make_function("now", "", [] {}).replays, replay::record);
    EXPECT_EQ(make_function("now", "", [] {}, {.replays = replay::repeat}).replays, replay::repeat);
    EXPECT_EQ(make_function("now", "", [] {}, {.pure = true}).replays, replay::repeat);
}

} // namespace
} // namespace heddle
