// Ends processes whose supervisors were killed.
#pragma once

#include <atomic>
#include <chrono>
#include <span>
#include <vector>

#include <sys/types.h>

namespace heddle::process {

/// Makes this process a subreaper, which adopts the descendants of the starter of a process port if
/// the starter is killed, and ends them. Without it, a program that kills both processes that
/// supervise it can leave a daemon. For one port, which it outlives, in a program that starts no
/// other children meanwhile. It spares children that the process had when the guard was created:
/// they may come from a program that was replaced by exec. Does nothing while the starter lives.
class stray_guard {
public:
    stray_guard();
    /// Ends what is left, for at most two seconds, and stops being a subreaper unless the process
    /// was one before.
    ~stray_guard();
    stray_guard(const stray_guard&) = delete;
    stray_guard& operator=(const stray_guard&) = delete;

    /// Sets the starter of the port. Threads: the port's only.
    void watch(pid_t starter) noexcept;
    /// The starter has ended and can still be waited for; `in_order`: by itself, after its keepers.
    void forget_starter(bool in_order) noexcept;

    /// Kills the processes adopted since the starter was lost, except `spared` (keepers that still
    /// live), and waits for those that have died. Result: how many were found. Their children are
    /// adopted in turn, so call again until it is 0. A living starter, which adopts them itself, is
    /// continued if it is stopped. May be called by a signal handler.
    int kill_strays(std::span<const pid_t> spared = {}) const noexcept;
    /// Calls kill_strays() until nothing is left or the time is over. May be called by a signal
    /// handler.
    void end_strays(std::chrono::milliseconds limit) const noexcept;

private:
    [[nodiscard]] bool starter_is_lost() const noexcept;
    [[nodiscard]] bool is_spared(pid_t child, std::span<const pid_t> more) const noexcept;

    std::vector<pid_t> before_; ///< children of this process at the start
    std::atomic<pid_t> starter_{0};
    std::atomic<bool> lost_{false}; ///< an earlier starter did not end in order
    int was_subreaper_ = 0;
};

} // namespace heddle::process
