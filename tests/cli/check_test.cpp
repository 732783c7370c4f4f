// `heddle check` and `heddle dump`: reports, JSON, exit codes.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <filesystem>
#include <sstream>

namespace heddle::cli_test {
namespace {

namespace json = boost::json;

class check : public testing::Test {
protected:
    scratch_directory scratch;
};
using dump = check;

TEST_F(check, reports_nothing_about_a_good_file) {
    const auto ended = run_heddle({"check", scratch.file("a.heddle", "(define (main) 1)")});
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out + ended.err, "");
    EXPECT_EQ(run_heddle({"check", scratch.file("empty", "")}).code, 0);
}

TEST_F(check, shows_each_problem_with_its_line_and_a_count) {
    const auto file = scratch.file("a.heddle", "(define (f x)\n  (+ x y))\n(f)\n");
    const auto ended = run_heddle({"check", file});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.err, "");
    EXPECT_EQ(ended.out,
              "error: unknown name 'y'\n"
              "   --> " +
                  file +
                  ":2:8\n"
                  " 2 |   (+ x y))\n"
                  "   |        ^\n"
                  "hint: define it, or if it comes from elsewhere say so with "
                  "--extern y\n"
                  "error: 'f' takes 1 argument, not 0\n"
                  "   --> " +
                  file +
                  ":3:1\n"
                  " 3 | (f)\n"
                  "   | ^^^\n"
                  "2 errors, 0 warnings\n");
}

TEST_F(check, writes_an_object_a_line_for_editors) {
    const auto ended =
        run_heddle({"check", "--json", "-"}, with_input("(let ((a 1))\n  (totl a))\n(if 1)"));
    EXPECT_EQ(ended.code, 1);
    std::istringstream lines(ended.out);
    std::vector<json::object> found;
    for (std::string line; std::getline(lines, line);)
        found.push_back(json::parse(line).as_object());
    ASSERT_EQ(found.size(), 2U) << ended.out;
    EXPECT_EQ(found[0].at("file"), "<stdin>");
    EXPECT_EQ(found[0].at("line"), 2);
    EXPECT_EQ(found[0].at("column"), 4);
    EXPECT_EQ(found[0].at("end").at("line"), 2);
    EXPECT_EQ(found[0].at("end").at("column"), 8);
    EXPECT_EQ(found[0].at("severity"), "error");
    EXPECT_EQ(found[0].at("code"), "unknown-name");
    EXPECT_EQ(found[0].at("message"), "unknown name 'totl'");
    EXPECT_TRUE(found[0].contains("hint"));
    EXPECT_EQ(found[1].at("code"), "malformed-form");
}

TEST_F(check, warnings_alone_are_0_unless_strict) {
    const auto file = scratch.file("a.heddle", "(let ((a 1)) 2)");
    const auto ended = run_heddle({"check", file});
    EXPECT_EQ(ended.code, 0);
    EXPECT_NE(ended.out.find("warning: 'a' is never used"), std::string::npos) << ended.out;
    EXPECT_EQ(run_heddle({"check", "--strict", file}).code, 1);
}

TEST_F(check, externs_are_known) {
    const auto file = scratch.file("a.heddle", "(user:plan (goal 1)) (search \"x\")");
    EXPECT_EQ(run_heddle({"check", file}).code, 1);
    EXPECT_EQ(run_heddle({"check", "--extern", "user:plan", "--extern", "search", file}).code, 0);
}

TEST_F(check, checks_tasks_and_their_calls) {
    const auto ended = run_heddle({"check", "--json", "-"},
                                  with_input("(defatom plan (params goal style)\n"
                                             "  (instructions \"{{goal}} {{stile}} {{style}}\")\n"
                                             "  (temprature 1)\n"
                                             "  (model 3))\n"
                                             "(plan (goal 1))\n"
                                             "(plan 1 2 3)\n"
                                             "(call-atomic-task 'plan (gaol 1) (goal 1))\n"));
    EXPECT_EQ(ended.code, 1);
    for (const char* expected :
         {"{{stile}} is not a parameter of the task 'plan'", "did you mean 'style'?",
          "there is no clause 'temprature'", "model must be a non-empty string, not 3",
          "the task 'plan' needs 'style'", "the task 'plan' has 2 inputs, not 3",
          "the task 'plan' has no input 'gaol'"}) {
        EXPECT_NE(ended.out.find(expected), std::string::npos) << expected << "\n" << ended.out;
    }
}

