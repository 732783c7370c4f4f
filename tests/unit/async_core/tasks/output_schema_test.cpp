#include "tasks_testing.hpp"

#include <heddle/tasks/output/output_schema.hpp>

#include <heddle/base/utf8.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sanitizers.hpp>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "" when the response is accepted, "refused: …" when the schema is.
std::string check(std::string_view schema, std::string_view json) {
    testing::reading text;
    auto code = output_schema::compile(schema);
    if (!code) return "refused: " + code.error().message();
    const auto wrong = code->check(text.json(json), json);
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
    EXPECT_THAT(check("strings", "1"), HasSubstr("refused: unknown schema 'strings'"));
}

TEST(output_schema, messages_quote_whole_characters) {
    for (std::size_t before = 0; before < 4; ++before) {
        std::string name(before, 'x');
        for (int i = 0; i < 300; ++i) name += "日";
        for (const std::string& reported :
             {check(R"({"additionalProperties":false})", "{\"" + name + "\":1}"),
              check("{\"properties\":{\"" + name + "\":{\"$dynamicRef\":\"#x\"}}}", "{}"),
              check(name, "{}")}) {
            EXPECT_THAT(reported, HasSubstr("日…")) << before;
            EXPECT_EQ(reported.find(utf8::replacement), std::string::npos) << reported;
        }
    }
}

TEST(output_schema, looks_up_allowed_values_however_many_there_are) {
    std::string codes;
    for (int i = 0; i < 5000; ++i) codes += (i == 0 ? "\"c" : ",\"c") + std::to_string(i) + "\"";
    const std::string schema = "{\"type\":\"array\",\"items\":{\"enum\":[" + codes + "]}}";
    std::string many;
    for (int i = 0; i < 500; ++i) many += (i == 0 ? "\"c" : ",\"c") + std::to_string(i) + "\"";
    EXPECT_EQ(check(schema, "[" + many + "]"), "");
    EXPECT_THAT(check(schema, "[" + many + ",\"d\"]"), HasSubstr("none of those"));
    EXPECT_EQ(check(R"({"enum":[1,[2,{"a":null}],"x"]})", R"([2,{"a":null}])"), "");
    EXPECT_EQ(check(R"({"const":{"a":1,"b":[true]}})", R"({"b":[true],"a":1.0})"), "");
    EXPECT_NE(check(R"({"const":{"a":1}})", R"({"a":2})"), "");
    EXPECT_NE(check(R"({"const":1,"enum":[2]})", "1"), "");
    EXPECT_EQ(check(R"({"const":1,"enum":[1,2]})", "1"), "");
    EXPECT_EQ(check(R"({"const":9300000000000000000})", "9300000000000000000"), "");
    EXPECT_NE(check(R"({"maximum":9300000000000000000})", "9400000000000000000"), "");
}

TEST(output_schema, refuses_text_of_which_only_the_beginning_would_be_seen) {
    for (const char* schema :
         {R"({"pattern":"^[a-z]+$"})", R"({"const":"a"})", R"({"maxLength":3})"})
        EXPECT_THAT(check(schema, R"("a\u0000; rm -rf /")"), HasSubstr("NUL")) << schema;
    EXPECT_THAT(check(R"({"type":"object"})", R"({"a\u0000b":1})"), HasSubstr("NUL"));
    EXPECT_THAT(check(R"({"const":"a\u0000b"})", R"("a")"), HasSubstr("refused: "));
    EXPECT_EQ(check(R"({"type":"string"})", R"("a\\u0000")"), "");
}

TEST(output_schema, takes_numbers_as_draft_7_does) {
    for (const char* price : {"19.99", "4.35", "8.20", "33.33", "99.99", "1234.56"})
        EXPECT_EQ(check(R"({"multipleOf":0.01})", price), "") << price;
    EXPECT_NE(check(R"({"multipleOf":0.01})", "19.995"), "");
    EXPECT_NE(check(R"({"multipleOf":7})", "50"), "");
    EXPECT_EQ(check(R"({"type":"integer"})", "5.0"), "");
    EXPECT_NE(check(R"({"type":"integer"})", "5.5"), "");
}

