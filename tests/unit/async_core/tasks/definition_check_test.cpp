#include <heddle/tasks/tools/definition_check.hpp>

#include <heddle/lang/reader.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

namespace heddle::tasks {
namespace {

class definition_check_of : public ::testing::Test {
protected:
    /// The problems as "line:column message".
    std::vector<std::string> problems(const std::string& text) {
        const std::uint32_t position = harness.sources().add("p", text);
        const auto read = lang::read_one(harness.memory(), text, position);
        EXPECT_TRUE(read) << text;
        std::vector<lang::problem> found;
        signature = definition_check().check(harness, read->content, read->span, found);
        std::vector<std::string> lines;
        for (const lang::problem& each : found) {
            const source_location place = harness.sources().locate(each.span);
            lines.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                            each.message);
        }
        return lines;
    }
    using lines = std::vector<std::string>;
    lang::realm harness;
    std::optional<lang::task_signature> signature;
};

TEST_F(definition_check_of, a_good_task_has_its_signature) {
    EXPECT_EQ(problems("(defatom t (params a (b optional string) (c (default 1)))\n"
                       "  (instructions \"{{a}} {{b.x}} {{ c[0] }} \\\\{{d\"))"),
              lines{});
    ASSERT_TRUE(signature);
    EXPECT_EQ(signature->inputs, (lines{"a", "b", "c"}));
    EXPECT_EQ(signature->required, (lines{"a"}));
}

TEST_F(definition_check_of, every_wrong_clause_is_reported) {
    EXPECT_EQ(problems("(defatom t (params a)\n (instructions \"{{a}}\")\n (temprature 1)\n"
                       " (model 3)\n (params b)\n (retries -1))"),
              (lines{"3:2 defatom t: there is no clause 'temprature'",
                     "4:9 defatom t: model must be a non-empty string, not 3",
                     "5:2 defatom t: params is given twice",
                     "6:11 defatom t: retries must be a whole number from 0 to 100, not -1"}));
    EXPECT_TRUE(signature) << "calls can still be checked";
}

TEST_F(definition_check_of, a_clause_that_is_wrong_is_not_missed_too) {
    EXPECT_EQ(problems("(defatom t (params a) (instructions 3))"),
              (lines{"1:37 defatom t: instructions must be a string, not 3"}));
    EXPECT_FALSE(signature);
    EXPECT_EQ(problems("(defatom t (params a))"),
              (lines{"1:1 defatom t: has no (instructions \"…\") clause"}));
}

TEST_F(definition_check_of, every_placeholder_that_is_no_parameter_is_reported_with_its_place) {
    EXPECT_EQ(problems("(defatom t (params goal)\n (system \"{{gaol}}\")\n"
                       " (instructions \"{{goal}}\n{{x.y}} {{xy}}\"))"),
              (lines{"4:1 {{x}} is not a parameter of the task 't'",
                     "4:9 {{xy}} is not a parameter of the task 't'",
                     "2:11 {{gaol}} is not a parameter of the task 't'"}));
}

TEST_F(definition_check_of, many_placeholders_take_time_in_proportion) {
    const auto time_of = [this](std::size_t count) {
        std::string text = "(defatom t (params goal) (instructions \"{{goal}}";
        for (std::size_t i = 0; i < count; ++i) text += " {{unknown" + std::to_string(i) + "}}";
        const std::uint32_t position = harness.sources().add("p", text += "\"))");
        const auto read = lang::read_one(harness.memory(), text, position);
        std::vector<lang::problem> found;
        const std::clock_t began = std::clock();
        (void)definition_check().check(harness, read->content, read->span, found);
        const std::clock_t taken = std::clock() - began;
        EXPECT_EQ(found.size(), count);
        for (const lang::problem& each : found)
            EXPECT_TRUE(each.message.starts_with("{{unknown")) << each.message;
        return static_cast<double>(taken);
    };
    const double once = std::min(time_of(4000), time_of(4000));
    EXPECT_LT(time_of(32'000), 24 * (once + 0.005 * CLOCKS_PER_SEC));
}

TEST_F(definition_check_of, unused_parameters_and_bad_schemas_are_reported) {
    EXPECT_EQ(problems("(defatom t (params a _b c) (instructions \"{{a}}\"))"), lines{});
    ASSERT_TRUE(signature);
    ASSERT_EQ(signature->unused.size(), 1U);
    EXPECT_EQ(signature->unused[0].name, "c");
    EXPECT_EQ(harness.sources().locate(signature->unused[0].span).column, 25U);
    EXPECT_EQ(problems("(defatom t (params a) (instructions \"{{a}}\")\n"
                       " (output_format ((type \"json\") (schema \"{\"))))")
                  .size(),
              1U);
    EXPECT_EQ(problems("(defatom t (params a) (instructions \"{{a}} {{\"))").size(), 1U);
}

TEST_F(definition_check_of, mistakes_in_a_schema_are_reported_with_their_place_in_its_text) {
    const auto place = [&](const std::string& schema) {
        const auto found = problems(
            "(defatom t (params a) (instructions \"{{a}}\")\n (output_format "
            "((type \"json\")\n  (schema " +
            schema + "))))");
        EXPECT_EQ(found.size(), 1U) << schema;
        return found.empty() ? std::string() : found[0].substr(0, found[0].find(' '));
    };
    EXPECT_EQ(place("\"{ \\\"type\\\": \\\"object\\\",\n  \\\"properties\\\": {\\\"x\\\": "
                    "{\\\"type\\\": \\\"strin\\\"}}}\""),
              "4:38");
    EXPECT_EQ(place("\"{ \\\"type\\\": object}\""), "3:24");
    EXPECT_EQ(place("\"{\\\"\\u00e9\\ud83d\\ude00\\\": 1,\n \\\"pattern\\\": \\\"(\\\"}\""),
              "4:15");
    EXPECT_EQ(place("((type \"object\")\n   (properties ((x ((type \"strin\"))))))"), "4:27");
    EXPECT_EQ(place("((type \"object\")\n   (properties ((x ((anyOf (((type \"string\")) ((type "
                    "\"nul\")))))))))"),
              "4:54");
}

TEST_F(definition_check_of, names_that_a_schema_requires_without_a_property) {
    const auto found = [&](const std::string& schema) {
        return problems(
            "(defatom t (params a) (instructions \"{{a}}\")\n (output_format "
            "((type \"json\")\n  (schema " +
            schema + "))))");
    };
    const std::string reported =
        " task t: output_format requires 'nam', which is not in the "
        "properties of its schema";
    EXPECT_EQ(found("\"{\\\"properties\\\": {\\\"name\\\": {}},\n"
                    " \\\"required\\\": [\\\"name\\\", \\\"nam\\\"]}\""),
              (lines{"4:27" + reported}));
    EXPECT_EQ(found("((properties ((x ((items ((properties ((name ((type \"string\")))))\n"
                    "   (required (\"nam\")))))))))"),
              (lines{"4:15" + reported}));
    EXPECT_EQ(found("((properties ((name ((type \"string\")))))\n   (additionalProperties false)\n"
                    "   (required (\"nam\")))"),
              (lines{"5:15" + reported}));
    for (const char* good :
         {"((required (\"nam\")))",
          "((properties ((nam ((type \"string\"))))) (required (\"nam\")))",
          "((properties ((a ((type \"string\"))))) (required (\"nam\")) (additionalProperties "
          "((type \"string\"))))",
          "((properties ((a ((type \"string\"))))) (required (\"nam\")) (additionalProperties "
          "true))",
          "((properties ((a ((type \"string\"))))) (required (\"nam\")) (anyOf (((properties "
          "((nam ((type \"string\")))))))))"})
        EXPECT_EQ(found(good), lines{}) << good;
}

TEST_F(definition_check_of, wrong_values_of_clauses_are_reported_with_their_place) {
    EXPECT_EQ(problems("(defatom t (params a) (instructions \"{{a}}\")\n"
                       " (subtype \"foo bar\")\n"
                       " (returns \"objct\")\n"
                       " (context_relevance ((y true)))\n"
                       " (tools (a \"b c\")))"),
              (lines{"2:11 task t: subtype must be one word",
                     "3:11 task t: returns has the unknown type 'objct'",
                     "5:9 task t: tools contain 'b c', which is not a tool name",
                     "4:2 task t: context_relevance names 'y', which is not one of the declared "
                     "inputs"}));
}

TEST_F(definition_check_of, a_command_has_no_placeholders) {
    EXPECT_EQ(problems("(defatom t (params a) (instructions \"{{a}}\")\n"
                       " (file_paths ((command \"ls {{a}}\"))))"),
              (lines{"2:28 task t: file_paths: {{a}} in a command is not replaced"}));
    EXPECT_EQ(problems("(defatom t (params a) (instructions \"{{a}}\")\n"
                       " (file_paths ((command \"git log --format='{{.H}}'\"))))"),
              lines{});
}

} // namespace
} // namespace heddle::tasks
