#include "route_testing.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

TEST(fallback_route, the_first_that_answers_is_named) {
    route_harness at;
    fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "a");
    EXPECT_EQ(response->attempts, 1U);
    at.a.plan = {{0ms, llm_errc::overloaded}};
    response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "b");
    EXPECT_EQ(response->model, "m-b");
    EXPECT_EQ(response->attempts, 2U);
    EXPECT_EQ(route.counters().fallbacks, 1U);
    EXPECT_NE(at.log.text.find("smart: a failed; continuing with b:m-b"), std::string::npos);
}

TEST(fallback_route, what_one_service_has_signed_goes_to_no_other) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::overloaded}};
    ports::chat_message& said = at.request.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.written_by = "a";
    said.reasoning.push_back({"because", "signed by a", ""});
    said.tool_calls.push_back({"c1", "look", "{}", "signed by a"});
    fallback_route route("r", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    ASSERT_TRUE(at.run(route.complete(at.request, at.context())));
    EXPECT_EQ(at.a.last.messages.back().reasoning.size(), 1U);
    EXPECT_EQ(at.a.last.messages.back().tool_calls[0].signature, "signed by a");
    EXPECT_TRUE(at.b.last.messages.back().reasoning.empty());
    EXPECT_EQ(at.b.last.messages.back().tool_calls[0].id, "c1");
    EXPECT_TRUE(at.b.last.messages.back().tool_calls[0].signature.empty());
}

TEST(fallback_route, hands_on_what_another_service_can_cure_and_nothing_else) {
    for (const auto code :
         {llm_errc::rate_limit, llm_errc::quota, llm_errc::overloaded, llm_errc::server,
          llm_errc::connection, llm_errc::request_timeout, llm_errc::invalid_request,
          llm_errc::authentication, llm_errc::permission, llm_errc::not_found,
          llm_errc::content_refused, llm_errc::configuration, llm_errc::protocol}) {
        route_harness at;
        at.a.plan = {{0ms, code}};
        fallback_route route("r", {{&at.a, ""}, {&at.b, ""}}, at.log);
        const auto response = at.run(route.complete(at.request, at.context()));
        EXPECT_EQ(response.has_value(), curable_elsewhere.has(code)) << static_cast<int>(code);
        EXPECT_EQ(at.b.models.size(), curable_elsewhere.has(code) ? 1U : 0U);
    }
    route_harness at;
    at.a.plan = {{0ms, llm_errc::authentication}};
    error_kinds on = curable_elsewhere;
    on.add(llm_errc::authentication);
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}}, at.log, on);
    EXPECT_TRUE(at.run(route.complete(at.request, at.context())));
}

TEST(fallback_route, the_last_error_names_the_others) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::rate_limit}};
    at.b.plan = {{0ms, llm_errc::server}};
    at.c.plan = {{0ms, llm_errc::connection}};
    fallback_route route("r", {{&at.a, "x"}, {&at.b, ""}, {&at.c, ""}}, at.log);
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), llm_errc::connection);
    ASSERT_TRUE(response.error().info().cause);
    EXPECT_EQ(response.error().info().cause->code(), llm_errc::server);
    ASSERT_TRUE(response.error().info().cause->info().cause);
    EXPECT_EQ(response.error().info().cause->info().cause->code(), llm_errc::rate_limit);
    ASSERT_EQ(response.error().info().trace.size(), 1U);
    EXPECT_EQ(response.error().info().trace[0].what, "after b failed: b failed");
}

TEST(fallback_route, causes_of_their_own_hide_no_other_model) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::connection, {}, 0ms, 5, true}};
    at.b.plan = {{0ms, llm_errc::connection, {}, 0ms, 3, true}};
    at.c.plan = {{0ms, llm_errc::connection, {}, 0ms, 1, true}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}, {&at.c, ""}}, at.log);
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(response);
    std::string messages;
    const error failed = response.error();
    for (const error* each = &failed; each; each = each->info().cause.get()) {
        messages += each->message() + "; ";
    }
    EXPECT_EQ(messages, "c failed; refused; b failed; refused; a failed; refused; ");
    EXPECT_EQ(response.error().info().attempts, 9U);
}

