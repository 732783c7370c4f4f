#include "child_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process {

namespace {

constexpr auto first_pause = std::chrono::milliseconds(1);
constexpr auto longest_pause = std::chrono::milliseconds(20);
constexpr auto stop_pause = std::chrono::milliseconds(200); // between looks for a stopped child

/// -1 where the kernel has none.
[[nodiscard]] int open_pidfd(pid_t pid) noexcept {
#ifdef SYS_pidfd_open
    return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); // close-on-exec by itself
#else
    static_cast<void>(pid);
    return -1;
#endif
}

} // namespace

child_watch::child_watch(coro::event_loop& loop, pid_t pid, std::function<void()> ended)
    : loop_(loop), pid_(pid), tell_(std::move(ended)), handle_(loop.get_executor()) {}

child_watch::~child_watch() { kill_now(); }

void child_watch::kill_now() noexcept {
    if (reaped_) return;
    signal_group(SIGKILL);
    int ignored = 0;
    static_cast<void>(reap(ignored));
}

void child_watch::start(bool keep_going, bool use_pidfd) {
    keep_going_ = keep_going;
    const int number = use_pidfd ? open_pidfd(pid_) : -1;
    boost::system::error_code failed;
    if (number >= 0) handle_.assign(number, failed);
    if (failed) ::close(number);
    if (handle_.is_open()) wait();
    // A pidfd does not tell of a stop, and without one there is only asking.
    if (!handle_.is_open()) pause_ = first_pause;
    else if (keep_going_) pause_ = stop_pause;
    if (pause_ != pause_.zero()) loop_.schedule(*this, loop_.now() + pause_);
}

void child_watch::stop() noexcept {
    unschedule();
    boost::system::error_code ignored;
    handle_.close(ignored);
    tell_ = nullptr;
}

void child_watch::wait() {
    handle_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                       [self = weak_from_this()](const boost::system::error_code& failed) {
                           const auto alive = self.lock();
                           if (!failed && alive) alive->look();
                       });
}

void child_watch::look() {
    if (ended_ || !tell_) return;
    siginfo_t about{};
    const int stopped = keep_going_ ? WSTOPPED : 0;
    const int failed =
        ::waitid(P_PID, static_cast<id_t>(pid_), &about, WEXITED | stopped | WNOHANG | WNOWAIT);
    const bool is_stopped = failed == 0 && about.si_pid == pid_ && about.si_code == CLD_STOPPED;
    if (is_stopped) {
        signal_group(SIGCONT);
    } else if (failed != 0 ? errno != EINTR : about.si_pid == pid_) {
        ended_ = true;
        unschedule();
        boost::system::error_code ignored;
        handle_.close(ignored);
        return tell_();
    }
    if (pause_ == pause_.zero()) return wait(); // woken for nothing
    if (!handle_.is_open()) pause_ = std::min<coro::clock::duration>(pause_ * 2, longest_pause);
    loop_.schedule(*this, loop_.now() + pause_);
}

void child_watch::signal_group(int signal) const noexcept {
    if (!reaped_) ::kill(-pid_, signal);
}

bool child_watch::reap(int& status) noexcept {
    if (reaped_) return false;
    pid_t got = -1;
    do got = ::waitpid(pid_, &status, 0);
    while (got < 0 && errno == EINTR);
    reaped_ = true;
    return got == pid_;
}

} // namespace heddle::process
