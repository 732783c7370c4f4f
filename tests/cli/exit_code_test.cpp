// 0 done, 1 the workflow failed, 2 usage or syntax error.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

namespace heddle::cli_test {
namespace {

using testing::Test;

TEST(exit_code, eval_of_a_value_is_0_and_prints_its_written_form) {
    const auto ended = run_heddle({"eval", "(map (lambda (x) (* x x)) (list 1 2 3))"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out, "(1 4 9)\n");
    EXPECT_EQ(ended.err, "");
}

TEST(exit_code, a_run_time_error_is_1) {
    const auto ended = run_heddle({"eval", "(+ 1 x)"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    EXPECT_NE(ended.err.find("UnboundSymbolError"), std::string::npos) << ended.err;
}

TEST(exit_code, a_syntax_error_is_2) {
    EXPECT_EQ(run_heddle({"eval", "(+ 1"}).code, 2);
    EXPECT_EQ(run_heddle({"eval", "(if 1 2)"}).code, 2) << "found before anything runs";
}

TEST(exit_code, a_syntax_error_of_text_parsed_at_run_time_is_1) {
    EXPECT_EQ(run_heddle({"eval", "(parse \"(\")"}).code, 1);
}

TEST(exit_code, a_mistake_of_usage_is_2) {
    EXPECT_EQ(run_heddle({}).code, 2);
    EXPECT_EQ(run_heddle({"evaluate"}).code, 2);
    EXPECT_EQ(run_heddle({"rnu", "--help"}).code, 2);
    EXPECT_EQ(run_heddle({"help", "rnu"}).code, 2);
    EXPECT_EQ(run_heddle({"completion", "csh"}).code, 2);
    EXPECT_EQ(run_heddle({"run"}).code, 2);
    EXPECT_EQ(run_heddle({"run", "/no/such/file"}).code, 2);
    EXPECT_EQ(run_heddle({"eval", "1", "--workspace", "/no/such/directory"}).code, 2);
    EXPECT_EQ(run_heddle({"eval", "1", "--concurrency", "0"}).code, 2);
    EXPECT_EQ(run_heddle({"eval", "1", "--model", "nobody:x"}).code, 2);
}

TEST(exit_code, help_and_version_are_0) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"--help"},
                                               {"run", "--help"},
                                               {"eval", "--help"},
                                               {"fmt", "--help"},
                                               {"check", "--help"},
                                               {"dump", "--help"},
                                               {"dump", "ast", "--help"},
                                               {"help"},
                                               {"help", "model", "serve"},
                                               {"model", "--help"},
                                               {"model", "serve", "--help"}}) {
        const auto ended = run_heddle(command);
        EXPECT_EQ(ended.code, 0) << command[0];
        EXPECT_NE(ended.out.find("Usage:"), std::string::npos) << ended.out;
        EXPECT_EQ(ended.err, "");
    }
    const auto version = run_heddle({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out.substr(0, 7), "heddle ");
}

TEST(exit_code, a_timeout_is_1_and_ends_in_time) {
    const auto ended = run_heddle({"eval", "(sleep 600)", "--timeout", "0.2"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("TimeoutError"), std::string::npos) << ended.err;
}

TEST(exit_code, a_computation_that_never_waits_is_timed_out_too) {
    const auto ended = run_heddle({"eval", "(while true 1)", "--timeout", "0.2"});
    EXPECT_EQ(ended.code, 1);
}

TEST(exit_code, output_that_is_lost_is_1) {
    child_options options;
    options.out_to_full_device = true;
    const auto ended = run_heddle({"eval", "1"}, options);
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.err, "heddle: standard output cannot be written\n");
}

TEST(exit_code, of_an_unknown_command_is_2_and_what_is_near_is_named) {
    for (const std::vector<std::string>& before : {std::vector<std::string>{}, {"help"}}) {
        for (const auto& [name, near] : std::vector<std::pair<std::string, std::string>>{
                 {"evl", "did you mean 'eval'?"}, {"nope", ""}}) {
            SCOPED_TRACE(name);
            std::vector<std::string> arguments = before;
            arguments.push_back(name);
            const auto ended = run_heddle(arguments);
            EXPECT_EQ(ended.code, 2);
            EXPECT_NE(ended.err.find(near), std::string::npos) << ended.err;
            const bool suggests = ended.err.find("did you mean") != std::string::npos;
            EXPECT_EQ(suggests, !near.empty()) << ended.err;
        }
    }
}

TEST(exit_code, of_a_program_whose_streams_are_closed) {
    struct closed_case {
        const char* closed;
        std::vector<std::string> arguments;
        int code;
        const char* err;
    };
    for (const auto& [closed, arguments, code, err] : std::vector<closed_case>{
             {"<&-", {"repl"}, 2, "standard input: cannot be read: "},
             {"</", {"repl"}, 2, "standard input: cannot be read: Is a directory"},
             {"<&-", {"eval", "(+ 1 2)"}, 0, ""},
             {"<&-", {"run", "-"}, 2, "standard input: cannot be read"},
             {">&-", {"eval", "1"}, 1, "standard output cannot be written"},
             {"<&- >&-", {"eval", "1"}, 1, "standard output cannot be written"},
             {"2>&-", {"eval", "1"}, 0, ""},
             {"<&- >&- 2>&-", {"repl"}, 2, ""}}) {
        SCOPED_TRACE(arguments.front() + " " + closed);
        std::vector<std::string> command{"/bin/sh", "-c", "exec \"$@\" " + std::string(closed),
                                         "sh", heddle::test_paths::program_file()};
        command.insert(command.end(), arguments.begin(), arguments.end());
        child_process child(command);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, code) << ended.err;
        EXPECT_NE(ended.err.find(err), std::string::npos) << ended.err;
    }
}

TEST(exit_code, of_a_run_whose_reader_has_gone_is_1_and_its_calls_are_reported) {
    const scratch_directory scratch;
    const std::string rules = scratch.file("rules.json", always_answering("an answer"));
    const std::string text(1000, 'x');
    // Without an end of its own: it ends because nobody reads.
    const std::string program = scratch.file("w.heddle",
                                             "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                             "(while true (ask \"q\") (print \"" +
                                                 text + "\"))\n");
    child_process child({"/bin/sh", "-c", "\"$@\" | head -c 10; exit 0", "sh",
                         heddle::test_paths::program_file(), "run", program, "--model",
                         "scripted:" + rules});
    const auto piped = child.wait();
    EXPECT_EQ(piped.out, "xxxxxxxxxx");
    EXPECT_NE(piped.err.find("heddle: standard output cannot be written\nbefore that: "),
              std::string::npos)
        << piped.err;
    EXPECT_NE(piped.err.find("calls done"), std::string::npos) << piped.err;
    child_process coded({"/bin/bash", "-c", "\"$@\" | head -c 10; exit ${PIPESTATUS[0]}", "bash",
                         heddle::test_paths::program_file(), "run", program, "--model",
                         "scripted:" + rules, "--json"});
    const auto ended = coded.wait();
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("\"exit_code\":1"), std::string::npos) << ended.err;
}

TEST(exit_code, no_model_is_1_and_names_the_variables) {
    const auto ended =
        run_heddle({"eval", "(progn (defatom t (params a) (instructions \"{{a}}\")) (t \"x\"))"});
    EXPECT_EQ(ended.code, 1);
    for (const char* name : {"OPENAI_API_KEY", "OPENAI_BASE_URL", "HEDDLE_MODEL", "--model"}) {
        EXPECT_NE(ended.err.find(name), std::string::npos) << name << "\n" << ended.err;
    }
}

} // namespace
} // namespace heddle::cli_test
