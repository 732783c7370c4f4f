// What names, files and servers hold reaches no terminal as a command to it.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "terminal_child.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

MATCHER(IsPlainText, "") {
    return arg.find('\x1b') == std::string::npos && arg.find("\xC2\x9B") == std::string::npos &&
           arg.find("\u202E") == std::string::npos;
}

class terminal_text : public ::testing::Test {
protected:
    terminal_text() {
        options.directory = scratch.path() + "/\x1b[31mred";
        options.variables = {{"HOME", scratch.path()}};
        std::filesystem::create_directories(options.directory);
    }
    [[nodiscard]] child_result heddle(const std::vector<std::string>& arguments) const {
        return run_heddle(arguments, options);
    }
    void file(const std::string& name, const std::string& text) const {
        scratch.file("\x1b[31mred/" + name, text);
    }

    scratch_directory scratch;
    child_options options;
};

TEST_F(terminal_text, of_models_is_plain) {
    file("heddle.toml",
         "model = \"a\\u001B[2Jb:m\"\n"
         "[providers.\"\\u001b]0;t\\u0007\\u001b[2J\\u001b[H\"]\ntype = \"openai\"\n"
         "base_url = \"http://127.0.0.1:9/\\u001b[1A\"\n"
         "[aliases]\n\"\\u001b[1A\\u001b[2K\" = \"x\\ndefault model: \\u202Ey\"\n"
         "[routes.\"\\u009Br\"]\nmodels = [\"\\u009Bm\"]\n");
    for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{
             {"models"}, {"models", "--ping"}, {"models", "--json"}}) {
        const auto ended = heddle(asked);
        EXPECT_THAT(ended.out, AllOf(HasSubstr("]0;t"), IsPlainText())) << ended.err;
        EXPECT_THAT(ended.out, Not(HasSubstr("\ndefault model: ?y")));
        EXPECT_THAT(ended.err, IsPlainText());
    }
}

TEST_F(terminal_text, of_other_commands_is_plain) {
    file("w.heddle", "(define (caf\u009B x) x)\n(caf\u009B \"\u202E\")\n");
    file("bad.heddle", "(caf\u009B\u202E 1)\n");
    file("tasks/t.xml",
         "<task name=\"t\" type=\"atomic\" "
         "subtype=\"standard\"><description>a\u009B\u202Eb</description>"
         "<instructions>q\u009B</instructions></task>\n");
    for (const std::vector<std::string>& asked :
         std::vector<std::vector<std::string>>{{"cache", "stats", "--cache-file", "\x1b[31mX/y"},
                                               {"cache", "clear", "--cache-file", "\x1b[31mX/y"},
                                               {"dump", "ast", "w.heddle"},
                                               {"dump", "ir", "w.heddle"},
                                               {"check", "bad.heddle"},
                                               {"tasks", "list"},
                                               {"tasks", "show", "t"},
                                               {"index", "."},
                                               {"index", ".", "--query", "caf"},
                                               {"trust", "\x1b[31mX"},
                                               {"trust"}}) {
        const auto ended = heddle(asked);
        EXPECT_THAT(ended.out + ended.err, AllOf(Not(""), IsPlainText())) << asked[0] << asked[1];
    }
}

TEST_F(terminal_text, of_results_is_whole_in_a_pipe_and_plain_on_a_terminal) {
    const std::string program =
        scratch.file("p.heddle", "(print \"p\\u001b[2J\\n\")\n\"r\\u001b[31m\\u202ee\"\n");
    EXPECT_EQ(heddle({"run", program}).out,
              "p\x1b[2J\n\nr\x1b[31m\u202E"
              "e\n");
    terminal_child shown(heddle_command({"run", program}), options.variables);
    EXPECT_TRUE(shown.expect("r?[31m?e"));
    EXPECT_THAT(shown.screen(), HasSubstr("p?[2J"));
    EXPECT_EQ(shown.wait(), 0);
}

} // namespace
} // namespace heddle::cli_test
