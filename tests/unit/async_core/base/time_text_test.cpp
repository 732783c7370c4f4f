#include <heddle/base/time_text.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace heddle {
namespace {

using namespace std::chrono_literals;

TEST(utc_text, is_that_of_rfc_3339) {
    EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
    EXPECT_EQ(utc_text(951'782'400), "2000-02-29T00:00:00Z");
    EXPECT_EQ(utc_text(-1), "1969-12-31T23:59:59Z");
    EXPECT_EQ(utc_text(std::chrono::system_clock::time_point(1500ms)), "1970-01-01T00:00:01Z");
}

TEST(utc_text, is_the_beginning_for_years_that_do_not_exist) {
    EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::max()), "1970-01-01T00:00:00Z");
}

TEST(utc_text, is_read_back) {
    for (const std::int64_t seconds : {0LL, 951'782'400LL, 1'795'948'208LL, -86'400LL})
        EXPECT_EQ(seconds_of_utc(utc_text(seconds)), seconds);
    for (const std::string_view wrong :
         {"", "2000-02-29", "2000-02-29T00:00:00", "2000-02-29T00:00:00Z and more", "now"})
        EXPECT_EQ(seconds_of_utc(wrong), std::nullopt) << wrong;
}

TEST(whole_seconds_text, rounds_up) {
    EXPECT_EQ(whole_seconds_text(0s), "0 s");
    EXPECT_EQ(whole_seconds_text(1ns), "1 s");
    EXPECT_EQ(whole_seconds_text(41s), "41 s");
    EXPECT_EQ(whole_seconds_text(41'001ms), "42 s");
}

} // namespace
} // namespace heddle
