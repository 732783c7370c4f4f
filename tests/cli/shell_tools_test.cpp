// Programs that a workflow runs.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <signal.h>
#include <unistd.h>

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

TEST(shell_tools, programs_inherit_what_they_need_and_what_is_named) {
    child_options options;
    options.variables = {{"LC_TIME", "seen"}, {"PLAIN", "named"}};
    for (const char* name :
         {"OPENAI_API_KEY", "GH_TOKEN", "DB_PASS", "SMTP_PASS", "SSHPASS", "PGPASS", "MYPASS",
          "STRIPE_SK", "JWT", "COOKIE", "AZURE_STORAGE_CONNECTION_STRING", "KUBECONFIG_DATA",
          "WHATEVER", "MY_TOOL_A"}) {
        options.variables[name] = "hidden";
    }
    const std::string expression = "(content (system:run_script (command \"env\")))";
    auto ended = run_heddle({"eval", expression, "--allow-shell"}, options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("LC_TIME=seen"));
    EXPECT_THAT(ended.out, HasSubstr("PATH="));
    EXPECT_EQ(ended.out.find("hidden"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("PLAIN"), std::string::npos);
    ended = run_heddle({"eval", expression, "--allow-shell", "--pass-env", "GH_TOKEN"}, options);
    EXPECT_THAT(ended.out, HasSubstr("GH_TOKEN=hidden"));
    EXPECT_EQ(ended.out.find("sk-hidden"), std::string::npos);
    const scratch_directory scratch;
    const std::string config =
        scratch.file("own.toml", "pass_env = [\"PLAIN\", \"MY_TOOL_*\", \"*TOKEN\"]\n");
    ended = run_heddle({"eval", expression, "--allow-shell", "--config", config}, options);
    EXPECT_THAT(ended.out, HasSubstr("PLAIN=named"));
    EXPECT_THAT(ended.out, HasSubstr("MY_TOOL_A=hidden"));
    EXPECT_EQ(ended.out.find("GH_TOKEN"), std::string::npos); // a pattern is not a word about keys
}

TEST(shell_tools, programs_do_not_inherit_the_variable_that_a_configuration_names) {
    const scratch_directory scratch;
    const std::string config = scratch.file(
        "own.toml", "pass_env = [\"M*\"]\n[providers.openai]\napi_key_env = \"MINE\"\n");
    child_options options;
    options.variables = {{"MINE", "sk-hidden"}, {"MORE", "seen"}};
    const auto ended = run_heddle({"eval", "(content (system:run_script (command \"env\")))",
                                   "--allow-shell", "--config", config},
                                  options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("MORE=seen"));
    EXPECT_EQ(ended.out.find("hidden"), std::string::npos);
}

/// The state letter of a process that wrote its number into a file; 0 when it is gone.
char state_of(const scratch_directory& scratch, const std::string& name) {
    const std::string number = scratch.text_of(name);
    EXPECT_FALSE(number.empty()) << name;
    std::ifstream stat("/proc/" + number.substr(0, number.find('\n')) + "/stat");
    std::string text; // a process that ends meanwhile is an error of the read
    std::getline(stat, text);
    const std::size_t state = text.rfind(") ");
    return state == std::string::npos ? '\0' : text[state + 2];
}

bool comes(const scratch_directory& scratch, const std::string& name) {
    return hang_guard::comes_true(
        [&] { return std::filesystem::exists(scratch.path() + "/" + name); });
}

/// Gone, or a zombie that waits for its new parent. What was killed needs a moment.
bool is_gone(const scratch_directory& scratch, const std::string& name) {
    return hang_guard::comes_true([&] {
        const char state = state_of(scratch, name);
        return state == '\0' || state == 'Z';
    });
}

/// A run of a program with a job in the background and a daemon, both deaf to being asked to end.
class running_programs {
public:
    explicit running_programs(const scratch_directory& scratch)
        : scratch_(scratch),
          child(
              heddle_command({"run",
                              scratch.file("w.heddle",
                                           "(system:run_script (command \"trap '' TERM HUP INT; "
                                           "echo $$ >pid; sleep 600 & echo $! >job; setsid sh -c "
                                           "'echo $$ >daemon; exec sleep 600' & while [ ! -s "
                                           "daemon ]; do sleep 0.01; done; touch ready; wait\"))"),
                              "--allow-shell", "--workspace", scratch.path()})) {
        EXPECT_TRUE(comes(scratch, "ready"));
    }
    void expect_gone() const {
        for (const char* name : {"pid", "job", "daemon"})
            EXPECT_TRUE(is_gone(scratch_, name)) << name;
    }

private:
    const scratch_directory& scratch_;

public:
    child_process child;
};

TEST(shell_tools, being_asked_to_end_ends_the_programs) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        SCOPED_TRACE(signal);
        const scratch_directory scratch;
        running_programs running(scratch);
        running.child.send_signal(signal);
        const auto ended = running.child.wait();
        EXPECT_EQ(ended.code, 130) << ended.err;
        running.expect_gone();
    }
}

