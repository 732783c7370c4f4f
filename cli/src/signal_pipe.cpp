#include "signal_pipe.hpp"

#include "interrupts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>

namespace heddle::cli {

namespace {

// What a signal handler can reach is static.
std::atomic<int> pipe_to_write{-1};
std::atomic<int> ends_to_note{signal_pipe::any_number};
static_assert(std::atomic<int>::is_always_lock_free);

/// Whether one more that asks for an end is noted.
bool takes_one_more() noexcept {
    int left = ends_to_note;
    while (left > 0 && !ends_to_note.compare_exchange_weak(left, left - 1)) {}
    return left != 0;
}

extern "C" void note_signal(int signal) {
    // Programs that still run are killed by their keepers.
    if (signal != SIGWINCH && !takes_one_more()) leave_with_words();
    const int errno_before = errno;
    const auto byte = static_cast<unsigned char>(signal);
    // When the pipe is full there are signals enough in it.
    (void)!::write(pipe_to_write, &byte, 1);
    errno = errno_before;
}

} // namespace

signal_pipe::signal_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("pipe");
    read_ = ends[0];
    write_ = ends[1];
    pipe_to_write = write_;
    before_[SIGWINCH] = handle_signal(SIGWINCH, note_signal);
    for (const int signal : end_signals()) before_[signal] = handle_signal(signal, note_signal);
}

signal_pipe::~signal_pipe() {
    (void)release();
    ::close(read_);
    ::close(write_);
}

int signal_pipe::release() noexcept {
    for (const auto& [signal, action] : before_) ::sigaction(signal, &action, nullptr);
    before_.clear();
    ends_to_note = any_number;
    pipe_to_write = -1;
    int signal = take();
    while (signal == SIGWINCH) signal = take();
    return signal;
}

int signal_pipe::take() noexcept {
    unsigned char byte = 0;
    return ::read(read_, &byte, 1) == 1 ? byte : 0;
}

void signal_pipe::note_ends(int count) noexcept { ends_to_note = count; }

signal_pipe::woken_by signal_pipe::wait(int input) {
    for (;;) {
        std::array<pollfd, 2> watched{pollfd{read_, POLLIN, 0}, pollfd{input, POLLIN, 0}};
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
            return woken_by::input;
        switch (take()) {
        case SIGINT: return woken_by::interrupt;
        case SIGTERM:
        case SIGHUP:
        case SIGQUIT: return woken_by::leave;
        case SIGWINCH: return woken_by::resize;
        default: break;
        }
        if (watched[1].revents != 0) return woken_by::input;
    }
}

} // namespace heddle::cli
