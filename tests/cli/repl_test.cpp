// heddle repl on a real terminal, and with its input piped in.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"
#include "terminal_child.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";
constexpr const char* arrow_up = "\x1b[A";
constexpr const char* prompt = "heddle> ";
constexpr const char* more_prompt = "   ...> ";

/// heddle repl on a terminal, at its first prompt.
class repl_child : public terminal_child {
public:
    explicit repl_child(const std::map<std::string, std::string>& variables,
                        std::vector<std::string> files = {})
        : terminal_child(command(std::move(files)), variables) {
        if (!expect(prompt)) throw std::runtime_error("no prompt");
    }
    /// Types Ctrl-D; the exit code.
    [[nodiscard]] int leave() {
        type(ctrl_d);
        return wait();
    }

private:
    static std::vector<std::string> command(std::vector<std::string> files) {
        files.insert(files.begin(), "repl");
        return heddle_command(std::move(files));
    }
};

class repl_on_terminal : public testing::Test {
protected:
    [[nodiscard]] std::map<std::string, std::string> variables() const {
        return {{"TERM", "xterm"}, {"HOME", scratch.path()}, {"NO_COLOR", "1"}};
    }
    [[nodiscard]] std::string history() const {
        return scratch.text_of(".local/state/heddle/history");
    }
    /// Types a line and waits for what follows it; returns what was shown from the line on.
    static std::string say(terminal_child& child, const std::string& line,
                           const std::string& until = prompt) {
        child.type(line + "\r");
        (void)child.expect("\r\n");
        (void)child.expect(until);
        return child.seen();
    }

    scratch_directory scratch;
};

TEST_F(repl_on_terminal, evaluates_lines_in_one_session) {
    repl_child child(variables());
    EXPECT_THAT(child.seen(), HasSubstr(":help"));
    EXPECT_EQ(say(child, "(define seven 7)"), std::string("7\r\n") + prompt);
    EXPECT_EQ(say(child, "(* 6 seven)"), std::string("42\r\n") + prompt);
    EXPECT_EQ(say(child, "(list *1 *2) 5"), std::string("(42 7)\r\n5\r\n") + prompt);
    EXPECT_EQ(say(child, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa7\xb5\""),
              std::string("\"\xc3\xa4\xe2\x82\xac\xf0\x9f\xa7\xb5\"\r\n") + prompt);
    EXPECT_EQ(child.leave(), 0);
}

TEST_F(repl_on_terminal, goes_on_while_something_is_open) {
    repl_child child(variables());
    EXPECT_EQ(say(child, "(define (cube n)", more_prompt), more_prompt);
    EXPECT_EQ(say(child, "  #| not (yet", more_prompt), more_prompt);
    EXPECT_EQ(say(child, "  |# (* n n n))"), std::string("#<function cube>\r\n") + prompt);
    EXPECT_EQ(say(child, "(string-length \"a", more_prompt), more_prompt);
    EXPECT_EQ(say(child, "b\")"), std::string("3\r\n") + prompt);
    EXPECT_THAT(say(child, "(cube 4]"), HasSubstr("expected ) but found ]"));
    EXPECT_EQ(say(child, "(cube 4)"), std::string("64\r\n") + prompt);
}

TEST_F(repl_on_terminal, shows_errors_and_keeps_the_last) {
    repl_child child(variables());
    const std::string shown = say(child, "(/ 12 0)");
    EXPECT_THAT(shown, HasSubstr("SexpEvaluationError: /: division by zero"));
    EXPECT_THAT(shown, HasSubstr("<repl>:1:1"));
    EXPECT_THAT(shown, HasSubstr("^^^^^^^^"));
    EXPECT_EQ(say(child, "(get *e 'message)"), std::string("\"/: division by zero\"\r\n") + prompt);
    EXPECT_THAT(say(child, "(fliter 1)"), HasSubstr("did you mean 'filter'?"));
    EXPECT_EQ(child.leave(), 0);
}