TEST(shell_tools, no_program_outlives_heddle_whatever_ends_it) {
    for (const int signal : {SIGKILL, SIGSEGV, SIGABRT}) {
        SCOPED_TRACE(signal);
        const scratch_directory scratch;
        running_programs running(scratch);
        running.child.send_signal(signal);
        const auto ended = running.child.wait();
        EXPECT_NE(ended.code, 0);
        running.expect_gone();
    }
}

TEST(shell_tools, nor_a_second_interrupt) {
    const scratch_directory scratch;
    running_programs running(scratch);
    running.child.send_signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(100)); // they have half a second
    running.child.send_signal(SIGINT);
    const auto ended = running.child.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    running.expect_gone();
}

/// A daemon, then what the program does to those that watch over it: $PPID is its keeper, $F the
/// starter.
std::string kills_its_watchers(const std::string& how) {
    return "(system:run_script (command \"setsid sh -c 'echo $$ >daemon; exec sleep 600' "
           ">/dev/null 2>&1 & while [ ! -s daemon ]; do sleep 0.01; done; "
           "F=$(cut -d' ' -f4 /proc/$PPID/stat); touch ready; " +
           how + "; sleep 600\"))";
}

TEST(shell_tools, nor_does_a_program_that_kills_or_stops_both_that_watch_over_it) {
    for (const char* how : {"kill -9 $F $PPID", "kill -9 $PPID $F", "kill -9 $F; kill -9 $PPID",
                            "kill -STOP $F; kill -9 $PPID", "kill -9 $F", "kill -STOP $PPID $F"}) {
        for (const int signals : {1, 2}) {
            SCOPED_TRACE(how + std::string(", signals: ") + std::to_string(signals));
            const scratch_directory scratch;
            child_process heddle(heddle_command(
                {"eval", kills_its_watchers(how), "--allow-shell", "--workspace", scratch.path()}));
            ASSERT_TRUE(comes(scratch, "ready"));
            for (int i = 0; i < signals; ++i) {
                std::this_thread::sleep_for(milliseconds(i == 0 ? 20 : 1));
                heddle.send_signal(SIGTERM);
            }
            (void)heddle.wait();
            EXPECT_TRUE(is_gone(scratch, "daemon"));
        }
    }
}

/// How many processes have `word` in their command lines.
int processes_with(const std::string& word) {
    int count = 0;
    std::error_code failed;
    for (const auto& each : std::filesystem::directory_iterator("/proc", failed)) {
        std::ifstream stream(each.path() / "cmdline", std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(stream), {}};
        if (line.find(word) != std::string::npos) ++count;
    }
    return count;
}

