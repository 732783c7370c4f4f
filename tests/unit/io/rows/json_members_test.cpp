#include "rows/json_members.hpp"

#include <gtest/gtest.h>
#include <hard_numbers.hpp>

namespace heddle::rows {
namespace {

TEST(json_members, have_the_numbers_of_the_value) {
    const std::vector<double> numbers = testing::hard_numbers();
    const std::string list = testing::json_of_numbers(numbers);
    const auto cells = cells_of(R"({"n":9007199254740993,"all":)" + list + "}", {"all", "n", "x"});
    ASSERT_TRUE(cells[0]);
    EXPECT_EQ(testing::bits_in(*cells[0]), testing::bits_of(numbers));
    EXPECT_EQ(cells[1], "9007199254740993");
    EXPECT_FALSE(cells[2]);
    for (const double number : numbers) {
        const std::string alone = testing::json_of_numbers({number});
        const auto one = cells_of(R"({"n":)" + alone.substr(1, alone.size() - 2) + "}", {"n"});
        ASSERT_TRUE(one[0]);
        EXPECT_EQ(testing::bits_in("[" + *one[0] + "]"), testing::bits_of({number})) << alone;
    }
}

} // namespace
} // namespace heddle::rows
