#include "batch/run_manifest.hpp"
#include "batch/run_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(manifests_of_runs, keep_how_the_last_process_ended) {
    run_manifest written;
    written.notes_end = true;
    EXPECT_FALSE(run_manifest::from_json(written.to_json(), "f").value().end);
    written.end = batch_end{"stopped", "budget", 50, 47, true};
    const run_manifest read = run_manifest::from_json(written.to_json(), "f").value();
    ASSERT_TRUE(read.end);
    EXPECT_TRUE(read.notes_end);
    EXPECT_EQ(read.end->state, "stopped");
    EXPECT_EQ(read.end->stopped_by, "budget");
    EXPECT_EQ(read.end->total, 50U);
    EXPECT_EQ(read.end->left, 47U);
    EXPECT_TRUE(read.end->left_is_estimate);
    written.end = batch_end{"stopped", "error", {}, {}, false};
    EXPECT_FALSE(run_manifest::from_json(written.to_json(), "f").value().end->left);
}

// 'heddle runs set' writes it again: a run of an earlier version was not killed for that.
TEST(manifests_of_runs, of_earlier_versions_have_no_end) {
    const run_manifest old;
    EXPECT_THAT(old.to_json(), Not(HasSubstr("\"end\"")));
    const run_manifest read = run_manifest::from_json(old.to_json(), "f").value();
    EXPECT_FALSE(read.notes_end);
    EXPECT_FALSE(read.end);
    EXPECT_THAT(read.to_json(), Not(HasSubstr("\"end\"")));
}

TEST(limits_of_runs, are_written_as_people_do) {
    const auto refused = parse_limit("concurrency=0");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("from 1 to 1,000,000, not"));
    EXPECT_EQ(text_of({{"concurrency", 1e6}, {"timeout", 0.5}}),
              "concurrency=1000000, timeout=0.5");
}

} // namespace
} // namespace heddle::cli
