// A runtime ends soon, whatever its calls have used.
#include "embed_harness.hpp"
#include "journal_harness.hpp"
#include "scratch_folder.hpp"

#include "loopback_server.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <hang_guard.hpp>
#include <sanitizers.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
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

/// Long before the timeouts of a request, which are 30 seconds and more, and before what the
/// runtimes here may wait for.
constexpr auto soon = 20s;

constexpr const char* asks =
    "(defatom t (params q) (instructions \"{{q}}\")) (define (f q) (content (t q)))";

/// Answers each request, and keeps its connections open for further ones; to "wait" it is silent.
class chat_service {
public:
    [[nodiscard]] runtime_options options() const {
        runtime_options created;
        created.config_text =
            "[providers.local]\ntype = \"vllm\"\nbase_url = \"" + server_.url() + "/v1\"\n";
        created.model = "local:small";
        created.function_grace = hang_guard::far_beyond;
        return created;
    }
    [[nodiscard]] int open_connections() const noexcept { return server_.running(); }

private:
    static void serve(loopback::connection& peer, int) {
        for (;;) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            if (request.find("wait") != std::string::npos) {
                (void)peer.wait_closed();
                return;
            }
            peer.send(loopback::ok_response(
                R"({"model": "small", "choices": [{"message": {"role": "assistant",
                    "content": "yes"}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1}})",
                "Content-Type: application/json\r\n"));
        }
    }
    loopback::server server_{serve};
};

TEST(embed_end, is_soon_after_a_request_over_http) {
    const chat_service service;
    clock::time_point begun;
    {
        runtime rt(service.options());
        const program flow = loaded(rt, asks);
        const auto ended = called(flow, "f", "x", {.timeout = 60s});
        ASSERT_TRUE(ended) << to_text(ended.error());
        EXPECT_EQ(ended->text(), "yes");
        begun = clock::now();
    }
    EXPECT_LT(clock::now() - begun, soon);
    EXPECT_TRUE(comes_true([&] { return service.open_connections() == 0; }));
}

TEST(embed_end, is_soon_while_services_are_silent) {
    const chat_service service;
    runtime_options options = service.options();
    options.threads = 2;
    std::vector<std::future<result<answer>>> ended;
    clock::time_point begun;
    {
        runtime rt(options);
        const program flow = loaded(rt, asks);
        for (int i = 0; i < 4; ++i) ended.push_back(flow.call("f", "wait", asio::use_future));
        ASSERT_TRUE(comes_true([&] { return service.open_connections() == 4; }));
        begun = clock::now();
    }
    EXPECT_LT(clock::now() - begun, soon);
    for (auto& each : ended) EXPECT_FALSE(testing::wait_for(std::move(each)));
}

TEST(embed_end, is_soon_after_a_shutdown) {
    const chat_service service;
    clock::time_point begun;
    {
        runtime rt(service.options());
        const program flow = loaded(rt, asks);
        ASSERT_TRUE(called(flow, "f", "x", {.timeout = 60s}));
        begun = clock::now();
        rt.shutdown(hang_guard::far_beyond, asio::use_future).get();
    }
    EXPECT_LT(clock::now() - begun, soon);
}

TEST(embed_end, lets_the_context_of_the_host_return) {
    const chat_service service;
    asio::io_context context;
    runtime rt(context, host_threads::one, service.options());
    const program flow = loaded(rt, asks);
    clock::time_point begun;
    auto work = [&]() -> asio::awaitable<void> {
        auto ended = co_await flow.call("f", "x", {.timeout = 60s}, asio::use_awaitable);
        EXPECT_TRUE(ended);
        begun = clock::now();
        co_await rt.shutdown(hang_guard::far_beyond, asio::use_awaitable);
    };
    asio::co_spawn(context, work(), asio::detached);
    context.run();
    EXPECT_LT(clock::now() - begun, soon);
}

TEST(embed_end, lets_the_context_of_the_host_return_after_destruction) {
    const chat_service service;
    asio::io_context context;
    clock::time_point begun;
    {
        runtime rt(context, host_threads::one, service.options());
        const program flow = loaded(rt, asks);
        bool done = false;
        flow.call("f", "x", {.timeout = 60s}, asio::bind_executor(context, [&](const auto& ended) {
                      EXPECT_TRUE(ended);
                      done = true;
                  }));
        while (!done && context.run_one() != 0) {}
        ASSERT_TRUE(done);
        begun = clock::now();
    }
    context.run();
    EXPECT_LT(clock::now() - begun, soon);
}

