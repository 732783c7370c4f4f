#include "batch/known_table.hpp"

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

} // namespace
} // namespace heddle::cli
