// The figures of docs/reference/limits.md, with fixed seeds.
#include "limit_simulation.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

class limit_simulation : public ::testing::TestWithParam<limit_scenario> {};

std::string name_of(const ::testing::TestParamInfo<limit_scenario>& of) {
    std::string name;
    for (const char c : of.param.name) {
        if (std::isalnum(static_cast<unsigned char>(c))) name += c;
        else if (!name.empty() && name.back() != '_') name += '_';
    }
    return name;
}

TEST_P(limit_simulation, uses_the_quota_and_hardly_ever_meets_a_429) {
    const limit_figures figures = simulate(GetParam(), 7);
    EXPECT_LT(figures.limited_share(), 0.005);
    EXPECT_GT(figures.used, 0.95);
    EXPECT_GT(figures.sent, 1000U);
}

INSTANTIATE_TEST_SUITE_P(all, limit_simulation, ::testing::ValuesIn(limit_scenarios()), name_of);

TEST(limit_simulation, a_seed_yields_the_same_run) {
    const limit_scenario first = limit_scenarios().front();
    EXPECT_EQ(simulate(first, 3).sent, simulate(first, 3).sent);
    EXPECT_EQ(simulate(first, 3).max_at_once, simulate(first, 3).max_at_once);
}

} // namespace
} // namespace heddle::testing
