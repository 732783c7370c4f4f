#include <heddle/convert.hpp>

#include <gtest/gtest.h>
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace heddle {

namespace shop {

enum class state : std::uint8_t { open, paid, lost };
BOOST_DESCRIBE_ENUM(state, open, paid)

struct order {
    std::int64_t id = 0;
    double price = 0;
    state now = state::open;
    friend bool operator==(const order&, const order&) = default;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, price, now))

struct person {
    std::string name;
    friend bool operator==(const person&, const person&) = default;
};
BOOST_DESCRIBE_STRUCT(person, (), (name))

struct customer : person {
    std::vector<order> orders;
    std::optional<std::string> note;
    std::map<std::string, int> points;
    friend bool operator==(const customer&, const customer&) = default;
};
BOOST_DESCRIBE_STRUCT(customer, (person), (orders, note, points))

struct money {
    std::int64_t cents = 0;
    friend bool operator==(const money&, const money&) = default;
};

struct priced {
    money price;
};
BOOST_DESCRIBE_STRUCT(priced, (), (price))

struct tree {
    int value = 0;
    std::vector<tree> branches;
};
BOOST_DESCRIBE_STRUCT(tree, (), (value, branches))

} // namespace shop

template <>
struct json_conversion<shop::money> {
    static json to(const shop::money& value) { return std::to_string(value.cents) + " ct"; }
    static result<shop::money> from(const json& value) {
        const auto* text = value.get_if<std::string>();
        if (text == nullptr || !text->ends_with(" ct"))
            return error(errc::invalid_argument, "expected an amount such as \"12 ct\"");
        return shop::money{std::stoll(*text)};
    }
    static json schema() { return json::object{{"type", "string"}, {"pattern", "^[0-9]+ ct$"}}; }
};

