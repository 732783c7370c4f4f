#include "tasks_testing.hpp"

#include <heddle/tasks/output_schema.hpp>

#include <heddle/base/utf8.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

/// "" when the answer is accepted, "refused: …" when the schema is.
std::string check(std::string_view schema, std::string_view json) {
    testing::reading text;
    auto made = output_schema::compile(schema);
    if (!made) return "refused: " + made.error().message();
    const auto wrong = made->check(text.json(json), json);
    return wrong ? wrong->path + "|" + wrong->message : "";
}

TEST(output_schema, knows_the_basic_names) {
    EXPECT_EQ(check("", "[1]"), "");
    EXPECT_EQ(check("object", "{}"), "");
    EXPECT_EQ(check("object", "[]"), "|expected an object, not an array");
    EXPECT_EQ(check("array", "[{}]"), "");
    EXPECT_EQ(check("[]", "{}"), "|expected an array, not an object");
    EXPECT_EQ(check("string[]", "[\"a\"]"), "");
    EXPECT_EQ(check("string[]", "[\"a\",1]"), "/1|at /1: expected a string, not a number");
    EXPECT_EQ(check("number[]", "[1,2.5]"), "");
    EXPECT_EQ(check("number", "null"), "|expected a number, not null");
    EXPECT_EQ(check("boolean", "true"), "");
    EXPECT_EQ(check("boolean", "0"), "|expected a boolean, not a number");
    EXPECT_EQ(check("string", "\"x\""), "");
    EXPECT_THAT(check("strings", "1"), HasSubstr("refused: 'strings' is no known schema"));
}

TEST(output_schema, messages_quote_whole_characters) {
    for (std::size_t before = 0; before < 4; ++before) {
        std::string name(before, 'x');
        for (int i = 0; i < 300; ++i) name += "日";
        for (const std::string& told :
             {check(R"({"additionalProperties":false})", "{\"" + name + "\":1}"),
              check("{\"properties\":{\"" + name + "\":{\"$dynamicRef\":\"#x\"}}}", "{}"),
              check(name, "{}")}) {
            EXPECT_THAT(told, HasSubstr("日…")) << before;
            EXPECT_EQ(told.find(utf8::replacement), std::string::npos) << told;
        }
    }
}

TEST(output_schema, checks_json_schema) {
    constexpr auto schema = R"({"type":"object","required":["n"],"additionalProperties":false,
        "properties":{"n":{"type":"integer","minimum":1},"t":{"enum":["a","b"]},
                      "l":{"type":"array","items":{"type":"string"},"uniqueItems":true}}})";
    EXPECT_EQ(check(schema, R"({"n":1,"t":"a","l":["x","y"]})"), "");
    EXPECT_THAT(check(schema, R"({"t":"a"})"), HasSubstr("'n'"));
    EXPECT_THAT(check(schema, R"({"n":"1"})"), HasSubstr("/n"));
    EXPECT_THAT(check(schema, R"({"n":0})"), HasSubstr("/n"));
    EXPECT_THAT(check(schema, R"({"n":1,"t":"c"})"), HasSubstr("/t"));
    EXPECT_THAT(check(schema, R"({"n":1,"x":1})"), HasSubstr("x"));
    EXPECT_THAT(check(schema, R"({"n":1,"l":["x",1]})"), HasSubstr("/l/1"));
    EXPECT_THAT(check(schema, R"({"n":1,"l":["x","x"]})"), HasSubstr("unique"));
}

TEST(output_schema, combines_and_refers) {
    EXPECT_EQ(check(R"({"anyOf":[{"type":"string"},{"type":"number"}]})", "2"), "");
    EXPECT_NE(check(R"({"oneOf":[{"type":"string"},{"type":"number"}]})", "null"), "");
    EXPECT_NE(check(R"({"not":{"type":"string"}})", "\"x\""), "");
    constexpr auto tree = R"({"definitions":{"node":{"type":"object","properties":
        {"next":{"$ref":"#/definitions/node"},"v":{"type":"number"}}}},"$ref":"#/definitions/node"})";
    EXPECT_EQ(check(tree, R"({"next":{"next":{"v":1}}})"), "");
    EXPECT_NE(check(tree, R"({"next":{"next":{"v":"x"}}})"), "");
}

TEST(output_schema, patterns_take_linear_time) {
    constexpr auto schema = R"({"type":"string","pattern":"^(a+)+$"})";
    EXPECT_EQ(check(schema, "\"aaa\""), "");
    EXPECT_THAT(check(schema, "\"" + std::string(200'000, 'a') + "b\""), HasSubstr("match"));
    EXPECT_EQ(check(R"({"type":"object","properties":{"pattern":{"type":"number"}}})",
                    R"({"pattern":1})"),
              "");
    EXPECT_THAT(check("{\"pattern\":\"(?=x)\"}", "1"), HasSubstr("refused"));
    EXPECT_EQ(check(R"({"pattern":"x"})", "1"), ""); // holds for strings only
    EXPECT_EQ(check(R"({"type":"string","format":"date"})", "\"no date\""), ""); // an annotation
}

TEST(output_schema, unique_items_of_a_large_array) {
    std::string json = "[";
    for (int i = 0; i < 100'000; ++i) json += std::to_string(i) + ",";
    EXPECT_EQ(check(R"({"uniqueItems":true})", json + "1.5]"), "");
    EXPECT_NE(check(R"({"uniqueItems":true})", json + "77.0]"), "");
    EXPECT_NE(check(R"({"uniqueItems":true})", R"([{"a":1,"b":2},{"b":2,"a":1}])"), "");
    EXPECT_EQ(check(R"({"uniqueItems":true})", R"(["1",1,true,null,[],{}])"), "");
}

TEST(output_schema, refuses_what_it_could_not_bound_or_check) {
    for (
        const char* schema :
        {R"({"$ref":"#"})", R"({"$ref":"http://x/y"})", R"({"$ref":"#/nowhere"})",
         R"({"allOf":[{"$ref":"#"}]})", R"({"patternProperties":{"x":{}}})",
         R"({"prefixItems":[]})", R"({"type":"object","properties":[]})", R"({"type":"frog"})", "{",
         "[{}]",
         R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"not":{"$ref":"#/definitions/a"}}}})"}) {
        EXPECT_THAT(check(schema, "1"), HasSubstr("refused")) << schema;
    }
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += R"({"items":)";
    deep += "{}" + std::string(200, '}');
    EXPECT_THAT(check(deep, "1"), HasSubstr("refused"));
}

TEST(output_schema, sees_what_fits_the_strict_mode_of_services) {
    const auto strict = [](std::string_view schema) {
        return output_schema::compile(schema).value().fits_strict_mode();
    };
    EXPECT_TRUE(strict(R"({"type":"object","properties":{"a":{"type":"array","items":
        {"type":"object","properties":{},"required":[],"additionalProperties":false}}},
        "required":["a"],"additionalProperties":false})"));
    EXPECT_FALSE(strict(R"({"type":"object","properties":{"a":{}},"required":[],
                            "additionalProperties":false})"));
    EXPECT_FALSE(strict(R"({"type":"object","properties":{}})"));
    EXPECT_FALSE(strict("object"));
}

} // namespace
} // namespace heddle::tasks
