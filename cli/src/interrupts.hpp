// Ctrl-C and the other requests to end.
#pragma once

#include <heddle/process/stray_guard.hpp>

#include <boost/asio/io_context.hpp>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// The signals that request an end: Ctrl-C, Ctrl-\, SIGTERM, and SIGHUP when a terminal or a
/// connection is lost; the last not if it was ignored at the start, as with nohup.
[[nodiscard]] const std::vector<int>& end_signals();

/// From now on each of them ends the process at once with exit code 130, after `last_words` on
/// standard error: while a key is requested, standard input is read, or the result is written. For
/// an orderly end, `interrupts` replaces this for its lifetime. Running programs are killed by
/// their keepers. Call it once, before there are other threads.
void end_at_signals(std::string last_words);

/// A stray_guard for its lifetime, even if a signal ends the process at once. One at a time.
/// Threads: the main one.
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

/// Ends the process as described for end_at_signals. May be called by a signal handler. Calls
/// during another one wait for it.
[[noreturn]] void leave_with_words() noexcept;
/// Installs `handler` for `signal`, with all end signals blocked while it runs, so that the next
/// one does not interrupt it. Result: the previous handler.
struct sigaction handle_signal(int signal, void (*handler)(int));
/// The end has been reported: from now on a signal ends the process without the last words.
void end_is_reported() noexcept;

/// The first end signal calls `on_first` on the loop. A second one ends the process at once with
/// exit code 130 and the words of end_at_signals, whatever the loop is doing, even if it has not
/// handled the first one; running programs are killed by their keepers. With `on_second`
/// that is called on the loop, and the third one ends the process.
class interrupts {
public:
    interrupts(boost::asio::io_context& context, std::function<void()> on_first,
               std::function<void()> on_second = {});
    ~interrupts();
    interrupts(const interrupts&) = delete;
    interrupts& operator=(const interrupts&) = delete;

    [[nodiscard]] bool came() const noexcept;
    /// For use before the loop runs: handles a pending signal. Result: whether there was one.
    [[nodiscard]] bool look();
    /// Stops waiting for signals, so that the loop can end. Signals then have the previous effect,
    /// except a second one; also one that has come and that the loop has not handled.
    void stop();

private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace heddle::cli
