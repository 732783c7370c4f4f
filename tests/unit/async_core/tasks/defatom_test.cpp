#include "tasks/tools/deftool.hpp"
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::reading;

TEST(defatom, reads_every_clause) {
    reading text;
    auto parsed = parse_defatom(text.form(R"((defatom user:plan
        (params goal (style optional string "how") (n integer (default 3)) (tags (default '("a"))))
        (instructions "Plan {{goal}}")
        (description "Plans") (subtype "director") (model "gpt") (provider "openai")
        (system "Be {{style}}") (temperature 0.5) (max-tokens 100) (timeout 2.5) (retries 2)
        (resource_limits ((max_turns 5) (max-context 0.5) (max_cost_usd 1)))
        (context_relevance ((goal true) (n false)))
        (context_assembly ((primary_elements (goal "src/*")) (excluded_elements ("build/*"))))
        (returns "string[]") (disable-reparsing true) (manual_xml false)
        (criteria "is good") (output_format ((type "json") (schema "string[]")))
        (history_config ((use_session_history false)))
        (context_management ((inherit_context "none")))
        (file_paths ("a.txt" "b.txt")) (tools (read-file grep))))"),
                                {});
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->name, "user:plan");
    ASSERT_EQ(parsed->inputs.size(), 4U);
    EXPECT_FALSE(parsed->inputs[0].optional);
    EXPECT_TRUE(parsed->inputs[1].optional);
    EXPECT_EQ(parsed->inputs[1].type, "string");
    EXPECT_EQ(parsed->inputs[1].description, "how");
    EXPECT_EQ(parsed->inputs[2].default_json, "3");
    EXPECT_EQ(parsed->inputs[3].default_json, "[\"a\"]");
    EXPECT_TRUE(parsed->declares_inputs);
    EXPECT_EQ(parsed->subtype, "director");
    EXPECT_EQ(parsed->temperature, 0.5);
    EXPECT_EQ(parsed->max_tokens, 100);
    EXPECT_EQ(parsed->timeout, std::chrono::milliseconds(2500));
    EXPECT_EQ(parsed->retries, 2U);
    EXPECT_EQ(parsed->criteria, "is good");
    EXPECT_EQ(parsed->limits.max_turns, 5);
    EXPECT_EQ(parsed->limits.max_context, 0.5);
    EXPECT_EQ(parsed->limits.max_cost_usd, 1);
    ASSERT_EQ(parsed->relevance.size(), 2U);
    EXPECT_FALSE(parsed->relevance[1].include);
    EXPECT_EQ(parsed->assembly.primary, (std::vector<std::string>{"goal", "src/*"}));
    EXPECT_EQ(parsed->assembly.excluded, (std::vector<std::string>{"build/*"}));
    EXPECT_EQ(parsed->returns, "string[]");
    EXPECT_EQ(parsed->disable_reparsing, true);
    EXPECT_TRUE(compile_task(*parsed));
    EXPECT_TRUE(parsed->output.json);
    EXPECT_EQ(parsed->output.schema, "string[]");
    EXPECT_EQ(parsed->history.use_session_history, false);
    EXPECT_EQ(parsed->context.inherit_context, inherit_mode::none);
    EXPECT_EQ(parsed->files.value().paths, (std::vector<std::string>{"a.txt", "b.txt"}));
    EXPECT_EQ(parsed->tools, (std::vector<std::string>{"read-file", "grep"}));
}

TEST(defatom, defaults_that_have_the_type_of_their_parameter) {
    for (const char* good :
         {"(n integer (default 3))", "(n number (default 3))", "(n number (default 0.5))",
          "(n string[] (default '(\"a\" \"b\")))", "(n array (default '(1 \"a\")))",
          "(n object (default '((a 1))))", "(n object (default '()))", "(n any (default 3))",
          "(n (default 3))", "(n string (default nil))", "(n boolean (default false))", "(n str)",
          "(n optional integer \"how many\" (default 2))"}) {
        reading text;
        const auto parsed = parse_defatom(
            text.form("(defatom t (params " + std::string(good) + ") (instructions \"x\"))"), {});
        EXPECT_TRUE(parsed) << good << ": " << (parsed ? "" : parsed.error().message());
    }
}

// Nothing was checked of a default that is nested deeper than 32 levels.
TEST(defatom, checks_defaults_of_any_depth) {
    const auto refusal = [](const std::string& type, int levels) {
        const std::string list = std::string(static_cast<std::size_t>(levels), '(') +
                                 std::string(static_cast<std::size_t>(levels), ')');
        reading text;
        const auto parsed =
            parse_defatom(text.form("(defatom t (params (n " + type + " (default '" + list +
                                    "))) (instructions \"x\"))"),
                          {});
        return parsed ? std::string() : parsed.error().message();
    };
    EXPECT_EQ(refusal("array", 40), "");
    EXPECT_EQ(refusal("array", 64), "");
    EXPECT_THAT(refusal("string", 40), HasSubstr("declares 'n' of type 'string' the default"));
    EXPECT_THAT(refusal("array", 65),
                HasSubstr("has a default of 'n' that is nested more than 64 levels deep"));
}

// They were left out.
TEST(deftool, has_deep_defaults_in_its_schema) {
    const std::string list = std::string(40, '(') + std::string(40, ')');
    reading text;
    const auto parsed = parse_deftool(
        text.form("(deftool t (params (a array (default '" + list + "))) (description \"d\") 1)"),
        {});
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_THAT(parsed->input_schema, HasSubstr("\"default\":[[[["));
}

TEST(defatom, suggests_the_clause_that_is_meant) {
    const auto hint = [](const std::string& clause) {
        reading text;
        const auto parsed = parse_defatom(
            text.form("(defatom t (params a) (instructions \"x\") (" + clause + " 1))"), {});
        return parsed ? std::string() : parsed.error().info().hint;
    };
    EXPECT_EQ(hint("temprature"), "did you mean 'temperature'?");
    EXPECT_EQ(hint("instruction"), "did you mean 'instructions'?");
    EXPECT_EQ(hint("modle"), "did you mean 'model'?");
    EXPECT_THAT(hint("nothing-like-it"), HasSubstr("clauses: params, instructions, "));
}

TEST(defatom, explains_how_a_quote_is_written) {
    reading text;
    const auto parsed =
        parse_defatom(text.form("(defatom t (params a) (instructions \"Say \" hi \" to\"))"), {});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().info().hint, "write \\\" for a quote inside a string");
}

