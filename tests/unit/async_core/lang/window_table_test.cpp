// What is known of windows is found again, however many there are.
#include "sized_values.hpp"

#include "lang/value/seen_lists.hpp"
#include "lang/value/window_table.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace heddle::lang::testing {
namespace {

TEST(window_table, finds_what_was_put_in_and_nothing_else) {
    const heap_owner memory(heap::create());
    const value list = integers(*memory, 1000);
    for (const std::size_t count : {1U, 8U, 1024U, 1025U, 100'000U}) {
        window_table<std::size_t> table;
        const auto nth = [&](std::size_t i) {
            return window{list.target(), static_cast<std::uint32_t>(i % 997),
                          static_cast<std::uint32_t>(i / 997)};
        };
        EXPECT_EQ(table.find(nth(0)), nullptr);
        for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(table.emplace(nth(i), i).second);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t* found = table.find(nth(i));
            ASSERT_NE(found, nullptr) << i << " of " << count;
            EXPECT_EQ(*found, i);
            const auto [known, added] = table.emplace(nth(i), 7);
            EXPECT_FALSE(added);
            EXPECT_EQ(*known, i);
        }
        EXPECT_EQ(table.find(nth(count)), nullptr);
        EXPECT_EQ(table.find({nullptr, 0, 1}), nullptr);
    }
}

TEST(window_table, finds_lists_that_are_seen_twice) {
    const heap_owner memory(heap::create());
    const value list = integers(*memory, 100);
    const value part = list.window(10, 20);
    const value same = list.window(10, 20);
    const value other = list.window(10, 21);
    seen_lists seen;
    EXPECT_TRUE(seen.first_time(part));
    EXPECT_FALSE(seen.first_time(same));
    EXPECT_TRUE(seen.first_time(other));
    EXPECT_TRUE(seen.first_time(list));
    const value alone = integers(*memory, 3);
    EXPECT_TRUE(seen.first_time(alone));
    EXPECT_TRUE(seen.first_time(alone));
}

} // namespace
} // namespace heddle::lang::testing
