#include <heddle/base/keyed_hash.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

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
