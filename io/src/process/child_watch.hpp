// Learning that a child has ended, without reaping it.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/timer_wheel.hpp>

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <functional>
#include <memory>

#include <sys/types.h>

namespace heddle::process {

/// Watches one child by a pidfd or, where the kernel has none, by asking at growing intervals. The
/// child stays a zombie until reap(), so that its number, which is that of its group, belongs to
/// nobody else while signals may still be sent. Held by shared_ptr: a wait under way outlives it.
class child_watch final : private coro::timer_node,
                          public std::enable_shared_from_this<child_watch> {
public:
    /// `ended` is called on the loop, once, when the child has ended; never after stop().
    child_watch(coro::event_loop& loop, pid_t pid, std::function<void()> ended);
    ~child_watch();
    child_watch(const child_watch&) = delete;
    child_watch& operator=(const child_watch&) = delete;

    /// `keep_going`: a child that the terminal stops (Ctrl-Z) is sent on, since nobody could.
    void start(bool keep_going, bool use_pidfd = true);
    void stop() noexcept;
    [[nodiscard]] bool ended() const noexcept { return ended_; }

    /// Sends a signal to the whole group, while the child is not reaped.
    void signal_group(int signal) const noexcept;
    /// Kills the group and reaps the child, unless that was done: the loop is torn down.
    void kill_now() noexcept;
    /// Waits for the end and takes the status, as waitpid gives it. False: somebody else took it.
    [[nodiscard]] bool reap(int& status) noexcept;

private:
    void wait();
    void look();
    void on_timer() noexcept override { look(); }

    coro::event_loop& loop_;
    pid_t pid_;
    std::function<void()> tell_;
    boost::asio::posix::basic_stream_descriptor<coro::executor> handle_; ///< closed: no pidfd
    coro::clock::duration pause_{};
    bool keep_going_ = false;
    bool ended_ = false;
    bool reaped_ = false;
};

} // namespace heddle::process
