#include <heddle/schema.hpp>

#include <gtest/gtest.h>
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace heddle {

namespace schema_samples {

enum class size { small, large };
BOOST_DESCRIBE_ENUM(size, small, large)

struct named {
    std::string name;
};
BOOST_DESCRIBE_STRUCT(named, (), (name))

struct item : named {
    size how = size::small;
    std::optional<std::int32_t> count;
};
BOOST_DESCRIBE_STRUCT(item, (named), (how, count))

struct tree {
    int value = 0;
    std::vector<tree> branches;
};
BOOST_DESCRIBE_STRUCT(tree, (), (value, branches))

struct forest {
    tree first;
    tree second;
};
BOOST_DESCRIBE_STRUCT(forest, (), (first, second))

} // namespace schema_samples

namespace {

template <class T>
void expect_schema(std::string_view text) {
    EXPECT_EQ(schema_of<T>(), json::parse(text).value()) << schema_of<T>().to_string();
}

TEST(schema, describes_scalars) {
    expect_schema<bool>(R"({"type": "boolean"})");
    expect_schema<std::int64_t>(R"({"type": "integer"})");
    expect_schema<std::int8_t>(R"({"type": "integer", "minimum": -128, "maximum": 127})");
    expect_schema<std::uint32_t>(R"({"type": "integer", "minimum": 0, "maximum": 4294967295})");
    expect_schema<std::uint64_t>(R"({"type": "integer", "minimum": 0})");
    expect_schema<double>(R"({"type": "number"})");
    expect_schema<std::string>(R"({"type": "string"})");
    expect_schema<json>("{}");
    expect_schema<std::monostate>(R"({"type": "null"})");
    expect_schema<std::chrono::milliseconds>(
        R"({"type": "number", "description": "A duration in seconds"})");
    expect_schema<std::chrono::system_clock::time_point>(
        R"({"type": "string", "format": "date-time"})");
}

TEST(schema, describes_containers) {
    expect_schema<std::vector<bool>>(R"({"type": "array", "items": {"type": "boolean"}})");
    // A map whose keys may be equal has no conversion: its elements would be lost.
    static_assert(!detail::unique_keys<std::multimap<std::string, int>>);
    static_assert(detail::unique_keys<std::map<std::string, int>>);
    static_assert(detail::unique_keys<std::unordered_map<std::string, int>>);
    expect_schema<std::multiset<int>>(R"({"type": "array", "items": {"type": "integer",
        "minimum": -2147483648, "maximum": 2147483647}})");
    expect_schema<std::set<std::string>>(
        R"({"type": "array", "items": {"type": "string"}, "uniqueItems": true})");
    expect_schema<std::array<bool, 2>>(
        R"({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2})");
    expect_schema<std::pair<bool, std::string>>(
        R"({"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "string"}],
            "minItems": 2, "maxItems": 2})");
    expect_schema<std::map<std::string, double>>(
        R"({"type": "object", "additionalProperties": {"type": "number"}})");
    expect_schema<std::optional<bool>>(R"({"anyOf": [{"type": "boolean"}, {"type": "null"}]})");
    expect_schema<std::variant<bool, std::string>>(
        R"({"anyOf": [{"type": "boolean"}, {"type": "string"}]})");
}

TEST(schema, describes_structs_and_enums) {
    expect_schema<schema_samples::item>(
        R"({"type": "object",
            "properties": {"name": {"type": "string"},
                           "how": {"type": "string", "enum": ["small", "large"]},
                           "count": {"anyOf": [{"type": "integer", "minimum": -2147483648,
                                                "maximum": 2147483647}, {"type": "null"}]}},
            "required": ["name", "how"],
            "additionalProperties": false})");
}

TEST(schema, defines_structs_that_contain_themselves) {
    const json tree = json::parse(
                          R"({"type": "object",
            "properties": {"value": {"type": "integer", "minimum": -2147483648,
                                     "maximum": 2147483647},
                           "branches": {"type": "array", "items": {
                               "$ref": "#/$defs/heddle.schema_samples.tree"}}},
            "required": ["value", "branches"],
            "additionalProperties": false})")
                          .value();
    const json reference = json::object{{"$ref", "#/$defs/heddle.schema_samples.tree"}};
    const json definitions = json::object{{"heddle.schema_samples.tree", tree}};
    EXPECT_EQ(
        schema_of<schema_samples::tree>(),
        (json::object{{"$ref", "#/$defs/heddle.schema_samples.tree"}, {"$defs", definitions}}))
        << schema_of<schema_samples::tree>().to_string(2);
    EXPECT_EQ(
        schema_of<schema_samples::forest>(),
        (json::object{{"type", "object"},
                      {"properties", json::object{{"first", reference}, {"second", reference}}},
                      {"required", json::array{"first", "second"}},
                      {"additionalProperties", false},
                      {"$defs", definitions}}))
        << schema_of<schema_samples::forest>().to_string(2);
}

} // namespace
} // namespace heddle
