#include <heddle/coro/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace heddle::coro {
namespace {

struct node final : timer_node {
    explicit node(std::function<void()> call = {}) : then(std::move(call)) {}
    void on_timer() noexcept override {
        ++fired;
        if (then) then();
    }
    int fired = 0;
    std::function<void()> then;
};

TEST(timer_wheel, advance_before_the_tick_fires_nothing) {
    timer_wheel wheel;
    node one;
    wheel.schedule(one, 10);
    wheel.advance(9);
    EXPECT_EQ(one.fired, 0);
    EXPECT_TRUE(one.scheduled());
    wheel.advance(10);
    EXPECT_EQ(one.fired, 1);
    EXPECT_FALSE(one.scheduled());
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, a_past_tick_fires_at_the_next_advance) {
    timer_wheel wheel;
    wheel.advance(1000);
    node late;
    wheel.schedule(late, 5);
    wheel.advance(1000);
    EXPECT_EQ(late.fired, 0);
    wheel.advance(1001);
    EXPECT_EQ(late.fired, 1);
}

TEST(timer_wheel, within_a_tick_the_order_counts_then_who_came_first) {
    // Near and far: what comes down from the upper levels keeps its place.
    for (const std::uint64_t tick : {5U, 63U, 64U, 100U, 5'000U, 300'000U}) {
        timer_wheel wheel;
        std::vector<std::string> fired;
        std::vector<std::unique_ptr<node>> nodes;
        const auto add = [&](const std::string& name, std::uint64_t order) {
            nodes.push_back(std::make_unique<node>([&fired, name] { fired.push_back(name); }));
            wheel.schedule(*nodes.back(), tick, order);
        };
        add("late 1", 9);
        add("soon 1", 3);
        add("late 2", 9);
        add("soon 2", 3);
        wheel.advance(tick - 3);
        add("first", 1);
        add("late 3", 9);
        nodes[1]->unschedule();
        add("soon 3", 3);
        wheel.advance(tick);
        EXPECT_EQ(fired, (std::vector<std::string>{"first", "soon 2", "soon 3", "late 1", "late 2",
                                                   "late 3"}))
            << tick;
        EXPECT_TRUE(wheel.empty());
    }
}

TEST(timer_wheel, equal_timers_fire_in_the_order_of_scheduling) {
    timer_wheel wheel;
    std::vector<int> fired;
    std::vector<std::unique_ptr<node>> nodes;
    for (int i = 0; i < 1000; ++i) {
        nodes.push_back(std::make_unique<node>([&fired, i] { fired.push_back(i); }));
        wheel.schedule(*nodes.back(), 70);
    }
    for (int i = 0; i < 1000; i += 3) nodes[static_cast<std::size_t>(i)]->unschedule();
    wheel.advance(70);
    EXPECT_EQ(fired.size(), 666U);
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST(timer_wheel, can_fire_one_order_at_a_time) {
    timer_wheel wheel;
    std::vector<int> fired;
    std::vector<std::unique_ptr<node>> nodes;
    for (const int order : {7, 5, 7, 6, 5}) {
        nodes.push_back(std::make_unique<node>([&fired, order] { fired.push_back(order); }));
        wheel.schedule(*nodes.back(), 4100, static_cast<std::uint64_t>(order));
    }
    EXPECT_EQ(wheel.next_order(), 5U);
    EXPECT_TRUE(fired.empty());
    wheel.advance_to_next();
    EXPECT_EQ(fired, (std::vector<int>{5, 5}));
    EXPECT_EQ(wheel.next_order(), 6U);
    wheel.advance_to_next();
    wheel.advance(4100);
    EXPECT_EQ(fired, (std::vector<int>{5, 5, 6, 7, 7}));
}

TEST(timer_wheel, scheduling_again_replaces_the_tick) {
    timer_wheel wheel;
    node one;
    wheel.schedule(one, 10);
    wheel.schedule(one, 100);
    EXPECT_EQ(wheel.size(), 1U);
    wheel.advance(50);
    EXPECT_EQ(one.fired, 0);
    wheel.advance(100);
    EXPECT_EQ(one.fired, 1);
}

TEST(timer_wheel, unscheduled_and_destroyed_nodes_do_not_fire) {
    timer_wheel wheel;
    node one;
    {
        node two;
        wheel.schedule(one, 10);
        wheel.schedule(two, 10);
        EXPECT_EQ(wheel.size(), 2U);
    }
    one.unschedule();
    EXPECT_TRUE(wheel.empty());
    wheel.advance(20);
    EXPECT_EQ(one.fired, 0);
}

TEST(timer_wheel, a_node_may_reschedule_itself_and_remove_others_while_firing) {
    timer_wheel wheel;
    node victim;
    node again;
    again.then = [&] {
        victim.unschedule();
        if (again.fired < 3) wheel.schedule(again, wheel.now() + 1);
    };
    wheel.schedule(again, 5); // first come, first fired
    wheel.schedule(victim, 5);
    wheel.advance(10);
    EXPECT_EQ(again.fired, 3);
    EXPECT_EQ(victim.fired, 0);
}

TEST(timer_wheel, next_tick_is_a_lower_bound_that_leads_to_the_firing) {
    timer_wheel wheel;
    EXPECT_EQ(wheel.next_tick(), std::numeric_limits<std::uint64_t>::max());
    node far;
    wheel.schedule(far, 1'000'003);
    int steps = 0;
    while (far.fired == 0 && steps < 20) {
        const std::uint64_t next = wheel.next_tick();
        EXPECT_LE(next, 1'000'003U);
        wheel.advance(next);
        ++steps;
    }
    EXPECT_EQ(far.fired, 1);
    EXPECT_LE(steps, 8); // one per level
    EXPECT_EQ(wheel.now(), 1'000'003U);
}

TEST(timer_wheel, the_last_tick_can_be_scheduled) {
    timer_wheel wheel;
    node never;
    wheel.schedule(never, std::numeric_limits<std::uint64_t>::max());
    wheel.advance(1'000'000'000);
    EXPECT_EQ(never.fired, 0);
    EXPECT_EQ(wheel.size(), 1U);
}

TEST(timer_wheel, random_schedules_fire_in_order_and_never_early) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        timer_wheel wheel;
        std::vector<std::unique_ptr<node>> nodes;
        std::vector<std::uint64_t> ticks;
        std::uint64_t last = 0;
        std::size_t fired = 0;
        for (int i = 0; i < 500; ++i) {
            const std::uint64_t tick = 1 + (random() >> (44 + random() % 18));
            ticks.push_back(tick);
            nodes.push_back(std::make_unique<node>([&, tick] {
                EXPECT_GE(wheel.now(), tick);
                EXPECT_GE(tick, last);
                last = tick;
                ++fired;
            }));
            wheel.schedule(*nodes.back(), tick);
        }
        std::uint64_t now = 0;
        const std::uint64_t end = *std::max_element(ticks.begin(), ticks.end());
        while (now < end) {
            now = std::min(end, now + 1 + random() % 5000);
            wheel.advance(now);
            const auto due = static_cast<std::size_t>(std::count_if(
                ticks.begin(), ticks.end(), [&](std::uint64_t t) { return t <= now; }));
            ASSERT_EQ(fired, due);
        }
        EXPECT_TRUE(wheel.empty());
    }
}

} // namespace
} // namespace heddle::coro
