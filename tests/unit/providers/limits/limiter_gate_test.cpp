#include <heddle/providers/common/retry.hpp>

#include "gate_harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::call_demand;
using providers::call_outcome;
using providers::call_permit;
using providers::limiter_gate;
using providers::limiter_set;
using providers::limiter_settings;

limiter_settings one_at_a_time() {
    limiter_settings settings;
    settings.options.first_in_flight = settings.options.max_in_flight = 1;
    return settings;
}

TEST(limiter_gate, passes_in_order_as_places_become_free) {
    gate_harness at(one_at_a_time());
    for (int i = 0; i < 3; ++i) at.call();
    at.loop.run();
    EXPECT_TRUE(at.callers[0].done);
    EXPECT_FALSE(at.callers[1].done);
    EXPECT_EQ(at.counters().waiting, 2U);
    at.answered(at.callers[0].permit);
    at.loop.run();
    EXPECT_TRUE(at.callers[1].done);
    EXPECT_FALSE(at.callers[2].done);
    at.callers[1].permit = {}; // never sent: goes back by itself
    at.loop.run();
    EXPECT_TRUE(at.callers[2].done);
    EXPECT_EQ(at.counters().in_flight, 1U);
}

TEST(limiter_gate, cancellation_ends_the_wait_and_leaves_nothing) {
    gate_harness at(one_at_a_time());
    at.call();
    auto& waits = at.call();
    auto& next = at.call();
    at.loop.run();
    waits.cancel.request(cancel_reason::user);
    at.loop.run();
    ASSERT_TRUE(waits.failure);
    EXPECT_EQ(waits.failure->cancelled_because(), cancel_reason::user);
    EXPECT_EQ(at.counters().waiting, 1U);
    at.answered(at.callers[0].permit);
    at.loop.run();
    EXPECT_TRUE(next.permit);
}

TEST(limiter_gate, a_permit_granted_in_the_turn_of_the_cancellation_is_kept_or_goes_back) {
    for (const bool cancelled_first : {false, true}) {
        gate_harness at(one_at_a_time());
        at.call();
        auto& waits = at.call();
        auto& next = at.call();
        at.loop.run();
        if (cancelled_first) waits.cancel.request(cancel_reason::sibling);
        at.answered(at.callers[0].permit);
        if (!cancelled_first) waits.cancel.request(cancel_reason::sibling);
        at.loop.run();
        EXPECT_EQ(waits.failure.has_value(), cancelled_first);
        waits.permit = {};
        at.loop.run();
        EXPECT_TRUE(next.permit);
        EXPECT_EQ(at.counters().in_flight, 1U);
        EXPECT_EQ(at.counters().waiting, 0U);
    }
}

