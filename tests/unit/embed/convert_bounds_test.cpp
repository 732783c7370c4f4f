// Values at the ends of their types, and input that would take very long.
#include <heddle/convert.hpp>
#include <heddle/schema.hpp>

#include <gtest/gtest.h>
#include <boost/describe/class.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle {

namespace bounds_samples {

struct leaf_named;
struct leaf_numbered;
using node = std::variant<leaf_named, leaf_numbered>;
/// Differs from leaf_numbered only behind the part that both share.
struct leaf_named {
    std::vector<node> kids;
    std::string name;
};
struct leaf_numbered {
    std::vector<node> kids;
    double name = 0;
};
BOOST_DESCRIBE_STRUCT(leaf_named, (), (kids, name))
BOOST_DESCRIBE_STRUCT(leaf_numbered, (), (kids, name))

struct search {
    std::string text;
    std::optional<int> limit;
};
BOOST_DESCRIBE_STRUCT(search, (), (text, limit))

} // namespace bounds_samples

namespace {

namespace chrono = std::chrono;
using bounds_samples::node;

template <class T>
std::string written(const T& value) {
    const auto json = try_to_json(value, "it");
    return json ? json->to_string() : json.error().message();
}

template <class T>
void expect_back(const T& value) {
    const auto json = try_to_json(value, "it");
    ASSERT_TRUE(json) << json.error().message();
    const auto read = from_json<T>(*json);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, value) << json->to_string();
}

template <class T>
std::string problem(const char* text) {
    const auto read = from_json<T>(json::parse(text).value());
    return read ? "was read" : read.error().message();
}

TEST(durations, at_the_ends_of_their_types_keep_their_value) {
    expect_back(chrono::hours::max());
    expect_back(chrono::minutes::max());
    expect_back(chrono::seconds::max());
    expect_back(chrono::nanoseconds::max());
    expect_back(chrono::seconds::min());
    expect_back(chrono::duration<std::uint64_t>::max());
    EXPECT_EQ(written(chrono::hours::max()).front(), '3');
    EXPECT_EQ(written(chrono::duration<std::uint64_t>::max()).front(), '1');
    EXPECT_NE(problem<chrono::hours>("1e30"), "was read");
}

TEST(durations, of_whole_periods_are_read_from_no_part_of_one) {
    EXPECT_EQ(problem<chrono::hours>("90"),
              "expected seconds that are a multiple of 3600 but found 90");
    EXPECT_EQ(from_json<chrono::hours>(json(7200))->count(), 2);
    EXPECT_EQ(from_json<chrono::milliseconds>(json(0.0125))->count(), 13);
}

TEST(times, far_from_all_calendars_are_errors) {
    EXPECT_EQ(written(chrono::sys_days::max()), "it: the time is not in the years 0 to 9999");
    EXPECT_EQ(written(chrono::sys_days::min()), "it: the time is not in the years 0 to 9999");
    EXPECT_EQ(written(chrono::sys_seconds::max()), "it: the time is not in the years 0 to 9999");
}

TEST(times, in_fractions_of_a_second_are_read_whole) {
    using fine = chrono::sys_time<chrono::duration<double>>;
    const auto read = from_json<fine>(json("1970-01-01T00:00:01.5Z"));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->time_since_epoch().count(), 1.5);
}

/// Only the last alternative fits at each level.
std::string nested(int depth) {
    std::string text = R"({"kids": [], "name": 1})";
    for (int i = 0; i < depth; ++i) text = R"({"kids": [)" + text + R"(], "name": 1})";
    return text;
}

TEST(variants, in_variants_are_read_in_bounded_time) {
    EXPECT_EQ(problem<node>(nested(6).c_str()), "was read");
    // Each level doubles the work: without a bound this would take years.
    EXPECT_NE(
        problem<node>(nested(40).c_str()).find("too many alternatives would have to be tried"),
        std::string::npos);
    EXPECT_EQ(from_json<node>(json::parse(nested(40)).value()).error().code(),
              errc::limit_exceeded);
}

TEST(variants, beside_each_other_are_read_however_many_there_are) {
    json::array items;
    for (int i = 0; i < 50'000; ++i) items.emplace_back(i % 2 == 0 ? json("a") : json(i));
    const auto read = from_json<std::vector<std::variant<int, bool, std::string>>>(items);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->size(), 50'000U);
}

TEST(optional_members, may_be_null_or_missing_as_in_their_schema) {
    EXPECT_EQ(schema_of<bounds_samples::search>().to_string(),
              R"({"type":"object","properties":{"text":{"type":"string"},)"
              R"("limit":{"anyOf":[{"type":"integer","minimum":-2147483648,)"
              R"("maximum":2147483647},{"type":"null"}]}},"required":["text"],)"
              R"("additionalProperties":false})");
    EXPECT_EQ(problem<bounds_samples::search>(R"({"text": "a", "limit": null})"), "was read");
    EXPECT_EQ(problem<bounds_samples::search>(R"({"text": "a"})"), "was read");
}

} // namespace
} // namespace heddle
