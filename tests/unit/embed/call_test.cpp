#include "embed_harness.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using ::testing::HasSubstr;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

TEST(embed_call, answers_with_plain_data) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto ended = called(flow, "ask", json::object{{"text", "hello"}}, {.tag = "r1"});
    ASSERT_TRUE(ended) << to_text(ended.error());
    EXPECT_EQ(ended->text(), "hello!");
    EXPECT_EQ(ended->value(), json("hello!"));
    EXPECT_EQ(ended->used().calls, 1U);
    EXPECT_EQ(ended->used().requests, 1U);
    EXPECT_GT(ended->used().output_tokens, 0);
    EXPECT_EQ(ended->tag(), "r1");
    EXPECT_GE(ended->duration(), 5ms);
    const json written = to_json(*ended);
    EXPECT_EQ(written.at("value"), json("hello!"));
    EXPECT_EQ(written.at("usage").at("calls"), json(1));
    EXPECT_EQ(written.at("tag"), json("r1"));
}

TEST(embed_call, binds_members_positions_and_single_values) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto value = [&](const char* function, json input) {
        const auto ended = called(flow, function, std::move(input));
        return ended ? ended->value() : json(to_text(ended.error()));
    };
    EXPECT_EQ(value("sum", json::object{{"b", 2}, {"a", 1}}), json(3));
    EXPECT_EQ(value("sum", json::array{1, 2, 3}), json(6));
    EXPECT_EQ(value("ask", "x"), json("x!"));
    EXPECT_EQ(value("nothing", nullptr), json());
    EXPECT_EQ(value("whole", json::object{{"a", json::array{1, 2.5, true, nullptr}}}),
              json(json::object{{"a", json::array{1, 2.5, true, nullptr}}}));
    EXPECT_EQ(value("whole", json::array{1}), json(json::array{1}));
}

