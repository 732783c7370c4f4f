// The example of every primitive is run: the left side must equal the right side.
#include "lang_world.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

#include <sstream>

namespace heddle::lang::testing {
namespace {

void run_examples(std::span<const builtin> family, std::size_t& count) {
    for (const builtin& row : family) {
        std::istringstream lines{std::string(row.example)};
        for (std::string line; std::getline(lines, line);) {
            const std::size_t arrow = line.find(" => ");
            if (line.empty()) continue;
            ASSERT_NE(arrow, std::string::npos) << row.name << ": " << line;
            lang_world world;
            const std::string left = line.substr(0, arrow);
            const std::string right = line.substr(arrow + 4);
            EXPECT_EQ(world.shown("(eq? " + left + " " + right + ")"), "true")
                << row.name << ": " << left << " gives " << world.shown(left);
            ++count;
        }
    }
}

TEST(builtin_examples, all_hold) {
    std::size_t count = 0;
    for (const auto family :
         {number_builtins(), string_builtins(), regex_builtins(), list_builtins(), map_builtins(),
          data_builtins(), control_builtins()}) {
        run_examples(family, count);
    }
    EXPECT_GT(count, 80U);
}

} // namespace
} // namespace heddle::lang::testing