TEST(output_schema, checks_what_is_written_next_to_a_reference) {
    constexpr auto schema =
        R"({"$defs":{"s":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/s","minLength":3}}})";
    EXPECT_EQ(check(schema, R"({"x":"long"})"), "");
    EXPECT_NE(check(schema, R"({"x":"s"})"), "");
    EXPECT_NE(check(schema, R"({"x":1234})"), "");
    constexpr auto root =
        R"({"$ref":"#/$defs/o","required":["a"],"$defs":{"o":{"type":"object"}}})";
    EXPECT_EQ(check(root, R"({"a":1})"), "");
    EXPECT_NE(check(root, "{}"), "");
    // In draft 7 a reference replaces all: whoever does not name that draft may not know it.
    const std::string old = R"("definitions":{"s":{"type":"string"}},
                               "properties":{"x":{"$ref":"#/definitions/s","minLength":3}}})";
    EXPECT_EQ(
        check(R"({"$schema":"http://json-schema.org/draft-07/schema#",)" + old, R"({"x":"s"})"),
        "");
    EXPECT_THAT(check("{" + old, R"({"x":"s"})"),
                HasSubstr("refused: the schema at \"/properties/x\" has minLength next to a $ref"));
    EXPECT_EQ(check(R"({"definitions":{"s":{}},"items":{"$ref":"#/definitions/s","title":"t",
                        "x-order":1,"description":"d","default":0}})",
                    "[1]"),
              "");
    EXPECT_THAT(check(R"({"dependencies":{"a":{"$ref":"#"}}})", R"({"a":1})"),
                HasSubstr("refers to itself"));
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

TEST(output_schema, reports_the_place_as_a_json_pointer) {
    constexpr auto schema = R"({"additionalProperties":{"items":{"type":"number"}}})";
    EXPECT_THAT(check(schema, R"({"a/b":[1,"x"]})"), StartsWith("/a~1b/1|"));
    EXPECT_THAT(check(schema, R"({"m~n":["x"]})"), StartsWith("/m~0n/0|"));
    EXPECT_THAT(check(schema, R"({"":["x"]})"), StartsWith("//0|"));
}

TEST(output_schema, wrong_types_are_shown_with_the_value) {
    constexpr auto list = R"({"type":"array","items":{"type":"integer"}})";
    EXPECT_EQ(
        check(list, R"(["2"])"),
        "/0|the response does not match the schema: the value at /0 must be an integer, not the string \"2\"");
    EXPECT_EQ(
        check(list, R"({"a":1})"),
        "|the response does not match the schema: it must be an array, not the object {\"a\":1}");
    constexpr auto map =
        R"({"properties":{"a/b":{"type":"string"},"c":{"items":{"type":"object"}}}})";
    EXPECT_EQ(
        check(map, R"({"a/b":1})"),
        "/a~1b|the response does not match the schema: 'a/b' must be a string, not the integer 1");
    EXPECT_EQ(
        check(map, R"({"c":[{},[]]})"),
        "/c/1|the response does not match the schema: the value at /c/1 must be an object, not the array []");
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
         R"({"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[]})",
         R"({"prefixItems":[{}],"items":[{}]})", R"({"prefixItems":{}})", R"({"$ref":"#/%zz"})",
         R"({"type":"object","properties":[]})", R"({"type":"frog"})", "{", "[{}]",
         R"({"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"not":{"$ref":"#/definitions/a"}}}})"}) {
        EXPECT_THAT(check(schema, "1"), HasSubstr("refused")) << schema;
    }
    std::string deep;
    for (int i = 0; i < 200; ++i) deep += R"({"items":)";
    deep += "{}" + std::string(200, '}');
    EXPECT_THAT(check(deep, "1"), HasSubstr("refused"));
}

TEST(output_schema, a_schema_that_is_no_json_is_shown_where) {
    EXPECT_THAT(check("{\"type\": \"object\",\n}", "1"),
                HasSubstr("the schema is not JSON: trailing comma before } (line 2, column 1)"));
    EXPECT_THAT(check("{\"required\": [\"a\", ]}", "1"), HasSubstr("trailing comma before ]"));
    EXPECT_THAT(check("{\"type\": object}", "1"), HasSubstr("(line 1, column 10)"));
}

