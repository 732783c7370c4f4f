#include "batch/progress/batch_progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

batch_counts under_way() {
    batch_counts counts;
    counts.total = 1000;
    counts.done = 250;
    counts.in_progress = 64;
    counts.on_the_wire = 40;
    counts.limited = 12;
    counts.retrying = 3;
    counts.cached = 1500;
    counts.cached_from = "from the journal or the cache";
    counts.spent.requests = 310;
    return counts;
}

TEST(progress_of_batches, names_the_calls_on_the_wire_and_what_others_wait_for) {
    const std::string line = progress_line(under_way(), 10, 25, 0);
    EXPECT_THAT(line, HasSubstr("64 running, 40 on the wire, 12 waiting for a limit, 3 to retry"));
    EXPECT_THAT(line, HasSubstr("1,500 from the journal or the cache"));
}

TEST(progress_of_batches, writes_costs_as_people_do) {
    batch_counts counts = under_way();
    for (int i = 0; i < 20; ++i) counts.spent.cost_usd += 0.0012;
    EXPECT_THAT(progress_json(counts, 10, 25, "end"), HasSubstr("\"cost_usd\":0.024}"));
}

// The line ended with "$0 of ".
TEST(progress_of_batches, names_a_budget_of_nothing) {
    batch_counts counts = under_way();
    counts.spent.requests = 0;
    for (const double nothing : {0.0, -0.0}) {
        counts.budget_usd = nothing;
        EXPECT_THAT(progress_line(counts, 10, 25, 0), HasSubstr("$0 of $0"));
    }
}

TEST(progress_of_batches, as_json_has_them_as_members) {
    const auto members =
        boost::json::parse(progress_json(under_way(), 10, 25, "progress")).as_object();
    EXPECT_EQ(members.at("on_the_wire").to_number<int>(), 40);
    EXPECT_EQ(members.at("waiting_for_limit").to_number<int>(), 12);
    EXPECT_EQ(members.at("cache_hits").to_number<int>(), 1500);
}

} // namespace
} // namespace heddle::cli
