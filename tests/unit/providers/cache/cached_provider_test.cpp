#include <heddle/providers/cache/cached_provider.hpp>

#include "../provider_testing.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <gmock/gmock.h>

#include <map>

namespace heddle::providers {
namespace {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;
using ::testing::HasSubstr;

/// Answers "answer N" to the Nth call, when it is let to.
class slow_model final : public ports::llm_port {
public:
    std::string_view provider_name() const noexcept override { return "slow"; }

    task<result<chat_response>> complete(const chat_request&, call_context context) override {
        const int number = ++calls;
        for (int i = 0; i < turns; ++i) {
            co_await coro::yield_now(*context.loop);
            if (auto stop = context.stop_error()) co_return *std::move(stop);
        }
        if (number <= failures) {
            co_return error(failure).with_retryable(retryable);
        }
        chat_response response;
        response.model = "m";
        response.text = "answer " + std::to_string(number);
        response.finish = finish;
        response.usage = usage;
        co_return response;
    }
    task<result<chat_response>> stream(const chat_request& request, ports::chat_delta_sink on_delta,
                                       call_context context) override {
        auto outcome = co_await complete(request, context);
        if (outcome) (void)on_delta(outcome->text);
        co_return outcome;
    }

    int calls = 0;
    std::optional<ports::token_usage> usage = ports::token_usage{.input = 10, .output = 5};
    int failures = 0;
    bool retryable = true;
    error failure{ports::make_error_code(ports::llm_errc::server), "down"};
    int turns = 3;
    ports::finish_reason finish = ports::finish_reason::stop;
};

/// A store in memory, that can be broken.
class map_store final : public ports::response_store {
public:
    task<result<std::optional<ports::stored_response>>> find(std::string request,
                                                             call_context context) override {
        co_await coro::yield_now(*context.loop);
        ++look_ups;
        if (broken) co_return error(errc::io_error, "the disk is gone");
        const auto found = kept.find(request);
        if (found == kept.end()) co_return std::optional<ports::stored_response>();
        co_return std::optional<ports::stored_response>(found->second);
    }
    task<result<void>> keep(std::string request, ports::stored_response response,
                            call_context context) override {
        co_await coro::yield_now(*context.loop);
        if (broken) co_return error(errc::io_error, "the disk is gone");
        kept[request] = std::move(response);
        co_return result<void>();
    }
    task<result<ports::response_store_stats>> stats(call_context) override {
        co_return ports::response_store_stats{};
    }
    task<result<std::uint64_t>> clear(std::optional<std::chrono::seconds>, call_context) override {
        co_return std::uint64_t{0};
    }

    std::map<std::string, ports::stored_response> kept;
    int look_ups = 0;
    bool broken = false;
};

class cached_provider_test : public ::testing::Test {
protected:
    result<chat_response> ask(const chat_request& request) {
        return loop.run(cached.complete(request, loop.context()));
    }
    static task<result<void>> call(ports::llm_port* port, chat_request request,
                                   call_context context, std::vector<result<chat_response>>* into) {
        auto outcome = co_await port->complete(request, context);
        into->push_back(std::move(outcome));
        co_return result<void>();
    }
    /// `count` equal calls at the same time.
    std::vector<result<chat_response>> ask_at_once(const chat_request& request, int count) {
        std::vector<result<chat_response>> results;
        (void)loop.run(all(&cached, request, count, loop.context(), &results));
        return results;
    }
    /// At the same time, begun in this order.
    std::vector<result<chat_response>> ask_in_turn(std::vector<chat_request> requests) {
        std::vector<result<chat_response>> results;
        (void)loop.run(each_of(&cached, std::move(requests), loop.context(), &results));
        return results;
    }
    static task<result<void>> each_of(ports::llm_port* port, std::vector<chat_request> requests,
                                      call_context context,
                                      std::vector<result<chat_response>>* into) {
        coro::nursery children(context);
        for (chat_request& each : requests) {
            children.start(call(port, std::move(each), children.context(), into));
        }
        result<void> joined = co_await children.join();
        co_return joined;
    }
    static task<result<void>> all(ports::llm_port* port, chat_request request, int count,
                                  call_context context, std::vector<result<chat_response>>* into) {
        coro::nursery children(context);
        for (int i = 0; i < count; ++i) {
            children.start(call(port, request, children.context(), into));
        }
        result<void> joined = co_await children.join();
        co_return joined;
    }