TEST(output_schema, multiples_of_nothing_are_refused) {
    for (const char* divisor : {"0", "0.0", "-0.0", "-1", "-2.5", "\"2\"", "null", "[1]", "true"}) {
        const std::string schema = std::string(R"({"properties":{"a":{"multipleOf":)") + divisor;
        EXPECT_THAT(check(schema + "}}}", R"({"a":5})"),
                    HasSubstr("refused: the schema at \"/properties/a\" has a multipleOf"))
            << divisor;
    }
}

TEST(output_schema, multiples_are_exact) {
    EXPECT_EQ(check(R"({"multipleOf":1})", "-9223372036854775808"), "");
    EXPECT_EQ(check(R"({"multipleOf":2})", "-9223372036854775808"), "");
    EXPECT_NE(check(R"({"multipleOf":3})", "-9223372036854775808"), "");
    EXPECT_NE(check(R"({"multipleOf":9223372036854775806})", "9223372036854775807"), "");
    EXPECT_NE(check(R"({"multipleOf":2})", "2.5"), "");
    EXPECT_EQ(check(R"({"multipleOf":2})", "1e300"), "");
    EXPECT_EQ(check(R"({"multipleOf":0.5})", "2.5"), "");
    EXPECT_EQ(check(R"({"multipleOf":2})", "\"x\""), "");
    EXPECT_NE(check(R"({"multipleOf":1})", "2251799813685249.5"), "");
    EXPECT_NE(check(R"({"multipleOf":7})", "1e17"), "");
    EXPECT_EQ(check(R"({"multipleOf":7})", "7e17"), "");
    EXPECT_NE(check(R"({"properties":{"a":{"multipleOf":2}}})", R"({"a":18446744073709551615})"),
              "");
    EXPECT_EQ(check(R"({"properties":{"a":{"multipleOf":5}}})", R"({"a":18446744073709551615})"),
              "");
    EXPECT_EQ(check(R"({"multipleOf":18446744073709551615})", "18446744073709551615"), "");
    EXPECT_NE(check(R"({"multipleOf":18446744073709551615})", "18446744073709551614"), "");
    EXPECT_NE(check(R"({"multipleOf":1e30})", "1e20"), "");
    EXPECT_EQ(check(R"({"multipleOf":2.5e-7})", "1e17"), "");
    EXPECT_NE(check(R"({"multipleOf":3e-7})", "1e17"), "");
}

TEST(output_schema, looks_at_numbers_above_the_greatest_integer) {
    EXPECT_NE(check(R"({"maximum":10})", "18446744073709551615"), "");
    EXPECT_NE(check(R"({"properties":{"a":{"type":"number","maximum":10}}})",
                    R"({"a":9223372036854775808})"),
              "");
    EXPECT_EQ(check(R"({"minimum":10})", "18446744073709551615"), "");
}

TEST(output_schema, takes_whole_numbers_of_any_size_for_integers) {
    for (const char* whole : {"9007199254740994.0", "1e20", "1e300", "18446744073709551615",
                              "-18446744073709551615", "12345678901234567890123", "-0.0", "1e2"})
        EXPECT_EQ(check(R"({"type":"integer"})", whole), "") << whole;
    for (const char* fraction : {"2251799813685249.5", "1e-1", "-0.5"})
        EXPECT_NE(check(R"({"type":"integer"})", fraction), "") << fraction;
    EXPECT_EQ(check(R"({"type":["null","integer"]})", "1e20"), "");
    EXPECT_NE(check(R"({"type":["null","string"]})", "18446744073709551615"), "");
}

TEST(output_schema, distinguishes_large_numbers) {
    constexpr auto greatest = R"({"const":18446744073709551615})";
    EXPECT_EQ(check(greatest, "18446744073709551615"), "");
    EXPECT_NE(check(greatest, "18446744073709551614"), "");
    EXPECT_EQ(check(R"({"enum":[9100000000000000000]})", "9.1e18"), "");
    EXPECT_EQ(check(R"({"enum":[9.3e18]})", "9300000000000000000"), "");
    EXPECT_NE(check(R"({"uniqueItems":true})", "[1e19,10000000000000000000]"), "");
    EXPECT_EQ(check(R"({"uniqueItems":true})", "[18446744073709551615,18446744073709551614]"), "");
    EXPECT_EQ(check(R"({"contains":{"const":18446744073709551615}})",
                    R"([1,{"a":[18446744073709551614]},18446744073709551615])"),
              "");
}

