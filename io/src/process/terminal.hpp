// The terminal, lent to a child.
#pragma once

#include <sys/types.h>
#include <termios.h>

namespace heddle::process {

/// Passes the foreground of the controlling terminal to a process group, and takes it back, with
/// the terminal's modes as they were, on destruction. Does nothing where standard input is no
/// terminal or this process is not in its foreground.
class terminal_loan {
public:
    terminal_loan() noexcept;
    ~terminal_loan();
    terminal_loan(const terminal_loan&) = delete;
    terminal_loan& operator=(const terminal_loan&) = delete;

    /// The terminal's descriptor when there is one to lend, else -1.
    [[nodiscard]] int descriptor() const noexcept { return terminal_; }
    /// Again after the start: a C library may not have done it in the child.
    void give_to(pid_t group) noexcept;

private:
    int terminal_ = -1;
    pid_t ours_ = -1;
    termios modes_{};
};

} // namespace heddle::process