    testing::test_loop loop;
    slow_model model;
    map_store store;
    testing::recording_log log;
    cached_provider cached{model, store, log, "https://api.example/v1"};
};

TEST_F(cached_provider_test, asks_once_and_pays_once) {
    const chat_request request = testing::user_request("q");
    const auto first = ask(request).value();
    EXPECT_EQ(first.text, "answer 1");
    EXPECT_EQ(first.attempts, 1U);
    const auto second = ask(request).value();
    EXPECT_EQ(second.text, "answer 1");
    EXPECT_EQ(second.attempts, 0U);
    EXPECT_EQ(second.usage->input, 0);
    EXPECT_EQ(model.calls, 1);
    EXPECT_EQ(cached.counters().hits, 1U);
    EXPECT_EQ(cached.counters().misses, 1U);
}

TEST_F(cached_provider_test, a_kept_response_counts_nothing_whatever_the_original_reported) {
    model.usage.reset();
    const chat_request request = testing::user_request("q");
    EXPECT_FALSE(ask(request).value().usage);
    const auto kept = ask(request).value();
    ASSERT_TRUE(kept.usage);
    EXPECT_EQ(kept.usage->input + kept.usage->output, 0);
    EXPECT_TRUE(kept.usage->input_reported && kept.usage->output_reported);
    EXPECT_TRUE(kept.lost.empty());
}

TEST_F(cached_provider_test, looks_up_only_where_that_is_asked_for) {
    EXPECT_TRUE(cached.keeps_responses());
    chat_request request = testing::user_request("q");
    request.scheduling.cache = ports::cache_use::kept;
    const auto missing = ask(request);
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), make_error_code(ports::llm_errc::not_found));
    EXPECT_TRUE(ports::is_unpaid(missing.error()));
    EXPECT_EQ(model.calls, 0);
    request.scheduling.cache = ports::cache_use::shared;
    EXPECT_TRUE(ask(request));
    request.scheduling.cache = ports::cache_use::kept;
    EXPECT_EQ(ask(request).value().text, "answer 1");
    EXPECT_EQ(model.calls, 1);
}

TEST_F(cached_provider_test, distinguishes_requests_by_all_that_is_asked) {
    chat_request request = testing::user_request("q");
    (void)ask(request);
    request.temperature = 0.5;
    (void)ask(request);
    request.tools.push_back({"t", "", "{}", true});
    (void)ask(request);
    request.scheduling.flow = 7; // is not asked of the service
    (void)ask(request);
    EXPECT_EQ(model.calls, 3);
}

TEST_F(cached_provider_test, equal_calls_at_the_same_time_become_one) {
    const auto result = ask_at_once(testing::user_request("q"), 20);
    ASSERT_EQ(result.size(), 20U);
    for (const auto& each : result) EXPECT_EQ(each.value().text, "answer 1");
    EXPECT_EQ(model.calls, 1);
    EXPECT_EQ(store.look_ups, 1);
    EXPECT_EQ(cached.counters().shared, 19U);
}

TEST_F(cached_provider_test, keeps_no_error_and_one_of_those_who_waited_asks_for_all) {
    model.failures = 1;
    const auto result = ask_at_once(testing::user_request("q"), 20);
    int failed = 0;
    for (const auto& each : result) {
        if (each) EXPECT_EQ(each->text, "answer 2");
        else ++failed;
    }
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(model.calls, 2);
    EXPECT_EQ(ask(testing::user_request("q")).value().attempts, 0U);
}

