// Buckets find each entry however many there are, and grow by one at a time.
#include "lang/value/chained_buckets.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>

namespace heddle::lang::testing {
namespace {

struct number {
    std::size_t content;
    std::size_t hash;
    number* chain = nullptr;
};

[[nodiscard]] std::size_t hash_of(std::size_t content) {
    return content * 0x9E3779B97F4A7C15ULL >> 20;
}

TEST(chained_buckets, find_what_was_put_in_and_not_taken_out) {
    for (const std::size_t count : {1U, 8U, 9U, 1000U, 100'000U}) {
        std::deque<number> numbers;
        chained_buckets<number> table;
        const auto find = [&](std::size_t i) {
            return table.find(hash_of(i), [i](const number& each) { return each.content == i; });
        };
        EXPECT_EQ(find(0), nullptr);
        for (std::size_t i = 0; i < count; ++i)
            table.insert(numbers.emplace_back(number{i, hash_of(i)}));
        EXPECT_EQ(table.size(), count);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(find(i), &numbers[i]);
        EXPECT_EQ(find(count), nullptr);
        for (std::size_t i = 0; i < count; i += 2) table.remove(numbers[i]);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(find(i) != nullptr, i % 2 == 1);
        EXPECT_EQ(table.size(), count / 2);
        for (std::size_t i = 0; i < count; i += 2) table.insert(numbers[i]);
        for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(find(i), &numbers[i]);
    }
}

TEST(chained_buckets, hold_entries_of_one_hash) {
    std::deque<number> numbers;
    chained_buckets<number> table;
    for (std::size_t i = 0; i < 100; ++i) table.insert(numbers.emplace_back(number{i, 7}));
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ(table.find(7, [i](const number& each) { return each.content == i; }),
                  &numbers[i]);
}

} // namespace
} // namespace heddle::lang::testing
