#include <heddle/base/secret.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

constexpr std::string_view mark = "sk-SECRET-KEY-0123456789";
bool watching = false;
int released_with_mark = 0;

/// Looks into the memory of this program before it is given back.
void look_and_release(void* block) noexcept {
    if (block && watching) {
        const std::string_view bytes(static_cast<const char*>(block), malloc_usable_size(block));
        if (bytes.find(mark.substr(0, 14)) != std::string_view::npos) ++released_with_mark;
    }
    std::free(block);
}

} // namespace

void* operator new(std::size_t size) {
    // Filled, so that nothing is found of what was there before.
    void* const block = std::calloc(1, size == 0 ? 1 : size);
    if (!block) throw std::bad_alloc();
    return block;
}
void operator delete(void* block) noexcept { look_and_release(block); }
void operator delete(void* block, std::size_t) noexcept { look_and_release(block); }

namespace heddle {
namespace {

class secret_memory : public ::testing::Test {
protected:
    void SetUp() override {
        released_with_mark = 0;
        watching = true;
    }
    void TearDown() override { watching = false; }

    /// Moved in, so that no copy but the secret's is made.
    static secret made() {
        std::string key;
        key.reserve(64);
        key += mark;
        return secret(std::move(key));
    }
};

TEST_F(secret_memory, the_watch_sees_what_a_string_leaves_behind) {
    { std::string careless(mark); }
    EXPECT_EQ(released_with_mark, 1);
}

TEST_F(secret_memory, nothing_is_left_by_a_secret_that_ends) {
    { const secret key = made(); }
    EXPECT_EQ(released_with_mark, 0);
}

TEST_F(secret_memory, nothing_is_left_by_copies_and_moves) {
    {
        secret key = made();
        secret copy = key;
        secret moved = std::move(copy);
        EXPECT_TRUE(copy.empty()); // NOLINT(bugprone-use-after-move): that is the contract
        EXPECT_EQ(moved.reveal(), mark);
        key = moved;
        key = std::move(moved);
        EXPECT_EQ(key.reveal(), mark);
        const secret& same = key;
        key = same;
        EXPECT_EQ(key.reveal(), mark);
    }
    EXPECT_EQ(released_with_mark, 0);
}

TEST_F(secret_memory, nothing_is_left_when_another_value_is_assigned) {
    {
        secret key = made();
        const secret longer(std::string(1000, 'x')); // asks for new memory
        key = longer;
        EXPECT_EQ(key.reveal().size(), 1000U);
    }
    EXPECT_EQ(released_with_mark, 0);
    {
        secret key = made();
        const secret shorter("x"); // fits in front of the old bytes
        key = shorter;
        EXPECT_EQ(key.reveal(), "x");
    }
    EXPECT_EQ(released_with_mark, 0);
    {
        secret key = made();
        key = secret("x");
    }
    EXPECT_EQ(released_with_mark, 0);
}

/// A short key lies in the object itself.
TEST(secret, a_short_one_leaves_nothing_in_its_place) {
    constexpr std::string_view key = "sk-short-1";
    alignas(secret) std::array<unsigned char, sizeof(secret)> place{};
    const auto holds_key = [&] {
        return std::search(place.begin(), place.end(), key.begin(), key.end()) != place.end();
    };
    auto* object = new (place.data()) secret(std::string(key));
    EXPECT_TRUE(holds_key());
    const secret taken = std::move(*object);
    EXPECT_FALSE(holds_key()); // neither does what was moved away
    EXPECT_EQ(taken.reveal(), key);
    *object = secret(std::string(key));
    EXPECT_TRUE(holds_key());
    object->~secret();
    EXPECT_FALSE(holds_key());
}

} // namespace
} // namespace heddle
