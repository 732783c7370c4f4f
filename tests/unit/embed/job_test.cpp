#include "embed_harness.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <set>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::comes_true;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

/// A model that sends a thousand pieces of a thousand bytes as fast as it may.
runtime_options with_long_responses(runtime_options options = {}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += std::string(999, 'x') + " ";
    options.scripted_rules =
        R"({"rules": [{"match": ".", "piece_ms": 0, "text": ")" + text + R"("}]})";
    return options;
}

constexpr const char* one_task =
    "(defatom t (params q) (instructions \"{{q}}\")) "
    "(define (one) (content (t \"x\"))) "
    "(define (two) (map (lambda (x) (content (t x))) (list 1 2)))";

TEST(embed_job, passes_text_on_as_it_arrives) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    asio::io_context context;
    std::string text;
    std::string answered;
    std::set<std::uint64_t> calls;
    std::set<std::string> tasks;
    int pieces = 0;
    auto work = [&]() -> asio::awaitable<void> {
        job story = flow.start("story", {});
        for (;;) {
            const std::optional<piece> next = co_await story.next(asio::use_awaitable);
            if (!next) break;
            ++pieces;
            text += next->text;
            calls.insert(next->call);
            tasks.insert(next->task);
        }
        auto ended = co_await story.result(asio::use_awaitable);
        answered = ended.value().text();
    };
    asio::co_spawn(context, work(), asio::detached);
    context.run();
    EXPECT_EQ(text, "one two three four five six");
    EXPECT_EQ(answered, text);
    EXPECT_GE(pieces, 2); // waiting ones are joined
    EXPECT_EQ(calls, std::set<std::uint64_t>{1});
    EXPECT_EQ(tasks, std::set<std::string>{"tell"});
}

TEST(embed_job, keeps_the_pieces_of_two_calls_apart) {
    runtime rt(with_long_responses());
    const program flow = loaded(rt, one_task);
    job both = flow.start("two", {});
    std::map<std::uint64_t, std::size_t> bytes;
    for (;;) {
        const std::optional<piece> next = both.next(asio::use_future).get();
        if (!next) break;
        bytes[next->call] += next->text.size();
    }
    ASSERT_EQ(bytes.size(), 2U);
    EXPECT_EQ(bytes[1], 1'000'000U);
    EXPECT_EQ(bytes[2], 1'000'000U);
    EXPECT_TRUE(both.result(asio::use_future).get());
}

TEST(embed_job, holds_the_model_back_while_nobody_reads) {
    runtime rt(with_long_responses({.piece_buffer = 10'000}));
    const program flow = loaded(rt, one_task);
    job slow = flow.start("one", {});
    ASSERT_TRUE(comes_true([&] { return rt.stats().all.requests_running == 1; }));
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(rt.stats().all.requests_running, 1U); // it waits for the reader
    const std::optional<piece> first = slow.next(asio::use_future).get();
    ASSERT_TRUE(first);
    EXPECT_LT(first->text.size(), 50'000U);
    std::size_t all = first->text.size();
    while (const std::optional<piece> next = slow.next(asio::use_future).get())
        all += next->text.size();
    EXPECT_EQ(all, 1'000'000U);
    EXPECT_TRUE(slow.result(asio::use_future).get());
}

TEST(embed_job, without_a_buffer_holds_one_piece) {
    runtime rt(with_model({.piece_buffer = 0}));
    job story = loaded(rt).start("story", {}, {.timeout = 20s});
    std::string text;
    while (const auto next = story.next(asio::use_future).get()) text += next->text;
    EXPECT_EQ(text, "one two three four five six");
    EXPECT_TRUE(testing::wait_for(story.result(asio::use_future)));
}

TEST(embed_job, ends_without_its_pieces_being_read) {
    runtime rt(with_long_responses({.piece_buffer = 10'000}));
    const program flow = loaded(rt, one_task);
    job unread = flow.start("one", {});
    const auto ended = testing::wait_for(unread.result(asio::use_future));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->text().size(), 1'000'000U);
}

TEST(embed_job, has_its_result_once) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    for (int i = 0; i < 50; ++i) { // the call has ended, and perhaps is not destroyed yet
        job quick = flow.start("nothing", {});
        EXPECT_TRUE(testing::wait_for(quick.result(asio::use_future)));
        const auto again = testing::wait_for(quick.result(asio::use_future));
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().code(), make_error_code(errc::invalid_argument));
    }
}

TEST(embed_job, is_cancelled_when_it_is_destroyed) {
    runtime rt(with_long_responses({.piece_buffer = 10'000}));
    const program flow = loaded(rt, one_task);
    {
        job left = flow.start("one", {});
        ASSERT_TRUE(left.next(asio::use_future).get());
    }
    EXPECT_TRUE(comes_true([&] { return rt.stats().all.cancelled == 1; }));
    EXPECT_EQ(rt.stats().all.requests_running, 0U);
}

TEST(embed_job, goes_on_when_a_read_is_cancelled) {
    runtime rt(with_model());
    const program flow = loaded(rt);
    job waits = flow.start("hang", {});
    asio::io_context context;
    asio::cancellation_signal stop;
    bool nothing = false;
    waits.next(asio::bind_cancellation_slot(
        stop.slot(),
        asio::bind_executor(context, [&](const std::optional<piece>& next) { nothing = !next; })));
    stop.emit(asio::cancellation_type::terminal);
    context.run();
    EXPECT_TRUE(nothing);
    EXPECT_EQ(rt.stats().all.cancelled, 0U);
    waits.cancel();
    const auto ended = testing::wait_for(waits.result(asio::use_future));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    EXPECT_FALSE(waits.next(asio::use_future).get());
}

TEST(embed_job, reports_calls_that_cannot_begin) {
    runtime rt(with_model({.max_running = 0, .max_queued = 0}));
    const program flow = rt.load_text("f.heddle", "(define (f) 1)").value();
    job refused = flow.start("f", {});
    EXPECT_FALSE(refused.next(asio::use_future).get());
    const auto ended = refused.result(asio::use_future).get();
    EXPECT_EQ(ended.error().code(), make_error_code(runtime_errc::overloaded));
    job none;
    EXPECT_FALSE(none.next(asio::use_future).get());
    EXPECT_FALSE(none.result(asio::use_future).get());
}

TEST(embed_job, may_outlive_the_runtime) {
    job left;
    {
        runtime rt(with_model());
        left = loaded(rt).start("hang", {});
        ASSERT_TRUE(comes_true([&] { return rt.stats().all.requests_running == 1; }));
    }
    left.cancel();
    EXPECT_FALSE(left.next(asio::use_future).get());
    EXPECT_EQ(left.result(asio::use_future).get().error().cancelled_because(),
              cancel_reason::shutdown);
}

} // namespace
} // namespace heddle
