#include "batch/rows/known_table.hpp"

#include <heddle/rows/row.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle::cli {
namespace {

using ports::row_status;

ports::known_row known(std::uint64_t number, const std::string& id, row_status status,
                       const std::string& content = "") {
    return {number, rows::digest_of_id(id), rows::digest_of_content(content), status, true};
}

rows::row_origin origin(std::uint64_t number, const std::string& id,
                        const std::string& content = "") {
    rows::row_origin row;
    row.number = number;
    row.id_digest = rows::digest_of_id(id);
    row.content = rows::digest_of_content(content);
    return row;
}

TEST(known_tables, know_the_second_row_of_an_id_in_any_order) {
    const std::vector<ports::known_row> rows{known(0, "a", row_status::done),
                                             known(1, "b", row_status::done),
                                             known(2, "a", row_status::rejected)};
    known_table same(rows, true);
    EXPECT_FALSE(same.look_up(origin(0, "a")).duplicate);
    EXPECT_EQ(same.look_up(origin(1, "b")).number, 1U);
    const auto again = same.look_up(origin(2, "a"));
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.number, 2U);

    known_table sorted(rows, true);
    EXPECT_EQ(sorted.look_up(origin(0, "b")).number, 1U);
    EXPECT_FALSE(sorted.was_seen(0));
    const auto first = sorted.look_up(origin(2, "a")); // at the place of the rejected one
    EXPECT_FALSE(first.duplicate);
    EXPECT_EQ(first.number, 0U);
    EXPECT_EQ(sorted.look_up(origin(3, "a")).number, 2U);
    EXPECT_TRUE(sorted.was_seen(0));
    const auto third = sorted.look_up(origin(4, "a"));
    EXPECT_TRUE(third.duplicate);
    EXPECT_EQ(third.known, nullptr);
}

TEST(known_tables, know_a_row_that_could_not_be_read_by_content_or_place) {
    const std::vector<ports::known_row> rows{known(0, "a", row_status::done),
                                             known(1, "1:x", row_status::rejected, "bad")};
    known_table moved(rows, true);
    EXPECT_EQ(moved.look_up(origin(0, "new")).known, nullptr);
    EXPECT_EQ(moved.look_up(origin(1, "a")).number, 0U);
    EXPECT_EQ(moved.look_up(origin(2, "2:x", "bad")).number, 1U);

    known_table mended(rows, true);
    EXPECT_EQ(mended.look_up(origin(0, "a")).number, 0U);
    const auto row = mended.look_up(origin(1, "b", "good"));
    EXPECT_EQ(row.number, 1U);
    ASSERT_NE(row.known, nullptr);
    EXPECT_EQ(row.known->status, row_status::rejected);
}

// Rows that were shifted got numbers from 1099511627776 on.
TEST(known_tables, number_rows_that_moved_on) {
    const std::vector<ports::known_row> rows{known(0, "0:a", row_status::done),
                                             known(1, "1:b", row_status::done),
                                             known(2, "2:c", row_status::begun)};
    known_table shifted(rows, false);
    EXPECT_EQ(shifted.look_up(origin(0, "0:new")).number, 3U);
    EXPECT_EQ(shifted.look_up(origin(1, "1:a")).number, 4U);
    EXPECT_EQ(shifted.look_up(origin(2, "2:b")).number, 5U);
    EXPECT_EQ(shifted.look_up(origin(3, "3:c")).number, 6U) << "its position is taken by now";
    EXPECT_EQ(shifted.look_up(origin(9, "9:d")).number, 9U);
    EXPECT_EQ(shifted.look_up(origin(10, "10:e")).number, 10U);
    EXPECT_EQ(shifted.unseen_ends(), 2U);
}

TEST(known_tables, number_rows_in_gaps_by_their_positions) {
    known_table sampled({known(1, "b", row_status::done), known(5, "f", row_status::done)}, true);
    EXPECT_EQ(sampled.look_up(origin(0, "a")).number, 0U);
    EXPECT_EQ(sampled.look_up(origin(1, "new")).number, 6U);
    EXPECT_EQ(sampled.look_up(origin(2, "b")).number, 1U);
    EXPECT_EQ(sampled.look_up(origin(3, "d")).number, 3U);
    EXPECT_EQ(sampled.look_up(origin(6, "g")).number, 7U);
    EXPECT_EQ(sampled.unseen_ends(), 1U);
}

} // namespace
} // namespace heddle::cli
