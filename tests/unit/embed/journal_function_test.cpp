// What becomes of calls of host functions when a recorded call is executed again.
#include "journal_harness.hpp"

#include <heddle/function_awaitable.hpp>

#include <gmock/gmock.h>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace heddle {
namespace {

using namespace std::chrono_literals;
using testing::called;
using ::testing::HasSubstr;
using testing::loaded;

/// Ends when it is cancelled.
boost::asio::awaitable<int> hold(call by, std::atomic<int>& count) {
    ++count;
    boost::asio::steady_timer never(by.executor(), 1h);
    co_await never.async_wait(boost::asio::use_awaitable);
    co_return 0;
}

class functions_of_recorded_calls : public testing::recorded_runtime {
protected:
    std::atomic<int> answers{0};
    std::atomic<int> redos{0};
    std::atomic<int> outputs{0};
    std::atomic<int> pures{0};

    void offer(runtime& rt) {
        rt.function("answer", "Numbers.", [this] { return ++answers; });
        rt.function("redo", "Numbers.", [this] { return ++redos; },
                    {.replays = function_replay::redo});
        rt.function("show", "Numbers.", [this] { return ++outputs; },
                    {.replays = function_replay::output});
        rt.function("double", "Doubles.", {"n"}, [this](std::int64_t n) { return ++pures, 2 * n; },
                    {.pure = true});
    }
};

constexpr const char* all_of_them = R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define (go)
  (let* ((a (answer)) (b (redo)) (c (show)) (d (double (n a))) (e (double 21)))
    (list a b c d e (content (ask "wait")))))
)lisp";

TEST_F(functions_of_recorded_calls, are_called_again_as_they_declare) {
    for (int i = 1; i <= 3; ++i) {
        runtime rt(options());
        offer(rt);
        const program flow = loaded(rt, all_of_them);
        interrupt(flow, "go", {}, "x");
        EXPECT_EQ(answers, 1);
        EXPECT_EQ(redos, i);
        EXPECT_EQ(outputs, 1);
        EXPECT_EQ(pures, 2 * i);
    }
}

TEST_F(functions_of_recorded_calls, have_the_recorded_values_and_errors) {
    constexpr const char* text = R"lisp(
(defatom ask (params text) (instructions "{{text}}"))
(define (go prompt)
  (list (try (broken) (catch (e) (get e "message"))) (answer) (redo) (show) (content (ask prompt))))
)lisp";
    std::atomic<int> broken{0};
    for (const bool refuses : {true, false}) {
        runtime rt(options());
        offer(rt);
        rt.function("broken", "Fails.", [&]() -> int {
            ++broken;
            throw std::runtime_error("out of paper");
        });
        model->refuses = refuses;
        const program flow = loaded(rt, text);
        const auto ended = called(flow, "go", "refuse", {.tag = "x"});
        ASSERT_EQ(ended.has_value(), !refuses) << (ended ? "" : to_text(ended.error()));
        if (refuses) continue;
        EXPECT_EQ(ended->value().as_array()[1], json(1));
        EXPECT_EQ(ended->value().as_array()[2], json(2)); // called again
        EXPECT_EQ(ended->value().as_array()[3], json(1));
        EXPECT_THAT(ended->value().as_array()[0].to_string(), HasSubstr("out of paper"));
    }
    EXPECT_EQ(broken, 1); // only the task is repeated that has failed
}

TEST_F(functions_of_recorded_calls, are_called_again_only_as_they_declare_by_models) {
    // A model that calls them, and then a function that does not end.
    constexpr const char* calls = R"json({"rules": [
        {"match": {"user": "^go$", "tool": "^$"},
         "tool_calls": [{"name": "answer", "arguments": {}}, {"name": "redo", "arguments": {}},
                        {"name": "double", "arguments": {"n": 4}}]},
        {"match": {"user": "^go$"}, "tool_calls": [{"name": "hold", "arguments": {}}]}]})json";
    runtime_options chosen;
    chosen.scripted_rules = calls;
    chosen.journal = options().journal;
    std::atomic<int> held{0};
    for (int i = 1; i <= 2; ++i) {
        runtime rt(chosen);
        offer(rt);
        rt.function("hold", "Waits.", [&held](const heddle::call& by) { return hold(by, held); });
        const program flow = loaded(rt, R"lisp(
(defatom ask (params text) (instructions "{{text}}") (tools (answer redo double hold)))
(define (go) (content (ask "go")))
)lisp");
        job running = flow.start("go", {}, {.tag = "x"});
        ASSERT_TRUE(testing::comes_true([&] { return held == i; }));
        running.cancel();
        EXPECT_FALSE(testing::wait_for(running.result(boost::asio::use_future)));
        EXPECT_EQ(answers, 1);
        EXPECT_EQ(redos, i);
        EXPECT_EQ(pures, i);
    }
}

