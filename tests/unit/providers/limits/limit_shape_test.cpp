#include <heddle/providers/limits/limit_shape.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::limits::limit_reading;
using providers::limits::limit_shape;
using std::chrono::milliseconds;

const coro::clock::time_point start = coro::clock::time_point(1000s);

/// Readings of a service whose shape is known.
struct reporter {
    explicit reporter(std::int64_t full) : limit(full) {}

    void bucket(double missing, double per_second, milliseconds at = 0ms, bool whole = false) {
        read(missing, missing / per_second, at, whole);
    }
    void window(double missing, double ends_in, milliseconds at = 0ms) {
        read(missing, ends_in, at, false);
    }
    void read(double missing, double reset, milliseconds at, bool whole) {
        limit_reading seen;
        seen.limit = limit;
        seen.remaining =
            static_cast<std::int64_t>(std::floor(static_cast<double>(limit) - missing));
        if (whole) reset = std::ceil(reset);
        seen.reset = milliseconds(static_cast<std::int64_t>(std::ceil(reset * 1000)));
        shape.observe(seen, start + at, 1ms);
    }

    std::int64_t limit;
    limit_shape shape;
};

TEST(limit_shape, assumes_a_minute_until_a_reading_shows_another) {
    limit_shape fresh;
    EXPECT_DOUBLE_EQ(fresh.period(), 60);
    EXPECT_FALSE(fresh.is_window());
    fresh.observe({100, 40, std::nullopt}, start, 0ms);
    EXPECT_DOUBLE_EQ(fresh.period(), 60);
    fresh.observe({100, 100, 0ms}, start, 0ms);
    EXPECT_DOUBLE_EQ(fresh.period(), 60);
}

TEST(limit_shape, one_reading_of_a_bucket_determines_its_period) {
    for (const double per_second : {50.0, 1.0, 0.05, 200.0 / 86'400, 7.3}) {
        reporter at(20);
        at.bucket(10, per_second);
        EXPECT_NEAR(at.shape.period(), 20 / per_second, 0.02 * 20 / per_second) << per_second;
        EXPECT_FALSE(at.shape.is_window());
    }
}

TEST(limit_shape, a_burst_into_a_bucket_is_no_window) {
    reporter at(10);
    for (int missing = 1; missing <= 10; ++missing) at.bucket(missing, 50);
    for (int refused = 0; refused < 54; ++refused) at.bucket(10, 50);
    EXPECT_FALSE(at.shape.is_window());
    EXPECT_NEAR(at.shape.period(), 0.2, 0.004);
}

TEST(limit_shape, a_reset_that_does_not_grow_with_what_is_missing_is_the_end_of_a_window) {
    reporter at(50);
    for (int missing = 1; missing <= 50; ++missing) at.window(missing, 0.9, milliseconds(missing));
    EXPECT_TRUE(at.shape.is_window());
    EXPECT_NEAR(at.shape.window_length(), 0.9, 0.1);
    // Of the next window.
    for (int missing = 1; missing <= 50; ++missing) {
        at.window(missing, 1.0 - missing * 0.001, milliseconds(1000 + missing));
    }
    EXPECT_TRUE(at.shape.is_window());
    EXPECT_NEAR(at.shape.window_length(), 1, 0.01);
}

TEST(limit_shape, a_bucket_that_is_used_evenly_is_no_window) {
    reporter at(600);
    for (int i = 0; i < 200; ++i) at.bucket(300 + i % 3, 10, milliseconds(100 * i));
    EXPECT_FALSE(at.shape.is_window());
    EXPECT_NEAR(at.shape.period(), 60, 0.5);
}

TEST(limit_shape, whole_seconds_bound_the_period_from_both_sides) {
    reporter at(50); // 50 a minute
    for (int missing = 1; missing <= 40; ++missing) at.bucket(missing, 50.0 / 60, 0ms, true);
    EXPECT_FALSE(at.shape.is_window());
    EXPECT_NEAR(at.shape.period(), 60, 1.5);
    reporter quick(50); // 50 a second: every reset is one second
    for (int missing = 1; missing <= 50; ++missing) quick.bucket(missing, 50, 0ms, true);
    EXPECT_NEAR(quick.shape.is_window() ? quick.shape.window_length() : quick.shape.period(), 1,
                0.05);
}

TEST(limit_shape, a_limit_that_changes_is_followed) {
    reporter at(100);
    for (int i = 0; i < 20; ++i) at.bucket(50, 10, milliseconds(100 * i));
    EXPECT_NEAR(at.shape.period(), 10, 0.3);
    for (int i = 0; i < 5; ++i) at.bucket(50, 2, milliseconds(3000 + 100 * i));
    EXPECT_NEAR(at.shape.period(), 50, 1.5);
}

TEST(limit_shape, absurd_figures_yield_a_usable_period) {
    limit_shape at;
    const auto huge = std::numeric_limits<std::int64_t>::max() / 4;
    for (const limit_reading& seen :
         {limit_reading{1, 0, milliseconds(huge)}, limit_reading{huge, huge - 1, 1ms},
          limit_reading{huge, 0, 1ms}, limit_reading{5, 7, 3s}, limit_reading{5, 1, -3s},
          limit_reading{5, 0, 0ms}}) {
        at.observe(seen, start, std::chrono::hours(1));
        EXPECT_TRUE(std::isfinite(at.period()));
        EXPECT_GT(at.period(), 0);
        EXPECT_GE(at.window_length(), 0);
    }
}

} // namespace
} // namespace heddle::testing
