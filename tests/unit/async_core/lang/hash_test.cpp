// Hashes of values.
#include "sized_values.hpp"

#include "lang/value/hash.hpp"

#include <heddle/lang/equality.hpp>
#include <heddle/lang/work.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle::lang::testing {
namespace {

TEST(hash, agrees_with_equality) {
    const heap_owner memory(heap::create());
    const heap_owner other(heap::create());
    free_work work;
    value_hasher hasher(*memory, work);
    const auto hash = [&](const value& v) { return *hasher.hash(v); };
    EXPECT_EQ(hash(value::integer(1)), hash(value::real(1.0)));
    EXPECT_EQ(hash(value::integer(1)), hash(value::boolean(true)));
    EXPECT_EQ(hash(value::real(0.0)), hash(value::real(-0.0)));
    const auto map = [](heap& of, bool reversed) {
        value result = value::empty_map();
        for (int i = 0; i < 50; ++i) {
            const int k = reversed ? 49 - i : i;
            result = map_put(of, std::move(result), std::to_string(k), value::integer(k));
        }
        return result;
    };
    const value one = map(*memory, false);
    const value two = map(*memory, true);
    const value three = map(*other, false);
    EXPECT_EQ(hash(one), hash(two));
    EXPECT_EQ(hash(one), hash(three));
    EXPECT_TRUE(values_equal(one, three));
    EXPECT_NE(hash(one), hash(map_put(*memory, one, "7", value::integer(0))));
    EXPECT_NE(hash(integers(*memory, 100)), hash(integers(*memory, 101)));
    EXPECT_EQ(hash(integers(*memory, 100)), hash(integers(*memory, 100)));
    const value changed = map_put(*memory, three, "new", value::integer(1));
    EXPECT_NE(map_find(changed, "new"), nullptr);
    EXPECT_NE(map_find(changed, "31"), nullptr);
}

TEST(hash, of_a_text_differs_from_heap_to_heap) {
    const heap_owner one(heap::create());
    const heap_owner two(heap::create());
    EXPECT_NE(hash_text(one->hash_seed(), "key"), hash_text(two->hash_seed(), "key"));
}

} // namespace
} // namespace heddle::lang::testing
