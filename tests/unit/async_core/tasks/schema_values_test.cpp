// enum, const and uniqueItems take values for equal that are, and no others.
#include "tasks_testing.hpp"

#include <heddle/tasks/output/output_schema.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <random>

namespace heddle::tasks {
namespace {

namespace json = boost::json;

bool holds(const std::string& schema, const std::string& text) {
    testing::reading reader;
    const auto code = output_schema::compile(schema);
    if (!code) throw std::runtime_error("the test's schema is wrong: " + code.error().message());
    return !code->check(reader.json(text), text);
}

TEST(schema_values, members_of_objects_do_not_run_into_each_other) {
    EXPECT_FALSE(holds(R"({"const":{"aaaaaaaaaa":1,"bt1:cs6:xyz":123}})",
                       R"({"aaaaaaaaaa":11,"b":true,"c":"xyz123"})"));
    EXPECT_FALSE(holds(R"({"const":{"a":1,"b":2}})", R"({"a":11})"));
    EXPECT_FALSE(holds(R"({"enum":[{"a":{},"b":1}]})", R"({"a":{"b":1}})"));
    EXPECT_TRUE(holds(R"({"const":{"a":1,"b":2}})", R"({"b":2.0,"a":1})"));
    EXPECT_TRUE(
        holds(R"({"uniqueItems":true})",
              R"([{"aaaaaaaaaa":1,"bt1:cs6:xyz":123},{"aaaaaaaaaa":11,"b":true,"c":"xyz123"}])"));
}

/// Small values of few parts, so that many are equal and many nearly so: digits, and the characters
/// that a text for a value could be made of.
class values {
public:
    json::value next(int depth) {
        switch (pick(depth > 0 ? 7 : 5)) {
        case 0: return nullptr;
        case 1: return pick(2) == 1;
        case 2: return pick(20);
        case 3: return static_cast<double>(pick(40)) / 4;
        case 4: return json::string(text());
        case 5: {
            json::array list;
            for (int left = pick(3); left > 0; --left) list.push_back(next(depth - 1));
            return list;
        }
        default: {
            json::object members;
            for (int left = pick(4); left > 0; --left) members[text()] = next(depth - 1);
            return members;
        }
        }
    }

private:
    int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
    std::string text() {
        static constexpr std::string_view letters = "1:,{}[]stnf\"";
        std::string chosen;
        for (int left = pick(4); left > 0; --left)
            chosen += letters[static_cast<std::size_t>(pick(static_cast<int>(letters.size())))];
        return chosen;
    }
    std::mt19937 random_{7};
};

/// As JSON Schema compares: 1.0 is 1.
json::value plain(json::value value) {
    if (json::array* list = value.if_array())
        for (json::value& each : *list) each = plain(std::move(each));
    if (json::object* object = value.if_object())
        for (auto& member : *object) member.value() = plain(std::move(member.value()));
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    return value;
}

TEST(schema_values, are_equal_when_they_are) {
    values any;
    int equal = 0;
    for (int i = 0; i < 20'000; ++i) {
        const json::value one = any.next(2);
        const json::value other = any.next(2);
        const bool same = plain(one) == plain(other);
        const std::string pair = "[" + json::serialize(one) + "," + json::serialize(other) + "]";
        ASSERT_EQ(holds(R"({"uniqueItems":true})", pair), !same) << pair;
        if (i % 4 == 0) {
            const std::string schema = "{\"const\":" + json::serialize(one) + "}";
            ASSERT_EQ(holds(schema, json::serialize(other)), same) << pair;
            ASSERT_TRUE(holds(schema, json::serialize(plain(one)))) << pair;
        }
        equal += same ? 1 : 0;
    }
    EXPECT_GT(equal, 100);
}

} // namespace
} // namespace heddle::tasks
