// Schemas as the libraries write them that programs get theirs from.
#include "schema_testing.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <string>

namespace heddle::tasks {
namespace {

using testing::check;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(schema_dialects, references_lead_into_tuples) {
    constexpr auto first = R"({"type":"object","properties":{
        "t":{"type":"array","prefixItems":[{"type":"integer"}]},
        "u":{"$ref":"#/properties/t/prefixItems/0"}}})";
    EXPECT_EQ(check(first, R"({"t":[1],"u":1})"), "");
    EXPECT_NE(check(first, R"({"t":[1],"u":"x"})"), "");
    for (const std::string_view before : {"a", "z"}) { // the reference is read first or last
        const std::string rest = R"({"$schema":"https://json-schema.org/draft/2020-12/schema",
            "type":"object","properties":{")" +
                                 std::string(before) + R"(":{"$ref":"#/properties/t/items"},
            "t":{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}}})";
        EXPECT_EQ(check(rest, "{\"t\":[1,\"s\"],\"" + std::string(before) + R"(":"s"})"), "");
        EXPECT_NE(check(rest, "{\"" + std::string(before) + R"(":1})"), "");
    }
    constexpr auto inner = R"({"$defs":{"T":{"prefixItems":[{"prefixItems":[{"type":"boolean"}]}]}},
        "properties":{"prefixItems":{"type":"integer"},"items":{"$ref":"#/properties/prefixItems"},
        "x":{"$ref":"#/$defs/T/prefixItems/0/prefixItems/0"}}})";
    EXPECT_EQ(check(inner, R"({"prefixItems":1,"items":2,"x":true})"), "");
    EXPECT_NE(check(inner, R"({"items":"2"})"), "");
    EXPECT_NE(check(inner, R"({"x":1})"), "");
    EXPECT_THAT(check(R"({"prefixItems":[{"$ref":"#/prefixItems/1"}]})", "[]"),
                HasSubstr("the schema at \"/prefixItems/1\" is referred to but does not exist"));
    EXPECT_THAT(check(R"({"prefixItems":[{"minimum":"a"}]})", "[]"),
                HasSubstr("the schema at \"/prefixItems/0\" has a minimum"));
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
        EXPECT_THAT(check(schema, "[1]"), HasSubstr("does not exist")) << nowhere;
    }
}

TEST(schema_dialects, what_is_not_supported_is_reported) {
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

[[nodiscard]] std::string repeated(std::string_view part, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += part;
    return all;
}

[[nodiscard]] std::string with_pattern(std::string_view pattern, std::string_view response) {
    const std::string quoted = boost::json::serialize(boost::json::string(pattern));
    return check(R"({"properties":{"a":{"pattern":)" + quoted + "}}}", response);
}

TEST(schema_dialects, patterns_are_weighed_before_they_are_compiled) {
    const std::clock_t began = std::clock();
    for (const std::string& pattern : {"(?:" + repeated("x?", 10'000) + ")*",
                                       repeated("(x*)*", 30'000), "(?i)" + repeated("k", 100'000),
                                       repeated("(?:", 50'000) + "x" + repeated(")*", 50'000)}) {
        EXPECT_THAT(with_pattern(pattern, "{}"), HasSubstr("has patterns that are too long"));
    }
    for (const std::string& pattern :
         {repeated("\\pL", 300), "(?i)" + repeated("\\pL", 1'300), repeated("[^\\pL]", 600),
          std::string("(\\pL{1,30}){1,30}"), "\\Q[\\E" + repeated("\\pL", 500),
          "[[:alpha:]" + repeated("]\\pL[", 500), "(?i:" + repeated("\\p{Greek}?", 300) + ")",
          repeated("x{1,900}", 100), std::string("\\pL{1,100}.*$")}) {
        EXPECT_THAT(with_pattern(pattern, "{}"), HasSubstr("has patterns that are too large"))
            << pattern.substr(0, 40);
    }
    std::string many = R"({"allOf":[{"pattern":"0"})";
    for (int i = 0; i < 20; ++i)
        many += R"(,{"pattern":")" + repeated("x", 2'000) + std::to_string(i) + "\"}";
    EXPECT_THAT(check(many + "]}", "1"), HasSubstr("32 KiB for all"));
    EXPECT_LT(std::clock() - began, CLOCKS_PER_SEC);
}

TEST(schema_dialects, ordinary_patterns_are_taken) {
    const std::string date = R"(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))";
    for (const auto& [pattern, text] : std::map<std::string, std::string>{
             {R"(^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}\.[A-Za-z]{2,63}$)", "a.b@c.example"},
             {"^" + date + "$", "2024-02-29"},
             {"^" + date + R"(T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$)",
              "2024-02-29T23:59:59.5+01:00"},
             {"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
              "123e4567-e89b-12d3-a456-426614174000"},
             {R"(^[\p{L}\p{M}' -]{1,100}$)", "Noël O'Neill"},
             {R"(^\p{L}+([ -]\p{L}+)*$)", "Anna-Lena Ö"},
             {R"(\p{L}{1,50}$)", "日本"},
             {R"((?i)^https?://[^\s/]{1,253}(/\S{0,1000})?$)", "HTTPS://a.example/b"}}) {
        EXPECT_EQ(with_pattern(pattern, boost::json::serialize(boost::json::object{{"a", text}})),
                  "")
            << pattern;
        EXPECT_THAT(with_pattern(pattern, R"({"a":"?"})"), HasSubstr("does not match")) << pattern;
    }
    std::string many = R"({"allOf":[{"pattern":"^a"})";
    for (int i = 0; i < 30; ++i)
        many += R"(,{"pattern":"^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,25}\\.[a-z]{2,)" +
                std::to_string(10 + i) + "}$\"}";
    EXPECT_EQ(check(many + "]}", "\"a@b.example\""), "");
}

} // namespace
} // namespace heddle::tasks
