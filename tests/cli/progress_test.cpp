// The status line: on a terminal, and nowhere else.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace heddle::cli_test {
namespace {

class progress : public testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> command(std::vector<std::string> more = {}) {
        std::vector<std::string> strings{
            "run",
            scratch.file("w.heddle",
                         "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                         "(define (main) (length (map (lambda (i) (ask \"q\")) (range 20))))"),
            "--base-url",
            model.url(),
            "--concurrency",
            "5"};
        strings.insert(strings.end(), more.begin(), more.end());
        return strings;
    }
    static child_options terminal(std::map<std::string, std::string> variables = {}) {
        child_options options;
        options.err_to_terminal = true;
        options.variables = std::move(variables);
        options.variables.try_emplace("TERM", "xterm");
        return options;
    }
    static std::size_t count(const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = text.find(part); at != std::string::npos;
             at = text.find(part, at + 1)) {
            ++found;
        }
        return found;
    }

    scratch_directory scratch;
    model_thread model{R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 100}]})"};
};

TEST_F(progress, is_drawn_on_a_terminal_and_taken_away) {
    const auto ended = run_heddle(command(), terminal());
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.out, "20\n");
    EXPECT_NE(ended.err.find("5 running"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("tokens in"), std::string::npos) << ended.err;
    EXPECT_TRUE(ended.err.ends_with("\r\x1b[K")) << "the line is wiped at the end";
    // At most ten times a second, and once more to wipe it.
    EXPECT_LE(count(ended.err, "\r"), static_cast<std::size_t>(ended.took.count()) / 100 + 2);
}

TEST_F(progress, is_not_drawn_where_there_is_no_terminal) {
    const auto ended = run_heddle(command());
    EXPECT_EQ(ended.out, "20\n");
    EXPECT_EQ(ended.err, "");
}

TEST_F(progress, is_not_drawn_when_quiet_or_on_a_dumb_terminal) {
    EXPECT_EQ(run_heddle(command({"-q"}), terminal()).err, "");
    EXPECT_EQ(run_heddle(command(), terminal({{"TERM", "dumb"}})).err, "");
}

TEST_F(progress, does_not_mix_with_the_log) {
    const auto file = scratch.file("l.heddle",
                                   "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                   "(define (main) (map (lambda (i) (ask \"q\") (ask \"q\") "
                                   "(log-message \"line\" i)) (range 5)))");
    const auto ended = run_heddle({"run", file, "--base-url", model.url(), "-v"}, terminal());
    EXPECT_EQ(ended.code, 0);
    std::size_t at = ended.err.find("script: line");
    ASSERT_NE(at, std::string::npos) << ended.err;
    const std::size_t begin = ended.err.find_last_of("\r\n", at);
    // Before a line of the log stands a line end, or the code that wipes the status line.
    const std::string between = ended.err.substr(begin, at - begin);
    EXPECT_EQ(between.find("running"), std::string::npos) << ended.err;
}

TEST_F(progress, colours_errors_on_a_terminal_only_and_not_with_no_color) {
    const std::vector<std::string> wrong{"eval", "(+ 1 x)"};
    EXPECT_NE(run_heddle(wrong, terminal()).err.find("\x1b[1;31m"), std::string::npos);
    EXPECT_EQ(run_heddle(wrong, terminal({{"NO_COLOR", "1"}})).err.find('\x1b'), std::string::npos);
    EXPECT_EQ(run_heddle(wrong).err.find('\x1b'), std::string::npos);
}

TEST_F(progress, says_how_to_stop_at_once_when_interrupted) {
    model_thread slow(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 60000}]})");
    child_process child(
        heddle_command({"run",
                        scratch.file("s.heddle",
                                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                     "(define (main) (ask \"q\"))"),
                        "--base-url", slow.url()}),
        terminal());
    ASSERT_TRUE(child.wait_for_err("1 running"));
    child.send_signal(SIGINT);
    const auto ended = child.wait(milliseconds(5000));
    EXPECT_EQ(ended.code, 130);
    EXPECT_NE(ended.err.find("Ctrl-C again stops at once"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("interrupted: 0 calls done, 1 cancelled"), std::string::npos)
        << ended.err;
}

} // namespace
} // namespace heddle::cli_test
