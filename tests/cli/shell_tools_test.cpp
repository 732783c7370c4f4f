// Programs that a workflow runs.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

TEST(shell_tools, without_the_flag_nothing_is_run) {
    const scratch_directory scratch;
    for (const std::string expression :
         {"(system:run_script (command \"touch made\"))",
          "(system:execute_shell_command (command \"touch made\"))",
          "((lambda (f) (f)) (lambda () (system:run_script (command \"touch made\"))))",
          "(progn (defatom t (params) (subtype \"aider_automatic\") (instructions \"x\")) (t))"}) {
        SCOPED_TRACE(expression);
        const auto ended = run_heddle(
            {"eval", expression, "--workspace", scratch.path(), "--aider", "touch made"});
        EXPECT_EQ(ended.code, 1);
        EXPECT_THAT(ended.err, HasSubstr("PermissionError"));
        EXPECT_THAT(ended.err, HasSubstr("--allow-shell"));
    }
    EXPECT_FALSE(std::filesystem::exists(scratch.path() + "/made"));
}

TEST(shell_tools, with_the_flag_programs_run_in_the_workspace) {
    const scratch_directory scratch;
    const auto ended = run_heddle({"eval", "(content (system:run_script (command \"pwd -P\")))",
                                   "--allow-shell", "--workspace", scratch.path()});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(std::filesystem::canonical(scratch.path()).string()));
}

TEST(shell_tools, programs_do_not_inherit_keys_unless_told_so) {
    child_options options;
    options.variables = {
        {"OPENAI_API_KEY", "sk-hidden"}, {"GH_TOKEN", "gh-hidden"}, {"PLAIN", "seen"}};
    const std::string expression = "(content (system:run_script (command \"env\")))";
    auto ended = run_heddle({"eval", expression, "--allow-shell"}, options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("PLAIN=seen"));
    EXPECT_EQ(ended.out.find("hidden"), std::string::npos);
    ended = run_heddle({"eval", expression, "--allow-shell", "--pass-env", "GH_TOKEN"}, options);
    EXPECT_THAT(ended.out, HasSubstr("GH_TOKEN=gh-hidden"));
    EXPECT_EQ(ended.out.find("sk-hidden"), std::string::npos);
}

TEST(shell_tools, programs_do_not_inherit_the_variable_that_a_configuration_names) {
    const scratch_directory scratch;
    const std::string config =
        scratch.file("own.toml", "[providers.openai]\napi_key_env = \"MINE\"\n");
    child_options options;
    options.variables = {{"MINE", "sk-hidden"}, {"PLAIN", "seen"}};
    const auto ended = run_heddle({"eval", "(content (system:run_script (command \"env\")))",
                                   "--allow-shell", "--config", config},
                                  options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("PLAIN=seen"));
    EXPECT_EQ(ended.out.find("hidden"), std::string::npos);
}

TEST(shell_tools, interrupt_ends_the_programs) {
    const scratch_directory scratch;
    const std::string program =
        scratch.file("w.heddle",
                     "(system:run_script (command \"echo $$ >pid; sleep 60 & echo $! >job; touch "
                     "ready; wait\"))");
    child_process child(
        heddle_command({"run", program, "--allow-shell", "--workspace", scratch.path()}));
    for (int i = 0; i < 2000 && !std::filesystem::exists(scratch.path() + "/ready"); ++i) {
        std::this_thread::sleep_for(milliseconds(5));
    }
    child.send_signal(SIGINT);
    const auto ended = child.wait(milliseconds(15'000));
    EXPECT_EQ(ended.code, 130) << ended.err;
    for (const std::string name : {"pid", "job"}) {
        const std::string number = scratch.text_of(name);
        ASSERT_FALSE(number.empty()) << name;
        std::ifstream stat("/proc/" + number.substr(0, number.find('\n')) + "/stat");
        const std::string text((std::istreambuf_iterator<char>(stat)), {});
        const std::size_t state = text.rfind(") ");
        // Gone, or a zombie that waits for its new parent.
        EXPECT_TRUE(state == std::string::npos || text[state + 2] == 'Z') << name << text;
    }
}

TEST(shell_tools, failed_program_as_the_value_fails_the_run) {
    const auto ended =
        run_heddle({"eval", "(system:run_script (command \"exit 3\"))", "--allow-shell"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("the command exited with code 3"));
}

} // namespace
} // namespace heddle::cli_test
