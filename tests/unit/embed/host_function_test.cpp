#include "embed_harness.hpp"

#include <heddle/function_awaitable.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <mutex>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using testing::comes_true;
using ::testing::HasSubstr;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

TEST(embed_function, is_called_by_position_and_by_clause) {
    runtime rt(with_model());
    rt.function("add", "Adds.", {"a", "b"}, [](std::int64_t a, std::int64_t b) { return a + b; });
    rt.function("greet", "Greets.", {"name", "title"},
                [](const std::string& name, std::optional<std::string> title) {
                    return title.value_or("Hello") + " " + name;
                });
    const program flow = loaded(rt,
                                "(define (positions) (add 1 2)) "
                                "(define (clauses) (add (b 3) (a 4))) "
                                "(define (short) (greet \"Ann\")) "
                                "(define (long) (greet (title \"Dr\") (name \"Ann\")))");
    EXPECT_EQ(called(flow, "positions").value().value(), json(3));
    EXPECT_EQ(called(flow, "clauses").value().value(), json(7));
    EXPECT_EQ(called(flow, "short").value().text(), "Hello Ann");
    EXPECT_EQ(called(flow, "long").value().text(), "Dr Ann");
}

TEST(embed_function, that_throws_fails_its_branch) {
    runtime rt(with_model());
    rt.function("find", "Finds.", {"id"}, [](std::int64_t id) -> std::string {
        if (id == 7) throw std::runtime_error("no customer " + std::to_string(id));
        return "c" + std::to_string(id);
    });
    const program flow =
        loaded(rt,
               "(define (one id) (find id)) "
               "(define (safe id) (try (find id) (catch (e) (get e \"message\"))))");
    EXPECT_EQ(called(flow, "one", 1).value().text(), "c1");
    const auto thrown = called(flow, "one", 7);
    ASSERT_FALSE(thrown);
    EXPECT_THAT(to_text(thrown.error()), HasSubstr("no customer 7"));
    const auto wrong = called(flow, "one", "x");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(to_text(wrong.error()), HasSubstr("find"));
}

TEST(embed_function, may_complete_on_another_thread) {
    runtime rt(with_model());
    asio::thread_pool pool(2);
    rt.function("twice", "Doubles.", {"n"}, [&](std::int64_t n, completion<std::int64_t> done) {
        asio::post(pool, [n, done] { done(2 * n); });
    });
    rt.function("wait", "Waits.", {"ms"}, [](std::int64_t ms) -> asio::awaitable<std::int64_t> {
        const asio::any_io_executor here = co_await asio::this_coro::executor;
        asio::steady_timer timer(here, std::chrono::milliseconds(ms));
        co_await timer.async_wait(asio::use_awaitable);
        co_return ms;
    });
    const program flow =
        loaded(rt, "(define (all) (list (map twice (list 1 2 3)) (map wait (list 5 1 3))))");
    const auto ended = called(flow, "all");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->value(), json(json::array{json::array{2, 4, 6}, json::array{5, 1, 3}}));
    pool.join();
}

TEST(embed_function, is_cancelled_with_its_workflow) {
    runtime rt(with_model());
    std::atomic<int> stopped{0};
    rt.function("long", "Waits.", {"x"}, [&](call about, std::int64_t) -> asio::awaitable<void> {
        EXPECT_TRUE(about.deadline());
        EXPECT_EQ(about.tag(), "r7");
        const asio::any_io_executor here = co_await asio::this_coro::executor;
        asio::steady_timer timer(here, 60s);
        try {
            co_await timer.async_wait(asio::use_awaitable);
        } catch (const boost::system::system_error&) {
            ++stopped;
        }
    });
    const program flow = loaded(rt, "(define (f) (map long (list 1 2 3)))");
    const auto ended = called(flow, "f", {}, {.timeout = 100ms, .tag = "r7"});
    ASSERT_FALSE(ended);
    EXPECT_EQ(http_status(ended.error()), 504);
    EXPECT_EQ(stopped, 3); // the call has waited for them
}

TEST(embed_function, that_never_ends_is_left_behind) {
    std::mutex mutex;
    std::string logged;
    runtime_options options = with_model({.function_grace = 50ms});
    options.log = [&](log_level, std::string_view, std::string_view line) {
        const std::lock_guard held(mutex);
        logged += line;
    };
    std::optional<completion<std::int64_t>> kept;
    {
        runtime rt(options);
        rt.function("never", "Never ends.", {"x"},
                    [&](std::int64_t, completion<std::int64_t> done) { kept = std::move(done); });
        const program flow = loaded(rt, "(define (f) (never 1))");
        const auto begun = std::chrono::steady_clock::now();
        const auto ended = called(flow, "f", {}, {.timeout = 50ms});
        ASSERT_FALSE(ended);
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 100ms);
    }
    ASSERT_TRUE(kept);
    (*kept)(1); // nobody listens, and the thread is gone
    const std::lock_guard held(mutex);
    EXPECT_THAT(logged, HasSubstr("'never' did not end after it was cancelled"));
}

