#include "terminal.hpp"

#include <csignal>
#include <ctime>

#include <unistd.h>

namespace heddle::process {

namespace {

/// Whoever sets the foreground or the modes from the background is stopped by this signal.
class without_output_stops {
public:
    without_output_stops() noexcept {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTTOU);
        ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    }
    ~without_output_stops() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    without_output_stops(const without_output_stops&) = delete;
    without_output_stops& operator=(const without_output_stops&) = delete;

private:
    sigset_t before_{};
};

} // namespace

terminal_loan::terminal_loan() noexcept {
    const pid_t group = ::getpgrp();
    if (::isatty(STDIN_FILENO) != 1 || ::tcgetpgrp(STDIN_FILENO) != group) return;
    if (::tcgetattr(STDIN_FILENO, &modes_) != 0) return;
    terminal_ = STDIN_FILENO;
    ours_ = group;
}

terminal_loan::~terminal_loan() {
    if (terminal_ < 0) return;
    const without_output_stops guard;
    ::tcsetpgrp(terminal_, ours_);
    ::tcsetattr(terminal_, TCSADRAIN, &modes_);
}

void terminal_loan::give_to(pid_t group) noexcept {
    if (terminal_ < 0) return;
    const without_output_stops guard;
    ::tcsetpgrp(terminal_, group);
}

} // namespace heddle::process
