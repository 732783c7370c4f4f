// Each call has a session of its own.
#include "embed_harness.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>

#include <malloc.h>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::called;
using testing::comes_true;
using ::testing::HasSubstr;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

/// A variable that a function has closed over and assigns.
constexpr const char* not_shareable =
    "(define next (let ((n 0)) (lambda () (set! n (+ n 1)) n))) "
    "(define (twice) (next) (next)) ";

constexpr const char* shareable = "(define (twice) 2) ";

/// Notes how many messages each request has.
class counting_model final : public model_provider {
public:
    std::string name() const override { return "house"; }
    void complete(model_request request, call, piece_sink, completion done) override {
        const std::string text = std::to_string(request.messages.size());
        done(model_response{text, 1, 1});
    }
};

/// Waits a moment, and returns the tag of its call.
void add_tag_function(runtime& rt) {
    rt.function("own-tag", "The tag.", {"x"},
                [](call by, std::int64_t) -> asio::awaitable<std::string> {
                    const asio::any_io_executor here = co_await asio::this_coro::executor;
                    asio::steady_timer timer(here, 5ms);
                    co_await timer.async_wait(asio::use_awaitable);
                    co_return by.tag();
                });
}

TEST(embed_session, knows_nothing_of_other_conversations) {
    runtime rt({.providers = {std::make_shared<counting_model>()}});
    const program flow =
        loaded(rt,
               "(defatom t (params q) (instructions \"{{q}}\") "
               "  (history_config ((use_session_history true) (record_in_session_history true)))) "
               "(define (talk) (list (content (t \"a\")) (content (t \"b\"))))");
    const auto first = called(flow, "talk");
    ASSERT_TRUE(first) << to_text(first.error());
    EXPECT_NE(first->value().as_array()[0], first->value().as_array()[1]); // it has recorded turns
    for (int i = 0; i < 3; ++i) EXPECT_EQ(called(flow, "talk").value().value(), first->value());
}

TEST(embed_session, knows_no_definitions_of_other_calls) {
    runtime rt(with_model());
    const program flow =
        loaded(rt,
               "(define count 0) "
               "(define (assign) (set! count (+ count 1)) count) "
               "(define (add-global) (eval '(define extra 1))) "
               "(define (read-global) (eval 'extra)) "
               "(define (add-task) (defatom own (params) (instructions \"Echo: x\")) 1) "
               "(define (call-task) (eval '(own)))"
               "(define (read-count) count)");
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(to_text(called(flow, "assign").error()), HasSubstr("count"));
        (void)called(flow, "add-global");
        EXPECT_FALSE(called(flow, "read-global"));
        (void)called(flow, "add-task");
        EXPECT_FALSE(called(flow, "call-task"));
        EXPECT_EQ(called(flow, "read-count").value().value(), json(0));
    }
    EXPECT_EQ(rt.stats().all.loads, 1U);
}

TEST(embed_session, works_where_calls_cannot_share_the_program) {
    std::mutex mutex;
    std::vector<std::string> logged;
    runtime_options options = with_model({.threads = 2});
    options.log = [&](log_level, std::string_view, std::string_view line) {
        const std::lock_guard held(mutex);
        logged.emplace_back(line);
    };
    runtime rt(options);
    add_tag_function(rt);
    const program flow = loaded(rt, std::string(testing::program_text) + not_shareable +
                                        "(define (both) (ask \"a\") (ask \"b\")) "
                                        "(define (whose) (own-tag 1))");
    for (int i = 0; i < 4; ++i) {
        const auto ended = called(flow, "twice");
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->value(), json(2));
    }
    EXPECT_EQ(rt.stats().all.loads, 6U); // one for each thread and call
    EXPECT_EQ(called(flow, "whose", {}, {.tag = "r1"}).value().text(), "r1");
    EXPECT_EQ(http_status(called(flow, "both", {}, {.max_calls = 1}).error()), 402);
    EXPECT_EQ(called(flow, "both").value().used().requests, 2U);
    job story = flow.start("story", {});
    std::string text;
    while (const std::optional<piece> next = story.next(asio::use_future).get()) text += next->text;
    EXPECT_EQ(text, "one two three four five six");
    EXPECT_EQ(flow.functions().empty(), false);
    const std::lock_guard held(mutex);
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_THAT(logged[0], HasSubstr("each call loads flow.heddle again: its top level leaves"));
}