TEST(limiter_gate, a_deadline_ends_the_wait) {
    gate_harness at(one_at_a_time());
    at.call();
    auto& waits = at.call(0, coro::deadline(at.loop.now() + 3s));
    at.loop.run();
    ASSERT_TRUE(waits.failure);
    EXPECT_EQ(waits.failure->cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(at.counters().waiting, 0U);
}

TEST(limiter_gate, a_call_that_cannot_go_in_time_fails_at_once) {
    gate_harness at;
    auto& first = at.call();
    at.loop.run();
    const auto began = at.loop.now();
    at.limited(first.permit, 60s);
    auto& late = at.call(0, coro::deadline(began + 5s));
    at.loop.run();
    ASSERT_TRUE(late.failure);
    EXPECT_EQ(late.ended, began);
    EXPECT_EQ(late.failure->code(), ports::llm_errc::rate_limit);
    EXPECT_EQ(late.failure->info().retryable, false);
    EXPECT_EQ(late.failure->info().retry_after, 60s);
    EXPECT_EQ(late.failure->message(),
              "the limits of m leave no room before the deadline: the call could go in 60 s at the "
              "earliest");
    ASSERT_TRUE(late.failure->info().cause);
    EXPECT_TRUE(late.failure->info().cause->is_cancelled()) << "it is this call's own";
}

TEST(limiter_gate, a_prompt_that_no_minute_takes_fails_at_once_and_names_the_setting) {
    limiter_settings settings;
    settings.account.per_minute[index_of(providers::limits::measure::tokens)] = 99;
    gate_harness at(settings);
    auto& large = at.call(); // 100 tokens
    at.loop.run();
    ASSERT_TRUE(large.failure);
    EXPECT_EQ(large.failure->code(), ports::llm_errc::rate_limit);
    EXPECT_EQ(large.failure->info().retryable, false);
    EXPECT_EQ(large.failure->message(),
              "the prompt of this call of m takes about 100 tokens, and tokens_per_minute is 99");
    EXPECT_THAT(large.failure->info().hint, ::testing::HasSubstr("raise tokens_per_minute"));
    EXPECT_EQ(at.counters().waiting, 0U);
    EXPECT_EQ(at.counters().in_flight, 0U);
}

TEST(limiter_gate, those_who_watch_a_call_see_it_wait) {
    struct listener final : ports::limit_wait_listener {
        void on_limit_wait(bool waits) noexcept override { turns.push_back(waits); }
        std::vector<bool> turns;
    };
    listener heard;
    gate_harness at(one_at_a_time());
    at.call();
    auto& waits = at.call();
    waits.request.waits = &heard;
    auto& cancelled = at.call();
    cancelled.request.waits = &heard;
    at.loop.run();
    EXPECT_EQ(heard.turns, (std::vector<bool>{true, true}));
    cancelled.cancel.request(cancel_reason::user);
    at.loop.run();
    EXPECT_EQ(heard.turns, (std::vector<bool>{true, true, false}));
    at.answered(at.callers[0].permit);
    at.loop.run();
    EXPECT_TRUE(waits.permit);
    EXPECT_EQ(heard.turns, (std::vector<bool>{true, true, false, false}));
    heard.turns.clear();
    at.answered(waits.permit);
    at.call().request.waits = &heard; // goes at once
    at.loop.run();
    EXPECT_TRUE(heard.turns.empty());
}

TEST(limiter_gate, waiters_hear_at_once_of_a_cooldown_beyond_their_deadline) {
    gate_harness at(one_at_a_time());
    auto& first = at.call();
    auto& late = at.call(0, coro::deadline(at.loop.now() + 5s));
    auto& patient = at.call();
    at.io.restart();
    at.io.poll();
    const auto began = at.loop.now();
    at.limited(first.permit, 60s);
    at.loop.run();
    ASSERT_TRUE(late.failure);
    EXPECT_EQ(late.ended, began);
    EXPECT_EQ(late.failure->code(), ports::llm_errc::rate_limit);
    EXPECT_TRUE(patient.permit);
    EXPECT_GE(patient.ended, began + 60s);
}

TEST(limiter_gate, a_thousand_waiters_do_not_rush_out_of_a_cooldown) {
    gate_harness at;
    auto& first = at.call();
    at.loop.run();
    const auto began = at.loop.now();
    at.limited(first.permit, 20s);
    for (int i = 0; i < 1000; ++i) at.call(static_cast<std::uint64_t>(i % 10));
    at.loop.run();
    std::size_t went = 0;
    for (const auto& each : at.callers) {
        if (!each.permit) continue;
        ++went;
        EXPECT_GE(each.ended, began + 20s);
    }
    EXPECT_LE(went, 24U); // three quarters of the window, and nobody has answered yet
    std::size_t at_once = 0;
    for (const auto& each : at.callers) at_once += each.permit && each.ended < began + 21s ? 1 : 0;
    EXPECT_LE(at_once, 3U);
    for (int rounds = 0; rounds < 2000 && went > 0; ++rounds) { // all of them go in the end
        for (auto& each : at.callers) {
            if (each.permit) at.answered(each.permit);
        }
        at.loop.run();
        went = 0;
        for (const auto& each : at.callers) went += each.permit ? 1 : 0;
    }
    for (const auto& each : at.callers) EXPECT_TRUE(each.done);
    EXPECT_EQ(at.counters().waiting, 0U);
    EXPECT_EQ(at.counters().in_flight, 0U);
}

TEST(limiter_gate, is_fair_between_runs_and_prefers_those_that_somebody_waits_for) {
    gate_harness at(one_at_a_time());
    for (int i = 0; i < 20; ++i) at.call(1);
    for (int i = 0; i < 3; ++i) at.call(2);
    for (int i = 0; i < 20; ++i) {
        at.callers[static_cast<std::size_t>(i)].request.scheduling.priority =
            ports::call_priority::batch;
    }
    std::string order;
    at.loop.run();
    for (std::size_t rounds = 0; rounds < at.callers.size(); ++rounds) {
        for (auto& each : at.callers) {
            if (!each.permit) continue;
            order += each.request.scheduling.flow == 1 ? 'b' : 'i';
            at.answered(each.permit);
            break;
        }
        at.loop.run();
    }
    EXPECT_EQ(order.size(), 23U);
    EXPECT_EQ(order.substr(0, 4), "biii"); // the first had gone before the others came
}

TEST(limiter_gate, models_have_limits_of_their_own_and_the_longest_prefix_counts) {
    limiter_settings settings;
    settings.models = {{"gpt-", {600, {}, {}, {}}}, {"gpt-4o-mini", {60, {}, {}, {}}}};
    gate_harness at(settings);
    for (const char* model : {"gpt-4o", "gpt-4o-mini-2024", "o3"}) {
        ports::chat_request request;
        request.model = model;
        call_demand demand;
        demand.request = &request;
        EXPECT_TRUE(at.gate.try_acquire(demand));
    }
    const auto all = at.gate.counters();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].first, "gpt-4o");
    EXPECT_EQ(all[0].second.left[0], 100);
    EXPECT_EQ(all[1].second.left[0], 10);
    EXPECT_FALSE(all[2].second.left[0]);
}

