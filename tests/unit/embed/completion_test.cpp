// Handlers of the host are completed on their executors, and by nobody but the runtime.
#include "embed_harness.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <hang_guard.hpp>

#include <algorithm>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

/// Holds back what is posted to the threads of the process (asio::system_executor).
class busy_process {
public:
    busy_process() : held_(std::make_shared<state>()) {
        for (int i = 0; i < thread_count; ++i) {
            asio::post(asio::system_executor(), [held = held_] {
                held->busy.count_down();
                held->free.wait();
            });
        }
        held_->busy.wait();
    }
    busy_process(const busy_process&) = delete;
    busy_process& operator=(const busy_process&) = delete;
    ~busy_process() { held_->free.count_down(); }

private:
    /// As Asio counts them.
    static inline const int thread_count =
        static_cast<int>(std::max(std::thread::hardware_concurrency() * 2, 2U));
    struct state {
        std::latch busy{thread_count};
        std::latch free{1};
    };
    std::shared_ptr<state> held_;
};

using any_handler = asio::any_completion_handler<void(result<answer>)>;

TEST(embed_completion, has_reached_the_executor_when_the_runtime_is_gone) {
    constexpr int calls = 5;
    int ended = 0;
    asio::io_context context;
    const busy_process busy;
    {
        runtime rt(with_model());
        const program flow = loaded(rt);
        const auto count = [&](const result<answer>& how) { ended += how ? 0 : 1; };
        for (int i = 0; i < calls; ++i) {
            flow.call("hang", {}, asio::bind_executor(context, count));
            flow.call("hang", {}, any_handler(asio::bind_executor(context, count)));
        }
    }
    context.poll();
    EXPECT_EQ(ended, 2 * calls);
}

TEST(embed_completion, of_a_shutdown_and_of_jobs_has_reached_the_executor_as_well) {
    int ended = 0;
    asio::io_context context;
    const busy_process busy;
    std::vector<job> jobs;
    {
        runtime rt(with_model());
        const program flow = loaded(rt);
        jobs.push_back(flow.start("hang", {}));
        jobs.back().next(asio::bind_executor(
            context, [&](const std::optional<piece>& next) { ended += next ? 0 : 1; }));
        jobs.back().result(
            asio::bind_executor(context, [&](const result<answer>& how) { ended += how ? 0 : 1; }));
        rt.shutdown(0s, asio::bind_executor(context, [&] { ++ended; }));
    }
    context.poll();
    EXPECT_EQ(ended, 3);
}

TEST(embed_completion, without_an_executor_does_not_need_the_threads_of_the_process) {
    const busy_process busy;
    runtime rt(with_model());
    job ended = loaded(rt).start("nothing", {});
    ASSERT_TRUE(testing::comes_true([&] { return rt.stats().all.done == 1; }));
    std::this_thread::sleep_for(20ms); // nothing of the call is left
    const auto is_called = [](auto start) {
        const auto called = std::make_shared<std::promise<void>>();
        std::future<void> waiting = called->get_future();
        start([called](auto&&...) { called->set_value(); });
        return waiting.wait_for(hang_guard::limit) == std::future_status::ready;
    };
    EXPECT_TRUE(is_called([&](auto handler) { ended.next(std::move(handler)); }));
    EXPECT_TRUE(is_called([&](auto handler) { ended.result(std::move(handler)); }));
    EXPECT_TRUE(is_called([&](auto handler) { rt.shutdown(0s, std::move(handler)); }));
    EXPECT_TRUE(is_called([&](auto handler) { rt.shutdown(0s, std::move(handler)); })); // again
}

TEST(embed_completion, without_an_executor_is_on_the_context_of_the_host) {
    asio::io_context context(1);
    runtime rt(context, host_threads::one, with_model());
    job ended = loaded(rt).start("nothing", {});
    const auto runs_until = [&](auto condition) {
        return testing::comes_true([&] {
            context.restart();
            context.run_for(1ms);
            return condition();
        });
    };
    ASSERT_TRUE(runs_until([&] { return rt.stats().all.done == 1; }));
    context.restart();
    context.poll(); // nothing of the call is left
    const auto thread_of = [&](auto start) {
        const auto called = std::make_shared<std::promise<std::thread::id>>();
        std::future<std::thread::id> where = called->get_future();
        start([called](auto&&...) { called->set_value(std::this_thread::get_id()); });
        EXPECT_TRUE(runs_until([&] { return where.wait_for(0s) == std::future_status::ready; }));
        return where.get();
    };
    const std::thread::id here = std::this_thread::get_id();
    EXPECT_EQ(thread_of([&](auto handler) { ended.next(std::move(handler)); }), here);
    EXPECT_EQ(thread_of([&](auto handler) { ended.result(std::move(handler)); }), here);
    EXPECT_EQ(thread_of([&](auto handler) { rt.shutdown(0s, std::move(handler)); }), here);
    EXPECT_EQ(thread_of([&](auto handler) { rt.shutdown(0s, std::move(handler)); }), here);
}

TEST(embed_completion, is_never_inside_of_the_operation) {
    const program none;
    const auto thread_of = [&](auto as_handler) {
        std::promise<std::thread::id> ran;
        none.call(
            "f", {},
            as_handler(asio::bind_executor(asio::system_executor(), [&](const result<answer>&) {
                ran.set_value(std::this_thread::get_id());
            })));
        return ran.get_future().get();
    };
    const auto as_it_is = [](auto handler) { return handler; };
    const auto erased = [](auto handler) { return any_handler(std::move(handler)); };
    EXPECT_NE(thread_of(as_it_is), std::this_thread::get_id());
    EXPECT_NE(thread_of(erased), std::this_thread::get_id());
}

TEST(embed_completion, is_on_a_context_of_the_host_is_not_inside_of_what_runs_there) {
    asio::io_context context(1);
    runtime rt(context, host_threads::one, with_model());
    const program flow = loaded(rt);
    bool inside = false;
    int ended = 0;
    asio::post(context, [&] {
        inside = true;
        const auto check = [&](const result<answer>&) {
            EXPECT_FALSE(inside);
            ++ended;
        };
        flow.call("no-such-function", {}, asio::bind_executor(context, check));
        flow.call("no-such-function", {}, any_handler(asio::bind_executor(context, check)));
        flow.call("no-such-function", {}, check);
        inside = false;
    });
    while (ended < 3 && context.run_one() != 0) {}
    EXPECT_EQ(ended, 3);
}

} // namespace
} // namespace heddle