TEST(output_schema, limits_of_numbers_are_exact) {
    EXPECT_NE(check(R"({"maximum":9007199254740992})", "9007199254740993"), "");
    EXPECT_EQ(check(R"({"maximum":9007199254740993})", "9007199254740993"), "");
    EXPECT_NE(check(R"({"exclusiveMaximum":18446744073709551615})", "18446744073709551615"), "");
    EXPECT_EQ(check(R"({"exclusiveMaximum":18446744073709551615})", "18446744073709551614"), "");
    EXPECT_NE(check(R"({"minimum":18446744073709551615})", "18446744073709551614"), "");
    EXPECT_EQ(check(R"({"minimum":18446744073709551615})", "1e20"), "");
    EXPECT_NE(check(R"({"minimum":-1e20})", "-2e20"), "");
    EXPECT_EQ(check(R"({"minimum":-1e20})", "-9223372036854775808"), "");
    EXPECT_EQ(check(R"({"exclusiveMinimum":-1.5,"maximum":-1})", "-1"), "");
    EXPECT_NE(check(R"({"minimum":-1})", "-1.5"), "");
    EXPECT_EQ(check(R"({"exclusiveMinimum":0.25})", "0.5"), "");
    EXPECT_THAT(check(R"({"maximum":10})", "10.5"), HasSubstr("less than or equal to 10"));
    EXPECT_THAT(check(R"({"maximum":"10"})", "1"), HasSubstr("refused: "));
    EXPECT_THAT(check(R"({"minimum":1,"exclusiveMinimum":true})", "1"), HasSubstr("refused: "));
}

TEST(output_schema, distinguishes_numbers_by_all_of_their_digits) {
    EXPECT_EQ(check(R"({"uniqueItems":true})", "[0.1234561,0.1234562,1e-300,2e-300,0]"), "");
    EXPECT_NE(check(R"({"uniqueItems":true})", "[0.1234561,0.12345610]"), "");
}

/// Schemas that a check would need longer than the age of the world for.
TEST(output_schema, a_check_that_would_not_end_is_given_up) {
    constexpr auto dear = "would take too long";
    const auto recursive = [](const std::string& each) {
        return R"({"$defs":{"e":{)" + each + R"("anyOf":[{)" + each + R"("type":"number"},{)" +
               each +
               R"("type":"object","properties":{"neg":{"$ref":"#/$defs/e"}},"required":["neg"]},{)" +
               each +
               R"("type":"object","properties":{"neg":{"$ref":"#/$defs/e"},"pos":{}}}]}},)"
               R"("$ref":"#/$defs/e"})";
    };
    std::string response = "\"x\"";
    for (int i = 0; i < 60; ++i) response = R"({"neg":)" + response + "}";
    for (const char* each : {"", R"("allOf":[true],)", R"("allOf":[{}],)", R"("not":false,)"}) {
        EXPECT_THAT(check(recursive(each), response), HasSubstr(dear)) << each;
        EXPECT_EQ(check(recursive(each), R"({"neg":{"neg":1}})"), "") << each;
    }
    for (const char* combine : {"allOf", "anyOf", "oneOf"}) {
        std::string graph = R"({"$defs":{)";
        for (int i = 0; i < 40; ++i) {
            const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
            graph +=
                "\"d" + std::to_string(i) + "\":{\"" + combine + "\":[" + next + "," + next + "]},";
        }
        graph +=
            R"("d40":{"type":")" + std::string(combine == std::string("anyOf") ? "null" : "number");
        graph += R"("}},"$ref":"#/$defs/d0"})";
        EXPECT_THAT(check(graph, "1"), HasSubstr(dear)) << combine;
    }
}