TEST_F(cached_provider_test, a_service_that_stays_down_is_asked_twice_by_many_equal_calls) {
    model.failures = 100;
    const auto result = ask_at_once(testing::user_request("q"), 20);
    EXPECT_EQ(model.calls, 2);
    ASSERT_EQ(result.size(), 20U);
    int unsent = 0;
    for (const auto& each : result) {
        ASSERT_FALSE(each);
        EXPECT_EQ(each.error().message(), "down");
        EXPECT_EQ(each.error().code(), make_error_code(ports::llm_errc::server));
        if (each.error().info().attempts == 0U) ++unsent;
    }
    EXPECT_EQ(unsent, 18);
    EXPECT_TRUE(store.kept.empty());
}

TEST_F(cached_provider_test, an_error_that_comes_back_is_shared_at_once) {
    model.failures = 100;
    model.retryable = false;
    const auto result = ask_at_once(testing::user_request("q"), 20);
    EXPECT_EQ(model.calls, 1);
    for (const auto& each : result) EXPECT_EQ(each.error().message(), "down");
}

TEST_F(cached_provider_test, what_ends_only_the_first_call_is_not_shared) {
    model.failures = 1;
    model.failure = error(errc::invalid_argument, "the receiver of the first call failed");
    const auto result = ask_at_once(testing::user_request("q"), 5);
    int failed = 0;
    for (const auto& each : result) failed += each ? 0 : 1;
    EXPECT_EQ(failed, 1);
    EXPECT_EQ(model.calls, 2);
}

TEST_F(cached_provider_test, distinguishes_services_of_one_name) {
    const chat_request request = testing::user_request("q");
    (void)ask(request);
    cached_provider elsewhere{model, store, log, "http://127.0.0.1:9/v1"};
    EXPECT_EQ(loop.run(elsewhere.complete(request, loop.context())).value().text, "answer 2");
    EXPECT_EQ(ask(request).value().text, "answer 1");
}

TEST_F(cached_provider_test, a_call_apart_overtakes_an_equal_one_and_still_takes_what_is_kept) {
    chat_request apart = testing::user_request("q");
    apart.scheduling.cache = ports::cache_use::apart;
    const auto asked = ask_in_turn({testing::user_request("q"), apart});
    EXPECT_EQ(model.calls, 2);
    EXPECT_EQ(asked.size(), 2U);
    EXPECT_EQ(ask(apart).value().attempts, 0U);
    EXPECT_EQ(ask(testing::user_request("q")).value().attempts, 0U);
    EXPECT_EQ(model.calls, 2);
}

TEST_F(cached_provider_test, equal_calls_that_are_hedged_are_two) {
    const chat_request first = testing::user_request("q");
    chat_request second = first;
    second.scheduling.cache = ports::cache_use::apart;
    const auto asked = ask_in_turn({first, first, first, second, second, second});
    EXPECT_EQ(model.calls, 2);
    ASSERT_EQ(asked.size(), 6U);
    int of_seconds = 0;
    int paid = 0;
    for (const auto& each : asked) {
        of_seconds += each.value().text == "answer 2" ? 1 : 0;
        paid += each.value().attempts == 1 ? 1 : 0;
    }
    EXPECT_EQ(of_seconds, 3);
    EXPECT_EQ(paid, 2);
    EXPECT_EQ(cached.counters().shared, 4U);
}

TEST_F(cached_provider_test, a_renewed_call_replaces_what_was_kept) {
    chat_request renewed = testing::user_request("q");
    (void)ask(renewed);
    renewed.scheduling.cache = ports::cache_use::renewed;
    EXPECT_EQ(ask(renewed).value().text, "answer 2");
    EXPECT_EQ(ask(testing::user_request("q")).value().text, "answer 2");
}

TEST_F(cached_provider_test, keeps_nothing_that_was_cut_or_refused) {
    model.finish = ports::finish_reason::length;
    (void)ask(testing::user_request("q"));
    (void)ask(testing::user_request("q"));
    EXPECT_EQ(model.calls, 2);
    EXPECT_TRUE(store.kept.empty());
}

