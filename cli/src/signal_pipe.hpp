// Signals, recorded for a loop or a prompt.
#pragma once

#include <csignal>
#include <map>

namespace heddle::cli {

/// During its lifetime, SIGWINCH and the end signals (interrupts.hpp) are recorded, whatever the
/// program is doing; its owner sets how many end signals do not end the process. It can be waited
/// for together with other descriptors: at the prompt with poll, during a run on the event loop.
/// One at a time. Threads: one.
class signal_pipe {
public:
    static constexpr int any_number = -1;

    signal_pipe();
    ~signal_pipe();
    signal_pipe(const signal_pipe&) = delete;
    signal_pipe& operator=(const signal_pipe&) = delete;

    /// Readable while a signal has not been taken.
    [[nodiscard]] int descriptor() const noexcept { return read_; }
    /// The oldest signal that was not taken yet; 0 if there is none.
    [[nodiscard]] int take() noexcept;

    /// Restores the previous effect of the signals. Result: the oldest end signal that was not
    /// taken; 0 if there is none. Nothing is recorded afterwards.
    [[nodiscard]] int release() noexcept;

    /// Number of end signals to record from now on; the next one ends the process in its handler,
    /// with exit code 130 and the words of end_at_signals, even if the loop is busy.
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
