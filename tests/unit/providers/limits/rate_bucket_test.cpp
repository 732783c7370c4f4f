#include <heddle/providers/limits/rate_bucket.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::limits::rate_bucket;
using std::chrono::milliseconds;

const coro::clock::time_point start = coro::clock::time_point(1000s);

struct bench {
    explicit bench(double reserve = 0) : copy({reserve, 0}) {}

    std::size_t send() {
        marks.push_back({copy.take(1), now});
        return marks.size() - 1;
    }
    void hear(std::size_t call, std::int64_t limit, std::int64_t left,
              std::optional<milliseconds> reset) {
        copy.observe({limit, left, reset}, 0, marks[call].first, marks[call].second, now);
    }
    void pass(milliseconds span) {
        now += span;
        copy.refill(now);
    }

    coro::clock::time_point now = start;
    rate_bucket copy;
    std::vector<std::pair<rate_bucket::mark, coro::clock::time_point>> marks;
};

// Ten of 64 calls get through; the first that learns of the limit was refused, at a time when all
// the others are still under way.
TEST(rate_bucket, what_was_refused_in_a_first_burst_is_not_owed) {
    bench at;
    std::deque<std::size_t> refused;
    for (int i = 0; i < 64; ++i) {
        const std::size_t call = at.send();
        if (i >= 10) refused.push_back(call);
    }
    EXPECT_TRUE(at.copy.fits(1)); // nothing is known yet
    at.pass(1ms);
    for (const std::size_t call : refused) {
        at.copy.undo(1, at.marks[call].first);
        at.hear(call, 10, 0, 200ms);
    }
    EXPECT_NEAR(at.copy.level(), 0, 0.1);
    EXPECT_NEAR(at.copy.per_second(), 50, 1);
    EXPECT_LE(at.copy.fits_at(1, at.now) - at.now, 25ms);
    // The others come with what was left when they arrived: old news.
    at.pass(19ms);
    for (std::size_t call = 0; call < 10; ++call) {
        at.hear(call, 10, 9 - static_cast<std::int64_t>(call), milliseconds(20 * (call + 1)));
    }
    EXPECT_NEAR(at.copy.level(), 1, 0.3);
}

TEST(rate_bucket, calls_from_before_the_limit_was_known_correct_it_as_well) {
    bench at;
    const std::size_t first = at.send();
    const std::size_t second = at.send();
    at.hear(first, 100, 60, 24s); // others have used it: 60 are left, of which one is spent
    EXPECT_NEAR(at.copy.level(), 59, 0.1);
    at.hear(second, 100, 20, 48s); // and more meanwhile
    EXPECT_LT(at.copy.level(), 45);
}

TEST(rate_bucket, never_pauses_for_longer_than_the_service_asks) {
    bench at;
    const std::size_t call = at.send();
    at.hear(call, 600, 0, std::nullopt); // no reset: a minute is assumed
    EXPECT_NEAR(static_cast<double>((at.copy.fits_at(1, at.now) - at.now) / 1ms), 100, 5);
    // All is back in two seconds, whatever the rate seems to be.
    for (int i = 0; i < 200; ++i) (void)at.copy.take(1);
    const std::size_t last = at.send();
    at.hear(last, 600, 0, 2s);
    EXPECT_LE(at.copy.fits_at(500, at.now), at.now + 2s);
    at.pass(2s);
    EXPECT_GE(at.copy.level(), 590);
}

TEST(rate_bucket, a_reset_of_nothing_is_over_within_a_second) {
    bench at;
    for (int i = 0; i < 40; ++i) at.send();
    for (std::size_t call = 0; call < 40; ++call) at.hear(call, 10, 0, 0ms);
    EXPECT_FALSE(at.copy.fits(1));
    EXPECT_LE(at.copy.fits_at(1, at.now), at.now + 1s);
    EXPECT_FALSE(at.copy.timed()) << "nothing is known of how long it takes";
    at.pass(1s);
    EXPECT_GE(at.copy.level(), 9);
}

TEST(rate_bucket, a_window_refills_at_its_end_and_not_before) {
    bench at;
    for (int i = 0; i < 50; ++i) at.send();
    at.pass(10ms);
    for (std::size_t call = 0; call < 50; ++call) {
        at.hear(call, 50, 49 - static_cast<std::int64_t>(call), 800ms);
    }
    EXPECT_NEAR(at.copy.level(), 0, 0.5);
    EXPECT_EQ(at.copy.fits_at(1, at.now), at.now + 800ms);
    at.pass(790ms);
    EXPECT_FALSE(at.copy.fits(1));
    at.pass(10ms);
    EXPECT_NEAR(at.copy.level(), 50, 0.5);
    // A late response from the window before is old news.
    at.hear(49, 50, 0, 1ms);
    EXPECT_NEAR(at.copy.level(), 50, 0.5);
}

// The first reading looks like one of a bucket, of which a part would stay untouched.
TEST(rate_bucket, a_window_is_used_to_the_last_call_from_the_beginning) {
    bench at(0.05);
    for (int i = 0; i < 64; ++i) at.send();
    at.pass(100ms);
    for (std::size_t call = 0; call < 64; ++call) {
        at.hear(call, 100, 99 - static_cast<std::int64_t>(call), 10s);
    }
    EXPECT_NEAR(at.copy.level(), 36, 1e-6);
}

// 429s without headers come first, responses with headers later.
TEST(rate_bucket, what_was_refused_before_the_first_reading_is_not_owed) {
    bench at;
    for (int i = 0; i < 64; ++i) at.send();
    at.pass(1ms);
    for (std::size_t call = 10; call < 64; ++call) at.copy.undo(1, at.marks[call].first);
    at.pass(9ms);
    for (std::size_t call = 0; call < 10; ++call) {
        at.hear(call, 10, 9 - static_cast<std::int64_t>(call), milliseconds(20 * (call + 1)));
    }
    EXPECT_NEAR(at.copy.level(), 0, 1);
}

TEST(rate_bucket, a_part_of_a_bucket_stays_untouched) {
    bench at(0.05);
    const std::size_t call = at.send();
    at.hear(call, 100, 8, 55s);
    EXPECT_NEAR(at.copy.level(), 3, 0.1);
    EXPECT_NEAR(at.copy.capacity(), 95, 0.1);
}

} // namespace
} // namespace heddle::testing