TEST(embed_session, has_a_budget_of_its_own) {
    runtime rt(with_model({.max_calls = 2}));
    const program flow =
        loaded(rt, std::string(testing::program_text) +
                       "(define (times n) (map ask (map number->string (range n))))");
    for (int i = 0; i < 3; ++i) {
        const auto fits = called(flow, "times", 2);
        ASSERT_TRUE(fits) << to_text(fits.error());
        EXPECT_EQ(fits->used().requests, 2U);
        EXPECT_EQ(http_status(called(flow, "times", 3).error()), 402);
        EXPECT_TRUE(called(flow, "times", 3, {.max_calls = 3}));
    }
}

TEST(embed_session, serves_calls_side_by_side) {
    runtime rt(with_model());
    add_tag_function(rt);
    const program flow = loaded(rt,
                                "(define held '()) "
                                "(define (whose x) (let ((first (own-tag 1))) "
                                "  (list x first (own-tag 2))))");
    constexpr int count = 100;
    std::vector<std::future<result<answer>>> ended;
    for (int i = 0; i < count; ++i) {
        const std::string tag = "r" + std::to_string(i);
        ended.push_back(flow.call("whose", i, {.tag = tag}, asio::use_future));
    }
    for (int i = 0; i < count; ++i) {
        const auto how = testing::wait_for(std::move(ended[static_cast<std::size_t>(i)]));
        ASSERT_TRUE(how) << to_text(how.error());
        const std::string tag = "r" + std::to_string(i);
        EXPECT_EQ(how->value(), json(json::array{i, tag, tag}));
    }
    EXPECT_EQ(rt.stats().all.loads, 1U);
}

#ifdef __GLIBC__
std::size_t bytes_in_use() {
    const auto now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
}

TEST(embed_session, frees_the_memory_of_a_call_at_its_end) {
    runtime rt(with_model());
    std::atomic<std::size_t> inside{0};
    rt.function("note", "Notes the memory.", {"x"}, [&](std::int64_t) { inside = bytes_in_use(); });
    const program flow = loaded(rt,
                                "(define (fill n) "
                                "  (let loop ((i 0) (l '())) "
                                "    (if (< i n) (loop (+ i 1) (cons (list i l (lambda () l)) l)) "
                                "      (begin (note 1) (length l)))))");
    ASSERT_TRUE(called(flow, "fill", 10));
    const std::size_t before = bytes_in_use();
    constexpr std::size_t much = 4'000'000;
    for (int i = 0; i < 5; ++i) {
        const auto ended = called(flow, "fill", 50'000);
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_LT(bytes_in_use(), before + much / 4);
    }
    if (before == 0) GTEST_SKIP() << "the allocator does not count";
    EXPECT_GT(inside, before + much);
}
#endif

TEST(embed_session, ends_in_the_middle_of_a_load) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model());
    const program flow =
        loaded(rt, "(define (f) 1) (let loop ((i 0)) (if (< i 100000000) (loop (+ i 1)) nil))");
    std::vector<std::future<result<answer>>> ended;
    for (const auto timeout : {30ms, 60ms, 90ms})
        ended.push_back(flow.call("f", {}, {.timeout = timeout}, asio::use_future));
    auto bounded = flow.call("f", {}, {.timeout = 120ms, .step_limit = 10}, asio::use_future);
    ended.push_back(std::move(bounded));
    context.run_for(5s);
    for (auto& each : ended) {
        const auto how = testing::wait_for(std::move(each));
        ASSERT_FALSE(how);
        EXPECT_EQ(http_status(how.error()), 504);
    }
    EXPECT_EQ(rt.stats().all.running, 0U);
}

