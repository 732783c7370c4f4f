// A limit of the user's: no minute sees more, and little is lost to that.
#include <heddle/providers/limits/minute_limit.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using coro::clock;
using providers::limits::minute_limit;

constexpr clock::time_point start = clock::time_point(1000s);

/// Sends through a limit and remembers what went when.
struct sender {
    explicit sender(std::int64_t per_minute, std::chrono::milliseconds burst = 10'000ms)
        : limit(per_minute, burst, start) {}

    void pass_to(clock::time_point when) {
        now = std::max(now, when);
        limit.refill(now);
    }
    /// Sends as soon as it fits.
    void send(double amount) {
        pass_to(now);
        for (int tries = 0; !limit.fits(amount); ++tries) {
            ASSERT_LT(tries, 1000);
            const auto fits = limit.fits_at(amount, now);
            ASSERT_GT(fits, now);
            pass_to(fits);
        }
        limit.take(amount);
        sent.push_back({now, amount});
    }
    /// All that can go until then.
    void send_until(clock::time_point end, double amount = 1) {
        for (;;) {
            pass_to(now);
            const auto fits = limit.fits_at(amount, now);
            if (fits >= end) break;
            pass_to(fits);
            send(amount);
        }
        pass_to(end);
    }
    /// The most in any 60 s.
    double worst() const {
        double most = 0;
        double sum = 0;
        std::deque<std::pair<clock::time_point, double>> recent;
        for (const auto& each : sent) {
            recent.push_back(each);
            sum += each.second;
            while (each.first - recent.front().first >= 60s) {
                sum -= recent.front().second;
                recent.pop_front();
            }
            most = std::max(most, sum);
        }
        return most;
    }
    double between(clock::time_point from, clock::time_point to) const {
        double sum = 0;
        for (const auto& [at, amount] : sent) sum += at >= from && at < to ? amount : 0;
        return sum;
    }
    clock::duration max_silence() const {
        clock::duration longest{};
        for (std::size_t i = 1; i < sent.size(); ++i) {
            longest = std::max(longest, sent[i].first - sent[i - 1].first);
        }
        return longest;
    }

    clock::time_point now = start;
    minute_limit limit;
    std::vector<std::pair<clock::time_point, double>> sent;
};

class minute_limit_of : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(minute_limit_of, is_used_up_and_never_exceeded_and_nobody_is_silent_for_long) {
    const auto number = static_cast<double>(GetParam());
    sender at(GetParam());
    at.send_until(start + 20min);
    EXPECT_LE(at.worst(), number);
    for (int minute = 0; minute < 19;
         ++minute) { // the first one, which begins with a burst, as well
        EXPECT_GE(at.between(start + minute * 1min, start + (minute + 1) * 1min),
                  std::floor(0.97 * number) - (number < 60 ? 1 : 0))
            << minute;
    }
    EXPECT_GE(at.between(start + 1min, start + 19min), 18 * 0.975 * number - 1);
    const auto even = std::chrono::duration<double>(60 / number);
    EXPECT_LE(std::chrono::duration<double>(at.max_silence()), 1.3 * even + 0.3s);
}

INSTANTIATE_TEST_SUITE_P(any, minute_limit_of,
                         ::testing::Values(1, 2, 3, 6, 10, 59, 60, 600, 5'000),
                         [](const auto& of) { return std::to_string(of.param); });

// Whatever comes when: pauses, bursts, calls of any size, and counts that turn out to be others.
TEST(minute_limit, no_minute_sees_more_whatever_comes_when) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        std::mt19937 chance(seed);
        const auto pick = [&](int from, int to) {
            return std::uniform_int_distribution<int>(from, to)(chance);
        };
        const int number = seed % 3 == 0 ? pick(1, 20) : pick(20, 5'000);
        sender at(number, std::chrono::milliseconds(pick(0, 60'000)));
        const int largest = seed % 2 == 0 ? 1 : std::max(1, number / pick(2, 40));
        for (int i = 0; i < 600; ++i) {
            if (pick(0, 20) == 0) at.pass_to(at.now + std::chrono::milliseconds(pick(0, 90'000)));
            if (pick(0, 3) == 0) at.pass_to(at.now + std::chrono::milliseconds(pick(0, 900)));
            at.send(pick(1, largest));
            if (pick(0, 3) != 0 || largest == 1) continue;
            // Less was used.
            auto& [when, amount] = at.sent[at.sent.size() - 1 - pick(0, 5) % at.sent.size()];
            const double less = std::floor(amount / 2);
            amount -= less;
            at.limit.correct(-less, when);
        }
        EXPECT_LE(at.worst(), number + 1e-6) << "seed " << seed;
    }
}

TEST(minute_limit, a_burst_goes_at_once_and_comes_back_in_a_pause) {
    sender at(60);
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(at.limit.fits(1));
        at.send(1);
    }
    EXPECT_FALSE(at.limit.fits(1));
    EXPECT_LE(at.limit.fits_at(1, at.now), start + 1300ms);
    at.pass_to(start + 70s);
    EXPECT_NEAR(at.limit.level(), 10, 1e-6);
}

TEST(minute_limit, what_a_call_used_more_is_a_debt_and_what_it_used_less_comes_back) {
    sender at(6'000);
    at.send(1'000);
    EXPECT_NEAR(at.limit.level(), 0, 1e-6);
    at.limit.correct(-600, at.now);
    EXPECT_NEAR(at.limit.level(), 600, 1e-6);
    at.limit.correct(5'600, at.now); // now all of the minute's
    EXPECT_FALSE(at.limit.fits(1));
    EXPECT_GE(at.limit.fits_at(1, at.now), start + 60s);
    at.limit.correct(-5'000, start - 100s); // too old to count
    EXPECT_GE(at.limit.fits_at(1'500, at.now), start + 60s);
}

TEST(minute_limit, more_than_the_limit_goes_alone_in_its_minute) {
    sender at(100);
    at.send(1'000);
    EXPECT_EQ(at.now, start);
    EXPECT_GE(at.limit.fits_at(1, at.now), start + 61s);
    EXPECT_LE(at.limit.fits_at(1, at.now), start + 62s) << "nothing is owed to later minutes";
    at.pass_to(start + 62s);
    EXPECT_TRUE(at.limit.fits(10));
    EXPECT_TRUE(at.limit.fits(20)) << "more than a burst goes when nothing was sent";
    sender other(100);
    other.send(1);
    other.send(1'000);
    EXPECT_GE(other.now, start + 61s); // nothing else was sent in the minute
}

TEST(minute_limit, the_stricter_one_holds) {
    sender at(600);
    at.send_until(start + 5s);
    at.limit.tighten(60);
    at.limit.tighten(6'000);
    EXPECT_EQ(at.limit.per_second(), 1);
    const auto tightened = at.sent.size();
    EXPECT_GT(tightened, 60U);
    at.send(1);
    EXPECT_GE(at.now, start + 60s); // more than that has gone already
}

TEST(minute_limit, a_refusal_ends_the_burst) {
    sender at(60);
    at.limit.drain();
    EXPECT_FALSE(at.limit.fits(1));
    EXPECT_LE(at.limit.fits_at(1, at.now), start + 1200ms);
}

TEST(minute_limit, the_bound_below_is_one) {
    sender at(30);
    at.send_until(start + 3s);
    const auto bound = at.limit.earliest(5 - at.limit.level(), at.now);
    for (int i = 0; i < 5; ++i) at.send(1);
    EXPECT_LE(bound, at.now);
    EXPECT_GE(bound, start + 6s);
}

} // namespace
} // namespace heddle::testing
