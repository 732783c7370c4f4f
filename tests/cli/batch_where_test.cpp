// --where: which rows are a part of a batch.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class chosen_rows : public batch_fixture {
protected:
    void SetUp() override {
        std::string text;
        for (int i = 0; i < 10; ++i) {
            const std::string n = std::to_string(i);
            text += R"({"id": "r)" + n + R"(", "text": "t)" + n + R"(", "stars": )" + n + "}\n";
        }
        scratch.file("rows.jsonl", text);
    }
};

// An unset variable of a shell chose all rows.
TEST_F(chosen_rows, need_an_expression) {
    const auto ended = batch({"--where", ""});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("--where is empty"));
}

TEST_F(chosen_rows, are_those_for_which_the_expression_is_true) {
    const auto ended = batch({"--where", "(> stars 6)"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("3 of 3 rows: 3 done"));
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r7", 1}, {"r8", 1}, {"r9", 1}}));
    EXPECT_EQ(lines_of("out.jsonl").at(0).at("row").to_number<int>(), 7) << "their numbers stay";
    const auto again = batch({"--where", "(> stars 6)"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, HasSubstr("3 rows finished"));
}

// What the row had cost was gone from its result.
TEST_F(chosen_rows, that_an_edited_expression_rejects_keep_what_they_used) {
    scratch.file("w.heddle", asking_workflow);
    model_thread model(always_answering("x"));
    ASSERT_EQ(run_heddle(asking(model.url(), {"--where", "(> stars 6)"})).code, 0);
    const auto ended =
        run_heddle(asking(model.url(), {"--errors-in-output", "--where",
                                        "(if (= stars 8) (error \"no\") (> stars 6))"}));
    EXPECT_EQ(ended.code, 3) << ended.err;
    bool found = false;
    for (const auto& line : lines_of("out.jsonl")) {
        if (line.at("id").as_string() != "r8") continue;
        found = true;
        EXPECT_EQ(line.at("status").as_string(), "rejected");
        EXPECT_EQ(line.at("attempts").to_number<int>(), 1);
        EXPECT_EQ(line.at("usage").at("requests").to_number<int>(), 1);
    }
    EXPECT_TRUE(found);
}

TEST_F(chosen_rows, may_have_the_names_of_builtins_as_columns) {
    const auto ended = batch({"--where", "(or (string=? (get row \"id\") \"r2\") (= stars 4))"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r2", 1}, {"r4", 1}}));
}

TEST_F(chosen_rows, are_counted_by_the_limit_and_kept_in_order) {
    const auto ended = batch({"--where", "(> stars 3)", "--limit", "2", "--ordered"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl").size(), 2U);
    EXPECT_EQ(lines_of("out.jsonl").at(0).at("id").as_string(), "r4");
}

TEST_F(chosen_rows, of_an_expression_with_mistakes_are_none) {
    for (const char* wrong : {"(> stars", "(> stars 3) (print 1)", ")) (list", "(let ((x)) x)"}) {
        const auto ended = batch({"--where", wrong});
        EXPECT_EQ(ended.code, 2) << wrong << ended.err;
        EXPECT_THAT(ended.err, HasSubstr("--where"));
    }
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
}

TEST_F(chosen_rows, name_the_line_where_the_expression_fails) {
    scratch.file("rows.jsonl", R"({"id": "a", "text": "x", "stars": 5}
{"id": "b", "text": "x", "stars": "many"}
{"id": "c", "text": "x"}
{"id": "d", "text": "x", "stars": 1}
)");
    const auto ended = batch({"--where", "(> stars 3)"});
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}}));
    const auto letters = lines_of("out.jsonl.failed.jsonl");
    ASSERT_EQ(letters.size(), 2U);
    EXPECT_THAT(std::string(letters[0].at("error").at("message").as_string()),
                AllOf(HasSubstr("rows.jsonl, line 2"), HasSubstr("--where")));
    EXPECT_THAT(std::string(letters[1].at("error").at("message").as_string()),
                AllOf(HasSubstr("line 3"), HasSubstr("no column stars")));
    EXPECT_EQ(
        batch({"--where", "(let ((s (get row \"stars\" 9))) (and (number? s) (> s 3)))"}).code, 0);
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}, {"c", 1}}));
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(chosen_rows, are_chosen_within_limits_and_see_nothing_else) {
    scratch.file("rows.jsonl", R"({"id": "a", "text": "x"})"
                               "\n");
    for (const char* hostile :
         {"(progn (write-file \"owned\" \"x\") #t)", "(letrec ((f (lambda () (f)))) (f))",
          "(length (range 100000000))", "(ask \"x\")"}) {
        const auto ended = batch({"--where", hostile});
        EXPECT_TRUE(ended.code == 3 || ended.code == 2) << hostile << ended.err;
        EXPECT_EQ(scratch.text_of("out.jsonl"), "") << hostile;
    }
    EXPECT_FALSE(std::filesystem::exists(path("owned")));
}

TEST_F(chosen_rows, are_a_part_of_what_the_run_is) {
    scratch.file("w.heddle", asking_workflow);
    model_thread model(always_answering("x"));
    const auto where = [&](const std::string& expression, std::vector<std::string> more = {}) {
        more.insert(more.end(),
                    {"--model", "openai:gpt-4o", "--base-url", model.url(), "--where", expression});
        return run_heddle(command(more));
    };
    EXPECT_EQ(where("(> stars 7)").code, 0);
    EXPECT_THAT(where("(> stars 6)", {"--dry-run"}).out, HasSubstr("3 rows: 3 would run"));
    EXPECT_THAT(where("(> stars 6)", {"--plan"}).out, HasSubstr("3 rows:"));
    const auto more = where("(> stars 6)");
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_THAT(more.err, HasSubstr("have changed"));
    EXPECT_EQ(model.counters().requests, 3U) << "responses are used again";
    expect_each_row_once(3);
    const auto fewer = where("(= stars 9)");
    EXPECT_EQ(fewer.code, 0) << fewer.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r9", 1}}));
}

} // namespace
} // namespace heddle::cli_test
