#include "kept_program.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::process {

namespace {

constexpr auto patience = std::chrono::seconds(6); // more than a keeper has (keeper.cpp)

} // namespace

kept_program::kept_program(coro::event_loop& loop, fs::descriptor control,
                           std::function<void()> changed)
    : control_(loop.get_executor()), changed_(std::move(changed)) {
    boost::system::error_code failed;
    const int number = control.release();
    control_.assign(number, failed);
    if (!failed) return;
    ::close(number);
    state_ = state::lost;
    gone_ = true;
}

void kept_program::start() {
    if (!gone_) wait();
}

fs::descriptor kept_program::take_control() noexcept {
    changed_ = nullptr;
    if (!reusable_ || !control_.is_open()) return {};
    reusable_ = false;
    return fs::descriptor(control_.release());
}

void kept_program::stop() noexcept {
    changed_ = nullptr;
    boost::system::error_code ignored;
    control_.close(ignored);
}

void kept_program::wait() {
    control_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                        [self = weak_from_this()](const boost::system::error_code& failed) {
                            const auto alive = self.lock();
                            if (!failed && alive && alive->changed_) alive->hear();
                        });
}

void kept_program::hear() noexcept {
    while (take_report()) {}
    if (!gone_) wait();
    if (changed_) changed_();
}

bool kept_program::take_report() noexcept {
    keeper_report report;
    ssize_t count = 0;
    do count = ::recv(control_.native_handle(), &report, sizeof report, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (count != sizeof report) {
        gone_ = true;
        if (state_ == state::starting || state_ == state::running) {
            state_ = state::lost;
            if (program_ > 0) ::kill(-program_, SIGKILL);
        }
        return false;
    }
    keeper_ = report.keeper;
    // It may come after the keeper's own.
    if (report.what != keeper_event::kept && report.what != keeper_event::finished) {
        value_ = report.value;
    }
    switch (report.what) {
    case keeper_event::kept: break;
    case keeper_event::started:
        program_ = report.value;
        state_ = state::running;
        break;
    case keeper_event::failed:
        state_ = state::failed;
        gone_ = true;
        // One that received something meanwhile would take that for its next order.
        reusable_ = keeper_ > 0 && !reported_;
        break;
    case keeper_event::exited: state_ = state::exited; break;
    case keeper_event::killed: state_ = state::killed; break;
    case keeper_event::finished: gone_ = reusable_ = true; break;
    }
    return !gone_;
}

void kept_program::report(keeper_order what, int signal) noexcept {
    if (gone_ || !control_.is_open()) return;
    reported_ = true;
    const keeper_command command{what, signal};
    // What does not fit into the socket's buffer waits for a keeper that is stopped.
    static_cast<void>(
        ::send(control_.native_handle(), &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void kept_program::signal(int signal) noexcept { report(keeper_order::signal, signal); }

void kept_program::finish() noexcept {
    if (keeper_ > 0 && !gone_) ::kill(keeper_, SIGCONT); // a program may stop its parent
    report(keeper_order::finish, 0);
}

void kept_program::force() noexcept {
    if (gone_) return;
    if (program_ > 0) ::kill(-program_, SIGKILL);
    if (keeper_ > 0) ::kill(keeper_, SIGKILL);
}

void kept_program::end_now() noexcept {
    changed_ = nullptr;
    if (gone_ || !control_.is_open()) return;
    finish();
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!gone_ && std::chrono::steady_clock::now() < until) {
        pollfd waits{control_.native_handle(), POLLIN, 0};
        constexpr int pause_ms = 100;
        static_cast<void>(::poll(&waits, 1, pause_ms));
        while (take_report()) {}
    }
    force();
    stop();
}

} // namespace heddle::process
