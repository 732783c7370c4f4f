#include <heddle/base/secret.hpp>

#include "allocation_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <ostream>
#include <string>
#include <type_traits>

namespace heddle {
namespace {

constexpr std::string_view mark = "sk-SECRET-KEY-0123456789";

template <class T>
concept shown = requires(std::ostream& out, const T& value) {
    out << value;
};
template <class T, class Other>
concept compared = requires(const T& one, const Other& other) {
    one == other;
};

static_assert(shown<std::string> && !shown<secret>);
static_assert(compared<std::string, std::string_view>);
static_assert(!compared<secret, std::string> && !compared<secret, std::string_view> &&
              !compared<secret, const char*> && !compared<secret, secret>);
static_assert(!std::is_convertible_v<secret, std::string> &&
              !std::is_convertible_v<secret, std::string_view> &&
              !std::is_constructible_v<std::string, secret>);
static_assert(!std::is_convertible_v<std::string, secret>); // none is made by accident
static_assert(std::is_nothrow_move_constructible_v<secret> &&
              std::is_nothrow_move_assignable_v<secret>);

class secret_memory : public ::testing::Test {
protected:
    /// Moved in, so that no copy but the secret's is made.
    static secret sample() {
        std::string key;
        key.reserve(64);
        key += mark;
        return secret(std::move(key));
    }

    testing::release_watch watch_{mark.substr(0, 14)};
};

TEST_F(secret_memory, the_watch_sees_what_a_string_leaves_behind) {
    { std::string careless(mark); }
    EXPECT_EQ(watch_.found(), 1);
}

TEST_F(secret_memory, nothing_is_left_by_a_secret_that_ends) {
    { const secret key = sample(); }
    EXPECT_EQ(watch_.found(), 0);
}

TEST_F(secret_memory, nothing_is_left_by_copies_and_moves) {
    {
        secret key = sample();
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
    EXPECT_EQ(watch_.found(), 0);
}

TEST_F(secret_memory, nothing_is_left_when_another_value_is_assigned) {
    {
        secret key = sample();
        const secret longer(std::string(1000, 'x')); // asks for new memory
        key = longer;
        EXPECT_EQ(key.reveal().size(), 1000U);
    }
    EXPECT_EQ(watch_.found(), 0);
    {
        secret key = sample();
        const secret shorter("x"); // fits in front of the old bytes
        key = shorter;
        EXPECT_EQ(key.reveal(), "x");
    }
    EXPECT_EQ(watch_.found(), 0);
    {
        secret key = sample();
        key = secret("x");
    }
    EXPECT_EQ(watch_.found(), 0);
}

TEST(secret, is_empty_until_it_holds_something) {
    EXPECT_TRUE(secret().empty());
    EXPECT_TRUE(secret("").empty());
    EXPECT_EQ(secret().reveal(), "");
    EXPECT_FALSE(secret("x").empty());
    const std::string with_nul("a\0b", 3);
    EXPECT_EQ(secret(with_nul).reveal(), with_nul);
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
