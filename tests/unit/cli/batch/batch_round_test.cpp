#include "batch/command/batch_round.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::cli {
namespace {

ports::step_spending spent(std::uint32_t requests, double cost) {
    ports::step_spending all;
    all.requests = requests;
    all.cost_usd = cost;
    return all;
}

// The summary of a command that stays for its batches was that of its last round.
TEST(batch_rounds, are_one_command_to_its_user) {
    batch_round rounds;
    const coro::clock::time_point start{};
    rounds.begin_rows(start, {{0, {}, {}, ports::row_status::done, true}});
    batch_counts first;
    first.done = 1;
    first.kept = 1;
    first.failed = 1;
    first.retried = 2;
    first.spent = spent(3, 0.03);
    first.spent_now = spent(2, 0.02);
    EXPECT_EQ(rounds.add(first).kept, 1U);

    rounds.begin_rows(start + std::chrono::seconds(5),
                      {{1, {}, {}, ports::row_status::begun, false}});
    EXPECT_FALSE(rounds.continues(1)) << "it began with the command";
    EXPECT_EQ(*rounds.began, start);
    batch_counts second;
    second.done = 51;
    second.failed = 1;
    second.kept = 2; // with the one that failed in the first round
    second.retried = 1;
    second.spent = spent(53, 0.53); // 50 of them by batches, between the rounds
    const batch_counts all = rounds.add(second);
    EXPECT_EQ(all.kept, 1U);
    EXPECT_EQ(all.retried, 3U);
    EXPECT_EQ(all.spent_now.requests, 52U);
    EXPECT_DOUBLE_EQ(all.spent_now.cost_usd, 0.52);
    EXPECT_EQ(all.ended_now(), 51U);
}

TEST(batch_rounds, continue_rows_of_earlier_processes_once) {
    batch_round rounds;
    rounds.begin_rows({}, {{0, {}, {}, ports::row_status::begun, false},
                           {1, {}, {}, ports::row_status::done, true}});
    // As a round counts them.
    batch_counts first;
    if (rounds.continues(0)) ++first.continued;
    if (rounds.continues(7)) ++first.continued; // a new one
    EXPECT_EQ(rounds.add(first).continued, 1U) << "the other is not in the input";
    batch_counts second;
    if (rounds.continues(0)) ++second.continued;
    EXPECT_EQ(rounds.add(second).continued, 1U);
}

} // namespace
} // namespace heddle::cli
