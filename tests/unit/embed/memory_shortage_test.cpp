// Calls whose allocations fail: they leave no place occupied.
#include "embed_harness.hpp"
#include "scratch_folder.hpp"

#include <failing_allocations.ipp>

#include <boost/asio/bind_executor.hpp>
#include <hang_guard.hpp>

#include <filesystem>
#include <new>

namespace heddle {
namespace {

namespace asio = boost::asio;
using testing::failing_allocations;
using testing::loaded;
using testing::with_model;
using namespace std::chrono_literals;

/// A runtime on the thread of the test, which runs one call at a time.
class embed_memory : public ::testing::Test {
protected:
    template <class Condition>
    bool runs_until(Condition condition) {
        return hang_guard::comes_true([&] {
            context.restart();
            context.run_one_for(10ms);
            return condition();
        });
    }
    /// Result: how many calls of the handler there were; -1: calling threw.
    int call(const program& flow, const char* function, std::uint64_t fails_at) {
        const auto calls = std::make_shared<int>(0);
        try {
            const auto count = [calls](const result<answer>&) { ++*calls; };
            auto handler = asio::bind_executor(context, count);
            failing_allocations::plan(fails_at);
            const failing_allocations::scope failing(true);
            flow.call(function, json(), std::move(handler));
        } catch (const std::bad_alloc&) {
            return -1;
        }
        runs_until([&] { return *calls != 0; });
        return *calls;
    }
    [[nodiscard]] bool is_idle() const {
        const call_stats now = rt.stats().all;
        return now.running == 0 && now.queued == 0;
    }
    bool shuts_down() {
        bool done = false;
        rt.shutdown(0s, asio::bind_executor(context, [&] { done = true; }));
        return runs_until([&] { return done; });
    }
    /// With memory again.
    void expect_usable(const program& flow) {
        failing_allocations::plan(0);
        EXPECT_EQ(call(flow, "nothing", 0), 1);
        EXPECT_TRUE(shuts_down());
    }

    asio::io_context context{1};
    runtime rt{context, host_threads::one, with_model({.max_running = 1, .max_queued = 1})};
};

TEST_F(embed_memory, that_is_missing_at_the_beginning_of_a_call_is_its_error) {
    const program flow = loaded(rt);
    ASSERT_EQ(call(flow, "nothing", 0), 1);
    std::uint64_t at = 0;
    do {
        const int calls = call(flow, "nothing", ++at);
        EXPECT_TRUE(calls == 1 || calls == -1) << at << ": " << calls;
        ASSERT_TRUE(runs_until([&] { return is_idle(); })) << at;
    } while (failing_allocations::failed() != 0 && at < 1000);
    EXPECT_GT(at, 1U);
    expect_usable(flow);
}

TEST_F(embed_memory, that_is_missing_where_a_call_is_queued_is_its_error) {
    const program flow = loaded(rt);
    ASSERT_EQ(call(flow, "nothing", 0), 1);
    std::uint64_t at = 0;
    bool failed = true;
    for (; failed && at < 1000; failed = failing_allocations::failed() != 0) {
        // Holds the place until the queued one is there.
        bool first = false;
        flow.call("nothing", json(),
                  asio::bind_executor(context, [&](const auto&) { first = true; }));
        const int calls = call(flow, "nothing", ++at);
        EXPECT_TRUE(calls == 1 || calls == -1) << at << ": " << calls;
        ASSERT_TRUE(runs_until([&] { return first && is_idle(); })) << at;
    }
    EXPECT_GT(at, 1U);
    EXPECT_TRUE(shuts_down());
}

TEST_F(embed_memory, that_is_missing_while_a_call_begins_leaves_its_place_free) {
    const program flow = loaded(rt);
    ASSERT_EQ(call(flow, "nothing", 0), 1);
    std::uint64_t at = 0;
    do {
        context.restart();
        context.poll(); // what is left of the call before
        flow.call("nothing", json(), asio::bind_executor(context, [](const auto&) {}));
        {
            failing_allocations::plan(++at);
            const failing_allocations::scope failing(true);
            context.restart();
            try {
                context.poll_one();
            } catch (const std::bad_alloc&) { // as of any handler of the host's context
            }
        }
        ASSERT_TRUE(runs_until([&] { return is_idle(); })) << at;
    } while (failing_allocations::failed() != 0 && at < 1000);
    EXPECT_GT(at, 1U);
    expect_usable(flow);
}

TEST_F(embed_memory, that_is_missing_for_a_new_version_leaves_the_program_usable) {
    const testing::scratch_folder folder;
    int version = 0;
    const auto write = [&] {
        const std::string text = "(define (f) " + std::to_string(++version) + ")";
        const std::string fresh = folder.write("f.new", text);
        std::filesystem::last_write_time(
            fresh, std::filesystem::file_time_type::clock::now() + std::chrono::hours(version));
        std::filesystem::rename(fresh, folder.path / "f.heddle");
    };
    write();
    auto opened =
        rt.load((folder.path / "f.heddle").string(), {.reload = true, .reload_interval = 0ms});
    ASSERT_TRUE(opened) << to_text(opened.error());
    const program flow = *opened;
    ASSERT_EQ(call(flow, "f", 0), 1);
    std::uint64_t at = 0;
    do {
        write();
        (void)call(flow, "f", ++at);
        ASSERT_TRUE(runs_until([&] { return is_idle(); })) << at;
    } while (failing_allocations::failed() != 0 && at < 1000);
    EXPECT_GT(at, 1U);
    failing_allocations::plan(0);
    write();
    const auto sees_it = [&] {
        json seen;
        bool done = false;
        flow.call("f", json(), asio::bind_executor(context, [&](const result<answer>& ended) {
                      if (ended) seen = ended->value();
                      done = true;
                  }));
        runs_until([&] { return done; });
        return seen == json(version);
    };
    EXPECT_TRUE(runs_until(sees_it));
    EXPECT_TRUE(shuts_down());
}

} // namespace
} // namespace heddle
