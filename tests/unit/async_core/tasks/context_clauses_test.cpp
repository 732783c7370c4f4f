#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::reading;
using kind = file_paths_source::kind;

[[nodiscard]] std::string task_with(const std::string& clause) {
    return "(defatom t (params a) (instructions \"x\") " + clause + ")";
}

[[nodiscard]] task_template declared_with(const std::string& clause) {
    reading text;
    auto parsed = parse_defatom(text.form(task_with(clause)), {});
    EXPECT_TRUE(parsed) << clause << ": " << (parsed ? "" : parsed.error().message());
    return parsed ? *std::move(parsed) : task_template{};
}

TEST(context_clauses, of_a_definition_become_settings) {
    const task_template declared = declared_with(
        "(context_management ((inheritContext \"none\") (fresh-context enabled) "
        "(accumulate_data true) (accumulation_format 'full_output))) "
        "(history_config ((use_session_history false) (history_turns_to_include 3) "
        "(record_in_session_history \"true\")))");
    EXPECT_EQ(declared.context.inherit_context, inherit_mode::none);
    EXPECT_EQ(declared.context.fresh_context, true);
    EXPECT_EQ(declared.context.accumulate_data, true);
    EXPECT_EQ(declared.context.accumulation_format, accumulation::full_output);
    EXPECT_EQ(declared.history.use_session_history, false);
    EXPECT_EQ(declared.history.history_turns_to_include, 3);
    EXPECT_EQ(declared.history.record_in_session_history, true);
}

TEST(context_clauses, nil_and_an_empty_list_set_nothing) {
    const task_template declared =
        declared_with("(context_management ((inherit_context nil))) (history_config ())");
    EXPECT_TRUE(declared.context.empty());
    EXPECT_FALSE(declared.history.use_session_history);
    EXPECT_FALSE(declared.files);
}

TEST(context_clauses, a_pair_that_is_the_preset_is_allowed) {
    const task_template declared = declared_with(
        "(context_management ((inherit_context subset) (fresh_context enabled))) "
        "(subtype \"aider_automatic\")");
    EXPECT_EQ(declared.context.fresh_context, true);
}

TEST(file_paths_clause, has_five_spellings) {
    const auto files = [](const std::string& clause) {
        return declared_with(clause).files.value();
    };
    EXPECT_THAT(files("(file_paths (\"a\" \"b\"))").paths, ElementsAre("a", "b"));
    EXPECT_THAT(files("(file_paths '((path \"a\") (path \"b\")))").paths, ElementsAre("a", "b"));
    EXPECT_THAT(files("(file-paths ((source literal) (paths (\"a\"))))").paths, ElementsAre("a"));
    EXPECT_EQ(files("(file_paths ())").from, kind::literal);
    const file_paths_source command = files("(file_paths ((command \"git ls-files\")))");
    EXPECT_EQ(command.from, kind::command);
    EXPECT_EQ(command.text, "git ls-files");
    EXPECT_EQ(files("(file_paths ((source \"description\") (description \"d\")))").from,
              kind::description);
    const file_paths_source query =
        files("(file_paths ((source \"context_description\") (context_query \"about {{a}}\")))");
    EXPECT_EQ(query.from, kind::context_description);
    EXPECT_EQ(query.text, "about {{a}}");
}

struct wrong_clause {
    const char* clause;
    const char* said;
    const char* marked;
};

class context_clause_refuses : public ::testing::TestWithParam<wrong_clause> {};

TEST_P(context_clause_refuses, with_its_name_and_place) {
    reading text;
    const auto parsed = parse_defatom(text.form(task_with(GetParam().clause)), {});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().message(), std::string("defatom t: ") + GetParam().said);
    EXPECT_EQ(text.sources.text(parsed.error().info().span), GetParam().marked);
}