TEST(defatom, has_defaults) {
    reading text;
    auto parsed = parse_defatom(text.form("(defatom t (params) (instructions \"Go\"))"), {});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->description, "Inline task definition");
    EXPECT_EQ(parsed->subtype, "standard");
    EXPECT_TRUE(parsed->declares_inputs);
    EXPECT_FALSE(parsed->output.json);
}

TEST(defatom, a_schema_may_be_written_as_data) {
    reading text;
    auto parsed = parse_defatom(text.form(R"((defatom t (params) (instructions "x")
        (output_format ((type "json") (schema ((type "object")
            (properties ((a ((type "string"))) (b ())))
            (required ("a"))))))))"),
                                {});
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->output.schema,
              R"({"type":"object","properties":{"a":{"type":"string"},"b":[]},"required":["a"]})");
}

struct wrong_form {
    const char* text;
    const char* named;  ///< in the message
    const char* marked; ///< what the span covers
};

class defatom_refuses : public ::testing::TestWithParam<wrong_form> {};

TEST_P(defatom_refuses, with_the_place_of_the_clause) {
    reading text;
    const auto parsed = parse_defatom(text.form(GetParam().text), {});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code(), lang::make_error_code(lang::errc::evaluation));
    EXPECT_THAT(parsed.error().message(), HasSubstr(GetParam().named));
    EXPECT_EQ(text.sources.text(parsed.error().info().span), GetParam().marked);
}