TEST(output_schema, each_part_of_a_check_is_bounded) {
    constexpr auto dear = "would take too long";
    std::string many = "[0";
    for (int i = 1; i < 100'000; ++i) many += ",0";
    many += "]";
    std::string values = R"({"items":{"enum":[)";
    for (int i = 1; i < 20'000; ++i) values += std::to_string(i) + ",";
    EXPECT_EQ(check(values + "0]}}", many), ""); // a look-up each
    std::string names = R"({"items":{"properties":{)";
    for (int i = 0; i < 8'000; ++i) names += "\"p" + std::to_string(i) + "\":true,";
    std::string objects = "[{}";
    for (int i = 1; i < 100'000; ++i) objects += ",{}";
    EXPECT_THAT(check(names + R"("z":true}}})", objects + "]"), HasSubstr(dear));
    // Its states are too many to be kept: each character is held against all of the pattern.
    EXPECT_THAT(
        check(R"({"pattern":"(a|b)*a(a|b){900}$"})", "\"" + std::string(2'000'000, 'a') + "b\""),
        HasSubstr(dear));
}

TEST(output_schema, large_responses_are_checked) {
    constexpr auto schema = R"({"type":"array","items":{"type":"object","required":["id","tags"],
        "additionalProperties":false,"properties":{"id":{"type":"integer","minimum":0},
        "name":{"type":"string","pattern":"^[a-z ]+$"},
        "tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true}}}})";
    std::string all = "[";
    while (all.size() < 4'000'000) {
        all += R"({"id":12345,"name":"a name of some words","tags":["a","b"]},)";
    }
    EXPECT_EQ(check(schema, all + R"({"id":1,"tags":[]}])"), "");
    EXPECT_NE(check(schema, all + R"({"id":-1,"tags":[]}])"), "");
}

TEST(output_schema, schemas_that_lead_too_deep_are_refused) {
    std::string chain = R"({"$defs":{)";
    for (int i = 0; i < 3'000; ++i) {
        chain += "\"a" + std::to_string(i) + R"(":{"not":{"$ref":"#/$defs/a)" +
                 std::to_string(i + 1) + "\"}},";
    }
    EXPECT_THAT(check(chain + R"("a3000":{}},"$ref":"#/$defs/a0"})", "1"),
                HasSubstr("refused: the schema refers to too many"));
    const std::string name(3'000, 'n');
    EXPECT_THAT(check(R"({"properties":{")" + name + R"(":{}}})", "1"),
                HasSubstr("names that are too long"));
}

TEST(output_schema, keeps_to_its_stack_whatever_a_schema_repeats) {
    // Deep in the response, and at each level far behind references.
#ifdef HEDDLE_ADDRESS_SANITIZER
    constexpr int levels = 100; // frames are ten times as large
#else
    constexpr int levels = 400;
#endif
    std::string chain = R"({"$defs":{"a0":{"properties":{"n":{"$ref":"#/$defs/a1"}}},)";
    for (int i = 1; i < levels; ++i) {
        chain += "\"a" + std::to_string(i) + R"(":{"allOf":[{"$ref":"#/$defs/a)" +
                 std::to_string(i + 1) + "\"}]},";
    }
    chain += "\"a" + std::to_string(levels) + R"(":{"$ref":"#/$defs/a0"}},"$ref":"#/$defs/a0"})";
    std::string response = "1";
    for (int i = 0; i < 120; ++i) response = R"({"n":)" + response + "}";
    const std::string reported = check(chain, response);
    EXPECT_TRUE(reported.empty() || reported.find("would take too long") != std::string::npos)
        << reported;
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
    // Keywords that the services refuse in that mode, as pydantic writes uniqueItems for a set.
    for (const char* keyword :
         {R"("uniqueItems":true)", R"("contains":{"type":"string"})", R"("minLength":1)"}) {
        const std::string inside =
            std::string(R"("a":{"type":["array","string"],)") + keyword + "}";
        EXPECT_FALSE(strict(R"({"type":"object","properties":{)" + inside +
                            R"(},"required":["a"],"additionalProperties":false})"))
            << keyword;
    }
    constexpr auto object = R"({"type":"object","properties":{"a":{"pattern":"^a","title":"A"}},
        "required":["a"],"additionalProperties":false)";
    EXPECT_TRUE(strict(std::string(object) + "}"));
    EXPECT_FALSE(strict(std::string(object) + R"(,"minProperties":1})"));
    EXPECT_FALSE(strict(std::string(object) + R"(,"propertyNames":{"pattern":"a"}})"));
    EXPECT_FALSE(strict(std::string(object) + R"(,"anyOf":[{"type":"object","properties":{},
        "required":[],"additionalProperties":false}]})"));
}

} // namespace
} // namespace heddle::tasks
