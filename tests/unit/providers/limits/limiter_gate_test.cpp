#include <heddle/coro/wait_point.hpp>
#include <heddle/providers/common/retry.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>

#include "../provider_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::call_demand;
using providers::call_outcome;
using providers::call_permit;
using providers::limiter_gate;
using providers::limiter_set;
using providers::limiter_settings;

/// Calls on the virtual clock that hold their permit for a while.
struct gate_world {
    explicit gate_world(limiter_settings settings = {}) : gate(loop, std::move(settings)) {}

    struct caller {
        gate_world* in = nullptr;
        ports::chat_request request;
        coro::cancel_source cancel;
        coro::deadline until;
        call_permit permit;
        std::optional<error> failure;
        coro::clock::time_point ended{};
        bool done = false;
    };

    static coro::task<void> ask(caller* self) {
        call_demand demand;
        demand.request = &self->request;
        demand.input_tokens = 100;
        self->permit = self->in->gate.try_acquire(demand);
        if (!self->permit) {
            auto granted = co_await self->in->gate.acquire(
                demand, {&self->in->loop, &self->cancel, self->until});
            if (granted) self->permit = *std::move(granted);
            else self->failure = granted.error();
        }
        self->ended = self->in->loop.now();
        self->done = true;
    }
    caller& call(std::uint64_t flow = 0, coro::deadline until = {}, std::string model = "m") {
        caller& result = callers.emplace_back();
        result.in = this;
        result.request.model = std::move(model);
        result.request.scheduling.flow = flow;
        result.until = until;
        coro::spawn(loop, ask(&result), [](std::exception_ptr) {});
        return result;
    }
    void limited(call_permit& permit, std::chrono::milliseconds after) {
        const error failure =
            error(ports::llm_errc::rate_limit, "too many").with_retry_after(after);
        call_outcome outcome;
        outcome.status = 429;
        outcome.failure = &failure;
        permit.settle(outcome);
    }
    static void answered(call_permit& permit) {
        call_outcome outcome;
        outcome.status = 200;
        permit.settle(outcome);
    }
    providers::limits::limiter_counters counters() { return gate.counters().at(0).second; }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    limiter_gate gate;
    std::deque<caller> callers;
};

limiter_settings one_at_a_time() {
    limiter_settings settings;
    settings.options.first_in_flight = settings.options.most_in_flight = 1;
    return settings;
}

