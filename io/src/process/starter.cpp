#include "starter.hpp"

#include "descriptor_messages.hpp"
#include "keeper.hpp"
#include "own_children.hpp"

#include <heddle/ports/process_port.hpp>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process {

namespace {

using ports::process_errc;

[[nodiscard]] error cannot(const std::string& what) {
    const int number = errno;
    return error(process_errc::start_failed, what + ": " + std::generic_category().message(number));
}

[[nodiscard]] bool socket_pair(fs::descriptor& ours, fs::descriptor& theirs) noexcept {
    std::array<int, 2> ends{-1, -1};
    // A message stays one, and the end of the other side shows.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    ours = fs::descriptor(ends[0]);
    theirs = fs::descriptor(ends[1]);
    return true;
}

[[nodiscard]] bool send_order(const fs::descriptor& control, const start_order& order) noexcept {
    const start_message message{order.image_bytes, order.in_terminal ? 1U : 0U,
                                order.takes_terminal ? 1U : 0U};
    const std::array<int, start_descriptors> numbers{order.image, order.directory, order.streams[0],
                                                     order.streams[1], order.streams[2]};
    return send_with(control.get(), message, numbers);
}

} // namespace

result<std::unique_ptr<program_starter>> program_starter::create(stray_guard* guard) {
    std::unique_ptr<program_starter> object(new program_starter(guard));
    HEDDLE_CHECK(object->launch());
    return object;
}

program_starter::~program_starter() {
    idle_.clear(); // the starter ends after its keepers
    retire();
}

result<void> program_starter::launch() {
    retire();
    fs::descriptor theirs;
    if (!socket_pair(socket_, theirs)) return cannot("no program can be started");
    process_ = ::fork();
    if (process_ == 0) serve_starts(theirs.get());
    if (process_ < 0) return cannot("no program can be started");
    if (guard_ != nullptr) guard_->watch(process_);
    return {};
}

void program_starter::retire() noexcept {
    socket_ = fs::descriptor();
    if (process_ <= 0) return;
    ::kill(process_, SIGCONT); // a program may have stopped it
    siginfo_t about{};
    int got = 0;
    do got = ::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOWAIT);
    while (got < 0 && errno == EINTR);
    if (guard_ != nullptr) {
        guard_->forget_starter(got == 0 && about.si_code == CLD_EXITED && about.si_status == 0);
    }
    static_cast<void>(::waitpid(process_, nullptr, 0)); // it has ended
    process_ = -1;
}

result<fs::descriptor> program_starter::new_keeper() {
    fs::descriptor ours;
    fs::descriptor theirs;
    if (!socket_pair(ours, theirs) || ::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) {
        return cannot("the program cannot be started");
    }
    const std::array<int, wish_descriptors> control{theirs.get()};
    if (send_with(socket_.get(), keeper_wish(), control)) return ours;
    if (errno != EPIPE && errno != ECONNRESET) return cannot("the program cannot be started");
    HEDDLE_CHECK(launch());
    if (!send_with(socket_.get(), keeper_wish(), control)) {
        return cannot("the program cannot be started");
    }
    return ours;
}

result<fs::descriptor> program_starter::start(const start_order& order) {
    if (!knows_own_children()) {
        return error(
                   process_errc::start_failed,
                   "no program is started: without /proc, what it leaves behind could not be ended")
            .with_hint("mount /proc where heddle runs")
            .with_retryable(false);
    }
    while (!idle_.empty()) {
        fs::descriptor kept = std::move(idle_.back());
        idle_.pop_back();
        if (send_order(kept, order)) return kept;
        // Somebody has killed that one.
    }
    HEDDLE_TRY(fs::descriptor fresh, new_keeper());
    if (!send_order(fresh, order)) return cannot("the program cannot be started");
    return fresh;
}

void program_starter::give_back(fs::descriptor control) {
    if (control.open() && idle_.size() < max_idle) idle_.push_back(std::move(control));
}

} // namespace heddle::process
