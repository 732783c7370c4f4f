// The progress of a run: a status line on a terminal, lines elsewhere.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <csignal>

namespace heddle::cli_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

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
    // The line is wiped at the end, and what is left reports what the run took.
    EXPECT_THAT(ended.err, ContainsRegex("\r\x1b\\[K20 calls done, [^\r]* out[^\r]*\r\n$"));
    // At most ten times a second, once more to wipe it, and the end of the last line.
    EXPECT_LE(count(ended.err, "\r"), static_cast<std::size_t>(ended.took.count()) / 100 + 3);
}

TEST_F(progress, is_not_drawn_where_there_is_no_terminal) {
    const auto ended = run_heddle(command());
    EXPECT_EQ(ended.out, "20\n");
    EXPECT_EQ(ended.err, "");
}

TEST_F(progress, is_not_drawn_when_quiet_or_on_a_dumb_terminal) {
    EXPECT_EQ(run_heddle(command({"-q"}), terminal()).err, "");
    const auto dumb = run_heddle(command(), terminal({{"TERM", "dumb"}}));
    EXPECT_TRUE(dumb.err.starts_with("20 calls done, ")) << dumb.err;
    EXPECT_EQ(count(dumb.err, "\n"), 1U) << dumb.err;
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
    // Before a line of the log is a line end, or the code that wipes the status line.
    const std::string between = ended.err.substr(begin, at - begin);
    EXPECT_EQ(between.find("running"), std::string::npos) << ended.err;
}

TEST_F(progress, colours_errors_on_a_terminal_only_and_not_with_no_color) {
    const std::vector<std::string> wrong{"eval", "(+ 1 x)"};
    EXPECT_NE(run_heddle(wrong, terminal()).err.find("\x1b[1;31m"), std::string::npos);
    EXPECT_EQ(run_heddle(wrong, terminal({{"NO_COLOR", "1"}})).err.find('\x1b'), std::string::npos);
    EXPECT_EQ(run_heddle(wrong).err.find('\x1b'), std::string::npos);
}

TEST_F(progress, shows_how_to_stop_at_once_when_interrupted) {
    model_thread slow(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})");
    child_process child(
        heddle_command({"run",
                        scratch.file("s.heddle",
                                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                     "(define (main) (ask \"q\"))"),
                        "--base-url", slow.url()}),
        terminal());
    ASSERT_TRUE(child.wait_for_err("1 running"));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130);
    EXPECT_NE(ended.err.find("Ctrl-C again stops at once"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("interrupted: 0 calls done, 1 cancelled"), std::string::npos)
        << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("--cache"))) << "no response was lost";
}

TEST_F(progress, stays_while_the_program_prints) {
    const auto file =
        scratch.file("p.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main) (parallel (map (lambda (i) (ask \"q\")) (range 8))\n"
                     "  (map (lambda (i) (progn (sleep (/ i 20.0)) (print i))) (range 20))) nil)");
    const auto ended = run_heddle({"run", file, "--base-url", model.url(), "-c", "40"}, terminal());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("19\n"));
    // Standard output is a file: nothing there takes the line away before the end.
    EXPECT_EQ(count(ended.err, "\r\x1b[K"), 1U) << ended.err;
}

TEST_F(progress, shows_how_far_the_outermost_map_has_come) {
    const auto ended = run_heddle(command(), terminal());
    EXPECT_THAT(ended.err, ContainsRegex("\r\\[=+> *\\] 5/20 25% \\| 5 calls done, 5 running"));
    EXPECT_THAT(ended.err, HasSubstr("15/20 75%"));
}

TEST_F(progress, is_written_in_lines_where_there_is_no_terminal) {
    model_thread slow(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 900}]})");
    std::vector<std::string> asked = command();
    asked[3] = slow.url();
    const auto ended = run_heddle(asked);
    EXPECT_EQ(ended.out, "20\n");
    EXPECT_THAT(ended.err,
                ContainsRegex("^\\[=====>    \\] 10/20 50% \\| [0-9.]+/s \\| [0-9.]+ s left "
                              "\\| 10 calls done, 5 running[^\n]*\n"
                              "end: 20 calls done, [^\n]*\n$"));
    asked.emplace_back("-q");
    EXPECT_EQ(run_heddle(asked).err, "");
}

TEST_F(progress, in_lines_ends_with_one) {
    const auto ended = run_heddle(command({"--progress", "lines"}));
    EXPECT_EQ(ended.out, "20\n");
    EXPECT_THAT(ended.err, ContainsRegex("^end: 20 calls done, [^\n]*\n$"));
    EXPECT_EQ(run_heddle(command()).err, "") << "without a line there is none at the end";
}

TEST_F(progress, as_json_is_one_object_per_line) {
    const auto ended = run_heddle(command({"--progress", "json", "--json"}));
    EXPECT_EQ(ended.out, "20\n");
    const auto last = boost::json::parse(ended.err).as_object();
    EXPECT_EQ(last.at("event"), "end");
    EXPECT_FALSE(last.contains("ended")) << ended.err; // no map is under way
    EXPECT_EQ(last.at("calls").as_object().at("done"), 20);
    EXPECT_EQ(run_heddle(command({"--progress", "none"}), terminal()).err.find("running"),
              std::string::npos);
    const auto wrong = run_heddle(command({"--progress", "often"}));
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("--progress must be auto, lines, json or none, not 'often'"));
}

TEST_F(progress, of_a_run_with_json_ends_with_the_counts_on_request) {
    const auto ended = run_heddle(command({"--json", "-v"}));
    EXPECT_EQ(ended.out, "20\n");
    ASSERT_TRUE(ended.err.ends_with("}\n")) << ended.err;
    const std::size_t last = ended.err.rfind('\n', ended.err.size() - 2) + 1;
    const auto reported = boost::json::parse(ended.err.substr(last)).as_object();
    EXPECT_EQ(reported.at("exit_code"), 0);
    EXPECT_EQ(reported.at("calls").as_object().at("done"), 20);
    EXPECT_GT(reported.at("calls").as_object().at("cost_usd").to_number<double>(), 0);
    EXPECT_EQ(run_heddle(command({"--json"})).err, "");
    EXPECT_EQ(run_heddle({"eval", "1", "--json", "-v"}).err.find("calls"), std::string::npos);
}

TEST_F(progress, is_logged_with_prompts_at_the_last_level_only) {
    const auto file = scratch.file("v.heddle",
                                   "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                   "(ask \"a prompt\")");
    const auto said = [&](const std::string& level) {
        return run_heddle({"run", file, "--base-url", model.url(), level}).err;
    };
    EXPECT_THAT(said("-vv"), Not(HasSubstr("a prompt")));
    EXPECT_THAT(said("-vvv"), ContainsRegex("trace call: [^\n]*a prompt"));
}

TEST_F(progress, of_an_interrupted_run_names_the_cache) {
    const auto file = scratch.file("i.heddle",
                                   "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                   "(define (main) (ask \"q\") (print \"asked\") (sleep 600))");
    for (const bool kept : {false, true}) {
        std::vector<std::string> asked{"run", file, "--base-url", model.url()};
        if (kept) {
            const std::string cache = scratch.path() + "/cache.db";
            asked.insert(asked.end(), {"--cache", "--cache-file", cache});
        }
        child_options options = terminal();
        child_process child(heddle_command(asked), options);
        ASSERT_TRUE(child.wait_for_err("1 call done"));
        child.send_signal(SIGINT);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130);
        EXPECT_EQ(count(ended.err, "hint: --cache keeps responses"), kept ? 0U : 1U) << ended.err;
    }
}

} // namespace
} // namespace heddle::cli_test
