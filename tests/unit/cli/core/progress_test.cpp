// The lines and the pace of progress.
#include "progress.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using std::chrono::milliseconds;

TEST(run_progress_line, names_elements_rate_time_left_and_calls) {
    lang::map_progress maps{1000, 120, 3};
    call_counts calls;
    calls.done = 121;
    calls.running = 64;
    EXPECT_EQ(run_progress_line(maps, calls, 12, 10, 0),
              "[=>        ] 120/1,000 12% | 10/s | 88 s left | 3 failed | 121 calls done, 64 "
              "running | 12.0 s");
    EXPECT_EQ(run_progress_line(maps, calls, 12, 10, 40), "120/1,000 12% | 10/s | 88 s left");
    EXPECT_EQ(run_progress_line({10, 0, 0}, {}, 0.5, 0, 0), "[>         ] 0/10 0% | 0.5 s");
    EXPECT_EQ(run_progress_line({}, calls, 11, 0, 0),
              "121 calls done, 64 running, 11 calls/s, 11.0 s");
}

TEST(progress_pace, follows_the_last_seconds_and_begins_again) {
    const coro::clock::time_point began{};
    progress_pace pace(began);
    EXPECT_EQ(pace.rate(began + milliseconds(100), 5), 0) << "too early";
    EXPECT_DOUBLE_EQ(pace.rate(began + milliseconds(1000), 10), 10);
    double rate = 0;
    for (int s = 2; s <= 60; ++s)
        rate = pace.rate(began + milliseconds(1000 * s), 10U + (s - 1) * 100U);
    EXPECT_NEAR(rate, 100, 5);
    // Another map: its elements are counted from zero.
    EXPECT_EQ(pace.rate(began + milliseconds(61'000), 0), 0);
    EXPECT_DOUBLE_EQ(pace.rate(began + milliseconds(62'000), 3), 3);
}

TEST(progress_pace, asks_for_a_line_after_2_and_10_and_then_each_30_seconds) {
    const coro::clock::time_point began{};
    progress_pace pace(began);
    std::string seen;
    for (int s = 0; s <= 95; ++s) {
        if (pace.takes_line(began + milliseconds(1000 * s))) seen += std::to_string(s) + " ";
    }
    EXPECT_EQ(seen, "2 10 30 60 90 ");
}

} // namespace
} // namespace heddle::cli
