// Work on values that share parts.
#include "lang_harness.hpp"
#include "sized_values.hpp"
#include "watched_work.hpp"

#include <heddle/lang/equality.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

TEST(work, on_shared_parts_looks_at_each_once) {
    const std::string shared =
        "(let next ((i 0) (x (list (list) (dict)))) (if (< i 200) (next (+ i 1) (list x x)) x))";
    schedule how;
    how.steps = 200'000;
    for (const std::string& program :
         {"(length (unique (list " + shared + " " + shared + ")))",
          "(if (equal? " + shared + " " + shared + ") 1 2)", "(index-of (list " + shared + " 2) 2)",
          "(length (sandbox () " + shared + "))"}) {
        lang_harness harness;
        const std::string shown = harness.shown(program, how);
        EXPECT_EQ(shown.size(), 1U) << program << ": " << shown;
    }
    lang_harness harness;
    EXPECT_TRUE(harness.shown("(string-length (json-string " + shared + "))", how)
                    .starts_with("LimitError"));
    lang_harness printing;
    EXPECT_TRUE(printing.shown("(format \"{}\" " + shared + ")", how).starts_with("LimitError"));
}

TEST(work, on_pairs_of_shared_parts_is_linear) {
    // Each of 40 equal lists meets each: 1600 pairs, of which 80 are looked inside.
    const auto side = [](heap& memory, std::size_t turn) {
        std::vector<value> parts;
        for (std::size_t i = 0; i < 40; ++i) parts.push_back(integers(memory, 1000));
        std::vector<value> places;
        for (std::size_t i = 0; i < 40; ++i) {
            for (std::size_t k = 0; k < 40; ++k) places.push_back(parts[turn == 0 ? i : k]);
        }
        return make_list(memory, places);
    };
    const heap_owner memory(heap::create());
    watched_work work;
    EXPECT_TRUE(*values_equal(side(*memory, 0), side(*memory, 1), work));
    EXPECT_LT(work.done(), 120'000U);
}

} // namespace
} // namespace heddle::lang::testing