TEST(pure_functions, are_called_as_builtins) {
    runtime rt;
    int calls = 0;
    rt.function("scale", "Multiplies.", {"n", "by"},
                [&calls](std::int64_t n, std::optional<double> by) {
                    ++calls;
                    if (n < 0) throw std::invalid_argument("less than nothing");
                    return static_cast<double>(n) * by.value_or(2);
                },
                {.pure = true});
    const program flow = loaded(rt, R"lisp(
(define (evaluated text) (eval (parse text)))
(define (failing)
  (scale -1))
)lisp");
    const auto value_of = [&](const char* form) {
        const auto ended = called(flow, "evaluated", form);
        return ended ? ended->value().to_string() : ended.error().message();
    };
    EXPECT_EQ(value_of("(list (scale 3) (scale 3 4))"), "[6.0,12.0]");
    EXPECT_EQ(value_of("(list (scale (n 3)) (scale (by 4) (n 3)))"), "[6.0,12.0]");
    EXPECT_EQ(value_of("(map scale (list 1 2 3))"), "[2.0,4.0,6.0]");
    EXPECT_EQ(value_of("(apply scale (list 5 5))"), "25.0");
    EXPECT_EQ(calls, 8);
    EXPECT_THAT(value_of("(scale \"three\")"), HasSubstr("'n' must be an integer"));
    EXPECT_THAT(value_of("(scale (by 2))"), HasSubstr("needs the clause n"));
    EXPECT_THAT(value_of("(scale 1 2 3)"), HasSubstr("takes 2 inputs, not 3"));
    EXPECT_THAT(value_of("(scale (n 1) (to 2))"), HasSubstr("there is no clause 'to'"));
    EXPECT_EQ(calls, 8);
    EXPECT_THAT(value_of("(scale -1)"), HasSubstr("less than nothing"));
    EXPECT_EQ(value_of("(try (scale -1) (catch (e) \"caught\"))"), R"("caught")");
    const auto placed = called(flow, "failing");
    ASSERT_TRUE(details_of(placed.error()) && details_of(placed.error())->place);
    EXPECT_EQ(details_of(placed.error())->place->line, 4U);
    EXPECT_THAT(value_of("(sandbox ((allow (print))) (scale 1))"),
                HasSubstr("the sandbox does not allow 'scale'"));
    EXPECT_EQ(value_of("(sandbox ((allow (scale))) (scale 1))"), "2.0");
    EXPECT_THAT(value_of("(sandbox ((allow (scale)) (calls 2)) (map scale (list 1 2 3)))"),
                HasSubstr("calls"));
}

TEST(pure_functions, must_return_at_once) {
    runtime rt;
    auto later = make_function("later", "Calls back.", [](completion<int> done) { done(1); },
                               {.pure = true});
    EXPECT_THAT(rt.function(later).error().message(), HasSubstr("must return its result itself"));
    auto recorded = make_function("recorded", "Returns.", [] { return 1; },
                                  {.replays = function_replay::redo, .pure = true});
    EXPECT_THAT(rt.function(recorded).error().message(), HasSubstr("not recorded"));
    function_definition never;
    never.name = "never";
    never.pure = true;
    never.invoke = [](call, std::vector<json>, const function_completion&) {};
    ASSERT_TRUE(rt.function(never));
    const auto ended = called(loaded(rt, "(define (f) (never))"), "f");
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message(), HasSubstr("did not return its result at once"));
}

} // namespace
} // namespace heddle