TEST(embed_end, runs_a_context_that_the_host_has_stopped) {
    asio::io_context context(1);
    int ended = 0;
    auto rt = std::make_unique<runtime>(context, host_threads::one, with_model());
    const program flow = loaded(*rt);
    for (int i = 0; i < 5; ++i)
        flow.call("hang", {}, asio::bind_executor(context, [&](const auto&) { ++ended; }));
    asio::steady_timer stops(context, 20ms);
    stops.async_wait([&](auto) { context.stop(); });
    context.run();
    // As a handler of a signal does that comes again.
    for (int i = 0; i < 3; ++i) asio::post(context, [&] { context.stop(); });
    rt.reset();
    EXPECT_TRUE(context.stopped());
    context.restart();
    context.run();
    EXPECT_EQ(ended, 5);
}

TEST(embed_end, runs_a_stopped_context_of_another_thread) {
    asio::io_context completions;
    int ended = 0;
    asio::io_context context(1);
    auto rt = std::make_unique<runtime>(context, host_threads::one, with_model());
    const program flow = loaded(*rt);
    for (int i = 0; i < 5; ++i)
        flow.call("hang", {}, asio::bind_executor(completions, [&](const auto&) { ++ended; }));
    asio::steady_timer stops(context, 20ms);
    stops.async_wait([&](auto) { context.stop(); });
    std::thread([&] { context.run(); }).join();
    rt.reset();
    completions.poll();
    EXPECT_EQ(ended, 5);
}

TEST(embed_end, runs_calls_on_a_stopped_context_that_had_not_begun) {
    asio::io_context completions;
    int ended = 0;
    asio::io_context context(1);
    auto rt = std::make_unique<runtime>(context, host_threads::one, with_model());
    const program flow = loaded(*rt);
    const auto start = [&] {
        flow.call("hang", {}, asio::bind_executor(completions, [&](const auto&) { ++ended; }));
    };
    std::thread([&] {
        start();
        context.run_for(20ms);
        context.stop();
        start();
    }).join();
    rt.reset();
    completions.poll();
    EXPECT_EQ(ended, 2);
}

TEST(embed_end, logs_what_handlers_of_the_host_throw_while_it_runs_their_context) {
    asio::io_context context(1);
    std::string logged;
    {
        runtime_options options = with_model();
        options.log = [&](log_level, std::string_view, std::string_view line) { logged += line; };
        runtime rt(context, host_threads::one, std::move(options));
        const program flow = loaded(rt);
        flow.call("hang", {}, asio::bind_executor(context, [](const auto&) {}));
        asio::post(context, [] { throw std::runtime_error("a bug of the host"); });
    }
    EXPECT_NE(logged.find("a bug of the host"), std::string::npos) << logged;
}

TEST(embed_end, does_not_wait_for_functions_that_were_left_behind) {
    clock::time_point begun;
    const auto destroyed = std::make_shared<bool>(false);
    {
        runtime rt(with_model({.function_grace = 50ms}));
        rt.function(
            "never", "Waits for ever.", {"x"}, [destroyed](std::int64_t) -> asio::awaitable<void> {
                const std::shared_ptr<void> guard(nullptr,
                                                  [destroyed](void*) { *destroyed = true; });
                co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
                const asio::any_io_executor here = co_await asio::this_coro::executor;
                asio::steady_timer timer(here, 10min);
                co_await timer.async_wait(asio::use_awaitable);
            });
        const program flow = loaded(rt, "(define (f) (never 1))");
        EXPECT_FALSE(called(flow, "f", {}, {.timeout = 50ms}));
        begun = clock::now();
    }
    EXPECT_LT(clock::now() - begun, soon);
    EXPECT_TRUE(*destroyed);
}

TEST(embed_end, waits_for_what_was_left_behind_on_all_threads_at_the_same_time) {
    constexpr unsigned threads = 20;
    clock::time_point begun;
    {
        runtime rt(with_model({.threads = threads, .function_grace = 50ms}));
        rt.function("never", "Waits for ever.", {"x"}, [](std::int64_t) -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            const asio::any_io_executor here = co_await asio::this_coro::executor;
            asio::steady_timer timer(here, 10min);
            co_await timer.async_wait(asio::use_awaitable);
        });
        const program flow = loaded(rt, "(define (f) (never 1))");
        std::vector<std::future<result<answer>>> calls;
        for (unsigned i = 0; i < threads; ++i)
            calls.push_back(flow.call("f", {}, {.timeout = 50ms}, asio::use_future));
        for (auto& each : calls) EXPECT_FALSE(testing::wait_for(std::move(each)));
        begun = clock::now();
    }
    EXPECT_LT(clock::now() - begun, threads * 1s / 2) << "a second for each, one after another";
}