namespace {

json parsed(std::string_view text) { return json::parse(text).value(); }

template <class T>
T read(std::string_view text) {
    auto value = from_json<T>(parsed(text));
    EXPECT_TRUE(value.has_value()) << text << ": " << value.error().message();
    return value ? *std::move(value) : T{};
}

template <class T>
std::string problem_of(const json& value, const read_options& options = {}) {
    const auto read = from_json<T>(value, options);
    return read ? "was read" : read.error().message();
}
template <class T>
std::string read_problem(std::string_view text, const read_options& options = {}) {
    return problem_of<T>(parsed(text), options);
}

template <class T>
std::string write_problem(const T& value) {
    const auto written = try_to_json(value, "it");
    return written ? "was written" : written.error().message();
}

template <class T>
void expect_both_ways(const T& value, std::string_view text) {
    EXPECT_EQ(to_json(value).to_string(), text);
    EXPECT_EQ(read<T>(text), value) << text;
}

TEST(convert, takes_scalars_both_ways) {
    expect_both_ways(true, "true");
    expect_both_ways(std::int8_t{-128}, "-128");
    expect_both_ways(std::uint16_t{65535}, "65535");
    expect_both_ways(std::numeric_limits<std::int64_t>::min(), "-9223372036854775808");
    expect_both_ways(2.5F, "2.5");
    expect_both_ways(0.1, "0.1");
    expect_both_ways(std::string("🧵"), "\"🧵\"");
    expect_both_ways(nullptr, "null");
    EXPECT_EQ(to_json(std::string("text")), json("text"));
    EXPECT_EQ(to_json(std::string_view("text")), json("text"));
}

TEST(convert, refuses_numbers_out_of_range) {
    EXPECT_EQ(read_problem<std::int8_t>("128"),
              "expected an integer from -128 to 127 but found 128");
    EXPECT_EQ(read_problem<std::int8_t>("-129"),
              "expected an integer from -128 to 127 but found -129");
    EXPECT_EQ(read_problem<std::uint32_t>("-1"),
              "expected an integer from 0 to 4294967295 but found -1");
    EXPECT_EQ(read_problem<std::uint32_t>("4294967296"),
              "expected an integer from 0 to 4294967295 but found 4294967296");
    EXPECT_EQ(read_problem<std::uint64_t>("-1"),
              "expected an integer from 0 to 18446744073709551615 but found -1");
    EXPECT_EQ(read_problem<std::int64_t>("9223372036854775808"),
              "expected an integer from -9223372036854775808 to 9223372036854775807 but found "
              "9.223372036854776e+18");
    EXPECT_EQ(read_problem<int>("1.5"), "expected an integer but found 1.5");
    EXPECT_EQ(read_problem<int>("\"1\""), "expected an integer but found the string \"1\"");
    EXPECT_EQ(read_problem<float>("1e300").substr(0, 21), "expected a number fro");
    EXPECT_EQ(problem_of<double>(json(std::nan(""))), "expected a finite number but found nan");
    EXPECT_EQ(problem_of<int>(json(std::nan(""))), "expected an integer but found nan");
    EXPECT_EQ(write_problem(std::numeric_limits<std::uint64_t>::max()),
              "it: the integer 18446744073709551615 is above the largest of JSON here, "
              "9223372036854775807");
    EXPECT_EQ(write_problem(std::nan("")), "it: JSON cannot express the number nan");
    EXPECT_EQ(write_problem(-std::numeric_limits<float>::infinity()),
              "it: JSON cannot express the number -inf");
}

TEST(convert, takes_numbers_without_fraction_for_integers) {
    EXPECT_EQ(read<int>("3.0"), 3);
    EXPECT_EQ(read<unsigned>("3e2"), 300U);
    EXPECT_EQ(read<double>("3"), 3.0);
}

TEST(convert, takes_containers_both_ways) {
    expect_both_ways(std::vector<int>{1, 2}, "[1,2]");
    expect_both_ways(std::vector<bool>{true, false}, "[true,false]");
    expect_both_ways(std::deque<std::string>{"a"}, R"(["a"])");
    expect_both_ways(std::list<double>{}, "[]");
    expect_both_ways(std::array<int, 2>{1, 2}, "[1,2]");
    expect_both_ways(std::set<int>{1, 2}, "[1,2]");
    expect_both_ways(std::multiset<int>{1, 2, 2}, "[1,2,2]");
    expect_both_ways(std::unordered_set<int>{1}, "[1]");
    expect_both_ways(std::map<std::string, int>{{"a", 1}, {"b", 2}}, R"({"a":1,"b":2})");
    expect_both_ways(std::unordered_map<std::string, std::vector<int>>{{"a", {1}}}, R"({"a":[1]})");
    expect_both_ways(std::pair<int, std::string>{1, "a"}, R"([1,"a"])");
    expect_both_ways(std::tuple<int, bool, double>{1, true, 0.5}, "[1,true,0.5]");
    expect_both_ways(std::tuple<>{}, "[]");
    expect_both_ways(std::optional<int>{}, "null");
    expect_both_ways(std::optional<int>{1}, "1");
    expect_both_ways(std::vector<std::optional<int>>{1, std::nullopt}, "[1,null]");
    expect_both_ways(std::variant<int, std::string>{"a"}, "\"a\"");
    expect_both_ways(json::object{{"a", json::array{1, nullptr}}}, R"({"a":[1,null]})");
}

TEST(convert, names_the_element_that_does_not_fit) {
    EXPECT_EQ(read_problem<std::vector<int>>("[1, true]"),
              "[1]: expected an integer but found true");
    EXPECT_EQ(read_problem<std::vector<int>>("{}"), "expected an array but found an object");
    EXPECT_EQ((read_problem<std::array<int, 2>>("[1]")),
              "expected an array of 2 elements but found an array of 1 elements");
    EXPECT_EQ((read_problem<std::pair<int, int>>("[1, 2, 3]")),
              "expected an array of 2 elements but found an array of 3 elements");
    EXPECT_EQ((read_problem<std::tuple<int, std::string>>("[1, 2]")),
              "[1]: expected a string but found 2");
    EXPECT_EQ((read_problem<std::map<std::string, int>>(R"({"a b": null})")),
              "[\"a b\"]: expected an integer but found null");
    EXPECT_EQ(read_problem<std::set<int>>("[1, 2, 1]"), "[2]: occurs twice in a set");
    EXPECT_EQ((read_problem<std::variant<int, std::string>>("[]", {.name = "key"})),
              "key: fits none of the alternatives: key: expected an integer but found an array of "
              "0 elements; key: expected a string but found an array of 0 elements");
}

TEST(convert, takes_described_structs_and_enums_both_ways) {
    shop::customer ada;
    ada.name = "Ada";
    ada.orders = {{7, 2.5, shop::state::paid}};
    ada.points = {{"2026", 3}};
    expect_both_ways(ada, R"({"name":"Ada","orders":[{"id":7,"price":2.5,"now":"paid"}],)"
                          R"("points":{"2026":3}})");
    ada.note = "kind";
    expect_both_ways(ada, R"({"name":"Ada","orders":[{"id":7,"price":2.5,"now":"paid"}],)"
                          R"("note":"kind","points":{"2026":3}})");
}

TEST(convert, names_the_member_that_does_not_fit) {
    const read_options named{.name = "customer"};
    EXPECT_EQ(read_problem<shop::customer>(
                  R"({"name": "A", "points": {}, "orders": [{"id": 1, "price": 1, "now": "open"},
                                                            {"id": 2, "price": "2", "now": "x"}]})",
                  named),
              "customer.orders[1].price: expected a number but found the string \"2\"");
    EXPECT_EQ(read_problem<shop::customer>("[]", named),
              "customer: expected an object but found an array of 0 elements");
    EXPECT_EQ(read_problem<shop::customer>(R"({"name": "A"})", named),
              "customer: the member \"orders\" is missing");
    EXPECT_EQ(read_problem<shop::state>("\"lost\""),
              "expected one of \"open\", \"paid\" but found the string \"lost\"");
    EXPECT_EQ(read_problem<shop::state>("1"), "expected one of \"open\", \"paid\" but found 1");
    EXPECT_EQ(write_problem(std::vector<shop::state>{shop::state::lost}),
              "it[0]: an enumerator that is not described");
}