TEST_F(repl_on_terminal, completes_names_with_tab) {
    repl_child child(variables());
    (void)say(child, "(define the-longest-name-here 11)");
    EXPECT_THAT(say(child, "(+ 1 the-lo\t)"), HasSubstr("12\r\n"));
    EXPECT_THAT(say(child, "(string-up\t \"ok\")"), HasSubstr("\"OK\"\r\n"));
    EXPECT_THAT(say(child, "(whi\tfalse 1)"), HasSubstr("nil\r\n"));
    child.type("(json-\t");
    ASSERT_TRUE(child.expect("json-parse"));
    ASSERT_TRUE(child.expect("json-string"));
    ASSERT_TRUE(child.expect("heddle> (json-")); // the line again, below the list
    child.type(ctrl_c);
    ASSERT_TRUE(child.expect(prompt));
    // What two names have in common ends between characters, not between their bytes.
    (void)say(child, "(define xyz\xC3\xA9 1)");
    (void)say(child, "(define xyz\xC3\xA8 2)");
    EXPECT_THAT(say(child, "(+ xy\t\xC3\xA9 6)"), HasSubstr("7\r\n"));
    EXPECT_THAT(say(child, ":he\t"), HasSubstr(":load FILE"));
    EXPECT_THAT(say(child, "\"string-up\t\""), HasSubstr("\"string-up\""));
}

TEST_F(repl_on_terminal, interrupted_while_it_computes_goes_on) {
    repl_child child(variables());
    (void)say(child, "(define kept 17)");
    for (const char* endless :
         {"(while true 1)", "(sleep 600)", "(map (lambda (x) (sleep 600)) (range 9))"}) {
        child.type("(progn (print (+ 40 2)) " + std::string(endless) + ")\r");
        ASSERT_TRUE(child.expect("\r\n42\r\n"));
        child.type(ctrl_c);
        ASSERT_TRUE(child.expect("interrupted")) << endless;
        ASSERT_TRUE(child.expect(prompt)) << endless;
    }
    EXPECT_EQ(say(child, "(+ kept 1)"), std::string("18\r\n") + prompt);
    EXPECT_EQ(child.leave(), 0);
}

TEST_F(repl_on_terminal, interrupted_again_while_it_ends_leaves) {
    repl_child child(variables());
    child.type(
        "(try (progn (print \"begun\") (sleep 600)) (finally (progn (print \"tidying\") (sleep "
        "4) (print \"tidied\"))))\r");
    ASSERT_TRUE(child.expect("\r\nbegun"));
    child.type(ctrl_c);
    ASSERT_TRUE(child.expect("tidying\r\n"));
    child.type(ctrl_c);
    EXPECT_EQ(child.wait(), 130);
    EXPECT_EQ(child.screen().find("tidied\r\n"), std::string::npos) << "it waited for the end";
}

TEST_F(repl_on_terminal, interrupted_at_the_prompt_drops_the_line) {
    repl_child child(variables());
    child.type("(define gone");
    ASSERT_TRUE(child.expect("gone"));
    child.type(ctrl_c);
    ASSERT_TRUE(child.expect(prompt));
    EXPECT_EQ(say(child, "(+ 1", more_prompt), more_prompt);
    child.type(ctrl_c);
    ASSERT_TRUE(child.expect(prompt));
    EXPECT_EQ(say(child, "(+ 20 3)"), std::string("23\r\n") + prompt);
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), 130);
}

TEST_F(repl_on_terminal, prints_help_as_text_and_cuts_what_is_huge) {
    repl_child child(variables());
    EXPECT_THAT(say(child, "(help 'cons)"), HasSubstr("(cons x xs)\r\nThe list xs"));
    EXPECT_THAT(say(child, ":doc let*"), HasSubstr("(let* ((name value)…) body…)\r\n"));
    EXPECT_THAT(say(child, ":doc"), HasSubstr(":doc needs NAME"));
    EXPECT_THAT(say(child, ":dok map"), HasSubstr("did you mean ':doc'?"));
    EXPECT_THAT(say(child, ":time (+ 1 1)"), HasSubstr(" ms\r\n"));
    const std::string cut = say(child, "(range 5000)");
    EXPECT_THAT(cut, HasSubstr("…\r\ncut: :last shows all of it\r\n"));
    EXPECT_THAT(cut, Not(HasSubstr("4999")));
    EXPECT_THAT(say(child, ":last"), HasSubstr(" 4999)\r\n"));
    child.type(":quit\r");
    EXPECT_EQ(child.wait(), 0);
}

