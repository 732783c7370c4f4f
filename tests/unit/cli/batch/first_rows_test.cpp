#include "batch/execution/first_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace heddle::cli {
namespace {

using ::testing::HasSubstr;

rows::row_item row_with(std::uint64_t number, std::string json) {
    rows::row item;
    item.number = number;
    item.file = std::make_shared<const std::string>("rows.jsonl");
    item.line = number + 1;
    item.json = std::move(json);
    return item;
}

const needed_columns needs_text{{"text"}, {}};
const std::string lacks_text = R"({"tex":"a"})";

/// The number of the row at which a command stops that rejects all rows; `kept` of them were
/// rejected before.
std::uint64_t stop_of(std::uint64_t kept, std::string* message = nullptr) {
    first_rows first(needs_text);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const rows::row_item item = row_with(i, lacks_text);
        if (i < kept) {
            first.count_rejected(item, std::nullopt);
        } else if (const auto why = first.look(item, std::nullopt)) {
            if (message) *message = why->message();
            return i;
        }
    }
    return 1000;
}

// Rows that had been rejected did not count, so that 99 others were.
TEST(first_rows_of_a_batch, stop_a_repeated_command_at_the_same_row) {
    std::string first;
    EXPECT_EQ(stop_of(0, &first), first_rows::enough - 1);
    EXPECT_THAT(first, HasSubstr("none of the first 100 rows can run: rows.jsonl, line 1: "));
    std::string again;
    EXPECT_EQ(stop_of(first_rows::enough - 1, &again), first_rows::enough - 1);
    EXPECT_EQ(again, first);
}

// `--on-error skip` has rejected many, and was interrupted.
TEST(first_rows_of_a_batch, stop_at_the_first_further_row_that_is_rejected) {
    EXPECT_EQ(stop_of(300), 300U);
}

TEST(first_rows_of_a_batch, do_not_stop_before_a_row_that_can_run) {
    first_rows first(needs_text);
    for (std::uint64_t i = 0; i < 300; ++i)
        first.count_rejected(row_with(i, lacks_text), std::nullopt);
    EXPECT_FALSE(first.look(row_with(300, R"({"text":"a"})"), std::nullopt));
    for (std::uint64_t i = 301; i < 600; ++i)
        EXPECT_FALSE(first.look(row_with(i, lacks_text), std::nullopt)) << i;
}

TEST(first_rows_of_a_batch, do_not_stop_once_a_row_has_run) {
    first_rows first(needs_text);
    first.accept();
    for (std::uint64_t i = 0; i < 300; ++i)
        EXPECT_FALSE(first.look(row_with(i, lacks_text), std::nullopt)) << i;
}

// A row that is nested deeper than 32 levels was taken for one that has all columns.
TEST(first_rows_of_a_batch, are_read_at_any_depth) {
    const std::string deep = "{\"tex\":" + std::string(60, '[') + std::string(60, ']') + "}";
    first_rows first(needs_text);
    std::optional<error> why;
    for (std::uint64_t i = 0; i < first_rows::enough; ++i)
        why = first.look(row_with(i, deep), std::nullopt);
    EXPECT_TRUE(why);
}

} // namespace
} // namespace heddle::cli