TEST(limiter_gate, a_quota_that_is_used_up_is_not_a_matter_of_pace) {
    gate_harness at;
    auto& first = at.call();
    at.loop.run();
    const error failure(ports::llm_errc::quota, "insufficient_quota");
    call_outcome outcome;
    outcome.status = 429;
    outcome.failure = &failure;
    first.permit.settle(outcome);
    EXPECT_EQ(at.counters().limited, 0U);
    EXPECT_EQ(at.counters().window, 32U);
}

// They stayed for ever, and each call took the time of all of them.
TEST(limiter_gate, forgets_models_of_which_it_has_learned_nothing) {
    for (const bool bounded : {false, true}) {
        limiter_settings settings;
        if (bounded) settings.account.max_in_flight = 100'000;
        gate_harness at(settings);
        auto& goes_on = at.call(0, {}, "goes-on");
        auto& refused = at.call(0, {}, "refused");
        at.loop.run();
        at.limited(refused.permit, 60s);
        auto& waits = at.call(0, {}, "refused");
        at.io.restart();
        at.io.poll();
        for (int i = 0; i < 2000; ++i) at.pass("m" + std::to_string(i));
        const auto left = at.gate.counters();
        EXPECT_LE(left.size(), 66U);
        const auto has = [&](std::string_view model) {
            return std::any_of(left.begin(), left.end(),
                               [&](const auto& each) { return each.first == model; });
        };
        EXPECT_TRUE(has("goes-on"));
        EXPECT_TRUE(has("refused"));
        at.answered(goes_on.permit);
        at.loop.run();
        EXPECT_TRUE(waits.permit);
    }
}

TEST(limiter_gate, forgets_what_it_has_learned_of_a_model_that_is_not_used) {
    limiter_settings settings;
    settings.options.per_minute[0] = 60;
    gate_harness at(settings);
    const auto size = [&] { return at.gate.counters().size(); };
    at.pass("first");
    at.wait(1ms);
    for (int i = 0; i < 400; ++i) at.pass("m" + std::to_string(i));
    EXPECT_EQ(size(), 401U) << "they count the calls of this minute";
    for (int i = 400; i < 3000; ++i) at.pass("m" + std::to_string(i));
    EXPECT_LE(size(), 1024U) << "the longest unused ones are dropped";
    EXPECT_NE(at.gate.counters().at(0).first, "first");
    at.wait(11min);
    for (int i = 0; i < 1000; ++i) at.pass("n" + std::to_string(i));
    for (const auto& [model, each] : at.gate.counters()) EXPECT_EQ(model[0], 'n') << model;
}