TEST(convert, refuses_unknown_members_unless_asked) {
    const json value = parsed(R"({"naem": "A", "name": "B"})");
    const auto refused = from_json<shop::person>(value);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message(), "there is no member \"naem\"; known: \"name\"");
    EXPECT_EQ(refused.error().info().hint, "did you mean 'name'?");
    const auto taken = from_json<shop::person>(value, {.name = {}, .ignores_unknown = true});
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->name, "B");
}

TEST(convert, refuses_text_that_is_not_utf_8) {
    EXPECT_EQ(write_problem(std::vector<std::string>{"a", "b\xFF"}),
              "it[1]: the string is not UTF-8: invalid bytes at offset 1");
    EXPECT_EQ(write_problem(json::object{{"a", json::array{"\xC0"}}}),
              "it.a[0]: the string is not UTF-8: invalid bytes at offset 0");
    EXPECT_NE(write_problem(json::object{{"\xC0", 1}}), "was written");
    EXPECT_NE(write_problem(std::map<std::string, int>{{"\xC0", 1}}), "was written");
    EXPECT_THROW(static_cast<void>(to_json(std::string("\xFF"))), error_exception);
}

TEST(convert, refuses_json_that_text_cannot_express) {
    EXPECT_EQ(write_problem(json(json::array{1, std::nan("")})),
              "it[1]: JSON cannot express the number nan");
    json deep;
    for (int i = 0; i < 512; ++i) deep = json::array{std::move(deep)};
    EXPECT_EQ(write_problem(deep), "was written");
    deep = json::object{{"more", std::move(deep)}};
    const auto refused = try_to_json(deep);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), errc::limit_exceeded);
    EXPECT_NE(refused.error().message().find("nested deeper than 512 levels"), std::string::npos);
}

TEST(convert, reads_structs_inside_themselves_as_deep_as_text_may_be) {
    std::string text = R"({"value":1,"branches":[]})";
    for (int i = 0; i < 254; ++i) text = R"({"value":1,"branches":[)" + text + "]}";
    EXPECT_EQ(to_json(read<shop::tree>(text)).to_string(), text);
    EXPECT_FALSE(json::parse(R"([)" + text + R"(,[[[)" + text + "]]]]").has_value());
}

