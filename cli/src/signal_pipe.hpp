// Signals, noted where a loop or a prompt can look at them.
#pragma once

#include <csignal>
#include <map>

namespace heddle::cli {

/// While it lives SIGWINCH and those that ask for an end (interrupts.hpp) are noted, whatever the
/// program is doing, and how many of the latter end nothing is its owner's to say. They can be
/// waited for beside other descriptors: at the prompt with poll, on the event loop while something
/// runs. One at a time. Threads: one.
class signal_pipe {
public:
    static constexpr int any_number = -1;

    signal_pipe();
    ~signal_pipe();
    signal_pipe(const signal_pipe&) = delete;
    signal_pipe& operator=(const signal_pipe&) = delete;

    /// Readable while a signal has not been taken.
    [[nodiscard]] int descriptor() const noexcept { return read_; }
    /// The oldest signal that was not taken yet; 0 when there is none.
    [[nodiscard]] int take() noexcept;

    /// So many of those that ask for an end are noted from now on; the one after them ends the
    /// process in its handler, with exit code 130 and the words of end_at_signals, even when the
    /// loop is busy and would never look.
    void note_ends(int count) noexcept;

    enum class woken_by { input, interrupt, leave, resize };
    /// Waits until `input` can be read (or has ended), or a signal comes.
    [[nodiscard]] woken_by wait(int input);

private:
    int read_ = -1;
    int write_ = -1;
    std::map<int, struct sigaction> before_;
};

} // namespace heddle::cli