TEST(embed_call, refuses_inputs_that_do_not_fit) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto failure = [&](const char* function, json input) {
        auto ended = called(flow, function, std::move(input));
        EXPECT_FALSE(ended) << function;
        return ended ? error(errc::ok, "it was called") : ended.error();
    };
    const error missing = failure("sum", json::object{{"a", 1}, {"z", 1}});
    EXPECT_EQ(missing.code(), make_error_code(runtime_errc::bad_input));
    EXPECT_THAT(missing.message(), HasSubstr("sum: needs b; has no parameter z"));
    json::object many;
    for (int i = 0; i < 1000; ++i) many.set("k" + std::to_string(i), i);
    many.set("last", 1);
    const error others = failure("sum", many);
    EXPECT_THAT(others.message(), HasSubstr("has no parameter k0, k1, "));
    EXPECT_THAT(others.message(), HasSubstr("k19 and 981 others"));
    EXPECT_LT(failure("sum", json::object{{std::string(100'000, 'x'), 1}}).message().size(), 300U);
    EXPECT_THAT(missing.info().hint, HasSubstr("a, b, c"));
    EXPECT_EQ(http_status(missing), 422);
    EXPECT_EQ(to_json(missing).at("kind"), json("RuntimeError"));
    EXPECT_THAT(to_text(missing), HasSubstr("RuntimeError: sum: needs b"));
    EXPECT_THAT(failure("sum", json::array{1}).message(),
                HasSubstr("takes 2 to 3 arguments, not 1"));
    EXPECT_THAT(failure("ask", nullptr).message(), HasSubstr("takes 1 argument, not 0"));
    const error unknown = failure("asc", "x");
    EXPECT_EQ(unknown.code(), make_error_code(runtime_errc::no_function));
    EXPECT_THAT(unknown.info().hint, HasSubstr("ask"));
    EXPECT_EQ(http_status(unknown), 404);
    // What the language brings is not what the program offers.
    EXPECT_EQ(failure("map", nullptr).code(), make_error_code(runtime_errc::no_function));
}

TEST(embed_call, hands_what_was_raised_to_other_threads_as_data) {
    std::optional<error> kept;
    {
        runtime rt(with_model());
        const program flow = loaded(rt);
        auto ended = called(flow, "deep", {}, {.tag = "r2"});
        ASSERT_FALSE(ended);
        kept = ended.error();
    } // the memory of its session is gone
    const failure_details* details = details_of(*kept);
    ASSERT_NE(details, nullptr);
    EXPECT_EQ(details->kind, "UserError");
    json::array raised; // clang takes braces around one array for a copy of it
    raised.emplace_back(json::array{1, "two"});
    EXPECT_EQ(details->data, json(std::move(raised)));
    ASSERT_TRUE(details->place);
    EXPECT_EQ(details->place->file, "flow.heddle");
    EXPECT_GT(details->place->line, 1U);
    EXPECT_THAT(to_text(*kept), HasSubstr("(error \"no such order\""));
    const json written = to_json(*kept);
    EXPECT_EQ(written.at("kind"), json("UserError"));
    EXPECT_EQ(written.at("message"), json("no such order"));
    EXPECT_EQ(written.at("place").at("line"), json(details->place->line));
    EXPECT_EQ(written.at("tag"), json("r2"));
    EXPECT_EQ(http_status(*kept), 500);
}

TEST(embed_call, completes_on_the_executor_of_the_handler) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    asio::io_context context;
    std::thread::id where;
    flow.call("nothing", {}, asio::bind_executor(context, [&](const result<answer>& ended) {
                  EXPECT_TRUE(ended);
                  where = std::this_thread::get_id();
              }));
    context.run(); // the call is work of the context
    EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(embed_call, runs_callbacks_without_an_executor_on_its_own_thread) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    std::promise<std::thread::id> where;
    flow.call("nothing", {},
              [&](const result<answer>&) { where.set_value(std::this_thread::get_id()); });
    EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
    // One that throws ends neither the thread nor the program.
    flow.call("nothing", {}, [](const result<answer>&) { throw std::runtime_error("mine"); });
    EXPECT_TRUE(called(flow, "nothing"));
}

TEST(embed_call, takes_awaitables_and_deferred_operations) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    asio::thread_pool pool(2);
    auto work = [&]() -> asio::awaitable<std::string> {
        auto first = co_await flow.call("ask", "a", asio::use_awaitable);
        auto later = flow.call("ask", "b", asio::deferred);
        auto second = co_await std::move(later)(asio::use_awaitable);
        co_return first.value().text() + second.value().text();
    };
    auto both = asio::co_spawn(pool, work(), asio::use_future);
    EXPECT_EQ(both.get(), "a!b!");
    pool.join();
}

TEST(embed_call, serves_an_io_context_on_four_threads) {
    runtime rt(with_model({.threads = 2, .max_running = 32}));
    const program flow = loaded(rt);
    asio::io_context context;
    std::atomic<int> right{0};
    constexpr int count = 400;
    const auto work = [&right, &flow](int i) -> asio::awaitable<void> {
        auto ended = co_await flow.call("ask", std::to_string(i), asio::use_awaitable);
        if (ended && ended->text() == std::to_string(i) + "!") ++right;
    };
    for (int i = 0; i < count; ++i) asio::co_spawn(context, work(i), asio::detached);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run(); });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(right, count);
    const runtime_stats stats = rt.stats();
    EXPECT_EQ(stats.all.done, static_cast<std::uint64_t>(count));
    EXPECT_EQ(stats.all.running, 0U);
    EXPECT_EQ(stats.all.requests, static_cast<std::uint64_t>(count));
    ASSERT_EQ(stats.threads.size(), 2U);
    EXPECT_GT(stats.threads[0].done, 100U);
    EXPECT_GT(stats.threads[1].done, 100U);
    EXPECT_EQ(to_json(stats).at("done"), json(count));
}

TEST(embed_call, keeps_nothing_from_one_call_to_the_next) {
    runtime rt(with_model());
    const program flow = loaded(rt,
                                "(define count 0) (define (next) (set! count (+ count 1))) "
                                "(define seen (let ((n 0)) (lambda () (set! n (+ n 1)) n))) "
                                "(define (twice) (seen) (seen))");
    for (int i = 0; i < 3; ++i) {
        const auto ended = called(flow, "twice");
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->value(), json(2));
        const auto refused = called(flow, "next");
        ASSERT_FALSE(refused);
        EXPECT_THAT(refused.error().message(), HasSubstr("count"));
    }
}

