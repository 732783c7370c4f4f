#include <heddle/providers/limits/learned_pace.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::limits::learned_pace;

const coro::clock::time_point start = coro::clock::time_point(1000s);

/// Sends evenly and reports what a service does with it.
struct sender {
    learned_pace pace{2s};
    coro::clock::time_point now = start;
    std::uint64_t sent = 0;

    void send(std::uint64_t calls, std::chrono::milliseconds apart) {
        for (std::uint64_t i = 0; i < calls; ++i) {
            pace.take(now, false);
            ++sent;
            now += apart;
            pace.refill(now);
        }
    }
    /// As short a pause as the limiter makes where calls go this fast.
    void refuse(std::chrono::milliseconds pause = 20ms) {
        pace.refill(now);
        pace.take(now, false);
        pace.refused_first({++sent, now, std::nullopt, false});
        pace.resume(now + pause);
        now += pause;
    }
};

TEST(learned_pace, holds_nothing_back_before_the_first_429) {
    sender at;
    at.send(1000, 0ms);
    EXPECT_FALSE(at.pace.active());
    EXPECT_TRUE(at.pace.fits());
}

TEST(learned_pace, is_what_was_let_in_between_two_refusals) {
    sender at;
    at.send(600, 10ms); // a full bucket is emptied
    at.refuse();
    EXPECT_GT(at.pace.per_second(), 50); // too much, which the next refusal shows
    at.send(290, 100ms);
    at.refuse();
    EXPECT_NEAR(at.pace.per_second(), 10, 0.2);
}

TEST(learned_pace, refusals_in_between_do_not_count_as_let_in) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    at.send(390, 100ms);
    for (int i = 0; i < 190; ++i) at.pace.refused_too(at.sent);
    at.refuse();
    EXPECT_NEAR(at.pace.per_second(), 200.0 / 39, 0.1);
}

TEST(learned_pace, comes_back_soon_after_everything_was_refused) {
    sender at;
    for (int i = 0; i < 60; ++i) at.refuse(1s); // from the beginning
    const auto opened = at.now;
    for (int i = 0; i < 100; ++i) {
        at.now = std::max(at.now, at.pace.fits_at(at.now));
        at.pace.refill(at.now);
        at.pace.take(at.now, true);
    }
    EXPECT_LT(at.now - opened, 45s) << "not three times the minute that it has waited";
}

TEST(learned_pace, a_few_calls_cannot_ruin_it) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    const double before = at.pace.per_second();
    at.refuse(10s);
    EXPECT_GT(at.pace.per_second(), 0.45 * before);
}

// A window refills at once, so that what came between two refusals may be far below what it takes.
TEST(learned_pace, a_pace_that_held_outlives_a_refusal_that_lasts) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    const double held = at.pace.per_second();
    at.refuse(1s); // a hundred calls' time
    at.send(30, 50ms);
    at.refuse();
    EXPECT_GT(at.pace.per_second(), 0.4 * held);
}

// Three calls in three minutes are what was wanted, not what the service takes.
TEST(learned_pace, a_refusal_after_idle_minutes_reveals_little) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    at.send(290, 100ms);
    at.refuse();
    const double before = at.pace.per_second();
    at.pace.not_pressed();
    at.send(3, 60s);
    at.refuse();
    EXPECT_GT(at.pace.per_second(), 0.7 * before);

    learned_pace promised{2s};
    promised.take(start, false);
    promised.refused_first({1, start, start + 2s, false});
    promised.resume(start + 2s);
    const double first = promised.per_second();
    for (int i = 1; i <= 3; ++i) promised.take(start + i * 60s, false);
    promised.not_pressed();
    promised.take(start + 240s, false);
    promised.refused_first({5, start + 240s, start + 260s, true});
    EXPECT_GT(promised.per_second(), 0.7 * first);
}

TEST(learned_pace, rises_after_a_cooldown) {
    sender at;
    at.send(600, 10ms); // 100 a second
    at.refuse(5s);
    at.pace.take(at.now, false); // the one that goes first
    std::size_t early = 0;
    std::size_t late = 0;
    for (int ms = 0; ms < 5000; ++ms) {
        at.now += 1ms;
        at.pace.refill(at.now);
        while (at.pace.fits()) {
            at.pace.take(at.now, false);
            ++(ms < 200 ? early : late);
        }
    }
    EXPECT_LE(early, 8U);  // a fifth of the rate, about
    EXPECT_GE(late, 380U); // all of it after two seconds, and some of what was missed
}

TEST(learned_pace, grows_by_calls_that_it_held_back_and_not_else) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    at.send(990, 100ms);
    at.refuse();
    const double learned = at.pace.per_second();
    for (int i = 0; i < 300; ++i) at.pace.take(at.now, true);
    EXPECT_EQ(at.pace.per_second(), learned); // not yet
    for (int i = 0; i < 5000; ++i) at.pace.take(at.now, false);
    EXPECT_EQ(at.pace.per_second(), learned);
    for (int i = 0; i < 150; ++i) at.pace.take(at.now, true);
    EXPECT_NEAR(at.pace.per_second(), 1.01 * learned, 0.001 * learned);
    for (int i = 0; i < 4000; ++i) at.pace.take(at.now, true);
    EXPECT_GT(at.pace.per_second(), 1.5 * learned); // steps double
}

TEST(learned_pace, is_forgotten_after_a_long_rest) {
    sender at;
    at.send(600, 10ms);
    at.refuse();
    at.pace.refill(at.now + 11min);
    EXPECT_FALSE(at.pace.active());
}

} // namespace
} // namespace heddle::testing
