#include <heddle/base/keyed_hash.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

namespace heddle {
namespace {

TEST(keyed_hash, of_a_string_depends_on_the_key_and_every_byte) {
    const hash_key key = random_hash_key();
    const hash_key other = random_hash_key();
    std::set<std::uint64_t> seen;
    std::string text;
    for (int length = 0; length < 70; ++length, text += 'a') {
        EXPECT_EQ(hash_text(key, text), hash_text(key, std::string(text)));
        EXPECT_NE(hash_text(key, text), hash_text(other, text)) << length;
        EXPECT_TRUE(seen.insert(hash_text(key, text)).second) << length;
        for (std::size_t at = 0; at < text.size(); ++at) {
            std::string changed = text;
            changed[at] = 'b';
            EXPECT_TRUE(seen.insert(hash_text(key, changed)).second) << length << ", " << at;
        }
    }
}

TEST(keyed_hash, keys_are_new_each_time) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (int i = 0; i < 100; ++i) {
        const hash_key key = random_hash_key();
        EXPECT_TRUE(seen.emplace(key.first, key.second).second);
    }
}

TEST(keyed_hash, folds_both_halves_of_a_product) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    EXPECT_EQ(folded_product(3, 5), 15U);
    EXPECT_EQ(folded_product(std::uint64_t{1} << 63, 2), 1U);
    EXPECT_EQ(folded_product(all, all), all); // 2^128 - 2^65 + 1
    EXPECT_EQ(folded_product(all, 2), all);   // 2^65 - 2
}

/// Of each length a copy of exactly its size: reading past its end shows under a sanitizer.
TEST(keyed_hash, reads_nothing_but_the_text) {
    const hash_key key{3, 4};
    const std::string bytes = "0123456789abcdef0123456789abcdef0123456789abcdef";
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto exact = std::make_unique<char[]>(size);
        std::copy_n(bytes.begin(), size, exact.get());
        EXPECT_EQ(hash_text(key, {exact.get(), size}),
                  hash_text(key, std::string_view(bytes).substr(0, size)));
    }
    EXPECT_NE(hash_text(key, std::string_view("\0", 1)),
              hash_text(key, std::string_view("\0\0", 2)));
}

TEST(keyed_hash, serves_tables_of_the_standard_library) {
    std::unordered_set<std::string, keyed_hash> table(8, keyed_hash{random_hash_key()});
    for (int i = 0; i < 1000; ++i) table.insert(std::to_string(i % 500));
    EXPECT_EQ(table.size(), 500U);
    EXPECT_TRUE(table.contains("499"));
    EXPECT_EQ(keyed_hash({{1, 2}})("a"), hash_text({1, 2}, "a"));
}

// Strings that share a bucket under one key are spread under another.
TEST(keyed_hash, collisions_of_one_key_are_none_of_another) {
    const hash_key known{1, 2};
    const hash_key secret = random_hash_key();
    std::set<std::uint64_t> buckets;
    int found = 0;
    for (int i = 0; found < 256; ++i) {
        const std::string text = "word" + std::to_string(i);
        if ((hash_text(known, text) & 1023) != 7) continue;
        ++found;
        buckets.insert(hash_text(secret, text) & 1023);
    }
    EXPECT_GT(buckets.size(), 128U);
}

} // namespace
} // namespace heddle
