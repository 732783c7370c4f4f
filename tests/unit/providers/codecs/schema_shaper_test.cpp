#include "anthropic/schema_shaper.hpp"

#include <boost/json/parse.hpp>

#include <gtest/gtest.h>
#include <hard_numbers.hpp>

namespace heddle::providers::anthropic {
namespace {

namespace json = boost::json;

json::value closed(std::string_view schema) {
    const auto result = closed_schema(schema);
    EXPECT_TRUE(result) << schema;
    return result ? json::parse(*result) : json::value();
}

TEST(schema_shaper, every_object_is_closed_also_inside) {
    EXPECT_EQ(closed(R"({"type":"object","additionalProperties":true,"required":["a"],"properties":{
                  "a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"null"}}}},
                  "c":{"type":["object","null"],"properties":{"d":{"type":"string"}}}}})"),
              json::parse(R"({"type":"object","additionalProperties":false,"required":["a"],
                  "properties":{"a":{"type":"array","items":{"type":"object",
                      "additionalProperties":false,"properties":{"b":{"type":"null"}}}},
                  "c":{"type":["object","null"],"additionalProperties":false,
                      "properties":{"d":{"type":"string"}}}}})"));
}

TEST(schema_shaper, what_the_service_refuses_is_described_in_words) {
    EXPECT_EQ(closed(R"({"type":"string","minLength":3,"pattern":"^a","description":"A name.",
                         "format":"color"})"),
              json::parse(R"({"type":"string","description":
                  "A name.\n\n{\"minLength\":3,\"pattern\":\"^a\",\"format\":\"color\"}"})"));
    EXPECT_EQ(closed(R"({"type":"string","format":"date"})"),
              json::parse(R"({"type":"string","format":"date"})"));
    EXPECT_EQ(closed(R"({"type":"array","items":{"type":"number"},"minItems":1})"),
              json::parse(R"({"type":"array","items":{"type":"number"},"minItems":1})"));
    EXPECT_EQ(closed(R"({"type":"array","items":{"type":"number"},"minItems":2})"),
              json::parse(R"({"type":"array","items":{"type":"number"},
                              "description":"{\"minItems\":2}"})"));
}

TEST(schema_shaper, choices_and_definitions_are_shaped_too) {
    EXPECT_EQ(closed(R"({"$schema":"x","oneOf":[{"$ref":"#/$defs/a"},{"enum":[1,2]}],
                         "$defs":{"a":{"properties":{"b":{"const":1}}}}})"),
              json::parse(R"({"anyOf":[{"$ref":"#/$defs/a"},{"enum":[1,2]}],
                  "$defs":{"a":{"properties":{"b":{"const":1}},"additionalProperties":false}}})"));
}

TEST(schema_shaper, numbers_stay_as_they_are) {
    const std::vector<double> numbers = testing::hard_numbers();
    const auto shaped = closed_schema(R"({"enum":)" + testing::json_of_numbers(numbers) + "}");
    ASSERT_TRUE(shaped);
    EXPECT_EQ(testing::bits_in(*shaped), testing::bits_of(numbers));
}

TEST(schema_shaper, what_has_no_grammar_has_no_shape) {
    for (const char* schema : {
             "{}",                                                            // anything
             R"({"type":"object"})",                                          // any names
             R"({"type":"object","properties":{}})",                          // the same
             R"({"type":"object","additionalProperties":{"type":"string"}})", // a table
             R"({"type":"object","properties":{"a":{"type":"string"}},
                 "additionalProperties":{"type":"string"}})",                 // half a table
             R"({"type":"object","properties":{"a":{}}})",                    // anything inside
             R"({"type":"object","properties":{"a":true}})",                  //
             R"({"type":"object","properties":[]})",                          // no schema at all
             R"({"type":"array"})",                                           // of anything
             R"({"type":"array","items":false})",                             //
             R"({"anyOf":[]})",                                               //
             R"({"$ref":"https://elsewhere.example/schema"})",                // not here
             R"({"$ref":"#"})",                                               // itself
             R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},
                 {"type":"array","items":{"$ref":"#/$defs/a"}}]}}})",         // itself, below
             R"({"anyOf":[{"type":"null"}],"$defs":{
                 "a":{"anyOf":[{"$ref":"#/$defs/b"}]},
                 "b":{"anyOf":[{"$ref":"#/$defs/a"}]}}})",                    // in a circle
         }) {
        EXPECT_FALSE(closed_schema(schema)) << schema;
    }
    EXPECT_TRUE(closed_schema(R"({"type":"object","additionalProperties":false})"));
    EXPECT_FALSE(closed_schema(std::string(100000, '[')));
}

TEST(schema_shaper, remembers_more_schemas_than_it_has_room_for) {
    schema_shaper shaper;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 20; ++i) {
            const std::string schema = R"({"const":)" + std::to_string(i) + "}";
            const auto result = shaper.shape(schema);
            ASSERT_TRUE(result);
            EXPECT_EQ(*result, schema);
            EXPECT_EQ(*shaper.shape(schema), schema);
        }
        EXPECT_FALSE(shaper.shape("{}"));
        EXPECT_FALSE(shaper.shape("{}"));
    }
}

} // namespace
} // namespace heddle::providers::anthropic
