// Memory that goes back to the system before it is freed.
#include "lang/text/given_back.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heddle::lang {
namespace {

TEST(given_back, pages_are_those_of_the_block_alone) {
    std::vector<std::uint8_t> around(1 << 20, 7);
    const std::size_t begin = 5000;
    const std::size_t bytes = 600'000;
    discard_pages(around.data() + begin, bytes);
    for (std::size_t i = 0; i < around.size(); ++i) {
        if (i < begin || i >= begin + bytes) ASSERT_EQ(around[i], 7) << i;
        else around[i] = 8; // still its own
    }
    discard_pages(around.data(), 100); // no whole page
    EXPECT_EQ(around[0], 7);
}

/// Notes what is spent, and stops after that much.
class counted_work final : public work_meter {
public:
    explicit counted_work(std::uint64_t until) : work_meter(until) {}

private:
    bool pass() override {
        stopped_ = true;
        return false;
    }
    bool foresee(std::uint64_t) override { return true; }
};

TEST(given_back, large_blocks_go_in_portions_of_work) {
    std::vector<char> large(std::size_t{64} << 20, 'x');
    counted_work work(UINT64_MAX);
    give_back_pages_of(large, work);
    EXPECT_GE(work.done(), 64 * 10'000U);
    EXPECT_EQ(large[large.size() / 2 + 100'000], 0);

    counted_work none(UINT64_MAX);
    std::vector<char> small(1 << 20, 'x');
    give_back_pages_of(small, none);
    EXPECT_EQ(none.done(), 0U);
    EXPECT_EQ(small[small.size() / 2], 'x');
}

TEST(given_back, memory_is_left_where_the_computation_was_stopped) {
    std::vector<char> large(std::size_t{64} << 20, 'x');
    counted_work work(100'000); // ten portions
    give_back_pages_of(large, work);
    EXPECT_TRUE(work.stopped());
    EXPECT_EQ(large[large.size() - 5000], 'x');
}

} // namespace
} // namespace heddle::lang