TEST(shell_tools, nor_does_a_long_chain_of_daemons_whatever_signals_come_at_the_end) {
    const scratch_directory scratch;
    const std::string seconds = "610." + std::to_string(::getpid()); // a name that nobody else has
    scratch.file("chain.sh",
                 "[ $1 -gt 0 ] && setsid sh chain.sh $(($1-1)) $2 & "
                 "[ $1 = 0 ] && touch long; exec sleep $2\n");
    scratch.file("leaves.sh",
                 "F=$(cut -d' ' -f4 /proc/$PPID/stat); sh chain.sh 100 $1 & "
                 "while [ ! -e long ]; do sleep 0.01; done; kill -9 $F; touch ready; sleep $1\n");
    child_process heddle(heddle_command(
        {"eval", "(system:run_script (command (list \"sh\" \"leaves.sh\" \"" + seconds + "\")))",
         "--allow-shell", "--workspace", scratch.path()}));
    ASSERT_TRUE(comes(scratch, "ready"));
    EXPECT_GT(processes_with(seconds), 90);
    heddle.send_signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(2));
    heddle.send_signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(6)); // it is at work on the chain
    heddle.send_signal(SIGTERM);
    EXPECT_EQ(heddle.wait().code, 130);
    EXPECT_TRUE(hang_guard::comes_true([&] { return processes_with(seconds) == 0; }));
}

TEST(shell_tools, what_such_a_program_left_ends_while_the_run_goes_on) {
    for (const char* how : {"kill -9 $F $PPID", "kill -STOP $F; kill -9 $PPID"}) {
        SCOPED_TRACE(how);
        const scratch_directory scratch;
        child_process heddle(heddle_command(
            {"eval",
             "(progn (try " + kills_its_watchers(how) +
                 " (catch (e) nil)) (system:run_script (command \"touch later; sleep 600\")))",
             "--allow-shell", "--workspace", scratch.path()}));
        ASSERT_TRUE(comes(scratch, "later")) << heddle.err();
        EXPECT_TRUE(is_gone(scratch, "daemon"));
        heddle.send_signal(SIGTERM);
        EXPECT_EQ(heddle.wait().code, 130);
    }
}

TEST(shell_tools, what_was_started_before_heddle_stays) {
    const scratch_directory scratch;
    child_process heddle(
        {"/bin/sh", "-c",
         "cd \"$1\"; shift; sleep 600 >/dev/null 2>&1 & echo $! >before; exec \"$@\"", "sh",
         scratch.path(), heddle::test_paths::program_file(), "eval",
         kills_its_watchers("kill -9 $F $PPID"), "--allow-shell"});
    ASSERT_TRUE(comes(scratch, "ready"));
    (void)heddle.wait();
    EXPECT_TRUE(is_gone(scratch, "daemon"));
    const char state = state_of(scratch, "before");
    EXPECT_TRUE(state != '\0' && state != 'Z') << state;
    ::kill(std::stoi(scratch.text_of("before")), SIGKILL);
}

TEST(shell_tools, the_environment_of_heddle_is_nobodys_to_read) {
    const scratch_directory scratch;
    // Every process above the program: its keeper, the starter, heddle.
    scratch.file("look.sh",
                 "p=$$\nwhile [ \"$p\" -gt 1 ]; do\n"
                 "tr '\\0' '\\n' </proc/$p/environ | grep sk-hidden\n"
                 "p=$(cut -d' ' -f4 /proc/$p/stat)\ndone\necho looked\n");
    child_options options;
    options.variables = {{"OPENAI_API_KEY", "sk-hidden-0123456789"}};
    const auto ended = run_heddle({"eval", "(content (system:run_script (command \"sh look.sh\")))",
                                   "--allow-shell", "--workspace", scratch.path()},
                                  options);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "\"looked\\n\"\n");
}

TEST(shell_tools, failed_program_as_the_value_fails_the_run) {
    const auto ended =
        run_heddle({"eval", "(system:run_script (command \"exit 3\"))", "--allow-shell"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("the command exited with code 3"));
}

} // namespace
} // namespace heddle::cli_test
