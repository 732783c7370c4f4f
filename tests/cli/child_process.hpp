// A program as a child process: its streams, signals and exit code.
#pragma once

#include <sys/types.h>

#include <hang_guard.hpp>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli_test {

using std::chrono::milliseconds;

struct child_options {
    std::map<std::string, std::string> variables; ///< besides PATH; nothing else is inherited
    std::string input;                            ///< standard input
    std::string directory;                        ///< to run in; empty: the test's
    bool err_to_terminal = false;                 ///< standard error is a pseudo-terminal
    bool out_to_full_device = false;              ///< standard output is /dev/full
    bool out_unread = false;                      ///< read only from read_out() on
};

/// Options for a child that reads `text`.
[[nodiscard]] inline child_options with_input(std::string text) {
    child_options options;
    options.input = std::move(text);
    return options;
}

struct child_result {
    int code = -1; ///< as a shell has it: 128 + signal for a child that a signal ended
    bool signalled = false;
    std::string out;
    std::string err;
    milliseconds took{0};
};

/// Started by the constructor; killed by the destructor unless it has ended.
class child_process {
public:
    explicit child_process(std::vector<std::string> command, child_options options = {});
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    void send_signal(int signal) const;
    /// From now on standard output is read, too.
    void read_out();
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Whether it has ended by itself or by a signal; wait() still returns its result.
    [[nodiscard]] bool has_ended() const;
    /// Reads until standard output holds `text`; false when it ended or the time was over.
    [[nodiscard]] bool wait_for_out(const std::string& text,
                                    milliseconds limit = hang_guard::limit);
    [[nodiscard]] bool wait_for_err(const std::string& text,
                                    milliseconds limit = hang_guard::limit);
    [[nodiscard]] const std::string& out() const noexcept { return result_.out; }
    [[nodiscard]] const std::string& err() const noexcept { return result_.err; }
    /// Waits for the end; a child that takes longer than `limit` is killed and fails the test.
    child_result wait(milliseconds limit = hang_guard::limit);

private:
    bool read_some(milliseconds limit); ///< false when both streams have ended
    bool wait_for(const std::string& stream, const std::string& text, milliseconds limit);

    pid_t pid_ = -1;
    int out_ = -1;
    int unread_ = -1; ///< standard output, while it is open and not read
    int err_ = -1;
    std::chrono::steady_clock::time_point started_;
    child_result result_;
};

/// `heddle ARGUMENT…` to its end.
child_result run_heddle(std::vector<std::string> arguments, child_options options = {});
/// The program and its arguments, for child_process.
std::vector<std::string> heddle_command(std::vector<std::string> arguments);

} // namespace heddle::cli_test