TEST(embed_session, is_loaded_once_also_if_the_first_call_does_not_wait_for_it) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model());
    const program flow =
        loaded(rt, "(define (f) 1) (let loop ((i 0)) (if (< i 10000000) (loop (+ i 1)) nil))");
    auto late = flow.call("f", {}, {.timeout = 1ms}, asio::use_future);
    auto patient = flow.call("f", {}, asio::use_future);
    auto third = flow.call("f", {}, asio::use_future);
    context.run_for(20s);
    EXPECT_FALSE(testing::wait_for(std::move(late)));
    EXPECT_TRUE(testing::wait_for(std::move(patient)));
    EXPECT_TRUE(testing::wait_for(std::move(third)));
    EXPECT_EQ(rt.stats().all.loads, 1U);
    EXPECT_FALSE(flow.functions().empty());
}

TEST(embed_session, finds_the_program_loaded_in_all_threads) {
    runtime rt(with_model({.threads = 4}));
    const program flow = loaded(rt);
    EXPECT_EQ(rt.stats().all.loads, 4U);
    for (const call_stats& each : rt.stats().threads) EXPECT_EQ(each.loads, 1U);
    // So that a load is not within the deadline of a call.
    const program slow =
        loaded(rt, "(define (f) 1) (let loop ((i 0)) (if (< i 3000000) (loop (+ i 1)) nil))");
    for (int i = 0; i < 8; ++i) {
        const auto ended = called(slow, "f", {}, {.timeout = 5s});
        EXPECT_TRUE(ended) << to_text(ended.error());
    }
    EXPECT_EQ(rt.stats().all.loads, 8U);
}

TEST(embed_session, is_loaded_by_a_thread_that_runs_workflows) {
    runtime rt(with_model({.threads = 2}));
    std::optional<program> inner;
    rt.function("load-it", "", {"x"}, [&](std::int64_t) {
        inner = loaded(rt, "(define (f) 7)");
        return inner->functions().empty();
    });
    const program flow = loaded(rt, "(define (f) (load-it 1))");
    const auto before = rt.stats().all.loads;
    for (int i = 0; i < 2; ++i) { // on each thread once
        ASSERT_TRUE(called(flow, "f"));
        EXPECT_EQ(called(*inner, "f").value().value(), json(7));
    }
    EXPECT_TRUE(testing::comes_true([&] { return rt.stats().all.loads == before + 4; }));
}

TEST(embed_session, is_loaded_without_a_call_on_a_context_of_the_host) {
    asio::io_context context;
    runtime rt(context, host_threads::one, with_model());
    const program flow = loaded(rt);
    EXPECT_TRUE(flow.functions().empty());
    context.run();
    EXPECT_FALSE(flow.functions().empty());
    EXPECT_EQ(rt.stats().all.loads, 1U);
}

TEST(embed_session, reports_a_top_level_that_fails_when_the_context_runs) {
    std::string logged;
    asio::io_context context;
    runtime_options options = with_model();
    options.log = [&](log_level, std::string_view, std::string_view line) { logged += line; };
    runtime rt(context, host_threads::one, options);
    const program flow = loaded(rt, "(define (f) 1) (error \"no order\")");
    context.run();
    EXPECT_THAT(logged, HasSubstr("no order"));
}

TEST(embed_session, is_gone_after_a_cancellation_in_the_middle) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(http_status(called(flow, "hang-twice", {}, {.timeout = 20ms}).error()), 504);
        EXPECT_EQ(http_status(called(flow, "spin", {}, {.timeout = 20ms}).error()), 504);
        EXPECT_EQ(called(flow, "ask", "x").value().text(), "x!");
    }
    EXPECT_EQ(rt.stats().all.loads, 1U);
    EXPECT_EQ(rt.stats().all.requests_running, 0U);
}

} // namespace
} // namespace heddle