TEST(embed_function, that_drops_its_completion_fails) {
    runtime rt(with_model());
    rt.function("lost", "Forgets.", {"x"}, [](std::int64_t, completion<std::int64_t>) {});
    const program flow = loaded(rt, "(define (f) (lost 1))");
    const auto ended = called(flow, "f");
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message(), HasSubstr("never completed"));
}

TEST(embed_function, whose_result_json_cannot_express_is_not_the_fault_of_the_caller) {
    runtime rt(with_model());
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    rt.function("plain", "", {"x"}, [](std::int64_t) { return infinite; });
    rt.function("pure", "", {"x"}, [](std::int64_t) { return infinite; }, {.pure = true});
    rt.function("bytes", "", {"x"},
                [](std::int64_t) -> result<std::string> { return std::string("\xff"); });
    rt.function("awaited", "", {"x"},
                [](std::int64_t) -> asio::awaitable<double> { co_return infinite; });
    rt.function("later", "", {"x"},
                [](std::int64_t, const completion<double>& done) { done(infinite); });
    const program flow = loaded(rt,
                                "(define (one) (plain 1)) (define (two) (pure 1)) "
                                "(define (three) (bytes 1)) (define (four) (awaited 1)) "
                                "(define (five) (later 1))");
    for (const char* each : {"one", "two", "three", "four", "five"}) {
        const auto ended = called(flow, each);
        ASSERT_FALSE(ended) << each << ended->text();
        EXPECT_EQ(http_status(ended.error()), 500) << to_text(ended.error());
        EXPECT_THAT(ended.error().message(), HasSubstr("result")) << each;
    }
}

TEST(embed_function, that_reports_a_cancellation_of_its_own_fails) {
    runtime rt(with_model());
    const auto ends = [](cancel_reason why) {
        return [why](std::int64_t) -> result<std::int64_t> { return error::cancelled(why); };
    };
    rt.function("stopped", "", {"x"}, ends(cancel_reason::user));
    rt.function("late", "", {"x"}, ends(cancel_reason::deadline));
    rt.function("pure", "", {"x"}, ends(cancel_reason::user), {.pure = true});
    rt.function("thrown", "", {"x"}, [](std::int64_t) -> std::int64_t {
        throw error_exception(error::cancelled(cancel_reason::shutdown));
    });
    const program flow =
        loaded(rt,
               "(define (one) (stopped 1)) (define (two) (late 1)) "
               "(define (three) (pure 1)) (define (four) (thrown 1)) "
               "(define (all) (map stopped (list 1 2))) "
               "(define (safe) (map (lambda (x) (try (stopped x) (catch (e) x))) (list 1 2)))");
    for (const char* each : {"one", "two", "three", "four", "all"}) {
        const auto ended = called(flow, each);
        ASSERT_FALSE(ended) << each << ended->text();
        EXPECT_EQ(http_status(ended.error()), 500) << each;
        EXPECT_THAT(ended.error().message(), HasSubstr("without a request")) << each;
    }
    EXPECT_EQ(called(flow, "safe").value().value(), json(json::array{1, 2}));
}

TEST(embed_function, is_a_tool_for_models) {
    runtime_options options;
    options.scripted_rules = R"json({"rules": [
        {"match": {"user": "weather", "tool": "^$"},
         "tool_calls": [{"name": "weather", "arguments": {"city": "Ulm"}}]},
        {"match": {"tool": "rain"}, "text": "It rains."}]})json";
    runtime rt(options);
    rt.function("weather", "The weather in a city.", {"city"},
                [](const std::string& city) { return "rain in " + city; });
    const program flow =
        loaded(rt,
               "(defatom ask (params q) (instructions \"{{q}}\") (tools (weather))) "
               "(define (f) (content (ask \"weather?\")))");
    const auto ended = called(flow, "f");
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->text(), "It rains.");
}

TEST(embed_function, belongs_to_programs_loaded_after_it) {
    runtime rt(with_model());
    EXPECT_FALSE(rt.load_text("early.heddle", "(define (f) (late 1))"));
    rt.function("late", "", {"x"}, [](std::int64_t x) { return x; });
    EXPECT_EQ(called(loaded(rt, "(define (f) (late 1))"), "f").value().value(), json(1));
    EXPECT_THROW(rt.function("late", "", {"x"}, [](std::int64_t x) { return x; }), error_exception);
    EXPECT_THROW(rt.function("no name", "", {"x"}, [](std::int64_t x) { return x; }),
                 error_exception);
}

} // namespace
} // namespace heddle