TEST_F(cached_provider_test, a_request_may_pass_by) {
    chat_request request = testing::user_request("q");
    (void)ask(request);
    request.scheduling.cache = ports::cache_use::none;
    EXPECT_EQ(ask(request).value().text, "answer 2");
    EXPECT_EQ(store.kept.size(), 1U);
}

TEST_F(cached_provider_test, a_broken_store_is_reported_once_and_costs_nothing_but_calls) {
    store.broken = true;
    EXPECT_EQ(ask(testing::user_request("q")).value().text, "answer 1");
    EXPECT_EQ(ask(testing::user_request("q")).value().text, "answer 2");
    EXPECT_THAT(log.text, HasSubstr("the disk is gone"));
    EXPECT_EQ(log.text.find("the disk is gone"), log.text.rfind("the disk is gone"));
}

TEST_F(cached_provider_test, a_streamed_call_gets_a_known_response_in_one_piece) {
    (void)ask(testing::user_request("q"));
    std::vector<std::string> pieces;
    const chat_request request = testing::user_request("q");
    const ports::chat_delta_sink sink = [&pieces](std::string_view piece) {
        pieces.emplace_back(piece);
        return result<void>();
    };
    const auto outcome = loop.run(cached.stream(request, sink, loop.context()));
    EXPECT_EQ(outcome.value().text, "answer 1");
    EXPECT_THAT(pieces, ::testing::ElementsAre("answer 1"));
    EXPECT_EQ(model.calls, 1);
}

TEST_F(cached_provider_test, a_damaged_entry_is_asked_for_again) {
    (void)ask(testing::user_request("q"));
    store.kept.begin()->second.body = "{\"text\":";
    EXPECT_EQ(ask(testing::user_request("q")).value().text, "answer 2");
    EXPECT_EQ(ask(testing::user_request("q")).value().text, "answer 2");
}

/// Cancels the first of two equal calls after `turns` of the loop; the second must have its
/// response.
task<result<void>> cancel_the_first(ports::llm_port* port, chat_request request, int turns,
                                    call_context context, std::vector<result<chat_response>>* first,
                                    std::vector<result<chat_response>>* second) {
    coro::nursery children(context);
    coro::cancel_source cancel(context.cancel);
    const auto call = [](ports::llm_port* to, const chat_request* what, call_context mine,
                         std::vector<result<chat_response>>* into) -> task<result<void>> {
        auto outcome = co_await to->complete(*what, mine);
        into->push_back(std::move(outcome));
        co_return result<void>();
    };
    children.start(call(port, &request, context.with_cancel(cancel), first));
    co_await coro::yield_now(*context.loop);
    children.start(call(port, &request, children.context(), second));
    for (int i = 0; i < turns; ++i) co_await coro::yield_now(*context.loop);
    cancel.request(cancel_reason::user);
    result<void> joined = co_await children.join();
    co_return joined;
}

TEST_F(cached_provider_test, who_waits_takes_over_when_the_caller_is_cancelled_at_any_step) {
    for (int turns = 0; turns < 12; ++turns) {
        store.kept.clear();
        std::vector<result<chat_response>> first;
        std::vector<result<chat_response>> second;
        (void)loop.run(cancel_the_first(&cached, testing::user_request("q"), turns, loop.context(),
                                        &first, &second));
        ASSERT_EQ(second.size(), 1U);
        EXPECT_TRUE(second[0]) << turns << ": " << second[0].error().message();
        ASSERT_EQ(first.size(), 1U);
        EXPECT_TRUE(first[0] || first[0].error().is_cancelled());
    }
}