TEST_F(repl_on_terminal, keeps_a_history_without_secrets) {
    {
        repl_child child(variables());
        (void)say(child, "(+ 40 1)");
        (void)say(child, "(define key \"sk-abcdef0123\")");
        (void)say(child, "(define OPENAI_API_KEY 5)");
        (void)say(child, "(+ 40 2)");
        EXPECT_EQ(child.leave(), 0);
    }
    EXPECT_EQ(history(), "(+ 40 1)\n(+ 40 2)\n");
    struct stat known {};
    const std::string file = scratch.path() + "/.local/state/heddle/history";
    ASSERT_EQ(::stat(file.c_str(), &known), 0);
    EXPECT_EQ(known.st_mode & 0777, 0600U);

    repl_child later(variables());
    EXPECT_EQ(say(later, std::string(arrow_up) + arrow_up), std::string("41\r\n") + prompt);
}

TEST_F(repl_on_terminal, recalls_an_expression_of_several_lines_as_one_entry) {
    {
        repl_child child(variables());
        (void)say(child, "(define (cube n)", more_prompt);
        (void)say(child, "  (* n n n))");
        (void)say(child, "(cube 2)");
        EXPECT_THAT(say(child, std::string(arrow_up) + arrow_up), HasSubstr("#<function cube>"));
        EXPECT_EQ(child.leave(), 0);
    }
    EXPECT_THAT(history(), testing::StartsWith("(define (cube n)\x1e  (* n n n))\n(cube 2)\n"));
    repl_child later(variables());
    EXPECT_THAT(say(later, arrow_up), HasSubstr("#<function cube>"));
    EXPECT_EQ(say(later, "(cube 3)"), std::string("27\r\n") + prompt);
}

TEST_F(repl_on_terminal, lays_out_long_values) {
    repl_child child(variables());
    const std::string rows =
        say(child, "(map (lambda (i) (dict 'number i 'text \"some text of a row\")) '(1 2 3))");
    EXPECT_THAT(rows, HasSubstr("((dict \"number\" 1 \"text\" \"some text of a row\")\r\n"
                                " (dict \"number\" 2 "));
    EXPECT_THAT(say(child, ":last"), HasSubstr("row\")\r\n (dict \"number\" 2 "));
}

// All notes were printed with each result.
TEST_F(repl_on_terminal, shows_what_a_task_responded_and_a_line_of_notes) {
    const std::string rules = scratch.file(
        "rules.json",
        R"({"rules": [{"match": "sky", "text": "The sky\nis blue.", "usage": {"input": 1, "output": 6}},
                      {"match": "list", "json": {"a": [1, 2]}}]})");
    repl_child child(variables(), {"--model", "scripted:" + rules});
    (void)say(child, "(defatom ask (params q) (instructions \"{{q}}\"))");
    const std::string shown = say(child, "(ask \"sky\")");
    EXPECT_THAT(shown, HasSubstr("The sky\r\nis blue.\r\nscripted, "));
    EXPECT_THAT(shown, HasSubstr(" out; :last shows all of it\r\n"));
    EXPECT_THAT(shown, Not(HasSubstr("latency_ms")));
    EXPECT_THAT(say(child, ":last"), HasSubstr("latency_ms"));
    EXPECT_THAT(say(child, "(get-in *1 '(notes provider))"), HasSubstr("\"scripted\"\r\n"));
    (void)say(child,
              "(defatom json (params q) (instructions \"{{q}}\") "
              "(output_format ((type \"json\"))))");
    EXPECT_THAT(say(child, "(json \"list\")"), HasSubstr("(dict \"a\" (1 2))\r\nscripted, "));
    const std::string failed = say(child, "(ask \"else\")");
    EXPECT_THAT(failed, HasSubstr("FAILED: scripted: invalid request"));
    EXPECT_THAT(failed, Not(HasSubstr("latency_ms")));
}

