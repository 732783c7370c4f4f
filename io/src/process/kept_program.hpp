// A program with its keeper, seen from here.
#pragma once

#include "keeper_messages.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/fs/descriptor.hpp>

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <functional>
#include <memory>

#include <sys/types.h>

namespace heddle::process {

/// Receives from a keeper and sends it orders. Letting go of it, in whatever way this process
/// ends, has the keeper kill all that is left of the program. Held by shared_ptr: a wait under way
/// outlives it.
class kept_program final : public std::enable_shared_from_this<kept_program> {
public:
    enum class state : std::uint8_t {
        starting,
        failed, ///< it could not be started: value() is an errno
        running,
        exited, ///< value() is the exit code
        killed, ///< value() is the signal
        lost    ///< somebody has killed the keeper
    };

    /// `changed` is called on the loop after each change; never after stop().
    kept_program(coro::event_loop& loop, fs::descriptor control, std::function<void()> changed);
    kept_program(const kept_program&) = delete;
    kept_program& operator=(const kept_program&) = delete;

    void start();
    void stop() noexcept;
    /// Until the keeper is gone, blocking, for a few seconds at most: the loop is torn down.
    void end_now() noexcept;

    [[nodiscard]] state now() const noexcept { return state_; }
    [[nodiscard]] int value() const noexcept { return value_; }
    [[nodiscard]] bool started() const noexcept { return state_ != state::starting; }
    [[nodiscard]] bool ended() const noexcept { return started() && state_ != state::running; }
    /// The keeper has finished or ended: nothing of the program is left.
    [[nodiscard]] bool gone() const noexcept { return gone_; }
    /// The socket of a keeper that has finished and may be given other work; else nothing. Receives
    /// no more.
    [[nodiscard]] fs::descriptor take_control() noexcept;
    /// Of the program and of its group, once it has been started; else 0.
    [[nodiscard]] pid_t number() const noexcept { return program_; }
    /// Of its keeper, once that has sent something; else 0.
    [[nodiscard]] pid_t keeper() const noexcept { return keeper_; }

    /// To the program's group and to what it has left behind.
    void signal(int signal) noexcept;
    /// Kills what is left; gone() is set then.
    void finish() noexcept;
    /// For a keeper that does not obey (it was stopped): ends it and the group from
    /// here.
    void force() noexcept;

private:
    void wait();
    void hear() noexcept;
    /// False: nothing more is there now, or ever (gone_).
    [[nodiscard]] bool take_report() noexcept;
    void report(keeper_order what, int signal) noexcept;

    boost::asio::posix::basic_stream_descriptor<coro::executor> control_;
    std::function<void()> changed_;
    state state_ = state::starting;
    int value_ = 0;
    pid_t program_ = 0;
    pid_t keeper_ = 0;
    bool gone_ = false;
    bool reusable_ = false;
    bool reported_ = false;
};

} // namespace heddle::process