TEST(embed_call, bounds_calls_of_models_steps_and_memory) {
    runtime rt(with_model());
    const program flow =
        loaded(rt, std::string(testing::program_text) +
                       "(define (twice) (ask \"a\") (ask \"b\")) "
                       "(define (big) (let loop ((l '())) (loop (cons (list l l l l) l))))");
    const auto spent = called(flow, "twice", {}, {.max_calls = 1});
    ASSERT_FALSE(spent);
    EXPECT_EQ(http_status(spent.error()), 402);
    EXPECT_EQ(details_of(spent.error())->used.requests, 1U);
    EXPECT_TRUE(called(flow, "twice")); // the next call has a budget of its own
    const auto endless = called(flow, "spin", {}, {.step_limit = 10'000});
    ASSERT_FALSE(endless);
    EXPECT_EQ(details_of(endless.error())->kind, "LimitError");
    const auto big = called(flow, "big", {}, {.memory_limit = 1'000'000});
    ASSERT_FALSE(big);
    EXPECT_EQ(details_of(big.error())->kind, "LimitError");
}

TEST(embed_call, has_a_result_of_a_task_as_a_value) {
    runtime rt({.scripted_rules = R"({"rules": [{"match": ".", "error": {"status": 400}}]})"});
    const program flow = loaded(rt,
                                "(defatom t (params q) (instructions \"{{q}}\")) "
                                "(define (soft) (t \"x\")) (define (hard) (content (t \"x\")))");
    const auto soft = called(flow, "soft");
    ASSERT_TRUE(soft) << to_text(soft.error());
    EXPECT_TRUE(soft->is_failed_result());
    const auto hard = called(flow, "hard");
    ASSERT_FALSE(hard);
    EXPECT_EQ(details_of(hard.error())->reason, "llm_error");
    EXPECT_EQ(http_status(hard.error()), 502);
    EXPECT_TRUE(hard.error().info().message.size() > 0);
}

TEST(embed_call, fails_without_a_program_or_a_runtime) {
    program flow;
    const error without = called(flow, "x").error();
    EXPECT_EQ(without.code(), make_error_code(runtime_errc::no_function));
    EXPECT_EQ(to_json(without).at("kind"), json("RuntimeError"));
    {
        runtime rt(with_model());
        flow = loaded(rt);
    }
    const auto late = called(flow, "nothing");
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), make_error_code(runtime_errc::stopped));
    EXPECT_EQ(http_status(late.error()), 503);
}

TEST(embed_load, finds_mistakes_before_a_call) {
    runtime rt(with_model());
    const auto broken = rt.load_text("b.heddle", "(define (f) (unknwon-name 1))\n(define (g x");
    ASSERT_FALSE(broken);
    const auto unbound = rt.load_text("b.heddle", "(define (f) (lenght \"x\"))\n(g)");
    ASSERT_FALSE(unbound);
    const failure_details* details = details_of(unbound.error());
    ASSERT_NE(details, nullptr);
    ASSERT_TRUE(details->place);
    EXPECT_EQ(details->place->line, 1U);
    EXPECT_EQ(details->further.size(), 1U);
    const auto raised = rt.load_text("b.heddle", "(error \"not today\")");
    ASSERT_FALSE(raised);
    EXPECT_EQ(raised.error().message(), "not today");
    const auto absent = rt.load("/no/such/file.heddle");
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code(), make_error_code(errc::not_found));
    const auto asks = rt.load_text("b.heddle",
                                   "(defatom t (params q) (instructions \"{{q}}\")) "
                                   "(define x (t \"y\"))");
    ASSERT_FALSE(asks);
    EXPECT_THAT(asks.error().message(), HasSubstr("outside of its functions"));
}