INSTANTIATE_TEST_SUITE_P(
    all, defatom_refuses,
    ::testing::Values(
        wrong_form{"(defatom t (params a) (instructions \"x\") (colour 1))", "'colour'",
                   "(colour 1)"},
        wrong_form{"(defatom t (params a) (params b) (instructions \"x\"))",
                   "params is given twice", "(params b)"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (max-tokens 1) (max_tokens 2))",
                   "given twice", "(max_tokens 2)"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (model 5))",
                   "model must be a non-empty string", "5"},
        wrong_form{"(defatom t (params \"a\") (instructions \"x\"))", "params", "\"a\""},
        wrong_form{"(defatom t (params a a) (instructions \"x\"))", "'a' twice", "a"},
        wrong_form{"(defatom t (params (a (b))) (instructions \"x\"))", "params", "(b)"},
        wrong_form{"(defatom t (params (a (default b))) (instructions \"x\"))", "literal", "b"},
        wrong_form{"(defatom t (params (q strin)) (instructions \"x\"))",
                   "params declares 'q' with the unknown type 'strin'", "strin"},
        wrong_form{"(defatom t (params (n integer (default \"x\"))) (instructions \"x\"))",
                   "params declares 'n' of type 'integer' the default \"x\"", "\"x\""},
        wrong_form{"(defatom t (params (n string[] (default '(\"a\" 1)))) (instructions \"x\"))",
                   "the default", "'(\"a\" 1)"},
        wrong_form{"(defatom t (params q &optional r) (instructions \"x\"))",
                   "'&optional', which is not the name of a parameter", "&optional"},
        wrong_form{"(defatom t (params (b integer optional)) (instructions \"x\"))",
                   "it belongs before the type", "optional"},
        wrong_form{"(defatom t (params a) (instructions))", "instructions", "(instructions)"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (temperature -1))",
                   "temperature must be a number from 0 to 10, not -1", "-1"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (retries 1.5))", "retries", "1.5"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (timeout 0))",
                   "timeout must be a number of seconds above 0, at most 100000000, not 0", "0"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (output_format \"json\"))",
                   "output_format", "\"json\""},
        wrong_form{"(defatom t (params a) (instructions \"x\") (output_format ((type))))",
                   "output_format", "(type)"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (output_format ((type \"xml\"))))",
                   "output_format", "\"xml\""},
        wrong_form{"(defatom t (params a) (instructions \"x\") (tools (1)))", "tools", "1"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (resource_limits ((max_time 1))))",
                   "resource_limits has no setting 'max_time'", "(max_time 1)"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (context_relevance ((a 1))))",
                   "context_relevance a must be true or false", "1"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (context_assembly ((primary (a)))))",
                   "context_assembly has no setting 'primary'", "(primary (a))"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (disable_reparsing yes))",
                   "disable_reparsing must be true or false", "yes"},
        wrong_form{"(defatom t (params a) (instructions \"x\") (history_config 1))",
                   "history_config", "1"},
        wrong_form{"(defatom t (params a) (instructions \"x\") \"stray\")", "defatom",
                   "\"stray\""}));

TEST(defatom, needs_params_and_instructions) {
    reading text;
    EXPECT_THAT(parse_defatom(text.form("(defatom t (instructions \"x\"))"), {}).error().message(),
                HasSubstr("(params …)"));
    EXPECT_THAT(parse_defatom(text.form("(defatom t (params))"), {}).error().message(),
                HasSubstr("instructions"));
    EXPECT_FALSE(parse_defatom(text.form("(defatom)"), {}));
}

TEST(compile_task, holds_placeholders_to_the_params) {
    reading text;
    auto parsed = parse_defatom(
        text.form("(defatom t (params a) (instructions \"{{a}} {{b}}\") (system \"s\"))"), {});
    ASSERT_TRUE(parsed);
    const auto compiled = compile_task(*parsed);
    ASSERT_FALSE(compiled);
    EXPECT_THAT(compiled.error().message(), HasSubstr("instructions: {{b}}"));
    EXPECT_EQ(text.sources.text(compiled.error().info().span), "\"{{a}} {{b}}\"");
}

TEST(compile_task, asks_the_service_for_objects_only) {
    task_template declared;
    declared.name = "t";
    declared.output = {true, "string[]"};
    auto strings = compile_task(declared);
    ASSERT_TRUE(strings);
    EXPECT_EQ((*strings)->format.type, ports::response_format::kind::text);
    EXPECT_THAT((*strings)->format_note, HasSubstr("a JSON array of strings"));
    declared.output.schema = "object";
    EXPECT_EQ((*compile_task(declared))->format.type, ports::response_format::kind::json_object);
    declared.output.schema = R"({"type":"object","properties":{"a":{}},"required":["a"],
                                 "additionalProperties":false})";
    auto strict = compile_task(declared);
    ASSERT_TRUE(strict) << strict.error().message();
    EXPECT_EQ((*strict)->format.type, ports::response_format::kind::json_schema);
    EXPECT_TRUE((*strict)->format.strict);
    declared.output.schema = "strings";
    EXPECT_THAT(compile_task(declared).error().message(), HasSubstr("output_format"));
}

} // namespace
} // namespace heddle::tasks
