// The server while allocations fail: what fails costs one connection at most.
#include "server_fixture.hpp"

#include <failing_allocations.ipp>

#include <algorithm>
#include <optional>

namespace heddle::http {
namespace {

using heddle::testing::failing_allocations;

/// Of the thread of the server.
struct memory_plan {
    std::atomic<std::uint64_t> fails_at{0};
    std::atomic<bool> failed{false};
};

constexpr std::size_t body_size = 10'000;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
coro::task<void> respond_in_short_supply(memory_plan& plan, response_writer& response) {
    struct end_of_plan {
        memory_plan& plan;
        ~end_of_plan() {
            plan.failed = failing_allocations::failed() != 0;
            failing_allocations::plan(0);
        }
    };
    failing_allocations::plan(plan.fails_at);
    const end_of_plan noted{plan};
    const failing_allocations::scope failing(true);
    response_head head;
    std::string body(body_size, '#');
    [[maybe_unused]] const auto sent = co_await response.send(std::move(head), std::move(body));
}

TEST_F(http_server, ends_the_connection_after_a_response_that_failed_in_the_middle) {
    memory_plan plan;
    routes.add("GET", "/short", [&plan](const auto&, response_writer& response, auto) {
        return respond_in_short_supply(plan, response);
    });
    start();
    std::uint64_t at = 0;
    do {
        plan.fails_at = ++at;
        const std::string seen = exchange(get("/short", "") + get("/hello"));
        if (!seen.ends_with("\r\n\r\nhi")) continue;
        const auto count = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), '#'));
        EXPECT_EQ(count, body_size) << at << "\n" << seen;
    } while (plan.failed && at < 1000);
    EXPECT_FALSE(plan.failed);
    EXPECT_GT(at, 1U);
}

TEST_F(http_server, goes_on_after_each_allocation_that_fails_on_its_thread) {
    start();
    const raw_client patient(port);
    patient.send(get("/wait", ""));
    ASSERT_TRUE(soon([&] { return waiting == 1; }));
    std::optional<failing_allocations::scope> failing;
    bool failed = true;
    std::uint64_t at = 0;
    while (failed && at < 1000) {
        ++at;
        std::promise<void> begun;
        on_loop([&] {
            failing_allocations::plan(at);
            failing.emplace(true);
            begun.set_value();
        });
        begun.get_future().wait();
        (void)exchange(get("/hello"));
        std::promise<bool> ended_one;
        on_loop([&] {
            failing.reset();
            ended_one.set_value(failing_allocations::failed() != 0);
            failing_allocations::plan(0);
        });
        failed = ended_one.get_future().get();
        ASSERT_FALSE(ended) << at;
        ASSERT_EQ(body_of(exchange(get("/hello"))), "hi") << at << "\n" << log.text();
        ASSERT_EQ(counters().in_progress, 1U) << at;
    }
    EXPECT_FALSE(failed);
    EXPECT_GT(at, 1U);
    EXPECT_EQ(cancelled, 0);
    EXPECT_TRUE(soon([&] { return counters().open_connections == 1; }));
}

} // namespace
} // namespace heddle::http