INSTANTIATE_TEST_SUITE_P(
    all, context_clause_refuses,
    ::testing::Values(
        wrong_clause{"(context_management 5)",
                     "context_management must be a list of (name value) or a map, not 5", "5"},
        wrong_clause{"(context_management (full))",
                     "context_management must be a list of (name value), not (full)", "(full)"},
        wrong_clause{"(context_management ((inherit all)))",
                     "context_management has no setting 'inherit'", "(inherit all)"},
        wrong_clause{"(context_management ((inherit_context all)))",
                     "context_management inherit_context must be \"full\", \"subset\" or "
                     "\"none\", not all",
                     "all"},
        wrong_clause{"(context_management ((fresh_context true)))",
                     "context_management fresh_context must be \"enabled\" or \"disabled\", not "
                     "true",
                     "true"},
        wrong_clause{"(context_management ((accumulate_data \"yes\")))",
                     "context_management accumulate_data must be true or false, not \"yes\"",
                     "\"yes\""},
        wrong_clause{"(context_management ((accumulation_format \"all\")))",
                     "context_management accumulation_format must be \"notes_only\" or "
                     "\"full_output\", not \"all\"",
                     "\"all\""},
        wrong_clause{"(context_management ((fresh_context enabled) (freshContext disabled)))",
                     "context_management has fresh_context twice", "(freshContext disabled)"},
        wrong_clause{
            "(context_management ((inherit_context full) (fresh_context enabled)))",
            "context_management fresh_context \"enabled\" excludes inherit_context \"full\"",
            "(context_management ((inherit_context full) (fresh_context enabled)))"},
        wrong_clause{"(history_config ((history_turns_to_include -1)))",
                     "history_config history_turns_to_include must be a whole number from 0 to "
                     "100000, not -1",
                     "-1"},
        wrong_clause{"(history_config ((turns 1)))", "history_config has no setting 'turns'",
                     "(turns 1)"},
        wrong_clause{"(file_paths \"a\")",
                     "file_paths must be a list of paths or of (name value), not \"a\"", "\"a\""},
        wrong_clause{"(file_paths (a))",
                     "file_paths must be a list of paths or of (name value), not (a)", "a"},
        wrong_clause{"(file_paths (\"\"))", "file_paths a path must not be empty", "\"\""},
        wrong_clause{"(file_paths (\"a\" (command \"ls\")))",
                     "file_paths mixes paths, a command, a description and a query", "\"ls\""},
        wrong_clause{"(file_paths ((command \"\")))",
                     "file_paths command must be a non-empty string, not \"\"", "\"\""},
        wrong_clause{"(file_paths ((source \"web\")))",
                     "file_paths source must be \"literal\", \"command\", \"description\" or "
                     "\"context_description\", not \"web\"",
                     "(source \"web\")"},
        wrong_clause{"(file_paths ((source \"command\")))",
                     "file_paths has a source without its text", "((source \"command\"))"},
        wrong_clause{"(file_paths ((source \"literal\") (command \"ls\")))",
                     "file_paths names a source, but has the text that another source needs",
                     "((source \"literal\") (command \"ls\"))"},
        wrong_clause{"(file_paths ((folder \"x\")))", "file_paths has no setting 'folder'",
                     "(folder \"x\")"}));

TEST(context_clauses, of_a_call_are_refused_before_anything_is_sent) {
    testing::harness w;
    w.llm.say("x");
    (void)w.run("(defatom ask (params q) (instructions \"{{q}}\"))");
    const auto refusal = [&](const std::string& clause) {
        return w.json("(ask (q 1) " + clause + ")");
    };
    EXPECT_EQ(refusal("(context 5)"),
              "SexpEvaluationError: task ask: context must be a list of "
              "(name value) or a map, not 5");
    EXPECT_EQ(refusal("(context (dict \"fresh\" 1))"),
              "SexpEvaluationError: task ask: context has no setting 'fresh'");
    EXPECT_EQ(refusal("(context '((inheritContext full) (fresh_context \"enabled\")))"),
              "TaskError: task ask: context: fresh_context \"enabled\" excludes inherit_context "
              "\"full\"");
    const auto paths = w.run("(ask (q 1) (context (list \"a.txt\")))");
    ASSERT_FALSE(paths);
    EXPECT_THAT(paths.error().message(), HasSubstr("context takes settings, not paths"));
    EXPECT_EQ(paths.error().info().hint, "files go into (files paths)");
    EXPECT_EQ(refusal("(history_config '((turns 1)))"),
              "SexpEvaluationError: task ask: history_config has no setting 'turns'");
    EXPECT_TRUE(w.llm.asked.empty());
    EXPECT_THAT(refusal("(context nil) (history_config '((use_session_history false)))"),
                HasSubstr("COMPLETE"));
}

} // namespace
} // namespace heddle::tasks
