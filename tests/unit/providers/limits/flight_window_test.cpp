#include <heddle/providers/limits/flight_window.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::limits::flight_window;
using providers::limits::limiter_options;

const coro::clock::time_point start = coro::clock::time_point(1000s);

limiter_options options_of(unsigned first, std::chrono::milliseconds every) {
    limiter_options options;
    options.first_in_flight = first;
    options.doubles_every = every;
    return options;
}

/// Any number of calls, which all want to go at once.
struct crowd {
    explicit crowd(const limiter_options& options) : window(options) {}

    std::size_t go() {
        std::size_t went = 0;
        for (; window.place_free_at(in_flight, now) <= now; ++in_flight) ++went;
        return went;
    }
    /// One by one, and others go in their place.
    void answer(std::size_t calls) {
        for (; calls > 0; --calls) {
            window.answered(--in_flight, now);
            (void)go();
        }
    }
    flight_window window;
    std::size_t in_flight = 0;
    coro::clock::time_point now = start;
};

TEST(flight_window, doubles_by_time_while_nothing_is_answered) {
    crowd at(options_of(64, 200ms));
    EXPECT_EQ(at.go(), 64U);
    EXPECT_EQ(at.window.place_free_at(at.in_flight, at.now), start + 200ms);
    at.now = start + 199ms;
    EXPECT_EQ(at.go(), 0U);
    at.now = start + 200ms;
    EXPECT_EQ(at.go(), 64U);
    for (int i = 0; i < 8; ++i) {
        at.now += 200ms;
        (void)at.go();
    }
    EXPECT_EQ(at.in_flight, 16'384U);
}

// Else a service that answers quickly and refuses slowly would receive four times what it takes.
TEST(flight_window, what_responses_have_doubled_does_not_double_by_time_as_well) {
    crowd at(options_of(64, 200ms));
    EXPECT_EQ(at.go(), 64U);
    at.now = start + 190ms;
    at.answer(64);
    EXPECT_EQ(at.in_flight, 128U);
    at.now = start + 389ms;
    EXPECT_EQ(at.go(), 0U);
    at.now = start + 390ms;
    EXPECT_EQ(at.go(), 128U);
}

TEST(flight_window, a_429_ends_the_doubling_by_time) {
    crowd at(options_of(64, 200ms));
    (void)at.go();
    at.window.refused(--at.in_flight, false);
    EXPECT_EQ(at.go(), 1U);
    EXPECT_EQ(at.window.place_free_at(at.in_flight, at.now), coro::clock::time_point::max());
    at.now += 10s;
    EXPECT_EQ(at.go(), 0U);
}

TEST(flight_window, holds_at_the_most_that_may_be) {
    limiter_options options = options_of(64, 200ms);
    options.max_in_flight = 100;
    crowd at(options);
    (void)at.go();
    at.now += 200ms;
    (void)at.go();
    at.now += 200ms;
    (void)at.go();
    EXPECT_EQ(at.in_flight, 100U);
    at.window.tighten(10);
    EXPECT_EQ(at.window.size(), 10U);
    options.first_in_flight = options.max_in_flight = 0;
    EXPECT_EQ(crowd(options).go(), 1U); // else nothing would ever go
}

} // namespace
} // namespace heddle::testing
