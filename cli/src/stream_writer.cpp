#include "stream_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

/// Written at a time, so that a slow reader is seen to read: what a pipe takes in one piece.
constexpr std::size_t block = 4096;

struct piece {
    int descriptor;
    std::string text;
};

/// How many bytes were taken, at least one; 0: the descriptor takes no more.
std::size_t write_some(int descriptor, std::string_view text) noexcept {
    for (;;) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count > 0) return static_cast<std::size_t>(count);
        if (count == 0) return 0;
        if (errno == EAGAIN) { // somebody who has the stream too made it so
            pollfd watched{descriptor, POLLOUT, 0};
            (void)::poll(&watched, 1, -1);
        } else if (errno != EINTR) {
            return 0;
        }
    }
}

} // namespace

struct stream_writer::state {
    explicit state(listeners to_report) : reported(std::move(to_report)) {}

    /// Until the end is asked for and nothing waits.
    void run();
    /// Without a thread.
    void run_here() {
        ending = true;
        run();
        ending = false;
    }
    void give_up();

    void report_lost(int descriptor) {
        const std::scoped_lock lock(reporting);
        if (reported.on_lost) reported.on_lost(descriptor);
    }
    void report_room() {
        const std::scoped_lock lock(reporting);
        if (reported.on_room) reported.on_room();
    }

    std::mutex mutex;
    std::condition_variable given;  ///< there is something to write, or it is the end
    std::condition_variable taken;  ///< something is not waiting any more
    std::deque<piece> pieces;       ///< but for the one that is being written
    std::optional<int> writing_to;  ///< the descriptor of that one
    std::size_t waiting = 0;        ///< bytes of all of them
    std::uint64_t taken_in_all = 0; ///< to see that the reader reads
    bool full = false;
    bool ending = false;
    bool given_up = false;

    std::mutex reporting; ///< while somebody is notified; never asked for with the other one held
    listeners reported;
};

void stream_writer::state::run() {
    std::unique_lock lock(mutex);
    for (;;) {
        given.wait(lock, [this] { return !pieces.empty() || ending; });
        if (pieces.empty()) return;
        const piece now = std::move(pieces.front());
        pieces.pop_front();
        writing_to = now.descriptor;
        std::string_view left = now.text;
        while (!left.empty() && !given_up) {
            lock.unlock();
            const std::size_t count = write_some(now.descriptor, left.substr(0, block));
            if (count == 0) report_lost(now.descriptor);
            lock.lock();
            if (given_up) break;
            const std::size_t done = count != 0 ? count : left.size();
            left.remove_prefix(done);
            waiting -= done;
            taken_in_all += done;
            taken.notify_all();
            if (!full || waiting > room / 2) continue;
            full = false;
            lock.unlock();
            report_room();
            lock.lock();
        }
        writing_to.reset();
    }
}

void stream_writer::state::give_up() {
    std::vector<int> lost;
    {
        const std::scoped_lock lock(mutex);
        given_up = true;
        if (writing_to) lost.push_back(*writing_to);
        for (const piece& each : std::exchange(pieces, {})) lost.push_back(each.descriptor);
        waiting = 0;
        full = false;
        taken.notify_all();
    }
    for (const int each : lost) report_lost(each);
    report_room();
}

stream_writer::stream_writer(listeners reported)
    : state_(std::make_shared<state>(std::move(reported))) {}

stream_writer::~stream_writer() {
    drain();
    bool stuck = false;
    {
        const std::scoped_lock lock(state_->mutex);
        state_->ending = true;
        stuck = state_->given_up;
    }
    state_->given.notify_one();
    if (thread_.joinable()) {
        // One that hangs in a write ends with the process, or when the reader goes.
        if (stuck) thread_.detach();
        else thread_.join();
    }
    const std::scoped_lock lock(state_->reporting);
    state_->reported = {};
}

void stream_writer::begin() {
    // Signals are for those who look at them; but a program in the background may be stopped when
    // it writes to the terminal (stty tostop), and a fault is the thread's own.
    sigset_t others;
    sigset_t before;
    sigfillset(&others);
    for (const int own : {SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
        sigdelset(&others, own);
    ::pthread_sigmask(SIG_SETMASK, &others, &before);
    try {
        thread_ = std::thread([held = state_] { held->run(); });
    } catch (const std::system_error&) { // as many threads as there may be: written by the caller
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stream_writer::write(int descriptor, std::string_view text) {
    if (text.empty()) return;
    bool lost = false;
    {
        const std::scoped_lock lock(state_->mutex);
        lost = state_->given_up;
        auto& pieces = state_->pieces;
        if (!lost) {
            const bool goes_on = !pieces.empty() && pieces.back().descriptor == descriptor &&
                                 pieces.back().text.size() < 16 * block;
            if (goes_on) pieces.back().text += text;
            else pieces.push_back({descriptor, std::string(text)});
            state_->waiting += text.size();
            state_->full = state_->full || state_->waiting > room;
        }
    }
    if (lost) {
        state_->report_lost(descriptor);
        return;
    }
    if (!thread_.joinable()) begin();
    if (thread_.joinable()) state_->given.notify_one();
    else state_->run_here();
}

void stream_writer::write_in_turn(int descriptor, std::string_view text) {
    while (!text.empty()) {
        wait_until([](const state& now) { return !now.full; });
        write(descriptor, text.substr(0, room));
        text.remove_prefix(std::min(room, text.size()));
    }
}

std::size_t stream_writer::waiting() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->waiting;
}

bool stream_writer::full() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->full;
}

template <class Done>
void stream_writer::wait_until(Done done) {
    std::unique_lock lock(state_->mutex);
    while (!done(*state_)) {
        const std::uint64_t before = state_->taken_in_all;
        const auto moved = [&] { return state_->taken_in_all != before || state_->given_up; };
        if (!patience_) {
            state_->taken.wait(lock, moved);
        } else if (!state_->taken.wait_for(lock, *patience_, moved)) {
            lock.unlock();
            state_->give_up();
            return;
        }
    }
}

void stream_writer::drain() {
    wait_until([](const state& now) { return now.waiting == 0; });
}

void stream_writer::drain_within(std::chrono::milliseconds limit) {
    std::unique_lock lock(state_->mutex);
    (void)state_->taken.wait_for(lock, limit, [this] { return state_->waiting == 0; });
}

bool may_wait_for_reader(int descriptor) noexcept {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0) return false;
    return S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || ::isatty(descriptor) == 1;
}

bool lead_to_one_place(int one, int other) noexcept {
    // A terminal has several names.
    if (::isatty(one) == 1 && ::isatty(other) == 1) return true;
    struct stat first {};
    struct stat second {};
    return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

void write_error_at_once(std::string_view text) noexcept {
    struct stat found {};
    if (::fstat(STDERR_FILENO, &found) != 0) return;
    if (S_ISSOCK(found.st_mode)) {
        (void)!::send(STDERR_FILENO, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        return;
    }
    int stream = STDERR_FILENO;
    if (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) {
        // Opened anew: O_NONBLOCK on the stream that we were given would be everybody's who has it.
        stream = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        pollfd watched{STDERR_FILENO, POLLOUT, 0};
        if (stream < 0 && ::poll(&watched, 1, 0) != 1) return;
        if (stream < 0) stream = STDERR_FILENO;
    }
    (void)!::write(stream, text.data(), text.size());
}

} // namespace heddle::cli
