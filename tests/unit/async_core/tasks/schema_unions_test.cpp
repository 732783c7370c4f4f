// Schemas with many kinds to choose from, as pydantic and zod write them: a tag, or the members
// that there are, say which kind a value is before anything below it is looked at.
#include "schema_testing.hpp"
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::check;
using testing::harness;
using ::testing::HasSubstr;

/// What a kind of the expressions below looks like; `%` is its number.
using kind_schema = std::string (*)(int);

std::string number(int kind) { return std::to_string(kind); }

std::string object(const std::string& properties, const std::string& required) {
    return R"({"type":"object","properties":{)" + properties + R"(},"required":[)" + required + "]";
}

constexpr const char* operands = R"("arg1":{"$ref":"#/$defs/E"},"arg2":{"$ref":"#/$defs/E"})";

/// Expressions of `kinds` kinds with two operands each, and integers.
std::string expressions(const std::string& choose, int kinds, kind_schema kind) {
    std::string choices;
    std::string all;
    for (int i = 0; i < kinds; ++i) {
        choices += R"({"$ref":"#/$defs/B)" + number(i) + "\"},";
        all += ",\"B" + number(i) + "\":" + kind(i);
    }
    return R"({"$defs":{"E":{")" + choose + "\":[" + choices + R"({"type":"integer"}]})" + all +
           R"(},"$ref":"#/$defs/E"})";
}

std::string by_const(int kind) {
    return object(R"("op":{"const":")" + number(kind) + R"(","type":"string"},)" + operands,
                  R"("op","arg1","arg2")") +
           R"(,"additionalProperties":false})";
}
std::string by_enum(int kind) {
    return object(R"("op":{"enum":[")" + number(kind) + R"(","x"]},)" + operands, R"("op")") + "}";
}
/// The tag is the name of a member.
std::string by_name(int kind) {
    return object("\"z" + number(kind) + R"(":{},)" + operands, "\"z" + number(kind) + "\"") + "}";
}
/// The tag is in another schema than the operands, behind them.
std::string by_part(int kind) {
    return R"({"allOf":[{"type":"object","properties":{)" + std::string(operands) +
           R"(}},{"required":["op"],"properties":{"op":{"const":")" + number(kind) + R"("}}}]})";
}

/// A full tree of expressions of a kind.
std::string tree(int depth, const std::string& tag) {
    if (depth == 0) return "1";
    const std::string below = tree(depth - 1, tag);
    return "{" + tag + R"(,"arg1":)" + below + R"(,"arg2":)" + below + "}";
}

TEST(schema_unions, a_tag_decides_wherever_it_is) {
    struct row {
        kind_schema kind;
        std::string tag;
        std::string wrong;
    };
    const std::vector<row> rows = {{by_const, R"("op":"7")", R"("op":"9")"},
                                   {by_enum, R"("op":"7")", R"("op":"9")"},
                                   {by_name, R"("z7":0)", R"("z9":0)"},
                                   {by_part, R"("op":"7")", R"("op":"9")"}};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const char* choose : {"anyOf", "oneOf"}) {
            SCOPED_TRACE(choose + std::to_string(i));
            const std::string schema = expressions(choose, 8, rows[i].kind);
            EXPECT_EQ(check(schema, tree(3, rows[i].tag)), "");
            EXPECT_EQ(check(schema, tree(9, rows[i].tag)), "");
            EXPECT_THAT(check(schema, tree(6, rows[i].wrong)), HasSubstr("does not match"));
        }
    }
}

TEST(schema_unions, of_many_kinds_take_many_elements) {
    std::string kinds;
    std::string variants;
    for (int i = 0; i < 20; ++i) {
        kinds += (i == 0 ? "" : ",") + (R"({"$ref":"#/$defs/V)" + number(i) + "\"}");
        variants += (i == 0 ? "\"V" : ",\"V") + number(i) + "\":" +
                    object(R"("kind":{"const":"v)" + number(i) + R"("},"x":{"type":"integer"})",
                           R"("kind","x")") +
                    "}";
    }
    const std::string schema =
        R"({"$defs":{)" + variants + R"(},"type":"array","items":{"oneOf":[)" + kinds + "]}}";
    std::string json = "[";
    for (int i = 0; i < 20'000; ++i)
        json += R"({"kind":"v)" + number(i % 20) + R"(","x":)" + number(i) + "},";
    EXPECT_EQ(check(schema, json + R"({"kind":"v0","x":1}])"), "");
    EXPECT_THAT(check(schema, json + R"({"kind":"v0","x":"1"}])"), HasSubstr("does not match"));
}

TEST(schema_unions, what_is_seen_first_is_what_the_schema_requires) {
    // References to an element of an allOf lead to the same one as before.
    constexpr auto numbered = R"({"allOf":[{"properties":{"a":{"type":"integer"}}}],
        "properties":{"b":{"$ref":"#/allOf/0"}},"required":["b"]})";
    EXPECT_EQ(check(numbered, R"({"b":{"a":1}})"), "");
    EXPECT_NE(check(numbered, R"({"b":{"a":"1"}})"), "");
    EXPECT_NE(check(numbered, "{}"), "");
    // Next to a reference nothing holds, in draft 7.
    constexpr auto beside = R"({"$schema":"http://json-schema.org/draft-07/schema#",
        "definitions":{"any":{}},"properties":{"a":{"$ref":"#/definitions/any","const":1}}})";
    EXPECT_EQ(check(beside, R"({"a":2})"), "");
    EXPECT_EQ(check(R"({"required":["a"]})", "1"), ""); // no object
    EXPECT_EQ(check(R"({"properties":{"a":{"const":{"b":1}}}})", R"({"a":{"b":1.0}})"), "");
    EXPECT_NE(check(R"({"properties":{"a":{"const":{"b":1}}}})", R"({"a":{"b":2}})"), "");
    EXPECT_NE(check(R"({"required":["a"],"additionalProperties":false})", R"({"a":1})"), "");
    EXPECT_EQ(check(R"({"properties":{"heddle:shape":{"const":1}}})", R"({"heddle:shape":1})"), "");
}