TEST_F(repl_on_terminal, keeps_its_history_below_xdg_state_home) {
    auto with_state = variables();
    with_state["XDG_STATE_HOME"] = scratch.path() + "/state";
    repl_child child(with_state);
    (void)say(child, "(+ 1 1)");
    EXPECT_EQ(scratch.text_of("state/heddle/history"), "(+ 1 1)\n");
}

TEST_F(repl_on_terminal, is_coloured_unless_asked_not_to_be) {
    auto with_colour = variables();
    with_colour.erase("NO_COLOR");
    terminal_child child(heddle_command({"repl"}), with_colour);
    ASSERT_TRUE(child.expect("heddle>"));
    child.type("(list \"text\" 3)\r");
    ASSERT_TRUE(child.expect("(\x1b[32m\"text\"\x1b[0m \x1b[36m3\x1b[0m)"));

    repl_child plain(variables());
    EXPECT_THAT(say(plain, "(list \"text\" 3)"), Not(HasSubstr("\x1b[3")));
}

TEST_F(repl_on_terminal, works_on_a_dumb_terminal) {
    auto dumb = variables();
    dumb["TERM"] = "dumb";
    repl_child child(dumb);
    EXPECT_EQ(say(child, "(+ 1", more_prompt), more_prompt);
    child.type(ctrl_c);
    ASSERT_TRUE(child.expect(prompt));
    EXPECT_EQ(say(child, "(+ 1 2)"), std::string("3\r\n") + prompt);
    EXPECT_THAT(child.screen(), Not(HasSubstr("\x1b")));
    EXPECT_EQ(child.leave(), 0);
}

TEST_F(repl_on_terminal, loads_files_first_and_on_request) {
    const std::string first = scratch.file("first.heddle", "(define base 10)\n(+ base 1)\n");
    const std::string wrong = scratch.file("wrong.heddle", "(define after 1)\n\n(boom)\n");
    repl_child child(variables(), {first});
    EXPECT_THAT(child.seen(), HasSubstr("11\r\n"));
    EXPECT_EQ(say(child, "(* base 3)"), std::string("30\r\n") + prompt);
    EXPECT_THAT(say(child, ":load " + wrong), HasSubstr("wrong.heddle:3:1"));
    EXPECT_EQ(say(child, "after"), std::string("1\r\n") + prompt);
    EXPECT_THAT(say(child, ":load /nowhere/at/all"), HasSubstr("/nowhere/at/all"));
}

// ---------------------------------------------------------------- piped

child_result piped(const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), "repl");
    return run_heddle(more, with_input(input));
}

TEST(repl_piped, prints_each_value_without_prompts) {
    const auto ended = piped("(define x 2)\n(* x 21) (list x\n \"s\")\n; nothing\n\n'a");
    EXPECT_EQ(ended.out, "2\n42\n(2 \"s\")\na\n");
    EXPECT_EQ(ended.err, "");
    EXPECT_EQ(ended.code, 0);
}

TEST(repl_piped, goes_on_after_an_error_and_fails_at_the_end) {
    const auto ended = piped("(+ 1 1)\n\n(boom) 5\n(+ 2 2)\n");
    EXPECT_EQ(ended.out, "2\n5\n4\n");
    EXPECT_THAT(ended.err, HasSubstr("<stdin>:3:1"));
    EXPECT_EQ(ended.code, 1);
}

TEST(repl_piped, that_ends_inside_an_expression_reports_where_it_began) {
    const auto ended = piped("1\n2\n(f (g\n");
    EXPECT_EQ(ended.out, "1\n2\n");
    EXPECT_THAT(ended.err, HasSubstr("the list opened at line 3, column 4 is never closed"));
    EXPECT_THAT(ended.err, HasSubstr("<stdin>:3:4"));
    EXPECT_EQ(ended.code, 1);
}

TEST(repl_piped, takes_commands_and_stops_at_quit) {
    const auto ended = piped(":doc cons\n(define f 1)\n:quit\n(boom)\n");
    EXPECT_THAT(ended.out, HasSubstr("(cons x xs)\n"));
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(piped(":nonsense\n").code, 1);
}