TEST(convert, takes_durations_as_seconds) {
    using namespace std::chrono_literals;
    expect_both_ways(2min, "120");
    expect_both_ways(1500ms, "1.5");
    expect_both_ways(std::chrono::duration<double>(0.25), "0.25");
    expect_both_ways(-1ns, "-1e-09");
    EXPECT_EQ(read<std::chrono::milliseconds>("0.0016"), 2ms);
    EXPECT_EQ(read_problem<std::chrono::nanoseconds>("1e300").substr(0, 13), "expected seco");
    EXPECT_EQ(read_problem<std::chrono::nanoseconds>("9223372036.9").substr(0, 13),
              "expected seco");
    EXPECT_EQ(read_problem<std::chrono::seconds>("\"5 s\""),
              "expected a number of seconds but found the string \"5 s\"");
    EXPECT_EQ(problem_of<std::chrono::seconds>(json(std::nan(""))),
              "expected a number of seconds but found nan");
}

TEST(convert, takes_times_as_rfc_3339) {
    using namespace std::chrono;
    const sys_days day = 2024y / February / 29d;
    expect_both_ways(sys_time<nanoseconds>(day + 23h + 59min + 59s + 500ms),
                     "\"2024-02-29T23:59:59.5Z\"");
    expect_both_ways(sys_time<seconds>(sys_days(1969y / December / 31d) + 1s),
                     "\"1969-12-31T00:00:01Z\"");
    expect_both_ways(sys_time<nanoseconds>(-1ns), "\"1969-12-31T23:59:59.999999999Z\"");
    expect_both_ways(sys_time<seconds>(sys_days(0y / January / 1d)), "\"0000-01-01T00:00:00Z\"");
    EXPECT_EQ(read<sys_seconds>("\"2024-03-01T01:30:00+01:30\""), sys_seconds(day + 24h));
    EXPECT_EQ(read<sys_seconds>("\"2024-02-29T23:59:60Z\""), sys_seconds(day + 24h));
    for (const std::string_view wrong :
         {"\"2023-02-29T00:00:00Z\"", "\"2024-02-29\"", "\"2024-02-29T24:00:00Z\"",
          "\"2024-02-29T00:00:00\"", "\"2024-02-29T00:00:00.Z\"", "\"2024-02-29T00:00:00Z \"",
          "\"2024-13-01T00:00:00Z\"", "\"\"", "5"}) {
        EXPECT_EQ(read_problem<sys_seconds>(wrong).substr(0, 48),
                  "expected a time such as \"2026-11-23T14:23:03Z\" b")
            << wrong;
    }
    EXPECT_EQ(read_problem<sys_time<nanoseconds>>("\"2500-01-01T00:00:00Z\""),
              "the time is out of range");
    EXPECT_EQ(write_problem(sys_seconds(sys_days(10000y / January / 1d))),
              "it: the time is not in the years 0 to 9999");
}

TEST(convert, takes_the_conversions_of_the_host) {
    EXPECT_EQ(to_json(shop::priced{{250}}).to_string(), R"({"price":"250 ct"})");
    EXPECT_EQ(read<shop::priced>(R"({"price": "12 ct"})").price, shop::money{12});
    EXPECT_EQ(read_problem<std::vector<shop::priced>>(R"([{"price": 12}])"),
              "[0].price: expected an amount such as \"12 ct\"");
}

TEST(convert, shows_the_ends_of_long_paths_and_strings) {
    std::string text = "1";
    for (int i = 0; i < 100; ++i) text = R"({"value":1,"branches":[)" + text + "]}";
    const std::string problem = read_problem<shop::tree>(text);
    EXPECT_NE(problem.find("…"), std::string::npos) << problem;
    EXPECT_LT(problem.size(), 300U) << problem;
    const std::string quoted = problem_of<int>(json(std::string(10'000, 'a')));
    EXPECT_LT(quoted.size(), 150U);
}

} // namespace
} // namespace heddle