TEST_F(cached_provider_test, the_next_of_the_second_calls_takes_over_when_one_is_cancelled) {
    chat_request second = testing::user_request("q");
    second.scheduling.cache = ports::cache_use::apart;
    for (int turns = 0; turns < 12; ++turns) {
        store.kept.clear();
        std::vector<result<chat_response>> cancelled;
        std::vector<result<chat_response>> next;
        (void)loop.run(cancel_the_first(&cached, second, turns, loop.context(), &cancelled, &next));
        ASSERT_EQ(next.size(), 1U);
        EXPECT_TRUE(next[0]) << turns << ": " << next[0].error().message();
    }
}

TEST_F(cached_provider_test, a_call_without_time_to_be_sent_fails_alone) {
    model.failures = 1;
    model.retryable = false;
    model.failure = error(ports::make_error_code(ports::llm_errc::rate_limit), "leave no room")
                        .with_cause(error::cancelled(cancel_reason::deadline));
    const auto results = ask_at_once(testing::user_request("same"), 3);
    ASSERT_EQ(results.size(), 3U);
    EXPECT_EQ(model.calls, 2);
    ASSERT_FALSE(results[0]);
    for (std::size_t i = 1; i < 3; ++i) EXPECT_EQ(results[i].value().text, "answer 2");
}

/// Two equal calls, the first without time for a second request in this minute. The second is
/// cancelled once the first has ended.
task<result<void>> hurry_the_first(ports::llm_port* port, call_context context,
                                   std::vector<result<chat_response>>* results) {
    coro::nursery children(context);
    coro::cancel_source cancel(context.cancel);
    const auto call = [](ports::llm_port* to, call_context mine,
                         std::vector<result<chat_response>>* into) -> task<result<void>> {
        const chat_request request = testing::user_request("same");
        auto outcome = co_await to->complete(request, mine);
        into->push_back(std::move(outcome));
        co_return result<void>();
    };
    call_context hurried = children.context();
    hurried.until = coro::deadline(context.loop->now() + std::chrono::seconds(5));
    children.start(call(port, hurried, results));
    children.start(call(port, children.context().with_cancel(cancel), results));
    for (int i = 0; i < 1'000; ++i) {
        result<void> slept =
            co_await coro::sleep_until(context, context.loop->now() + std::chrono::milliseconds(1));
        if (!slept || (i > 20 && !results->empty())) break;
    }
    cancel.request(cancel_reason::user);
    result<void> joined = co_await children.join();
    co_return joined;
}

TEST_F(cached_provider_test, a_refusal_of_the_limiter_for_want_of_time_is_of_one_call) {
    for (const bool after_429 : {false, true}) {
        SCOPED_TRACE(after_429);
        testing::fake_http http;
        limiter_settings bounds;
        bounds.options.per_minute[index_of(limits::measure::requests)] = 1;
        openai::options options;
        options.api_key = secret("sk-0123456789abcdef");
        options.retry.first_wait = std::chrono::milliseconds(1);
        options.gate = std::make_shared<limiter_gate>(loop.loop, bounds);
        const auto service = make_openai_provider(http, options, log).value();
        cached_provider kept(*service, store, log, "https://api.example/v1");
        if (!after_429) { // the request of this minute
            http.reply(200, R"({"model":"m","choices":[{"message":{"content":"fine"},)"
                            R"("finish_reason":"stop"}]})");
            const chat_request first = testing::user_request("first");
            ASSERT_TRUE(loop.run(kept.complete(first, loop.context())));
        }
        http.reply(429, R"({"error":{"message":"slow down"}})");
        std::vector<result<chat_response>> results;
        (void)loop.run(hurry_the_first(&kept, loop.context(), &results));
        EXPECT_EQ(http.requests.size(), 1U);
        ASSERT_EQ(results.size(), 2U);
        ASSERT_FALSE(results[0]);
        EXPECT_EQ(results[0].error().code(), ports::llm_errc::rate_limit);
        ASSERT_FALSE(results[1]);
        EXPECT_TRUE(results[1].error().is_cancelled()) << results[1].error().message();
    }
}

} // namespace
} // namespace heddle::providers
