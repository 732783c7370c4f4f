#include <heddle/providers/routing/route.hpp>

#include "../provider_testing.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using ports::chat_request;
using ports::chat_response;
using ports::llm_errc;
using providers::curable_elsewhere;
using providers::error_kinds;
using providers::fallback_route;
using providers::hedge_rules;
using providers::hedged_route;

/// A model that follows a plan: after a delay an answer or an error, pieces before it.
class planned_model final : public ports::llm_port {
public:
    struct step {
        std::chrono::milliseconds delay{0};
        std::optional<llm_errc> fails;
        std::vector<std::string> pieces{"one ", "two"};
        std::chrono::milliseconds between{0};
        std::uint32_t attempts = 0; ///< that an error counts; 0: it does not say
        bool caused = false;        ///< an error has a cause of its own
    };
    explicit planned_model(std::string name) : name_(std::move(name)) {}

    std::string_view provider_name() const noexcept override { return name_; }
    coro::task<result<chat_response>> complete(const chat_request& request,
                                               coro::call_context context) override {
        return play(&request, {}, context);
    }
    coro::task<result<chat_response>> stream(const chat_request& request,
                                             ports::chat_delta_sink on_delta,
                                             coro::call_context context) override {
        return play(&request, std::move(on_delta), context);
    }

    std::deque<step> plan; ///< the last is repeated
    std::vector<std::string> models;
    chat_request last;
    int running = 0;
    int cancelled = 0;

private:
    coro::task<result<chat_response>> play(const chat_request* request,
                                           ports::chat_delta_sink on_delta,
                                           coro::call_context context) {
        models.push_back(request->model);
        last = *request;
        const step now = plan.empty() ? step{} : plan.front();
        if (plan.size() > 1) plan.pop_front();
        ++running;
        result<void> waited = co_await coro::sleep_until(context, context.loop->now() + now.delay);
        chat_response response;
        for (const std::string& piece : now.pieces) {
            if (!waited || !on_delta) break;
            waited = on_delta(piece);
            if (!waited) break;
            response.text += piece;
            waited = co_await coro::sleep_until(context, context.loop->now() + now.between);
        }
        --running;
        if (!waited) {
            ++cancelled;
            co_return std::move(waited).error();
        }
        if (now.fails) {
            error failed(ports::make_error_code(*now.fails), name_ + " failed");
            if (now.attempts != 0) failed = std::move(failed).with_attempts(now.attempts);
            if (now.caused) {
                failed = std::move(failed).with_cause(
                    error(ports::make_error_code(ports::http_errc::connect_failed), "refused"));
            }
            co_return failed;
        }
        if (!on_delta) response.text = "one two";
        response.model = request->model;
        response.usage = ports::token_usage{100, 10, 0, 0, 0};
        co_return response;
    }

    std::string name_;
};

struct route_harness {
    template <class T>
    T run(coro::task<T> work) {
        std::optional<T> value;
        coro::spawn(loop, keep(std::move(work), &value), [](std::exception_ptr thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
        loop.run();
        return std::move(*value);
    }
    template <class T>
    static coro::task<void> keep(coro::task<T> work, std::optional<T>* value) {
        T result = co_await std::move(work);
        value->emplace(std::move(result));
    }
    coro::call_context context(coro::cancel_source* cancel = nullptr, coro::deadline until = {}) {
        return {&loop, cancel, until};
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    recording_log log;
    planned_model a{"a"};
    planned_model b{"b"};
    planned_model c{"c"};
    chat_request request = user_request("hello", "m-a");
    std::string text;
    ports::chat_delta_sink sink = [this](std::string_view piece) {
        text += piece;
        return result<void>();
    };
};

TEST(fallback_route, the_first_that_answers_is_named) {
    route_harness at;
    fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "a");
    EXPECT_EQ(answer->attempts, 1U);
    at.a.plan = {{0ms, llm_errc::overloaded}};
    answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "b");
    EXPECT_EQ(answer->model, "m-b");
    EXPECT_EQ(answer->attempts, 2U);
    EXPECT_EQ(route.counters().fallbacks, 1U);
    EXPECT_NE(at.log.text.find("smart: a failed; going on with b:m-b"), std::string::npos);
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
        const auto answer = at.run(route.complete(at.request, at.context()));
        EXPECT_EQ(answer.has_value(), curable_elsewhere.has(code)) << static_cast<int>(code);
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
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), llm_errc::connection);
    ASSERT_TRUE(answer.error().info().cause);
    EXPECT_EQ(answer.error().info().cause->code(), llm_errc::server);
    ASSERT_TRUE(answer.error().info().cause->info().cause);
    EXPECT_EQ(answer.error().info().cause->info().cause->code(), llm_errc::rate_limit);
    ASSERT_EQ(answer.error().info().trace.size(), 1U);
    EXPECT_EQ(answer.error().info().trace[0].what, "after b failed: b failed");
}

TEST(fallback_route, causes_of_their_own_hide_no_other_model) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::connection, {}, 0ms, 5, true}};
    at.b.plan = {{0ms, llm_errc::connection, {}, 0ms, 3, true}};
    at.c.plan = {{0ms, llm_errc::connection, {}, 0ms, 1, true}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}, {&at.c, ""}}, at.log);
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(answer);
    std::string messages;
    const error failed = answer.error();
    for (const error* each = &failed; each; each = each->info().cause.get()) {
        messages += each->message() + "; ";
    }
    EXPECT_EQ(messages, "c failed; refused; b failed; refused; a failed; refused; ");
    EXPECT_EQ(answer.error().info().attempts, 9U);
}

TEST(fallback_route, counts_the_requests_of_those_that_failed) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::overloaded, {}, 0ms, 4}};
    at.b.plan = {{0ms, llm_errc::overloaded}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}, {&at.c, ""}}, at.log);
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->attempts, 6U); // four, one that is not said, and the one that went well
}