TEST_F(check, looks_into_the_texts_of_tasks_and_at_their_tools) {
    const auto file = scratch.file(
        "a.heddle",
        "(defatom one (params x) (instructions \"{{x}}\"))\n"
        "(defatom two (params q) (tools (read-file nosuch)) (instructions \"{{one(q)}} "
        "{{one(q, 1)}} {{one(y=q)}} {{none(q)}}\"))\n"
        "(two (q 1))\n(read-file (paht \"a\"))\n");
    const auto ended = run_heddle({"check", file});
    EXPECT_EQ(ended.code, 1);
    for (const char* reported :
         {"task 'two': {{one(q, 1)}}: 'one' takes 1 input by position, not 2",
          "task 'two': {{one(y=q)}}: 'one' has no input 'y'",
          "task 'two': {{none(q)}}: there is no task 'none'",
          "task 'two' offers the tool 'nosuch', which is unknown", "5 errors, 0 warnings"}) {
        EXPECT_NE(ended.out.find(reported), std::string::npos) << reported << "\n" << ended.out;
    }
    EXPECT_EQ(ended.out.find("{{one(q)}}:"), std::string::npos) << ended.out;
}

TEST_F(check, a_task_above_its_definition_and_one_that_is_handed_on_are_fine) {
    const auto file =
        scratch.file("a.heddle",
                     "(import std/refine)\n(define (main topic) (content (writer (topic topic))))\n"
                     "(defatom writer (params topic) (instructions \"Write about {{topic}}\"))\n"
                     "(defatom judge (params draft task) (instructions \"{{draft}}\"))\n"
                     "(define (again) (list judge))\n");
    const auto ended = run_heddle({"check", file});
    EXPECT_EQ(ended.out.find("unused-parameter"), std::string::npos);
    EXPECT_EQ(ended.out.find("topic"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("is not used in its prompts"), std::string::npos) << ended.out;
}

TEST_F(check, a_misspelt_input_is_named) {
    const auto file = scratch.file("a.heddle",
                                   "(defatom ask (params thing) (instructions "
                                   "\"{{thing}}\"))\n(ask (thng \"x\"))\n");
    const auto ended = run_heddle({"check", file});
    EXPECT_NE(ended.out.find("the task 'ask' has no input 'thng'"), std::string::npos) << ended.out;
    EXPECT_NE(ended.out.find("did you mean 'thing'?"), std::string::npos) << ended.out;
}

TEST_F(check, a_clause_that_no_call_has_is_reported_with_its_place) {
    const auto file =
        scratch.file("a.heddle",
                     "(defatom q (params x) (instructions \"{{x}}\"))\n"
                     "(q (x 1) (timout 5))\n(q (x 1) (seed 7))\n(q (x 1) (zzzz 1))\n");
    const auto ended = run_heddle({"check", file});
    for (const char* reported :
         {"a.heddle:2:10", "did you mean 'timeout'?", "a.heddle:3:10",
          "a call does not set 'seed'; write (with ((seed …)) …) around it, or (seed …) in the "
          "definition of the task",
          "a.heddle:4:10", "its input is 'x'"}) {
        EXPECT_NE(ended.out.find(reported), std::string::npos) << reported << "\n" << ended.out;
    }
}

TEST_F(check, tasks_of_files_are_held_to_the_same_rules) {
    scratch.file("tasks/greet.xml",
                 "<tasks><task name='greet' type='atomic'><description>d</description>"
                 "<inputs><input name='a'/></inputs><instructions>{{a}}</instructions></task>"
                 "<task name='open' type='atomic'><description>d</description>"
                 "<instructions>{{z}}</instructions></task></tasks>");
    const auto file = scratch.file("a.heddle",
                                   "(string-upcase (greet \"a\"))\n(+ 1 (greet \"a\"))\n(open)\n"
                                   "(open (y 1))\n(open (z 1))\n");
    const auto ended = run_heddle({"check", file});
    for (const char* reported :
         {"a.heddle:1:16", "must be a string, not the result of a task", "a.heddle:2:6",
          "must be a number, not the result of a task", "a.heddle:3:1", "a.heddle:4:1",
          "the task 'open' needs 'z'", "4 errors, "}) {
        EXPECT_NE(ended.out.find(reported), std::string::npos) << reported << "\n" << ended.out;
    }
}

TEST_F(check, after_a_syntax_error_calls_of_the_lost_task_are_left_alone) {
    const auto file = scratch.file("a.heddle",
                                   "(defatom ask (params q) (instructions \"\\q\"))\n"
                                   "(define (main) (ask (q 1) (timeout 5)))\n");
    EXPECT_NE(run_heddle({"check", file}).out.find("1 error, 0 warnings"), std::string::npos);
}

TEST_F(check, the_examples_have_no_problems) {
    const std::filesystem::path root = heddle::test_paths::source_folder();
    std::vector<std::string> command{"check", "--strict"};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "examples")) {
        if (entry.path().extension() == ".heddle") command.push_back(entry.path().string());
    }
    ASSERT_GE(command.size(), 5U);
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
}