TEST(repl_piped, reads_bytes_that_are_no_text_as_an_error) {
    const auto ended = piped("(+ 1 \xff)\n(+ 1 2)\n");
    EXPECT_EQ(ended.out, "3\n");
    EXPECT_THAT(ended.err, HasSubstr("invalid UTF-8"));
    EXPECT_EQ(ended.code, 1);
}

TEST(repl_piped, of_many_lines_is_quick) {
    const scratch_directory scratch;
    std::string text = "(define rows '(\n";
    for (int i = 0; i < 100'000; ++i) text += "  (row " + std::to_string(i) + ")\n";
    const std::string file = scratch.file("rows", text + "))\n:doc cons\n(length rows)\n");
    const auto ended = child_process({"sh", "-c",
                                      std::string(heddle::test_paths::program_file()) + " repl < " +
                                          file + " | tail -n 1"})
                           .wait(milliseconds(120'000)); // quadratic work would take hours
    EXPECT_EQ(ended.out, "100000\n");
}

TEST(repl_piped, asks_a_model_and_bounds_each_evaluation) {
    const scratch_directory scratch;
    const std::string rules = scratch.file("rules.json", always_answering("an answer"));
    const auto asked = piped(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(content (ask \"x\"))\n"
        "(content (ask \"y\"))\n",
        {"--model", "scripted:" + rules});
    EXPECT_EQ(asked.out, "ask\n\"an answer\"\n\"an answer\"\n") << asked.err;
    const auto bounded = piped("(sleep 30)\n(+ 1 2)\n", {"--timeout", "0.05"});
    EXPECT_EQ(bounded.out, "3\n");
    EXPECT_EQ(bounded.code, 1);
    const auto without = piped("(defatom ask (params q) (instructions \"{{q}}\"))\n(ask \"x\")\n");
    EXPECT_THAT(without.err, HasSubstr("set OPENAI_API_KEY"));
}

TEST(repl_piped, reports_what_a_definition_hides_and_how_to_leave) {
    const auto ended =
        piped("(define map 3)\n(define (filter x) x)\n(define mine 3)\n(define map 4)\n");
    EXPECT_EQ(ended.err,
              "warning: your 'map' hides that of the language in this session\n"
              "warning: your 'filter' hides that of the language in this session\n");
    EXPECT_EQ(ended.code, 0);
    for (const char* word : {"exit\n", "quit\n", "(exit)\n"})
        EXPECT_THAT(piped(word).err, HasSubstr("hint: :quit or Ctrl-D leaves")) << word;
}

TEST(repl_piped, takes_definitions_back) {
    const auto ended = piped(
        "(define map 3)\n:undefine map\n(map string-upcase '(\"a\"))\n"
        "(defmacro not (x) 5)\n(not true)\n:undefine not\n(not true)\n"
        "(define map 4)\nmap\n");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("3\n(\"A\")\n"));
    EXPECT_THAT(ended.out, HasSubstr("not\n5\nfalse\n4\n4\n"));
    const auto unknown = piped(":undefine map\n");
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("no definition of 'map'"));
}

TEST(repl_piped, defines_a_task_or_tool_again_without_a_warning) {
    const auto ended = piped(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(defatom ask (params q) (instructions \"again {{q}}\"))\n"
        "(deftool one (params) (description \"d\") 1)\n"
        "(deftool one (params) (description \"d\") 1)\n");
    EXPECT_THAT(ended.err, Not(HasSubstr("replaces an earlier one")));
}

TEST(repl_piped, counts_the_requests_of_a_line_alone) {
    const scratch_directory scratch;
    const std::string rules = scratch.file("rules.json", always_answering("an answer"));
    const auto ended = piped(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(help 'ask)\n"
        ":time (ask \"x\")\n(help)\n",
        {"--model", "scripted:" + rules});
    EXPECT_THAT(ended.out, HasSubstr(" ms, 1 request\n"));
    EXPECT_THAT(ended.out, Not(HasSubstr("Inline task definition")));
    EXPECT_THAT(ended.out, HasSubstr("Modules of the standard library, for (import name)\n  std/"));
}

TEST(repl_piped, has_no_json) {
    const auto ended = piped("1\n", {"--json"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("repl has no --json"));
}

} // namespace
} // namespace heddle::cli_test