TEST(fallback_route, never_goes_on_after_text_was_handed_out) {
    route_harness at;
    at.a.plan = {{0ms, llm_errc::server}};
    fallback_route route("r", {{&at.a, ""}, {&at.b, ""}}, at.log);
    auto answer = at.run(route.stream(at.request, at.sink, at.context()));
    EXPECT_FALSE(answer);
    EXPECT_EQ(at.text, "one two");
    EXPECT_TRUE(at.b.models.empty());
    at.a.plan = {{0ms, llm_errc::server, {}}};
    at.text.clear();
    answer = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(at.text, "one two");
    EXPECT_EQ(answer->provider, "b");
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

hedge_rules after(std::chrono::milliseconds wait, double most = 1) {
    hedge_rules rules;
    rules.after = wait;
    rules.max_extra_calls = most;
    return rules;
}

TEST(hedged_route, a_quick_answer_needs_no_second_call) {
    route_harness at;
    at.a.plan = {{100ms, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "a");
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
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "b");
    EXPECT_EQ(answer->model, "m-b");
    EXPECT_EQ(answer->attempts, 2U);
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
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "a");
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
    auto answer = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(at.text, "a1 a2 a3"); // its first piece came at 1.1 s, the other's would at 1.2 s
    EXPECT_EQ(at.b.cancelled, 1);
    at.text.clear();
    at.a.plan = {{5s, {}, {"a1 "}, 0ms}};
    answer = at.run(route.stream(at.request, at.sink, at.context()));
    EXPECT_EQ(at.text, "b1 b2 b3");
    EXPECT_EQ(answer->provider, "b");
}

TEST(hedged_route, a_stream_that_fails_after_its_first_piece_is_not_replaced) {
    route_harness at;
    at.a.plan = {{1100ms, llm_errc::server, {"a1 "}, 2s}};
    at.b.plan = {{60s, {}}};
    hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
    const auto answer = at.run(route.stream(at.request, at.sink, at.context()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), llm_errc::server);
    EXPECT_EQ(at.text, "a1 ");
}

TEST(hedged_route, cancellation_reaches_both) {
    for (const auto when : {500ms, 1500ms}) {
        route_harness at;
        at.a.plan = at.b.plan = {{60s, {}}};
        hedged_route route("r", {&at.a, ""}, {&at.b, ""}, after(1s));
        const auto answer = at.run(
            route.complete(at.request, at.context(nullptr, coro::deadline(at.loop.now() + when))));
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().cancelled_because(), cancel_reason::deadline);
        EXPECT_EQ(at.a.running + at.b.running, 0);
    }
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

TEST(paid_requests, of_targets_that_failed_go_along) {
    route_harness at;
    fallback_route route("smart", {{&at.a, "m-a"}, {&at.b, "m-b"}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{0ms, llm_errc::server}};
    at.b.plan = {{0ms, llm_errc::rate_limit}}; // charges for nothing
    auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->attempts, 3U);
    EXPECT_EQ(lost_of(answer->lost), std::vector<std::string>{"a:m-a ?"});
    at.c.plan = {{0ms, llm_errc::server}};
    answer = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(answer);
    EXPECT_TRUE(ports::is_unpaid(answer.error())) << "all are among the lost";
    EXPECT_EQ(lost_of(ports::lost_with(answer.error())),
              (std::vector<std::string>{"a:m-a ?", "c:m-c ?"}));
}

TEST(paid_requests, are_priced_by_the_model_that_was_asked_for) {
    route_harness at;
    fallback_route inner("inner", {{&at.a, "m-a"}, {&at.b, "m-b"}}, at.log);
    fallback_route route("smart", {{&inner, ""}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{0ms, llm_errc::server}};
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "b");
    EXPECT_EQ(answer->asked_model, "m-b");
    ASSERT_EQ(answer->lost.size(), 1U);
    EXPECT_EQ(answer->lost[0].provider, "a");
    EXPECT_EQ(answer->lost[0].asked_model, "m-a");
}

TEST(paid_requests, of_the_loser_of_a_hedge_go_along) {
    route_harness at;
    hedge_rules rules;
    rules.after = 100ms;
    rules.max_extra_calls = 1;
    hedged_route route("quick", {&at.a, "m-a"}, {&at.b, "m-b"}, rules);
    at.a.plan = {{10s, {}}};
    at.b.plan = {{50ms, {}}};
    auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "b");
    EXPECT_EQ(lost_of(answer->lost), std::vector<std::string>{"a:m-a ?"});
    // Both answer in the same moment: both are paid.
    at.a.plan = {{150ms, {}}};
    answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->lost.size(), 1U);
    EXPECT_EQ(answer->attempts, 2U);
    // Both fail.
    at.a.plan = {{150ms, llm_errc::server, {}, 0ms, 2}};
    at.b.plan = {{0ms, llm_errc::server}};
    answer = at.run(route.complete(at.request, at.context()));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().info().attempts, 3U);
    EXPECT_EQ(lost_of(ports::lost_with(answer.error())),
              (std::vector<std::string>{"b:m-b ?", "a:m-a ?"}));
}

TEST(routes, compose) {
    route_harness at;
    at.a.plan = {{60s, {}}};
    at.b.plan = {{10ms, llm_errc::overloaded}};
    hedged_route quick("quick", {&at.a, ""}, {&at.b, ""}, after(1s));
    fallback_route route("r", {{&quick, ""}, {&at.c, "m-c"}}, at.log);
    at.a.plan = {{2s, llm_errc::rate_limit}};
    const auto answer = at.run(route.complete(at.request, at.context()));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->provider, "c");
}

} // namespace
} // namespace heddle::testing
