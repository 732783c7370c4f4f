// Services with small and odd quotas, on the virtual clock: the rows of `./dev bench limiter`.
#include "limit_cases.hpp"

#include <gtest/gtest.h>

#include <cctype>

namespace heddle::testing {
namespace {

class limit_cases_simulated : public ::testing::TestWithParam<limit_case> {};

std::string name_of(const ::testing::TestParamInfo<limit_case>& of) {
    std::string name;
    for (const char c : of.param.name) {
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
        else if (!name.empty() && name.back() != '_') name += '_';
    }
    return name;
}

TEST_P(limit_cases_simulated, neither_stalls_nor_storms) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        limit_case varied = GetParam();
        varied.quota.phase = seed == 1 ? 0 : 0.6;
        const limit_case_figures figures = simulate_case(varied, seed);
        EXPECT_EQ(figures.fault(), "")
            << figures.sent << " sent, " << figures.limited << " refused, of these "
            << figures.limited_late << " later; " << figures.seconds << " s, of which "
            << figures.least << " are needed; silent for " << figures.silence << " s";
    }
}

INSTANTIATE_TEST_SUITE_P(all, limit_cases_simulated, ::testing::ValuesIn(limit_cases()), name_of);

TEST(limit_cases, a_fault_is_seen) {
    limit_case_figures figures;
    figures.sent = 1000;
    figures.seconds = 10;
    figures.least = 9;
    figures.silence = 1;
    figures.silence_explained = 2;
    figures.late_allowed = 5;
    EXPECT_EQ(figures.fault(), "");
    figures.least = 7;
    EXPECT_EQ(figures.fault(), "slow");
    figures.limited = 300;
    figures.limited_late = 6;
    figures.silence = 3;
    figures.failed = 1;
    EXPECT_EQ(figures.fault(), "calls failed, slow, 429s, burst, silence");
}

} // namespace
} // namespace heddle::testing