TEST(fallback_route, counts_the_requests_of_those_that_failed) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::overloaded, {}, 0ms, 4}};
    at.b.plan = {{0ms, llm_errc::overloaded}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}, {&at.c, ""}}, at.log);
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->attempts, 6U); // four, one that is not said, and the one that went well
}

TEST(fallback_route, never_goes_on_after_text_was_handed_out) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::server}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}}, at.log);
    auto response = at.run(route.stream(at.request, at.sink, at.context()));
    EXPECT_FALSE(response);
    EXPECT_EQ(at.text, "one two");
    EXPECT_TRUE(at.b.models.empty());
    at.a.plan = {{0ms, llm_errc::server, {}}};
    at.text.clear();
    response = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(at.text, "one two");
    EXPECT_EQ(response->provider, "b");
}

TEST(fallback_route, cancellation_and_deadline_end_it) {
    route_harness at;
    at.a.plan = {{5s, llm_errc::server}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}}, at.log);
    const auto late =
        at.run(route.complete(at.request, at.context(nullptr, coro::deadline(at.loop.now() + 2s))));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
    coro::cancel_source cancel;
    cancel.request(cancel_reason::user);
    const auto ended = at.run(route.complete(at.request, at.context(&cancel)));
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    EXPECT_TRUE(at.b.models.empty());
}

/// "provider:model input" of each.
std::vector<std::string> lost_of(const std::vector<ports::lost_request>& lost) {
    std::vector<std::string> strings;
    for (const auto& each : lost) {
        strings.push_back(each.provider + ":" + each.model + " " +
                          (each.usage ? std::to_string(each.usage->input) : "?"));
    }
    return strings;
}

/// All requests of a failed call that may be charged for.
std::vector<ports::lost_request> all_lost_of(const error& failure) {
    std::vector<ports::lost_request> lost;
    ports::add_lost(lost, failure);
    return lost;
}

/// "provider:model" of the last request of a failed call.
std::string asked_by(const error& failure) {
    const auto* sent = dynamic_cast<const ports::partial_response*>(failure.info().payload.get());
    return sent ? sent->so_far.provider + ":" + sent->so_far.asked_model : std::string();
}

TEST(paid_requests, of_targets_that_failed_go_along) {
    route_harness at;
    fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{0ms, llm_errc::server}};
    at.b.plan = {{0ms, llm_errc::rate_limit}}; // charges for nothing
    auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->attempts, 3U);
    EXPECT_EQ(lost_of(response->lost), std::vector<std::string>{"a:m-a ?"});
    at.c.plan = {{0ms, llm_errc::server}};
    response = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(response);
    EXPECT_FALSE(ports::is_unpaid(response.error())) << "the last one may be charged for";
    EXPECT_EQ(lost_of(ports::lost_with(response.error())), std::vector<std::string>{"a:m-a ?"});
    EXPECT_EQ(asked_by(response.error()), "c:m-c");
    EXPECT_EQ(lost_of(all_lost_of(response.error())),
              (std::vector<std::string>{"a:m-a ?", "c:m-c ?"}));
}

// Else a budget would count no more than its input, however many calls come to nothing.
TEST(paid_requests, under_way_when_the_call_ends_are_not_turned_into_lost_ones) {
    route_harness at;
    at.a.plan = {{10s, {}}};
    at.b.plan = {{10s, {}}};
    fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    const auto ended =
        at.run(route.complete(at.request, at.context(nullptr, coro::deadline(at.loop.now() + 2s))));
    ASSERT_FALSE(ended);
    EXPECT_FALSE(ports::is_unpaid(ended.error()));
    EXPECT_TRUE(ports::lost_with(ended.error()).empty());
    EXPECT_EQ(asked_by(ended.error()), "a:m-a");
    hedged_route quick("quick", {&at.a, "m-a"}, {&at.b, "m-b"}, after(100ms));
    const auto late =
        at.run(quick.complete(at.request, at.context(nullptr, coro::deadline(at.loop.now() + 2s))));
    ASSERT_FALSE(late);
    EXPECT_FALSE(ports::is_unpaid(late.error()));
    EXPECT_EQ(asked_by(late.error()), "a:m-a");
    EXPECT_EQ(lost_of(ports::lost_with(late.error())), std::vector<std::string>{"b:m-b ?"});
    EXPECT_EQ(ports::attempts_of(late.error()), 2U);
}