TEST_F(check, reports_what_a_run_would_report) {
    for (const char* program :
         {"(await \"x\")", "(with-permit 5 1)", "(cancel 5)", "(parse 5)", "(read-all 'a)",
          "(apply + 1 2)", "(sleep \"1\")", "(read-file 5)", "(getenv 5)", "(write-file \"a\" 5)",
          "(write-file 5 \"a\")", "(file-exists? 5)", "(list-directory 5)"}) {
        const auto reported = run_heddle({"check", "--json", "-"}, with_input(program));
        ASSERT_EQ(reported.code, 1) << program;
        const std::string message(json::parse(reported.out).at("message").as_string());
        const auto ran = run_heddle({"eval", program});
        EXPECT_NE(ran.err.find(message), std::string::npos) << message << "\n" << ran.err;
    }
}

TEST_F(check, never_runs_anything) {
    const auto ended = run_heddle({"check", "-"}, with_input("(print \"ran\") (while true 1)"));
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out.find("ran"), std::string::npos);
}

TEST_F(check, reports_files_that_cannot_be_read_and_goes_on) {
    const auto bad = scratch.file("bad.heddle", "(if)");
    const auto ended = run_heddle({"check", scratch.path(), "/no/such/file", bad});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("is a directory"), std::string::npos) << ended.err;
    EXPECT_NE(ended.out.find("if: expects 3 parts"), std::string::npos) << ended.out;
    const std::string binary(
        "\x7f"
        "ELF\x00\x01\xff",
        7);
    const auto of_binary = run_heddle({"check", scratch.file("a.out", binary)});
    EXPECT_EQ(of_binary.code, 1);
    EXPECT_NE(of_binary.out.find("U+007F"), std::string::npos) << of_binary.out;
    EXPECT_EQ(run_heddle({"check"}).code, 2);
}

TEST_F(dump, shows_tree_listing_and_json) {
    const auto file = scratch.file("a.heddle", "(define (f x) (+ x 1))\n(f 2)\n");
    const auto tree = run_heddle({"dump", "ast", file});
    EXPECT_EQ(tree.code, 0) << tree.err;
    EXPECT_NE(tree.out.find("local x in register  ; 1:18-1:19"), std::string::npos) << tree.out;
    const auto listing = run_heddle({"dump", "ir", file});
    EXPECT_EQ(listing.code, 0) << listing.err;
    EXPECT_NE(listing.out.find("function f, 1 required"), std::string::npos) << listing.out;
    const auto object = run_heddle({"dump", "ast", "--json", "-"}, with_input("(f 1)"));
    EXPECT_EQ(json::parse(object.out).at("kind"), "sequence");
}

TEST_F(dump, shows_instructions_as_json) {
    const auto ended = run_heddle({"dump", "ir", "--json", "-"},
                                  with_input("(define (f x) (* 2 x))\n(f \"a \\\"b\\\"\")\n"));
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto functions = json::parse(ended.out).at("functions").as_array();
    ASSERT_EQ(functions.size(), 2U);
    EXPECT_EQ(functions[0].at("name"), "");
    const auto& first = functions[1];
    EXPECT_EQ(first.at("name"), "f");
    EXPECT_EQ(first.at("required").to_number<int>(), 1);
    EXPECT_EQ(json::serialize(first.at("instructions").at(0)),
              R"({"index":0,"name":"load_int","operands":"r2 2","begin":{"line":1,"column":18}})");
    EXPECT_TRUE(first.at("handlers").as_array().empty());
    const auto wrong = run_heddle({"dump", "ir", "--json", "-"}, with_input("(if 1)"));
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(json::parse(wrong.err).is_object()) << wrong.err;
}

TEST_F(dump, runs_nothing_and_reports_mistakes) {
    EXPECT_EQ(run_heddle({"dump", "ir", "-"}, with_input("(print \"ran\")")).out.find("ran\n"),
              std::string::npos);
    const auto wrong = run_heddle({"dump", "ast", "-"}, with_input("(if 1)"));
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("if: expects 3 parts"), std::string::npos) << wrong.err;
    EXPECT_EQ(run_heddle({"dump", "ast", scratch.path()}).code, 2);
    EXPECT_EQ(run_heddle({"dump", "words", "-"}).code, 2);
    EXPECT_EQ(run_heddle({"dump"}).code, 2);
}

} // namespace
} // namespace heddle::cli_test
