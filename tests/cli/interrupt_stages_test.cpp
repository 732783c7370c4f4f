// Ctrl-C and the like at every stage of every command: 130, a message, and no death by a signal.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <hang_guard.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::cli_test {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGQUIT, SIGHUP};

class interrupt_stages : public ::testing::Test {
protected:
    interrupt_stages() {
        pipe = scratch.path() + "/pipe";
        EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
        writer = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC); // nobody meets an end
        scratch.file("w.heddle", "(define (main (x 1)) x)\n");
        scratch.file("t.xml",
                     "<task type=\"atomic\" subtype=\"one\"><description>d</description></task>\n");
        scratch.file(
            "slow.toml",
            "[providers.openai]\napi_key_command = [\"sh\", \"-c\", \"echo $$ >begun; exec "
            "sleep 25\"]\n");
    }
    ~interrupt_stages() override { ::close(writer); }

    /// `heddle ARGUMENT…` in the scratch directory, with a pipe to which nobody writes as standard
    /// input.
    [[nodiscard]] std::vector<std::string> command(
        const std::vector<std::string>& arguments) const {
        std::vector<std::string> strings{"/bin/sh", "-c", "exec \"$@\" <pipe", "sh"};
        for (const std::string& each : heddle_command(arguments)) strings.push_back(each);
        return strings;
    }
    [[nodiscard]] child_options here() const {
        child_options options;
        options.directory = scratch.path();
        options.variables = {{"HOME", scratch.path()}};
        return options;
    }

    /// A line of /proc/PID/status.
    static std::string status(pid_t pid, const std::string& name) {
        std::ifstream in("/proc/" + std::to_string(pid) + "/status");
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
        }
        return {};
    }
    /// Until it is heddle, is notified of signals, and sleeps: it waits for something.
    static bool waits(pid_t pid) {
        constexpr unsigned long long terms = 1ULL << (SIGTERM - 1);
        int in_a_row = 0;
        return hang_guard::comes_true([&] {
            const std::string caught = status(pid, "SigCgt");
            const bool hears = !caught.empty() && (std::stoull(caught, nullptr, 16) & terms) != 0;
            const bool sleeps = status(pid, "State").starts_with("S");
            in_a_row = hears && sleeps ? in_a_row + 1 : 0;
            return in_a_row == 50;
        });
    }
    void expect_end(const std::vector<std::string>& arguments, int signal) {
        std::string shown = "signal " + std::to_string(signal) + ":";
        for (const auto& each : arguments) shown += " " + each;
        SCOPED_TRACE(shown);
        child_process child(command(arguments), here());
        ASSERT_TRUE(waits(child.pid()));
        child.send_signal(signal);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130);
        EXPECT_FALSE(ended.signalled);
        EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
    }
    /// The program that a key is asked of: whether it is still there.
    bool helper_is_gone() {
        pid_t helper = 0;
        std::ifstream(scratch.path() + "/begun") >> helper;
        return helper > 0 && hang_guard::comes_true([&] { return ::kill(helper, 0) != 0; });
    }
    bool wait_for_helper() {
        return hang_guard::comes_true([&] {
            pid_t helper = 0; // the file is there before its number is
            std::ifstream(scratch.path() + "/begun") >> helper;
            return helper > 0;
        });
    }

    scratch_directory scratch;
    std::string pipe;
    int writer = -1;
};

TEST_F(interrupt_stages, while_standard_input_is_read) {
    std::size_t next = 0;
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"run", "-"},
             {"run", "w.heddle", "--input-json", "-"},
             {"eval", "-"},
             {"call", "one", "--tasks", "t.xml", "--input-json", "-"},
             {"check", "-"},
             {"fmt", "-"},
             {"dump", "ast", "-"},
             {"dump", "ir", "-"},
             {"tasks", "check", "-"}}) {
        expect_end(each, signals.at(next++ % signals.size()));
    }
    for (const int signal : signals) expect_end({"eval", "-"}, signal);
}

TEST_F(interrupt_stages, while_a_key_is_asked_for) {
    std::size_t next = 0;
    for (const std::vector<std::string>& each :
         std::vector<std::vector<std::string>>{{"run", "w.heddle"},
                                               {"eval", "1"},
                                               {"call", "one", "--tasks", "t.xml"},
                                               {"models"},
                                               {"models", "--ping"},
                                               {"repl"}}) {
        std::vector<std::string> arguments = each;
        arguments.insert(arguments.end(), {"--config", "slow.toml"});
        const int signal = signals.at(next++ % signals.size());
        SCOPED_TRACE(each[0] + " " + std::to_string(signal));
        std::filesystem::remove(scratch.path() + "/begun");
        child_process child(command(arguments), here());
        ASSERT_TRUE(wait_for_helper());
        child.send_signal(signal);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130);
        EXPECT_FALSE(ended.signalled);
        EXPECT_NE(ended.err.find("interrupted"), std::string::npos) << ended.err;
        EXPECT_TRUE(helper_is_gone());
    }
}

TEST_F(interrupt_stages, while_the_result_is_written) {
    expect_end({"eval", "(range 200000)"}, SIGTERM);
    std::string text = "(list";
    for (int i = 0; i < 60'000; ++i) text += " " + std::to_string(i);
    scratch.file("big.heddle", text + ")\n");
    expect_end({"dump", "ast", "big.heddle"}, SIGINT);
}

TEST_F(interrupt_stages, is_reported_as_json) {
    child_process child(command({"eval", "-", "--json"}), here());
    ASSERT_TRUE(waits(child.pid()));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130);
    const auto reported = boost::json::parse(ended.err).as_object();
    EXPECT_EQ(reported.at("exit_code"), 130);
    EXPECT_EQ(reported.at("error").at("cancelled_because"), "user");
}

} // namespace
} // namespace heddle::cli_test