// The thread whose function ended later than that of another one was stopped twice.
TEST(embed_end, waits_for_the_last_thread_after_the_first_has_ended) {
    for (const bool is_first_late : {false, true}) {
        std::atomic<int> finished{0};
        {
            runtime rt(with_model({.threads = 2, .function_grace = 20ms}));
            rt.function("late", "Ends after its call.", {"x"},
                        [&](std::int64_t time) -> asio::awaitable<void> {
                            co_await asio::this_coro::reset_cancellation_state(
                                asio::disable_cancellation());
                            const asio::any_io_executor here = co_await asio::this_coro::executor;
                            asio::steady_timer timer(here, std::chrono::milliseconds(time));
                            co_await timer.async_wait(asio::use_awaitable);
                            ++finished;
                        });
            const program flow = loaded(rt, "(define (f x) (late x))");
            std::vector<std::future<result<answer>>> calls;
            for (const bool is_late : {is_first_late, !is_first_late})
                calls.push_back(
                    flow.call("f", is_late ? 700 : 60, {.timeout = 30ms}, asio::use_future));
            for (auto& each : calls) EXPECT_FALSE(testing::wait_for(std::move(each)));
        }
        EXPECT_EQ(finished, 2) << is_first_late;
    }
}

#ifndef NDEBUG
TEST(embed_end, in_a_handler_logs_that_calls_are_in_progress) {
    for (const bool is_on_host : {false, true}) {
        asio::io_context context(1);
        // Used on the thread of the handler only, which may outlive this scope.
        const auto logged = std::make_shared<std::string>();
        runtime_options options = with_model();
        options.log = [logged](log_level, std::string_view, std::string_view line) {
            *logged += line;
        };
        auto rt = is_on_host
                      ? std::make_unique<runtime>(context, host_threads::one, std::move(options))
                      : std::make_unique<runtime>(std::move(options));
        const program flow = loaded(*rt);
        auto other = flow.call("hang", {}, asio::use_future);
        std::promise<std::string> seen;
        flow.call("nothing", {}, [&](const result<answer>&) {
            rt.reset();
            seen.set_value(*logged);
        });
        if (is_on_host) context.run();
        EXPECT_NE(seen.get_future().get().find("await shutdown() first"), std::string::npos);
        EXPECT_FALSE(testing::wait_for(std::move(other)));
    }
}
#endif

TEST(embed_end, ends_a_load_in_progress) {
    std::atomic<bool> loading = false;
    runtime_options options = with_model();
    options.print = [&](std::string_view) { loading = true; };
    auto rt = std::make_unique<runtime>(std::move(options));
    std::thread loads([&] {
        const auto flow =
            rt->load_text("spins.heddle", "(print \"loading\") (let loop ((i 0)) (loop (+ i 1)))");
        EXPECT_FALSE(flow);
    });
    EXPECT_TRUE(comes_true([&] { return loading.load(); }));
    const auto begun = clock::now();
    rt->shutdown(0s, asio::use_future).get();
    loads.join();
    EXPECT_LT(clock::now() - begun, soon);
}

/// Of everything that a runtime does, something is under way when it ends.
class everything_under_way {
public:
    everything_under_way() {
        options_.providers = {model_};
        options_.model = "house:small";
        options_.journal.directory = (folder_.path / "calls").string();
        options_.function_grace = 20s;
        options_.max_running = 30;
    }
    /// Adds functions that end when they are cancelled: a coroutine, one on threads of the host,
    /// one that completes on another thread.
    void add_functions(runtime& rt) {
        rt.function("sleep", "Waits.", {"x"}, [](std::int64_t) -> asio::awaitable<void> {
            const asio::any_io_executor here = co_await asio::this_coro::executor;
            asio::steady_timer timer(here, 10min);
            co_await timer.async_wait(asio::use_awaitable);
        });
        rt.function("block", "Waits on a thread.", {"x"},
                    [](const call& by, std::int64_t) {
                        while (!by.cancelled()) std::this_thread::sleep_for(1ms);
                    },
                    {.executor = threads_.get_executor()});
        rt.function("keep", "Completes elsewhere.", {"x"},
                    [this](const call& by, std::int64_t, const completion<std::int64_t>& done) {
                        asio::post(threads_, [by, done] {
                            while (!by.cancelled()) std::this_thread::sleep_for(1ms);
                            done(1);
                        });
                    });
    }
    /// A handler that is to be called once, with an error.
    [[nodiscard]] auto counted() {
        return asio::bind_executor(threads_, [this](const result<answer>& ended) {
            EXPECT_FALSE(ended);
            ++handled_;
        });
    }
    /// Calls, jobs, recorded calls and calls in the queue.
    void start(const program& flow) {
        static const std::vector<std::string> tags = [] {
            std::vector<std::string> all;
            for (int i = 0; i < 10; ++i) all.push_back("order " + std::to_string(i));
            return all;
        }();
        for (int i = 0; i < 10; ++i) {
            for (const char* function : {"ask-it", "sleeps", "blocks", "keeps"})
                flow.call(function, {}, counted());
            flow.call("ask-it", {}, {.tag = tags[static_cast<std::size_t>(i)]}, counted());
            jobs_.push_back(flow.start("ask-it", {}));
            jobs_.back().next(asio::bind_executor(threads_, [this](const auto& piece) {
                EXPECT_FALSE(piece);
                ++handled_;
            }));
            jobs_.back().result(counted());
            started_ += 7;
            (void)flow.start("sleeps", {}); // nobody waits for it
        }
    }
    [[nodiscard]] const runtime_options& options() const noexcept { return options_; }
    [[nodiscard]] int waits() const noexcept { return model_->waits(); }
    /// All handlers have been called, once.
    [[nodiscard]] bool is_over() {
        return comes_true([&] { return handled_ == started_; });
    }

