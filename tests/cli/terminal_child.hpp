// A program on a pseudo-terminal of its own, as people use it.
#pragma once

#include <sys/types.h>

#include <hang_guard.hpp>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// Started by the constructor on a terminal of 100 columns; killed by the destructor unless it has
/// ended.
class terminal_child {
public:
    terminal_child(std::vector<std::string> command, std::map<std::string, std::string> variables);
    ~terminal_child();
    terminal_child(const terminal_child&) = delete;
    terminal_child& operator=(const terminal_child&) = delete;

    void type(const std::string& keys) const;
    void send_signal(int signal) const;
    /// Waits until `text` appears after what earlier calls found; false when the time was over.
    /// What came before it is in `seen`.
    [[nodiscard]] bool expect(const std::string& text,
                              std::chrono::milliseconds limit = hang_guard::limit);
    /// Everything up to the end of the last expect().
    [[nodiscard]] const std::string& seen() const noexcept { return seen_; }
    /// Everything so far.
    [[nodiscard]] const std::string& screen() const noexcept { return screen_; }
    /// The exit code, as a shell has it; -1 when it does not end in time.
    [[nodiscard]] int wait(std::chrono::milliseconds limit = hang_guard::limit);

private:
    bool read_some(std::chrono::milliseconds limit); ///< false when the terminal is gone

    pid_t pid_ = -1;
    int terminal_ = -1;
    std::string screen_;
    std::size_t found_ = 0; ///< bytes of the screen that expect() has passed
    std::string seen_;
};

} // namespace heddle::cli_test