// A pause that the service had asked for was forgotten with its model.
TEST(limiter_gate, forgets_those_last_that_have_to_wait) {
    gate_harness at;
    auto& refused = at.call(0, {}, "refused");
    at.loop.run();
    at.limited(refused.permit, 10min);
    at.wait(1s);
    // What is learned of these keeps them as well.
    for (int i = 0; i < 3000; ++i) {
        const std::string model = "m" + std::to_string(i);
        auto& limited = at.call(0, {}, model.c_str());
        at.loop.run();
        at.limited(limited.permit, 1ms);
        if (i % 100 == 0) at.wait(5s);
    }
    EXPECT_LE(at.gate.counters().size(), 1500U);
    EXPECT_EQ(at.gate.counters().back().first, "refused");
}

TEST(limiter_set, shares_a_gate_by_origin_and_key) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    limiter_set all(loop);
    const auto one = all.gate_for("https://a", secret("k1"), {});
    EXPECT_EQ(one, all.gate_for("https://a", secret("k1"), {}));
    EXPECT_EQ(one, all.gate_for("https://a/v1", secret("k1"), {}));
    EXPECT_NE(one, all.gate_for("https://a", secret("k2"), {}));
    EXPECT_NE(one, all.gate_for("https://b", secret("k1"), {}));
}

TEST(limiter_gate, a_pause_that_is_too_long_for_anybody_fails_calls_at_once) {
    gate_harness at;
    auto& first = at.call();
    at.loop.run();
    const auto began = at.loop.now();
    at.limited(first.permit, 600s);
    auto& next = at.call();
    at.loop.run();
    ASSERT_TRUE(next.failure);
    EXPECT_EQ(next.ended, began);
    EXPECT_EQ(next.failure->code(), ports::llm_errc::rate_limit);
    EXPECT_EQ(next.failure->info().retryable, false);
    EXPECT_EQ(next.failure->info().retry_after, 600s);
    EXPECT_EQ(
        next.failure->message(),
        "rate limited: the service takes no call of m for 600 s, and a call waits 120 s at most");
}

TEST(limiter_gate, those_that_wait_already_fail_with_it) {
    gate_harness at(one_at_a_time());
    auto& first = at.call();
    auto& waits = at.call();
    at.loop.run();
    const auto began = at.loop.now();
    at.limited(first.permit, 600s);
    at.loop.run();
    ASSERT_TRUE(waits.failure);
    EXPECT_EQ(waits.ended, began);
    EXPECT_EQ(waits.failure->info().retry_after, 600s);
}

/// Lines by level.
class levelled_log final : public log_port {
public:
    bool enabled(log_level level) const noexcept override { return level >= least; }
    void write(log_level level, std::string_view, std::string_view message) noexcept override {
        (level == log_level::warn ? warnings : others).emplace_back(message);
    }
    log_level least = log_level::info;
    std::vector<std::string> warnings;
    std::vector<std::string> others;
};