    static constexpr const char* text =
        "(defatom t (params q) (instructions \"{{q}}\")) "
        "(define (ask-it) (map (lambda (each) (content (t each))) (list \"wait 1\" \"wait 2\"))) "
        "(define (sleeps) (map sleep (list 1 2))) (define (blocks) (block 1)) "
        "(define (keeps) (keep 1))";

private:
    testing::scratch_folder folder_;
    const std::shared_ptr<testing::counting_model> model_ =
        std::make_shared<testing::counting_model>();
    runtime_options options_;
    asio::thread_pool threads_{2};
    std::vector<job> jobs_;
    std::atomic<int> handled_{0};
    int started_ = 0;
};

TEST(embed_end, ends_everything_that_is_under_way) {
    everything_under_way all;
    runtime_options options = all.options();
    options.threads = 3;
    auto rt = std::make_unique<runtime>(options);
    all.add_functions(*rt);
    const program flow = loaded(*rt, everything_under_way::text);
    all.start(flow);
    std::thread loads(
        [&] { EXPECT_FALSE(rt->load_text("spins.heddle", "(let loop ((i 0)) (loop (+ i 1)))")); });
    EXPECT_TRUE(comes_true([&] { return all.waits() > 0; }));
    std::this_thread::sleep_for(20ms);
    rt->shutdown(0s, asio::use_future).get();
    loads.join();
    rt.reset();
    EXPECT_TRUE(all.is_over());
}

TEST(embed_end, destroys_everything_that_is_under_way) {
    everything_under_way all;
    {
        runtime_options options = all.options();
        options.threads = 3;
        runtime rt(options);
        all.add_functions(rt);
        all.start(loaded(rt, everything_under_way::text));
        EXPECT_TRUE(comes_true([&] { return all.waits() > 0; }));
    }
    EXPECT_TRUE(all.is_over());
}

TEST(embed_end, destroys_everything_on_a_context_of_the_host) {
    everything_under_way all;
    asio::io_context context;
    {
        runtime rt(context, host_threads::one, all.options());
        all.add_functions(rt);
        all.start(loaded(rt, everything_under_way::text));
        EXPECT_TRUE(comes_true([&] {
            context.run_for(5ms);
            return all.waits() > 0;
        }));
    }
    EXPECT_TRUE(all.is_over());
}

TEST(embed_end, destroys_everything_before_it_has_begun) {
    everything_under_way all;
    for (int i = 0; i < 3; ++i) {
        runtime_options options = all.options();
        options.threads = 2;
        runtime rt(options);
        all.add_functions(rt);
        all.start(loaded(rt, everything_under_way::text));
    }
    EXPECT_TRUE(all.is_over());
}

/// So many descriptors that a runtime with few threads can be made, and none with many.
class few_descriptors {
public:
    few_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &usual_);
        rlimit fewer = usual_;
        fewer.rlim_cur = std::min<rlim_t>(usual_.rlim_cur, 200);
        ::setrlimit(RLIMIT_NOFILE, &fewer);
    }
    ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &usual_); }
    few_descriptors(const few_descriptors&) = delete;
    few_descriptors& operator=(const few_descriptors&) = delete;

private:
    rlimit usual_{};
};

TEST(embed_create, reports_a_system_without_descriptors_as_an_error) {
#ifdef HEDDLE_ADDRESS_SANITIZER
    GTEST_SKIP(); // the sanitizer also needs descriptors
#endif
    const few_descriptors bound;
    const auto refused = runtime::create(with_model({.threads = 400}));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("making a runtime"), std::string::npos)
        << refused.error().message();
    EXPECT_TRUE(runtime::create(with_model({.threads = 2})));
}

} // namespace
} // namespace heddle