TEST(schema_unions, what_a_check_may_take_grows_with_the_response) {
    std::string kinds;
    for (int i = 0; i < 200; ++i)
        kinds += R"({"type":"object","properties":{"kind":{"const":"v)" + number(i) +
                 R"("},"x":{"type":"integer"}},"required":["kind","x"]},)";
    kinds.pop_back();
    const std::string schema = R"({"type":"array","items":{"oneOf":[)" + kinds + "]}}";
    std::string rows;
    for (int i = 0; i < 4'000; ++i)
        rows += R"({"kind":"v)" + number(i % 200) + R"(","x":)" + number(i) + "},";
    EXPECT_EQ(check(schema, "[" + rows + R"({"kind":"v7","x":7}])"), "");
    EXPECT_THAT(check(schema, "[" + rows + R"({"kind":"v7","x":"7"}])"), HasSubstr("not match"));
    std::string numbers = "[1";
    for (int i = 0; i < 1'500'000; ++i) numbers += ",2";
    EXPECT_EQ(check(R"({"type":"array","items":{"enum":[1,2,3]}})", numbers + "]"), "");
    EXPECT_THAT(check(R"({"type":"object","propertyNames":{"maxLength":1}})", R"({"ab":1})"),
                HasSubstr("a member whose name propertyNames does not allow"));
}

TEST(schema_unions, names_of_members_are_checked_where_a_reference_has_led_to_their_schema) {
    // As zod and pydantic write a record with the keys of an enumeration.
    constexpr auto typed = R"({"type":"object","properties":{"stock":{"$ref":"#/$defs/s"}},
        "$defs":{"s":{"type":"object","propertyNames":{"enum":["red","blue"]},
        "additionalProperties":{"type":"integer"}}}})";
    constexpr auto bare = R"({"properties":{"stock":{"$ref":"#/$defs/s"}},
        "$defs":{"s":{"propertyNames":{"$ref":"#/$defs/n"}},"n":{"enum":["red"]}}})";
    constexpr auto root = R"({"type":"object","propertyNames":{"pattern":"^[a-z]+$"},
        "additionalProperties":{"$ref":"#"}})";
    constexpr auto all = R"({"allOf":[{"propertyNames":{"maxLength":1}},
        {"additionalProperties":{"allOf":[{"propertyNames":{"minLength":2}}]}}]})";
    for (const auto& [schema, good, bad] :
         {std::array{typed, R"({"stock":{"red":1}})", R"({"stock":{"green":1}})"},
          std::array{typed, R"({"stock":{}})", R"({"stock":{"red":"1"}})"},
          std::array{bare, R"({"stock":{"red":1}})", R"({"stock":{"blue":1}})"},
          std::array{root, R"({"a":{"b":{}}})", R"({"a":{"B":{}}})"},
          std::array{all, R"({"a":{"bc":1}})", R"({"a":{"b":1}})"}}) {
        EXPECT_EQ(check(schema, good), "") << schema;
        EXPECT_NE(check(schema, bad), "") << schema;
    }
}

TEST(schema_unions, a_check_that_takes_too_long_is_not_the_fault_of_the_response) {
    // Without a tag: two kinds that each ask for the same member.
    constexpr auto schema = R"({"$defs":{"e":{"anyOf":[{"type":"number"},
        {"type":"object","properties":{"neg":{"$ref":"#/$defs/e"}},"required":["neg"]},
        {"type":"object","properties":{"neg":{"$ref":"#/$defs/e"},"pos":{}}}]}},
        "$ref":"#/$defs/e"})";
    std::string deep = "\"x\"";
    for (int i = 0; i < 60; ++i) deep = R"({"neg":)" + deep + "}";
    task_template declared;
    declared.name = "t";
    declared.instructions = "go";
    declared.output = {true, schema};
    declared.retries = 3;
    harness w({declared});
    w.llm.say(deep);
    EXPECT_EQ(
        w.json("(let ((r (t))) (list (get r 'status) (string-length (get r 'content)) (get-in "
               "r '(notes error reason)) (get-in r '(notes error details error_type))))"),
        R"(["FAILED",)" + std::to_string(deep.size()) +
            R"(,"output_format_failure","SchemaCheckLimit"])");
    EXPECT_EQ(w.llm.asked.size(), 1U) << "another response would take as long";
    EXPECT_THAT(w.json("(get-in (t) '(notes error message))"), HasSubstr("take too long"));
}

} // namespace
} // namespace heddle::tasks
