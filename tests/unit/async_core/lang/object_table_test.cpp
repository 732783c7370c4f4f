// The table in which the search for garbage cycles notes objects.
#include "lang/value/object_table.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace heddle::lang::testing {
namespace {

TEST(object_table, holds_what_was_inserted_and_not_taken_out) {
    std::vector<object> objects(5000);
    std::mt19937 random(3);
    object_table table;
    std::vector<object_table::index> at(objects.size(), object_table::none);
    object_table::index inserted = 0;
    for (int k = 0; k < 20'000; ++k) {
        const std::size_t i = random() % objects.size();
        if (at[i] == object_table::none) {
            at[i] = table.insert(&objects[i]);
            EXPECT_EQ(at[i], inserted++);
        } else if (random() % 3 == 0) {
            table.take_out(std::exchange(at[i], object_table::none));
        } else {
            ASSERT_EQ(table.find(&objects[i]), at[i]);
            ASSERT_EQ(table[at[i]].target, &objects[i]);
        }
    }
    while (table.size() != 0) table.drop_last();
}

TEST(object_table, puts_its_last_entry_in_the_place_of_what_is_removed) {
    std::vector<object> objects(5000);
    std::mt19937 random(5);
    object_table table;
    std::set<object*> held;
    for (int k = 0; k < 30'000; ++k) {
        object* each = &objects[random() % objects.size()];
        if (held.insert(each).second) {
            (void)table.insert(each);
        } else {
            table.remove(each);
            held.erase(each);
        }
        ASSERT_EQ(table.size(), held.size());
    }
    std::set<object*> found;
    for (object_table::index i = 0; i < table.size(); ++i) {
        found.insert(table[i].target);
        EXPECT_EQ(table.find(table[i].target), i);
    }
    EXPECT_EQ(found, held);
    for (object* each : held) table.remove(each);
    EXPECT_EQ(table.size(), 0U);
}

} // namespace
} // namespace heddle::lang::testing