TEST(paid_requests, that_were_not_sent_stay_free_of_charge_after_others) {
    for (const auto code : {llm_errc::protocol, llm_errc::configuration}) {
        route_harness at;
        at.a.plan = {{0ms, llm_errc::server}};
        at.b.plan = {{0ms, code, {}, 0ms, 0, false, true}};
        fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
        const auto ended = at.run(route.complete(at.request, at.context()));
        ASSERT_FALSE(ended);
        EXPECT_EQ(ports::attempts_of(ended.error()), 1U);
        if (code == llm_errc::configuration) { // of which nothing is ever sent
            EXPECT_TRUE(ports::is_unpaid(ended.error()));
            EXPECT_EQ(lost_of(all_lost_of(ended.error())), std::vector<std::string>{"a:m-a ?"});
            continue;
        }
        // The last request of the call is that of the first target.
        EXPECT_FALSE(ports::is_unpaid(ended.error()));
        EXPECT_EQ(asked_by(ended.error()), "a:m-a");
        EXPECT_TRUE(ports::lost_with(ended.error()).empty());
    }
    route_harness at; // the first one waits, and the second one fails
    at.a.plan = {{2s, llm_errc::protocol, {}, 0ms, 0, false, true}};
    at.b.plan = {{0ms, llm_errc::server}};
    hedged_route quick("quick", {&at.a, "m-a"}, {&at.b, "m-b"}, after(1s));
    const auto ended = at.run(quick.complete(at.request, at.context()));
    ASSERT_FALSE(ended);
    EXPECT_TRUE(ports::is_unpaid(ended.error()));
    EXPECT_EQ(ports::attempts_of(ended.error()), 1U);
    EXPECT_EQ(lost_of(all_lost_of(ended.error())), std::vector<std::string>{"b:m-b ?"});
}

TEST(paid_requests, are_priced_by_the_model_that_was_asked_for) {
    route_harness at;
    fallback_route inner("inner", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    fallback_route route("smart", {{&inner, ""}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{0ms, llm_errc::server}};
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "b");
    EXPECT_EQ(response->asked_model, "m-b");
    ASSERT_EQ(response->lost.size(), 1U);
    EXPECT_EQ(response->lost[0].provider, "a");
    EXPECT_EQ(response->lost[0].asked_model, "m-a");
}

TEST(paid_requests, of_the_loser_of_a_hedge_go_along) {
    route_harness at;
    hedge_rules rules;
    rules.after = 100ms;
    rules.max_extra_calls = 1;
    hedged_route route("quick", {&at.a, "m-a"}, {&at.b, "m-b"}, rules);
    at.a.plan = {{10s, {}}};
    at.b.plan = {{50ms, {}}};
    auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "b");
    EXPECT_EQ(lost_of(response->lost), std::vector<std::string>{"a:m-a ?"});
    // Both answer in the same moment: both are paid.
    at.a.plan = {{150ms, {}}};
    response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    ASSERT_EQ(response->lost.size(), 1U);
    EXPECT_EQ(response->attempts, 2U);
    // Both fail.
    at.a.plan = {{150ms, llm_errc::server, {}, 0ms, 2}};
    at.b.plan = {{0ms, llm_errc::server}};
    response = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().info().attempts, 3U);
    EXPECT_EQ(lost_of(all_lost_of(response.error())),
              (std::vector<std::string>{"b:m-b ?", "a:m-a ?"}));
}

TEST(routes, compose) {
    route_harness at;
    at.a.plan = {{60s, {}}};
    at.b.plan = {{10ms, llm_errc::overloaded}};
    hedged_route quick("quick", {&at.a, ""}, {&at.b, ""}, after(1s));
    fallback_route route("r", {{&quick, ""}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{2s, llm_errc::rate_limit}};
    const auto response = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->provider, "c");
}

} // namespace
} // namespace heddle::testing
