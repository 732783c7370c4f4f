#include "common/reset_time.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using wait = std::optional<std::chrono::milliseconds>;

// 2026-11-21T05:00:00.250Z
const std::chrono::system_clock::time_point now =
    std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) + 5h + 250ms;

wait read(std::string_view text) {
    providers::rate_limit_headers unused;
    return providers::read_reset(text, now, unused);
}

std::chrono::milliseconds grain(std::string_view text) {
    providers::rate_limit_headers of;
    (void)providers::read_reset(text, now, of);
    return of.reset_grain;
}

TEST(reset_time, durations) {
    EXPECT_EQ(read("6m0s"), 6min);
    EXPECT_EQ(read("120ms"), 120ms);
    EXPECT_EQ(read(" 2 "), 2s);
    EXPECT_EQ(read("0.5"), 500ms);
    EXPECT_EQ(read("86400"), 24h);
    EXPECT_EQ(grain("2"), 1ms);
}

TEST(reset_time, unix_time_in_seconds_and_milliseconds) {
    EXPECT_EQ(read("1795237202"), 1750ms);
    EXPECT_EQ(read("1795237202.5"), 2250ms);
    EXPECT_EQ(read("1795237202000"), 1750ms);
    EXPECT_EQ(read("1795237202123"), 1873ms);
    EXPECT_EQ(read("1795237200"), 0ms) << "a quarter of a second ago";
    EXPECT_EQ(grain("1795237202"), 1s);
    EXPECT_EQ(grain("1795237202.5"), 1ms);
    EXPECT_EQ(grain("1795237202123"), 1ms);
}

TEST(reset_time, dates) {
    EXPECT_EQ(read("2026-11-21T05:00:12Z"), 11'750ms);
    EXPECT_EQ(read("2026-11-21t06:00:30.5001+01:00"), 30'251ms);
    EXPECT_EQ(read("2026-11-21 00:00:12-05:00"), 11'750ms);
    EXPECT_EQ(read("Sat, 21 Nov 2026 05:00:12 GMT"), 11'750ms);
    EXPECT_EQ(read("2026-11-21T04:59:30Z"), 0ms);
    EXPECT_EQ(grain("2026-11-21T05:00:12Z"), 1s);
    EXPECT_EQ(grain("2026-11-21T05:00:12.5Z"), 1ms);
    EXPECT_EQ(grain("Sat, 21 Nov 2026 05:00:12 GMT"), 1s);
}

TEST(reset_time, what_makes_no_sense_is_unknown) {
    for (const char* wrong :
         {"", "-1", "soon", "nan", "inf", "1e3", "2026-02-30T00:00:00Z", "2026-13-21T05:00:12Z",
          "2026-11-21T05:00:12", "2026-11-21T05:00", "2026-11-21T05:00:12Zx"}) {
        EXPECT_EQ(read(wrong), wait()) << wrong;
    }
    // Long ago, or far ahead: a stale figure, another unit, or another clock.
    for (const char* wrong :
         {"1795237100", "1798000000", "1000000000", "99999999999", "1795237100000",
          "1795237202000000", "1795237202000000000", "99999999999999999999999",
          "2026-11-20T05:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
          "Sun, 06 Nov 1994 08:49:37 GMT", "999999999"}) {
        EXPECT_EQ(read(wrong), wait()) << wrong;
    }
}

} // namespace
} // namespace heddle::testing
