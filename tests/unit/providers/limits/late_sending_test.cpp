// Limits of the user's hold at the server, also when connections take long: what a request waits
// for after it was let through.
#include <heddle/providers/limits/limiter_fsm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <queue>
#include <random>
#include <vector>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using coro::clock;
using providers::limits::call_end;
using providers::limits::call_report;
using providers::limits::limiter_fsm;
using providers::limits::limiter_options;
using providers::limits::measure;
using providers::limits::minute_limit;

constexpr clock::time_point start = clock::time_point(1000s);

/// The most of them in any 60 s.
double worst_of(std::vector<std::pair<clock::time_point, double>> arrivals) {
    std::sort(arrivals.begin(), arrivals.end());
    double most = 0;
    double sum = 0;
    std::size_t first = 0;
    for (const auto& [when, amount] : arrivals) {
        sum += amount;
        while (when - arrivals[first].first >= 60s) sum -= arrivals[first++].second;
        most = std::max(most, sum);
    }
    return most;
}

/// Permits that go after `delay`, and what of them arrives. With `notified` the limit is notified
/// when.
template <class Delay>
std::vector<std::pair<clock::time_point, double>> arrivals_through(std::int64_t per_minute,
                                                                   bool notified, Delay delay) {
    struct permit {
        clock::time_point goes;
        double amount = 1;
        bool operator>(const permit& other) const { return goes > other.goes; }
    };
    minute_limit limit(per_minute, 10'000ms, start);
    std::priority_queue<permit, std::vector<permit>, std::greater<>> going;
    std::vector<std::pair<clock::time_point, double>> arrived;
    for (auto now = start; now < start + 10min; now += 20ms) {
        for (; !going.empty() && going.top().goes <= now; going.pop()) {
            limit.refill(now);
            if (notified) limit.sent(going.top().amount);
            arrived.emplace_back(now + 500ms, going.top().amount); // on its way
        }
        limit.refill(now);
        for (int i = 0; i < 20 && limit.fits(1); ++i) {
            limit.take(1, notified ? minute_limit::sending::later : minute_limit::sending::now);
            going.push({now + delay(now)});
        }
    }
    return arrived;
}

TEST(late_sending, counts_from_when_a_request_goes) {
    // A server whose handshakes take 8.5 s at first.
    const auto slow_at_first = [](clock::time_point now) -> clock::duration {
        return now < start + 8500ms ? 8500ms : 0ms;
    };
    EXPECT_GT(worst_of(arrivals_through(120, false, slow_at_first)), 120);
    const auto arrived = arrivals_through(120, true, slow_at_first);
    EXPECT_LE(worst_of(arrived), 120);
    EXPECT_GE(arrived.size(), 10 * 120 * 0.93); // and little is lost
}

TEST(late_sending, holds_whatever_the_delays_are) {
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
        std::mt19937 chance(seed);
        const int longest = seed % 3 == 0 ? 90'000 : 20'000;
        const auto any = [&](clock::time_point) -> clock::duration {
            std::uniform_int_distribution<int> up_to(0, longest);
            return std::chrono::milliseconds(chance() % 3 == 0 ? up_to(chance) : 0);
        };
        EXPECT_LE(worst_of(arrivals_through(60 + 40 * seed, true, any)), 60 + 40 * seed) << seed;
    }
}

TEST(late_sending, of_what_is_sent_again_the_last_time_counts) {
    minute_limit limit(10, 60'000ms, start);
    for (int i = 0; i < 10; ++i) limit.take(1, minute_limit::sending::later);
    limit.sent(10);
    limit.refill(start + 30s);
    limit.sent(10, start);
    limit.refill(start + 89s);
    EXPECT_FALSE(limit.fits(1));
    limit.sent(10, start + 30s); // and once more, a minute later
    limit.refill(start + 149s);
    EXPECT_FALSE(limit.fits(1));
    limit.refill(start + 151s);
    EXPECT_TRUE(limit.fits(1));
}

TEST(late_sending, what_waits_for_its_connection_is_neither_forgotten_nor_counted_twice) {
    minute_limit limit(10, 60'000ms, start);
    for (int i = 0; i < 10; ++i) limit.take(1, minute_limit::sending::later);
    limit.refill(start + 5min);
    EXPECT_FALSE(limit.fits(1));
    EXPECT_GE(limit.fits_at(1, start + 5min), start + 6min);
    limit.sent(4);
    limit.refill(start + 6min + 2s);
    EXPECT_TRUE(limit.fits(4));
    EXPECT_FALSE(limit.fits(5));
}

/// A run of 300 calls, 200 at a time, through the whole machine. Returns what arrived.
std::vector<std::pair<clock::time_point, double>> arrivals_of_run(bool notified) {
    struct call {
        std::uint32_t slot = 0;
        clock::time_point goes;
        bool gone = false;
    };
    limiter_options options;
    options.first_in_flight = 200;
    options.max_in_flight = 200;
    options.per_minute[index_of(measure::requests)] = 120;
    limiter_fsm machine(options, start);
    std::vector<std::pair<clock::time_point, double>> arrived;
    std::deque<call> under_way;
    int begun = 0;
    for (auto now = start; arrived.size() < 300 && now < start + 10min; now += 10ms) {
        for (call& each : under_way) {
            if (each.gone || each.goes > now) continue;
            each.gone = true;
            if (notified) machine.sent(each.slot, now);
            arrived.emplace_back(now, 1);
        }
        std::erase_if(under_way, [&](const call& each) {
            if (each.goes + 200ms > now) return false;
            call_report report;
            report.end = call_end::answered;
            machine.settle(each.slot, report, now);
            return true;
        });
        while (begun < 300 && under_way.size() < 200) {
            const auto slot = machine.try_admit({100, 0, notified}, now);
            if (slot == limiter_fsm::no_slot) break;
            ++begun;
            // Every connection that is not kept from before takes 8.5 s.
            const bool connects = now < start + 8500ms;
            under_way.push_back({slot, connects ? now + 8500ms : now});
        }
    }
    return arrived;
}

TEST(late_sending, of_a_run_with_slow_connections_stays_within_the_limit) {
    EXPECT_GT(worst_of(arrivals_of_run(false)), 120); // else this run shows nothing
    const auto arrived = arrivals_of_run(true);
    EXPECT_EQ(arrived.size(), 300U);
    EXPECT_LE(worst_of(arrived), 120);
}

TEST(late_sending, a_call_that_was_never_sent_returns_its_place) {
    limiter_options options;
    options.per_minute[index_of(measure::requests)] = 1;
    limiter_fsm machine(options, start);
    const auto slot = machine.try_admit({100, 0, true}, start);
    ASSERT_NE(slot, limiter_fsm::no_slot);
    machine.settle(slot, {}, start + 10s); // not sent
    EXPECT_NE(machine.try_admit({100, 0, true}, start + 10s), limiter_fsm::no_slot);
}

} // namespace
} // namespace heddle::testing
