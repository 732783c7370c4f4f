// What programs have left when those that watch over them were killed.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include <sys/types.h>

namespace heddle::process {

/// Makes this process the one that gets what the starter of a process port had under it when
/// somebody kills the starter (a subreaper), and ends that: without it, a program that kills both
/// processes that watch over it can leave a daemon. For one port, which it outlives, in a program
/// that starts no children of its own meanwhile. It spares those that the process had when the
/// guard was made: whoever has put the program in its place by exec may have had some. Does nothing
/// while the starter lives.
class stray_guard {
public:
    stray_guard();
    /// Ends what is left, for two seconds at most, and is no subreaper any more if it was none
    /// before.
    ~stray_guard();
    stray_guard(const stray_guard&) = delete;
    stray_guard& operator=(const stray_guard&) = delete;

    /// The starter of the port from now on. Threads: the port's only.
    void watch(pid_t starter) noexcept;
    /// It has ended and can still be waited for; `in_order`: by itself, after its keepers.
    void forget_starter(bool in_order) noexcept;

    /// Kills what has come to us since the starter was lost, but for `spared` (keepers that live
    /// on), and waits for what has died. Result: how many were found: what they leave comes to us
    /// in turn, so call again until it is 0. A starter that lives, which gets all that itself, is
    /// sent on, should it be stopped. May be called by a signal handler.
    int kill_strays(std::span<const pid_t> spared = {}) const noexcept;
    /// Does so until nothing is left or the time is over. May be called by a signal handler.
    void end_strays(std::chrono::milliseconds limit) const noexcept;

private:
    [[nodiscard]] bool starter_is_lost() const noexcept;
    [[nodiscard]] bool is_spared(pid_t child, std::span<const pid_t> more) const noexcept;

    std::vector<pid_t> before_; ///< our children when we began
    std::atomic<pid_t> starter_{0};
    std::atomic<bool> lost_{false}; ///< an earlier one did not end in order
    int was_subreaper_ = 0;
};

} // namespace heddle::process
