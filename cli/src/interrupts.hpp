// Ctrl-C and the other ways to be asked to end.
#pragma once

#include <heddle/process/stray_guard.hpp>

#include <boost/asio/io_context.hpp>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// The signals that ask a program to end: Ctrl-C, Ctrl-\, SIGTERM, and SIGHUP when a terminal or a
/// connection goes away; the last not where it is ignored from the start, as nohup has it.
[[nodiscard]] const std::vector<int>& end_signals();

/// From now on each of them ends the process at once with exit code 130, after `last_words` on
/// standard error: while a key is asked for, standard input is read, or the result is written.
/// Where something is to be ended in order, `interrupts` takes their place for its time. Programs
/// that run are killed by their keepers. To be called once, before there are other threads.
void end_at_signals(std::string last_words);

/// A stray_guard for the time that it lives, also where a signal ends the process at once. One at a
/// time. Threads: the main one.
class guard_at_end {
public:
    guard_at_end();
    ~guard_at_end();
    guard_at_end(const guard_at_end&) = delete;
    guard_at_end& operator=(const guard_at_end&) = delete;

    [[nodiscard]] process::stray_guard& strays() noexcept { return strays_; }

private:
    process::stray_guard strays_;
};

/// What each of them does then: may be called by a signal handler. Where one call is on its way to
/// the end, any other waits for it.
[[noreturn]] void leave_with_words() noexcept;
/// Makes `handler` handle `signal`, with all end signals blocked meanwhile: a handler that ends
/// what is left is not interrupted by the next of them. Result: what handled it before.
struct sigaction handle_signal(int signal, void (*handler)(int));
/// The end has been told: from now on a signal ends the process without those words.
void end_is_told() noexcept;

/// The first of them calls `on_first` on the loop. A second one ends the process at once with exit
/// code 130 and the words of end_at_signals, whatever the loop is doing, also when it has not come
/// to the first one; programs that still run are killed by their keepers.
class interrupts {
public:
    interrupts(boost::asio::io_context& context, std::function<void()> on_first);
    ~interrupts();
    interrupts(const interrupts&) = delete;
    interrupts& operator=(const interrupts&) = delete;

    [[nodiscard]] bool came() const noexcept;
    /// The same, for one who works before the loop runs: takes one that has come, with its effect.
    [[nodiscard]] bool look();
    /// Waits for signals no longer, so that the loop can end. They then have the effect that
    /// they had before, but for the second one.
    void stop();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace heddle::cli