TEST(limiter_gate, passes_in_order_as_places_become_free) {
    gate_world at(one_at_a_time());
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
    gate_world at(one_at_a_time());
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
        gate_world at(one_at_a_time());
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
    gate_world at(one_at_a_time());
    at.call();
    auto& waits = at.call(0, coro::deadline(at.loop.now() + 3s));
    at.loop.run();
    ASSERT_TRUE(waits.failure);
    EXPECT_EQ(waits.failure->cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(at.counters().waiting, 0U);
}

TEST(limiter_gate, a_call_that_cannot_go_in_time_fails_at_once) {
    gate_world at;
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

TEST(limiter_gate, waiters_hear_at_once_of_a_cooldown_beyond_their_deadline) {
    gate_world at(one_at_a_time());
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
    gate_world at;
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
    gate_world at(one_at_a_time());
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
    gate_world at(settings);
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
    gate_world at;
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

limiter_settings of_account(std::optional<unsigned> max_in_flight,
                            std::optional<std::int64_t> per_minute = {}) {
    limiter_settings settings;
    settings.account.max_in_flight = max_in_flight;
    settings.account.per_minute[0] = per_minute;
    return settings;
}

/// So many as are under way.
std::size_t held(const gate_world& at) {
    return static_cast<std::size_t>(std::count_if(at.callers.begin(), at.callers.end(),
                                                  [](const auto& each) { return !!each.permit; }));
}

TEST(limiter_gate, places_of_an_account_are_those_of_all_its_models_in_turn) {
    gate_world at(of_account(2));
    for (const char* model : {"a", "b", "c"}) {
        for (int i = 0; i < 5; ++i) at.call(0, {}, model);
    }
    at.loop.run();
    std::string order;
    for (int rounds = 0; rounds < 15; ++rounds) {
        EXPECT_LE(held(at), 2U);
        for (auto& each : at.callers) {
            if (!each.permit) continue;
            order += each.request.model;
            at.answered(each.permit);
            break;
        }
        at.loop.run();
    }
    EXPECT_EQ(order.size(), 15U); // all of them have gone
    EXPECT_EQ(held(at), 0U);
    // Nobody waits for all calls of another model: each has its share of every six.
    for (std::size_t from = 3; from + 6 <= 12; from += 3) {
        for (const char model : {'a', 'b', 'c'}) {
            EXPECT_GE(std::count(order.begin() + static_cast<std::ptrdiff_t>(from),
                                 order.begin() + static_cast<std::ptrdiff_t>(from + 6), model),
                      1)
                << order;
        }
    }
}

TEST(limiter_gate, a_minute_of_an_account_is_that_of_all_its_models) {
    gate_world at(of_account({}, 60));
    const auto began = at.loop.now();
    for (const char* model : {"a", "b", "c", "d", "e"}) {
        for (int i = 0; i < 40; ++i) at.call(0, {}, model);
    }
    std::vector<coro::clock::time_point> sent;
    for (int rounds = 0; rounds < 400 && sent.size() < at.callers.size(); ++rounds) {
        at.loop.run();
        for (auto& each : at.callers) {
            if (!each.permit) continue;
            sent.push_back(each.ended);
            at.answered(each.permit);
        }
    }
    ASSERT_EQ(sent.size(), 200U);
    std::sort(sent.begin(), sent.end());
    for (std::size_t i = 60; i < sent.size(); ++i) EXPECT_GT(sent[i] - sent[i - 60], 60s) << i;
    EXPECT_LT(sent.back() - began, 206s); // 200 calls at 60 a minute, and little more
}

// Newcomers of one model go on for ever; the call of another one still gets its turn.
TEST(limiter_gate, a_large_call_is_not_overtaken_for_ever_by_small_ones_of_another_model) {
    limiter_settings settings;
    settings.account.per_minute[2] = 6'000;
    gate_world at(settings);
    const auto ask_large = [](gate_world* in, ports::chat_request* request,
                              coro::clock::time_point* went) -> coro::task<void> {
        call_demand demand;
        demand.request = request;
        demand.input_tokens = 900;
        auto granted = co_await in->gate.acquire(demand, {&in->loop, nullptr, {}});
        *went = in->loop.now();
        if (granted) gate_world::answered(*granted);
    };
    const auto began = at.loop.now();
    const auto ask_small = [](gate_world* in, coro::clock::time_point until) -> coro::task<void> {
        ports::chat_request request;
        request.model = "small";
        call_demand demand;
        demand.request = &request;
        demand.input_tokens = 100;
        while (in->loop.now() < until) {
            auto granted = co_await in->gate.acquire(demand, {&in->loop, nullptr, {}});
            if (granted) gate_world::answered(*granted);
        }
    };
    for (int i = 0; i < 8; ++i) {
        coro::spawn(at.loop, ask_small(&at, began + 60s), [](std::exception_ptr) {});
    }
    ports::chat_request large;
    large.model = "large";
    coro::clock::time_point went{};
    coro::spawn(at.loop, ask_large(&at, &large, &went), [](std::exception_ptr) {});
    at.loop.run();
    EXPECT_LT(went - began, 20s);
}

TEST(limiter_gate, whoever_waits_for_the_account_may_leave_and_lets_others_go) {
    gate_world at(of_account(1));
    auto& first = at.call(0, {}, "a");
    at.loop.run();
    auto& cancelled = at.call(0, {}, "b");
    auto& late = at.call(0, coro::deadline(at.loop.now() + 3s), "c");
    auto& patient = at.call(0, {}, "d");
    at.loop.run();
    EXPECT_EQ(late.failure->cancelled_because(), cancel_reason::deadline);
    cancelled.cancel.request(cancel_reason::user);
    at.loop.run();
    EXPECT_TRUE(cancelled.done);
    EXPECT_FALSE(patient.done);
    at.answered(first.permit);
    at.loop.run();
    EXPECT_TRUE(patient.permit);
    patient.permit = {};
    for (const auto& [model, figures] : at.gate.counters()) {
        EXPECT_EQ(figures.waiting, 0U) << model;
        EXPECT_EQ(figures.in_flight, 0U) << model;
    }
}

TEST(limiter_gate, a_pause_of_one_model_is_none_of_the_others) {
    gate_world at(of_account(4));
    auto& first = at.call(0, {}, "a");
    at.loop.run();
    const auto began = at.loop.now();
    at.limited(first.permit, 30s);
    auto& waits = at.call(0, {}, "a");
    auto& other = at.call(0, {}, "b");
    at.loop.run();
    EXPECT_EQ(other.ended, began);
    EXPECT_GE(waits.ended, began + 30s);
}

TEST(limiter_set, of_two_services_with_one_account_the_stricter_limit_holds_for_both) {
    for (const bool strict_first : {false, true}) {
        boost::asio::io_context io{1};
        coro::event_loop loop(io);
        limiter_set all(loop);
        limiter_settings strict = of_account(2, 600);
        strict.options.most_in_flight = 3;
        const limiter_settings none;
        const auto one = all.gate_for("https://a", secret("k"), strict_first ? strict : none);
        ports::chat_request request;
        request.model = "early";
        call_demand demand;
        demand.request = &request;
        std::vector<call_permit> permits;
        permits.push_back(one->try_acquire(demand)); // before the other service is there
        ASSERT_EQ(one, all.gate_for("https://a/v1", secret("k"), strict_first ? none : strict));
        EXPECT_EQ(one, all.gate_for("https://a", secret("k"), of_account(5, 6'000)));
        for (const char* model : {"early", "late"}) {
            request.model = model;
            for (int i = 0; i < 5; ++i) {
                if (auto permit = one->try_acquire(demand)) permits.push_back(std::move(permit));
            }
        }
        EXPECT_EQ(permits.size(), 2U);
        for (const auto& [model, figures] : one->counters()) {
            EXPECT_EQ(figures.window, 2U) << model;
            EXPECT_EQ(figures.per_second[0], 10) << model;
        }
    }
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
    gate_world at;
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
    gate_world at(one_at_a_time());
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

TEST(limiter_gate, says_once_who_waits_for_what_and_how_long) {
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
    EXPECT_THAT(log.warnings[0],
                ::testing::MatchesRegex("m at https://api\\.x\\.com: the service answered 429 and "
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

TEST(limiter_settings_for, widens_sooner_on_this_machine) {
    for (const char* origin : {"http://127.0.0.1:80", "http://localhost:1", "http://[::1]:2"}) {
        EXPECT_EQ(providers::limiter_settings_for(origin).options.first_in_flight, 64U);
        EXPECT_EQ(providers::limiter_settings_for(origin).options.doubles_every, 200ms);
    }
    for (const char* origin : {"https://api.x.com", "https://localhost.x.com", "https://localhosts",
                               "http://127.x.com", "http://127.0.0.1.x.com"})
        EXPECT_EQ(providers::limiter_settings_for(origin).options.first_in_flight, 32U) << origin;
    EXPECT_EQ(providers::limiter_settings_for("https://api.x.com").options.doubles_every, 1s);
}

TEST(limiter_settings_for, waits_as_long_as_a_call_does) {
    EXPECT_EQ(providers::limits::limiter_options{}.longest_wait,
              providers::retry_options{}.longest_asked_wait);
    EXPECT_EQ(providers::limits::limiter_options{}.longest_cooldown,
              providers::retry_options{}.longest_wait);
    EXPECT_EQ(providers::limits::limiter_options{}.first_cooldown,
              providers::retry_options{}.first_wait);
}

} // namespace
} // namespace heddle::testing