TEST(limiter_gate, reports_once_who_waits_for_what_and_how_long) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    levelled_log log;
    limiter_gate gate(loop, {}, log, "https://api.x.com");
    ports::chat_request request;
    request.model = "m";
    call_demand demand;
    demand.request = &request;
    const auto refuse = [&](std::chrono::milliseconds after) {
        // Earlier refusals have taught a pace, which lets one go after a while.
        coro::spawn(
            loop,
            [](coro::event_loop* on) -> coro::task<void> {
                auto slept = co_await coro::sleep_until({on, nullptr, {}}, on->now() + 5min);
                (void)slept;
            }(&loop),
            [](std::exception_ptr) {});
        loop.run();
        call_permit permit = gate.try_acquire(demand);
        ASSERT_TRUE(permit);
        const error failure =
            error(ports::llm_errc::rate_limit, "too many").with_retry_after(after);
        call_outcome outcome;
        outcome.status = 429;
        outcome.failure = &failure;
        permit.settle(outcome);
    };
    const auto wait_for_one = [&] {
        for (int i = 0; i < 3; ++i) {
            coro::spawn(
                loop,
                [](limiter_gate* in, call_demand asks, coro::event_loop* on) -> coro::task<void> {
                    auto granted = co_await in->acquire(asks, {on, nullptr, {}});
                    call_outcome outcome;
                    outcome.status = 200;
                    if (granted) granted->settle(outcome);
                }(&gate, demand, &loop),
                [](std::exception_ptr) {});
        }
        loop.run();
    };
    refuse(2s); // nobody minds
    wait_for_one();
    EXPECT_TRUE(log.warnings.empty());
    refuse(20s);
    wait_for_one();
    ASSERT_FALSE(log.warnings.empty());
    // A little chance comes on top of the 20 s.
    EXPECT_THAT(
        log.warnings[0],
        ::testing::MatchesRegex("m at https://api\\.x\\.com: the service responded with 429 and "
                                "asked for a pause; 1 call waits 2[01] s"));
    const std::size_t before = log.warnings.size();
    refuse(30s); // the same cause once more
    wait_for_one();
    for (std::size_t i = before; i < log.warnings.size(); ++i) {
        EXPECT_EQ(log.warnings[i].find("asked for a pause"), std::string::npos) << log.warnings[i];
    }
    EXPECT_TRUE(log.others.empty());
    log.least = log_level::debug;
    refuse(40s);
    wait_for_one();
    EXPECT_FALSE(log.others.empty());
    EXPECT_LT(log.others.size(), 12U); // one in ten seconds at most
}

/// The second call waits for a minute, or for what the first has reserved and not used.
TEST(limiter_gate, names_no_wait_for_tokens_that_may_come_back) {
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    levelled_log log;
    limiter_settings settings;
    settings.account.per_minute[index_of(providers::limits::measure::tokens)] = 1000;
    limiter_gate gate(loop, settings, log, "https://api.x.com");
    ports::chat_request request;
    request.model = "m";
    call_demand demand;
    demand.request = &request;
    demand.input_tokens = 500;
    demand.output_tokens = 500;
    call_permit first = gate.try_acquire(demand);
    ASSERT_TRUE(first);
    int went = 0;
    coro::spawn(
        loop,
        [](limiter_gate* in, call_demand asks, int* count,
           coro::event_loop* on) -> coro::task<void> {
            auto granted = co_await in->acquire(asks, {on, nullptr, {}});
            if (granted) ++*count;
        }(&gate, demand, &went, &loop),
        [](std::exception_ptr) {});
    loop.run();
    EXPECT_EQ(went, 1);
    EXPECT_TRUE(log.warnings.empty()) << log.warnings[0];
}

TEST(limiter_settings_for, widens_sooner_on_this_machine) {
    for (const char* origin : {"http://127.0.0.1:80", "http://localhost:1", "http://[::1]:2",
                               "http://models.localhost:1"}) {
        EXPECT_EQ(providers::limiter_settings_for(origin).options.first_in_flight, 64U);
        EXPECT_EQ(providers::limiter_settings_for(origin).options.doubles_every, 200ms);
    }
    for (const char* origin : {"https://api.x.com", "https://localhost.x.com", "https://localhosts",
                               "http://127.x.com", "http://127.0.0.1.x.com"})
        EXPECT_EQ(providers::limiter_settings_for(origin).options.first_in_flight, 32U) << origin;
    EXPECT_EQ(providers::limiter_settings_for("https://api.x.com").options.doubles_every, 1s);
}

TEST(limiter_settings_for, waits_as_long_as_a_call_does) {
    EXPECT_EQ(providers::limits::limiter_options{}.max_wait,
              providers::retry_options{}.max_asked_wait);
    EXPECT_EQ(providers::limits::limiter_options{}.max_cooldown,
              providers::retry_options{}.max_wait);
    EXPECT_EQ(providers::limits::limiter_options{}.first_cooldown,
              providers::retry_options{}.first_wait);
}

} // namespace
} // namespace heddle::testing
