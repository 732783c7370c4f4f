#include <heddle/lang/equality.hpp>

#include "lang/value/hash.hpp"
#include "lang_fixture.hpp"

#include <limits>

namespace heddle::lang {
namespace {

class equality : public lang_fixture {
protected:
    [[nodiscard]] bool equal(std::string_view left, std::string_view right) {
        const value a = data(left);
        const value b = data(right);
        const bool same = values_equal(a, b);
        EXPECT_EQ(same, values_equal(b, a)) << left << " " << right;
        if (same) {
            free_work work;
            value_hasher hasher(memory(), work);
            EXPECT_EQ(*hasher.hash(a), *hasher.hash(b)) << left << " " << right;
        }
        return same;
    }
};

TEST_F(equality, of_atoms) {
    EXPECT_TRUE(equal("1", "1.0"));
    EXPECT_TRUE(equal("true", "1"));
    EXPECT_TRUE(equal("false", "0.0"));
    EXPECT_TRUE(equal("0.0", "-0.0"));
    EXPECT_FALSE(equal("true", "2"));
    EXPECT_FALSE(equal("1", "1.1"));
    EXPECT_TRUE(equal("a", "a"));
    EXPECT_FALSE(equal("a", "\"a\""));
    EXPECT_FALSE(equal("\"1\"", "1"));
    EXPECT_FALSE(equal("nil", "false"));
    EXPECT_FALSE(equal("nil", "()"));
    EXPECT_TRUE(equal("nil", "nil"));
    EXPECT_TRUE(equal("\"\"", "\"\""));
    EXPECT_FALSE(equal("\"Hello\"", "\"hello\""));
}

TEST_F(equality, does_not_round_large_integers) {
    EXPECT_FALSE(equal("9007199254740993", "9007199254740992.0"));
    EXPECT_TRUE(equal("9007199254740992", "9007199254740992.0"));
    EXPECT_FALSE(equal("9223372036854775807", "9223372036854775808.0"));
    EXPECT_TRUE(equal("-9223372036854775808", "-9223372036854775808.0"));
    EXPECT_FALSE(equal("+nan.0", "+nan.0"));
    EXPECT_FALSE(equal("1", "+nan.0"));
}

TEST_F(equality, of_lists) {
    EXPECT_TRUE(equal("(1 (a \"b\") ())", "(1.0 (a \"b\") ())"));
    EXPECT_FALSE(equal("(1 2)", "(1 2 3)"));
    EXPECT_FALSE(equal("(1 (2 3))", "(1 (2 4))"));
    EXPECT_FALSE(equal("(1)", "1"));
    EXPECT_TRUE(values_equal(list_slice(read("(0 1 2 3)"), 1, 3), read("(1 2)")));
}

TEST_F(equality, of_maps_without_regard_to_order) {
    EXPECT_TRUE(equal("(dict \"a\" 1 \"b\" (2))", "(dict \"b\" (2) \"a\" 1)"));
    EXPECT_FALSE(equal("(dict \"a\" 1)", "(dict \"a\" 2)"));
    EXPECT_FALSE(equal("(dict \"a\" nil)", "(dict \"b\" nil)"));
    EXPECT_FALSE(equal("(dict \"a\" 1)", "(dict \"a\" 1 \"b\" 2)"));
    EXPECT_FALSE(equal("(dict)", "()"));
    EXPECT_TRUE(equal("(dict)", "(dict)"));
}

TEST_F(equality, takes_any_depth) {
    const auto deep = [&] {
        value v = value::integer(1);
        for (int i = 0; i < 1'000'000; ++i) v = make_list(memory(), std::span(&v, 1));
        return v;
    };
    EXPECT_TRUE(values_equal(deep(), deep()));
}

TEST_F(equality, compares_shared_parts_once) {
    const auto wide = [&](std::int64_t leaf) {
        value v = value::integer(leaf);
        for (int i = 0; i < 100; ++i) {
            const value pair[] = {v, v};
            v = make_list(memory(), pair);
        }
        return v;
    };
    EXPECT_TRUE(values_equal(wide(1), wide(1)));
    EXPECT_FALSE(values_equal(wide(1), wide(2)));
}

} // namespace
} // namespace heddle::lang
