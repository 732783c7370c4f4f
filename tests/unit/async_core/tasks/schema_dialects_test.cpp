// Schemas as the libraries write them that programs get theirs from.
#include "tasks_testing.hpp"

#include <heddle/tasks/output/output_schema.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string check(std::string_view schema, std::string_view json) {
    testing::reading text;
    const auto code = output_schema::compile(schema);
    if (!code) return "refused: " + code.error().message();
    const auto wrong = code->check(text.json(json), json);
    return wrong ? wrong->message : "";
}

TEST(schema_dialects, tuples_have_a_schema_for_each_element) {
    // pydantic: tuple[int, str]
    constexpr auto pair = R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],
                              "minItems":2,"maxItems":2})";
    EXPECT_EQ(check(pair, R"([1,"a"])"), "");
    EXPECT_NE(check(pair, R"(["a",1])"), "");
    EXPECT_NE(check(pair, R"([1,"a",2])"), "");
    constexpr auto rest =
        R"({"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":[{"type":"integer"}],
            "items":{"type":"string"},"additionalItems":false})";
    EXPECT_EQ(check(rest, R"([1,"a","b"])"), "");
    EXPECT_NE(check(rest, R"([1,"a",2])"), "");
    EXPECT_EQ(check(R"({"prefixItems":[{"type":"integer"}],"items":false})", "[1]"), "");
    EXPECT_NE(check(R"({"prefixItems":[{"type":"integer"}],"items":false})", "[1,2]"), "");
    EXPECT_EQ(check(R"({"prefixItems":[{"type":"integer"}]})", R"([1,"any"])"), "");
    constexpr auto nested = R"({"$defs":{"T":{"type":"array","prefixItems":[{"type":"integer"},
        {"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]}]}},"$ref":"#/$defs/T"})";
    EXPECT_EQ(check(nested, "[1,[2,null]]"), "");
    EXPECT_NE(check(nested, R"([1,["2",null]])"), "");
}

TEST(schema_dialects, references_are_fragments_of_addresses) {
    constexpr auto generic = R"({"$defs":{"List[int]":{"type":"array","items":{"type":"integer"}},
        "a~b/c%d":{"type":"string"}},"type":"object","properties":{"l":{"$ref":"#/$defs/List%5Bint%5D"},
        "s":{"$ref":"#/$defs/a~0b~1c%25d"},"t":{"$ref":"#/%24defs/a~0b~1c%25d"}}})";
    EXPECT_EQ(check(generic, R"({"l":[1],"s":"x","t":"y"})"), "");
    EXPECT_NE(check(generic, R"({"l":["1"]})"), "");
    EXPECT_NE(check(generic, R"({"s":1})"), "");
    EXPECT_NE(check(generic, R"({"t":1})"), "");
    EXPECT_THAT(check(R"({"$ref":"#/$defs/a%5"})", "1"), HasSubstr("does not begin an escape"));
}

TEST(schema_dialects, references_lead_to_any_place_of_the_document) {
    // OpenAPI
    constexpr auto api = R"({"components":{"schemas":{
        "a":{"type":"object","properties":{"b":{"$ref":"#/components/schemas/b"}},"required":["b"]},
        "b":{"type":"array","items":{"$ref":"#/components/schemas/c"}},
        "c":{"pattern":"^[ab]$","enum":["a","c"]},
        "wrong":{"type":"frog"}}},"$ref":"#/components/schemas/a"})";
    EXPECT_EQ(check(api, R"({"b":["a"]})"), "");
    EXPECT_NE(check(api, "{}"), "");
    EXPECT_NE(check(api, R"({"b":["b"]})"), "") << "is not in the enum";
    EXPECT_NE(check(api, R"({"b":["c"]})"), "") << "does not match the pattern";
    constexpr auto inside = R"({
        "properties":{"one":{"$ref":"#/x/y/properties/z"},"two":{"$ref":"#/x/y"},
                      "three":{"$ref":"#/x/list/1"}},"x":{"y":{"properties":{"z":{"type":"integer"}}},
                      "list":[{},{"type":"null"}]}})";
    EXPECT_EQ(check(inside, R"({"one":1,"two":{"z":2},"three":null})"), "");
    EXPECT_NE(check(inside, R"({"one":"1"})"), "");
    EXPECT_NE(check(inside, R"({"two":{"z":"2"}})"), "");
    EXPECT_NE(check(inside, R"({"three":3})"), "");
    for (const char* nowhere : {"#/x/none", "#/x/list/2", "#/x/list/01", "#/x/text", "#/enum/0",
                                "#/heddle:values/0", "#/const"}) {
        const std::string schema = R"({"x":{"list":[{},{}],"text":"t"},"enum":[{"type":"null"}],
            "const":{"type":"null"},"items":{"$ref":")" +
                                   std::string(nowhere) + "\"}}";
        EXPECT_THAT(check(schema, "[1]"), HasSubstr("is not there")) << nowhere;
    }
}

TEST(schema_dialects, what_is_not_supported_is_said) {
    // zod: z.email()
    EXPECT_THAT(check(R"({"type":"string","format":"email","pattern":"^(?!\\.)[a-z.]+@[a-z.]+$"})",
                      "\"a@b\""),
                HasSubstr("look-ahead and look-behind are not supported"));
    EXPECT_THAT(check(R"({"patternProperties":{"^x":{"type":"integer"}}})", "{}"),
                HasSubstr("uses patternProperties, which is not supported"));
}

TEST(schema_dialects, large_patterns_are_bounded) {
    EXPECT_EQ(check(R"({"pattern":"^\\p{L}{1,100}$"})", "\"日本\""), "");
    EXPECT_EQ(check(R"({"pattern":"^.{0,1000}$"})", "\"x\""), "");
    std::string many = R"({"allOf":[{"pattern":"x{1,900}"})";
    for (int i = 0; i < 300; ++i) // the same ones are one
        many += R"(,{"pattern":"x{1,900}"})";
    EXPECT_EQ(check(many + "]}", "\"x\""), "");
    for (int i = 0; i < 100; ++i) many += R"(,{"pattern":"x{1,900}y)" + std::to_string(i) + "\"}";
    EXPECT_THAT(check(many + "]}", "\"x\""),
                AllOf(StartsWith("refused: the schema at \"/allOf/"),
                      HasSubstr("has patterns that are too large together")));
    EXPECT_THAT(
        check(R"({"allOf":[{"pattern":"^\\p{L}{1,100}$"},{"pattern":"^\\p{L}{1,99}$"}]})", "\"x\""),
        HasSubstr("too large together"));
}

} // namespace
} // namespace heddle::tasks
