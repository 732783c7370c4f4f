#include "route_testing.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

TEST(hedged_route, a_quick_response_needs_no_second_call) {
    route_harness at;
    at.a.plan = {{100ms, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "a");
    EXPECT_TRUE(at.b.models.empty());
    EXPECT_EQ(route.counters().hedges, 0U);
}

TEST(hedged_route, sends_one_request_where_more_may_not_be_paid_for) {
    route_harness at;
    at.a.plan = {{2s, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    fallback_route outer("o", {{&at.b, ""}, {&route, ""}}, at.log);
    EXPECT_EQ(at.a.max_requests_at_once(), 1U);
    EXPECT_EQ(route.max_requests_at_once(), 2U);
    EXPECT_EQ(outer.max_requests_at_once(), 2U);
    at.request.scheduling.one_at_a_time = true;
    ASSERT_TRUE(at.run(outer.complete(at.request, at.context())));
    EXPECT_EQ(at.b.models.size(), 1U);
    ASSERT_TRUE(at.run(route.complete(at.request, at.context())));
    EXPECT_EQ(at.b.models.size(), 1U);
    EXPECT_EQ(route.counters().hedges, 0U);
}

TEST(hedged_route, a_slow_one_is_overtaken_cancelled_and_joined) {
    route_harness at;
    at.a.plan = {{60s, {}}};
    at.b.plan = {{200ms, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, "m-b"}, after(1s));
    const auto began = at.loop.now();
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "b");
    EXPECT_EQ(response->model, "m-b");
    EXPECT_EQ(response->attempts, 2U);
    EXPECT_EQ(at.loop.now() - began, 1200ms);
    EXPECT_EQ(at.a.running, 0);
    EXPECT_EQ(at.a.cancelled, 1);
    EXPECT_EQ(route.counters().hedges_won, 1U);
}

TEST(hedged_route, the_second_call_does_not_wait_for_the_first_in_a_cache) {
    route_harness at;
    at.a.plan = {{60s, {}}};
    at.b.plan = {{200ms, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    ASSERT_TRUE(at.run(route.complete(at.request, at.context())));
    EXPECT_EQ(at.a.last.scheduling.cache, ports::cache_use::shared);
    EXPECT_EQ(at.b.last.scheduling.cache, ports::cache_use::apart);
    at.request.scheduling.cache = ports::cache_use::none;
    ASSERT_TRUE(at.run(route.complete(at.request, at.context())));
    EXPECT_EQ(at.b.last.scheduling.cache, ports::cache_use::none);
}

TEST(hedged_route, the_first_may_still_win) {
    route_harness at;
    at.a.plan = {{1500ms, {}}};
    at.b.plan = {{60s, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "a");
    EXPECT_EQ(at.b.cancelled, 1);
}

TEST(hedged_route, a_failure_waits_for_the_other_and_two_are_reported) {
    route_harness at;
    at.a.plan = {{2s, llm_errc::server}};
    at.b.plan = {{3s, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    EXPECT_EQ(at.run(route.complete(at.request, at.context()))->provider, "b");
    at.b.plan = {{3s, llm_errc::connection}};
    const auto failed = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), llm_errc::server);
    EXPECT_EQ(failed.error().info().cause->code(), llm_errc::connection);
    at.a.plan = {{10ms, llm_errc::server}}; // before the second was due
    const auto early = at.run(route.complete(at.request, at.context()));
    EXPECT_FALSE(early);
    EXPECT_EQ(at.b.models.size(), 2U);
}

TEST(hedged_route, spends_no_more_than_its_share_of_calls) {
    route_harness at;
    at.a.plan = {{10s, {}}};
    at.b.plan = {{10ms, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s, 0.1));
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(at.run(route.complete(at.request, at.context())));
    }
    EXPECT_EQ(route.counters().hedges, 10U);
}

TEST(hedged_route, spends_no_more_than_its_share_of_tokens) {
    route_harness at;
    at.a.plan = {{10s, {}}};
    hedge_rules rules = after(1s);
    rules.max_extra_tokens = 0.05;
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, rules);
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(at.run(route.complete(at.request, at.context())));
    }
    EXPECT_GE(route.counters().hedges, 4U);
    EXPECT_LE(route.counters().hedges, 5U);
}

TEST(hedged_route, learns_when_a_call_is_slow) {
    route_harness at;
    hedge_rules rules;
    rules.max_extra_calls = 1;
    rules.percentile = 0.9;
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, rules);
    for (int i = 1; i <= 20; ++i) {
        at.a.plan = {{std::chrono::milliseconds(100 * i), {}}};
        EXPECT_TRUE(at.run(route.complete(at.request, at.context())));
    }
    EXPECT_TRUE(at.b.models.empty());
    at.a.plan = {{60s, {}}};
    at.b.plan = {{1ms, {}}};
    const auto began = at.loop.now();
    EXPECT_TRUE(at.run(route.complete(at.request, at.context())));
    EXPECT_GE(at.loop.now() - began, 1500ms);
    EXPECT_LE(at.loop.now() - began, 2000ms);
}

TEST(hedged_route, pieces_of_two_streams_are_never_mixed) {
    route_harness at;
    at.a.plan = {{1100ms, {}, {"a1 ", "a2 ", "a3"}, 300ms}};
    at.b.plan = {{200ms, {}, {"b1 ", "b2 ", "b3"}, 300ms}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    auto response = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(at.text, "a1 a2 a3"); // its first piece came at 1.1 s, the other's would at 1.2 s
    EXPECT_EQ(at.b.cancelled, 1);
    at.text.clear();
    at.a.plan = {{5s, {}, {"a1 "}, 0ms}};
    response = at.run(route.stream(at.request, at.sink, at.context()));
    EXPECT_EQ(at.text, "b1 b2 b3");
    EXPECT_EQ(response->provider, "b");
}

TEST(hedged_route, a_stream_that_fails_after_its_first_piece_is_not_replaced) {
    route_harness at;
    at.a.plan = {{1100ms, llm_errc::server, {"a1 "}, 2s}};
    at.b.plan = {{60s, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    const auto response = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), llm_errc::server);
    EXPECT_EQ(at.text, "a1 ");
}

TEST(hedged_route, cancellation_reaches_both) {
    for (const auto when : {500ms, 1500ms}) {
        route_harness at;
        at.a.plan = at.b.plan = {{60s, {}}};
        hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
        const auto response = at.run(
            route.complete(at.request, at.context(nullptr, coro::deadline(at.loop.now() + when))));
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().cancelled_because(), cancel_reason::deadline);
        EXPECT_EQ(at.a.running + at.b.running, 0);
    }
}

} // namespace
} // namespace heddle::testing
