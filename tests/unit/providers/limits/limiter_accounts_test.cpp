// Limits of an account, which all of its models share.
#include "gate_harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::call_demand;
using providers::call_permit;
using providers::limiter_set;
using providers::limiter_settings;

limiter_settings of_account(std::optional<unsigned> max_in_flight,
                            std::optional<std::int64_t> per_minute = {}) {
    limiter_settings settings;
    settings.account.max_in_flight = max_in_flight;
    settings.account.per_minute[0] = per_minute;
    return settings;
}

/// So many as are under way.
std::size_t held(const gate_harness& at) {
    return static_cast<std::size_t>(std::count_if(at.callers.begin(), at.callers.end(),
                                                  [](const auto& each) { return !!each.permit; }));
}

TEST(limiter_accounts, places_of_an_account_are_those_of_all_its_models_in_turn) {
    gate_harness at(of_account(2));
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

TEST(limiter_accounts, a_minute_of_an_account_is_that_of_all_its_models) {
    gate_harness at(of_account({}, 60));
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
TEST(limiter_accounts, a_large_call_is_not_overtaken_for_ever_by_small_ones_of_another_model) {
    limiter_settings settings;
    settings.account.per_minute[2] = 6'000;
    gate_harness at(settings);
    const auto ask_large = [](gate_harness* in, ports::chat_request* request,
                              coro::clock::time_point* went) -> coro::task<void> {
        call_demand demand;
        demand.request = request;
        demand.input_tokens = 900;
        auto granted = co_await in->gate.acquire(demand, {&in->loop, nullptr, {}});
        *went = in->loop.now();
        if (granted) gate_harness::answered(*granted);
    };
    const auto began = at.loop.now();
    const auto ask_small = [](gate_harness* in, coro::clock::time_point until) -> coro::task<void> {
        ports::chat_request request;
        request.model = "small";
        call_demand demand;
        demand.request = &request;
        demand.input_tokens = 100;
        while (in->loop.now() < until) {
            auto granted = co_await in->gate.acquire(demand, {&in->loop, nullptr, {}});
            if (granted) gate_harness::answered(*granted);
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

TEST(limiter_accounts, whoever_waits_for_the_account_may_leave_and_lets_others_go) {
    gate_harness at(of_account(1));
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

TEST(limiter_accounts, a_pause_of_one_model_is_none_of_the_others) {
    gate_harness at(of_account(4));
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

TEST(limiter_accounts, of_two_services_with_one_account_the_stricter_limit_holds_for_both) {
    for (const bool strict_first : {false, true}) {
        boost::asio::io_context io{1};
        coro::event_loop loop(io);
        limiter_set all(loop);
        limiter_settings strict = of_account(2, 600);
        strict.options.max_in_flight = 3;
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

} // namespace
} // namespace heddle::testing