TEST(embed_load, lists_the_functions) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    const auto all = flow.functions();
    const auto sum =
        std::find_if(all.begin(), all.end(), [](const auto& each) { return each.name == "sum"; });
    ASSERT_NE(sum, all.end());
    EXPECT_EQ(sum->parameters, (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(sum->required, 2U);
    EXPECT_FALSE(sum->has_rest);
    EXPECT_FALSE(sum->is_imported);
    EXPECT_EQ(flow.name(), "flow.heddle");
}

TEST(embed_load, marks_imported_functions) {
    runtime rt(with_model());
    const auto flow = rt.load_text("b.heddle",
                                   "(import std/lists)\n"
                                   "(defmacro define-constant (name value) "
                                   "`(define (,name) ,value))\n"
                                   "(define (mean all) \"of this program\")\n"
                                   "(define total sum)\n"
                                   "(define-constant one 1)");
    ASSERT_TRUE(flow) << flow.error().message();
    std::vector<std::string> own;
    bool imports_median = false;
    for (const auto& each : flow->functions()) {
        if (!each.is_imported) own.push_back(each.name);
        else imports_median = imports_median || each.name == "median";
    }
    EXPECT_EQ(own, (std::vector<std::string>{"mean", "one", "total"}));
    EXPECT_TRUE(imports_median);
}

TEST(embed_options, that_cannot_be_used_are_errors) {
    const auto created = runtime::create({.scripted_rules = "{"});
    ASSERT_FALSE(created);
    EXPECT_THROW(runtime({.scripted_rules = "{"}), error_exception);
}

TEST(embed_call, large_data_leaves_the_thread_to_others) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model());
    const program flow = loaded(rt);
    const auto turns_of = [&](json::array input) {
        const json wanted = input;
        bool ended = false;
        flow.call("whole", json(std::move(input)),
                  asio::bind_executor(context, [&](result<answer> how) {
                      EXPECT_TRUE(how && how->value() == wanted);
                      ended = true;
                  }));
        int turns = 0;
        std::function<void()> tick = [&] {
            ++turns;
            if (!ended) asio::post(context, tick);
        };
        asio::post(context, tick);
        context.restart();
        context.run();
        EXPECT_TRUE(ended);
        return turns;
    };
    (void)turns_of({});
    const int few = turns_of({1, 2});
    EXPECT_GT(turns_of(json::array(200'000, json(1))), few + 60);
}

TEST(embed_options, may_refuse_what_json_cannot_represent) {
    runtime rt({});
    const program flow = loaded(rt,
                                "(define (f) (dict \"a\" (list 1 first)))"
                                "(define (g) -inf.0)"
                                "(define (deep n) (if (= n 0) 1 (list (deep (- n 1)))))");
    EXPECT_TRUE(called(flow, "f"));
    EXPECT_TRUE(called(flow, "g"));
    const call_options strict{.strict_value = true};
    const auto problem = [&](const char* function, const json& input) {
        const auto ended = called(flow, function, input, strict);
        if (ended) return std::string("no error");
        EXPECT_EQ(http_status(ended.error()), 500);
        return ended.error().message();
    };
    EXPECT_EQ(problem("f", {}),
              "the result of the call: JSON cannot write a builtin at [\"a\"][1]");
    EXPECT_EQ(problem("g", {}), "the result of the call: JSON cannot write the float -inf.0");
    EXPECT_THAT(problem("deep", json(600)), HasSubstr("deeper than 512 levels"));
    EXPECT_EQ(problem("deep", json(500)), "no error");
}

TEST(embed_options, may_be_an_empty_list) {
    runtime rt({});
    EXPECT_EQ(called(loaded(rt, "(define (f) 1)"), "f").value().value(), json(1));
}

TEST(embed_options, refuse_a_budget_that_is_no_bound) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    runtime rt(with_model());
    const program flow = loaded(rt);
    for (const double wrong : {nan, -1.0, -std::numeric_limits<double>::infinity()}) {
        runtime_options options = with_model();
        options.budget_usd = wrong;
        const auto created = runtime::create(std::move(options));
        ASSERT_FALSE(created);
        EXPECT_THAT(created.error().message(), HasSubstr("budget_usd"));
        const auto refused = called(flow, "ask", "x", {.budget_usd = wrong});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code(), make_error_code(errc::invalid_argument));
        job begun = flow.start("ask", "x", {.budget_usd = wrong});
        EXPECT_FALSE(testing::wait_for(begun.result(boost::asio::use_future)));
    }
    EXPECT_TRUE(called(flow, "ask", "x", {.budget_usd = 0.0}));
}

TEST(embed_options, refuse_a_concurrency_with_which_no_branch_begins) {
    runtime_options options = with_model();
    options.concurrency = 0;
    const auto created = runtime::create(std::move(options));
    ASSERT_FALSE(created);
    EXPECT_THAT(created.error().message(), HasSubstr("concurrency"));
    runtime rt(with_model());
    const auto refused = called(loaded(rt), "hang-twice", {}, {.concurrency = 0});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), make_error_code(errc::invalid_argument));
}

} // namespace
} // namespace heddle
