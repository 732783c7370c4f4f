// Signals of a program that goes on after Ctrl-C.
#pragma once

#include <csignal>
#include <map>

namespace heddle::cli {

/// While it lives SIGWINCH and those that ask for an end (interrupts.hpp) are noted and end nothing. They can be waited for
/// beside other descriptors: at the prompt with poll, on the event loop while something runs.
/// One at a time. Threads: one.
class signal_pipe {
public:
    signal_pipe();
    ~signal_pipe();
    signal_pipe(const signal_pipe&) = delete;
    signal_pipe& operator=(const signal_pipe&) = delete;

    /// Readable while a signal has not been taken.
    [[nodiscard]] int descriptor() const noexcept { return read_; }
    /// The oldest signal that was not taken yet; 0 when there is none.
    [[nodiscard]] int take() noexcept;

    /// From now on those that ask for an end end the process at once, with exit code 130.
    void end_at_once(bool on) noexcept;

    enum class woken_by { input, interrupt, leave, resize };
    /// Waits until `input` can be read (or has ended), or a signal comes.
    [[nodiscard]] woken_by wait(int input);

private:
    int read_ = -1;
    int write_ = -1;
    std::map<int, struct sigaction> before_;
};

} // namespace heddle::cli
