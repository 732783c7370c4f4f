#include "keeper.hpp"

#include "descriptor_messages.hpp"
#include "keeper_messages.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process {

namespace {

constexpr int kept_socket = 3;
constexpr int first_of_others = 4;
constexpr std::time_t patience_s = 5; // for what SIGKILL does not end at once

/// What a keeper was told.
struct order_of_start {
    start_message message;
    std::array<int, start_descriptors> descriptors{}; ///< as the message has them

    [[nodiscard]] int image() const noexcept { return descriptors[0]; }
    [[nodiscard]] int directory() const noexcept { return descriptors[1]; }
    [[nodiscard]] int stream(int number) const noexcept {
        return descriptors[static_cast<std::size_t>(number) + 2];
    }
};

void close_from(int first) noexcept {
#if __GLIBC_PREREQ(2, 34)
    ::closefrom(first);
#else
    const long last = ::sysconf(_SC_OPEN_MAX);
    for (long each = first; each < last; ++each) ::close(static_cast<int>(each));
#endif
}

void block_all_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

// --- the program -----------------------------------------------------------------------------------

/// The vectors of execve, put together in the mapped image.
struct mapped_image {
    void* memory = nullptr; ///< null: it cannot be mapped
    const char* program = nullptr;
    char** arguments = nullptr;
    char** variables = nullptr;
};

mapped_image map_image(const order_of_start& order) noexcept {
    mapped_image made;
    void* const memory = ::mmap(nullptr, order.message.image_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE, order.image(), 0);
    if (memory == MAP_FAILED) return made;
    made.memory = memory;
    image_header header;
    std::memcpy(&header, memory, sizeof header);
    made.arguments = reinterpret_cast<char**>(static_cast<char*>(memory) + sizeof header);
    made.variables = made.arguments + header.argument_count + 1;
    char* text = reinterpret_cast<char*>(made.variables + header.variable_count + 1);
    const auto next = [&text] {
        char* const begin = text;
        text += std::strlen(text) + 1;
        return begin;
    };
    made.program = next();
    for (std::uint64_t i = 0; i < header.argument_count; ++i) made.arguments[i] = next();
    made.arguments[header.argument_count] = nullptr;
    for (std::uint64_t i = 0; i < header.variable_count; ++i) made.variables[i] = next();
    made.variables[header.variable_count] = nullptr;
    return made;
}

[[noreturn]] void give_up(int tell) noexcept {
    const int why = errno;
    static_cast<void>(!::write(tell, &why, sizeof why));
    ::_exit(127);
}

/// In the child of the keeper, whose memory it shares, with all signals blocked. `tell` is closed by
/// exec.
[[noreturn]] void become_program(const order_of_start& order, const mapped_image& image, int tell,
                                 pid_t keeper) noexcept {
    ::setpgid(0, 0);
    // From the background, which blocked signals allow.
    if (order.message.takes_terminal != 0) ::tcsetpgrp(order.stream(0), ::getpid());
    // Whatever ends the keeper, even without its doing. Too late when it has ended already.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(127);
    if (::fchdir(order.directory()) != 0) give_up(tell);
    // All numbers are above those that they are copied to: see serve_starts.
    for (int i = 0; i < 3; ++i) {
        if (::dup2(order.stream(i), i) < 0) give_up(tell);
    }
    if (::dup3(tell, kept_socket, O_CLOEXEC) < 0) give_up(tell);
    close_from(first_of_others);
    for (int each = 1; each < NSIG; ++each) ::signal(each, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(image.program, image.arguments, image.variables);
    give_up(kept_socket);
}

// --- the keeper ------------------------------------------------------------------------------------

class keeper {
public:
    explicit keeper(int control) noexcept : control_(control) {
        ::setpgid(0, 0); // who ends our port's group does not end us
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        ::signal(SIGCHLD, SIG_DFL);
        sigemptyset(&ends_);
        sigaddset(&ends_, SIGCHLD);
        children_ = ::signalfd(-1, &ends_, SFD_CLOEXEC | SFD_NONBLOCK);
    }

    /// One program after the other, until nobody is there any more.
    [[noreturn]] void run() noexcept {
        for (order_of_start order; receive_with(control_, order.message, order.descriptors);) {
            const bool started = start(order);
            for (const int each : order.descriptors) ::close(each);
            if (!started) continue;
            stops_ = order.message.in_terminal != 0 ? WSTOPPED : 0;
            serve();
            if (!kill_everything()) break;
            report(keeper_event::finished, 0);
        }
        ::_exit(0);
    }

private:
    void report(keeper_event what, std::int32_t value) const noexcept {
        const keeper_report made{what, value, ::getpid()};
        static_cast<void>(::send(control_, &made, sizeof made, MSG_NOSIGNAL));
    }

    bool start(const order_of_start& order) noexcept {
        const mapped_image image = map_image(order);
        std::array<int, 2> ends{-1, -1};
        if (image.memory == nullptr || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
            report(keeper_event::failed, errno);
            return false;
        }
        const pid_t self = ::getpid();
        // Shares our memory until it has become the program: none is copied. What it writes there is
        // its own.
        program_ = ::vfork();
        // NOLINTNEXTLINE(clang-analyzer-unix.Vfork): what it calls is safe there
        if (program_ == 0) become_program(order, image, ends[1], self);
        const int fork_failed = errno;
        ::close(ends[1]);
        int why = 0;
        ssize_t count = 0;
        do count = ::read(ends[0], &why, sizeof why);
        while (count < 0 && errno == EINTR);
        ::close(ends[0]);
        ::munmap(image.memory, order.message.image_bytes);
        ended_ = false;
        if (program_ > 0 && count == 0) {
            report(keeper_event::started, program_);
            return true;
        }
        if (program_ > 0) static_cast<void>(::waitpid(program_, nullptr, 0));
        report(keeper_event::failed, program_ < 0 ? fork_failed : why);
        return false;
    }

    /// Until told to finish, or until nobody is there to tell.
    void serve() noexcept {
        std::array<pollfd, 2> waits{{{control_, POLLIN, 0}, {children_, POLLIN, 0}}};
        for (;;) {
            look_after_children();
            if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
            signalfd_siginfo ignored{};
            while (::read(children_, &ignored, sizeof ignored) > 0) {}
            if (waits[0].revents == 0) continue;
            keeper_command command;
            const ssize_t count = ::recv(control_, &command, sizeof command, MSG_DONTWAIT);
            if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
            if (count != sizeof command || command.what == keeper_order::finish) return;
            signal_all(command.signal);
        }
    }

    /// The program stays a zombie, so that its number, which is its group's, is nobody else's.
    void look_after_children() noexcept {
        siginfo_t about{};
        const auto child = static_cast<id_t>(program_);
        const bool told =
            !ended_ && ::waitid(P_PID, child, &about, WEXITED | stops_ | WNOHANG | WNOWAIT) == 0;
        if (told && about.si_pid == program_ && about.si_code == CLD_STOPPED) {
            // Ctrl-Z, and nobody else could send it on.
            ::kill(-program_, SIGCONT);
        } else if (told && about.si_pid == program_) {
            ended_ = true;
            report(about.si_code == CLD_EXITED ? keeper_event::exited : keeper_event::killed,
                   about.si_status);
        }
        each_stray([](pid_t stray) { static_cast<void>(::waitpid(stray, nullptr, WNOHANG)); });
    }

    void signal_all(int signal) noexcept {
        ::kill(-program_, signal);
        ::kill(program_, signal); // it may have left its group
        each_stray([signal](pid_t stray) { ::kill(stray, signal); });
    }

    /// Calls `what` with the children that are not the program: what it left behind has come to us.
    template <class What>
    static std::size_t each_number(int file, What&& what) noexcept {
        std::array<char, 4096> piece;
        std::size_t count = 0;
        pid_t number = 0;
        for (;;) {
            const ssize_t got = ::read(file, piece.data(), piece.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            for (ssize_t i = 0; i < got; ++i) {
                const char c = piece[static_cast<std::size_t>(i)];
                if (c >= '0' && c <= '9') {
                    number = number * 10 + (c - '0');
                } else if (number != 0) {
                    what(number);
                    ++count;
                    number = 0;
                }
            }
        }
        return count;
    }
    template <class What>
    std::size_t each_stray(What&& what) const noexcept {
        const int file = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
        if (file < 0) return 0;
        std::size_t strays = 0;
        each_number(file, [&](pid_t child) {
            if (child == program_) return;
            ++strays;
            what(child);
        });
        ::close(file);
        return strays;
    }

    /// What is killed hands its own children on to us: again, until there are none. False: something
    /// cannot be killed (it is another user's, or stuck in the kernel).
    [[nodiscard]] bool kill_everything() noexcept {
        timespec began{};
        ::clock_gettime(CLOCK_MONOTONIC, &began);
        for (;;) {
            signal_all(SIGKILL);
            look_after_children();
            const std::size_t strays = each_stray([](pid_t) {});
            if (ended_ && strays == 0) break;
            timespec now{};
            ::clock_gettime(CLOCK_MONOTONIC, &now);
            if (now.tv_sec - began.tv_sec > patience_s) return false;
            const timespec pause{0, 2'000'000};
            static_cast<void>(::sigtimedwait(&ends_, nullptr, &pause));
        }
        static_cast<void>(::waitpid(program_, nullptr, WNOHANG));
        return true;
    }

    int control_;
    int children_ = -1; ///< readable when one has ended
    sigset_t ends_{};
    pid_t program_ = -1;
    bool ended_ = false;
    int stops_ = 0; ///< WSTOPPED where a stop is to be heard of
};

} // namespace

void serve_starts(int socket) noexcept {
    block_all_signals();
    ::signal(SIGCHLD, SIG_IGN); // keepers need no reaping
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "heddle-keeper");
    // The environment that it shares with us holds what programs are not to inherit.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::dup2(socket, kept_socket);
    close_from(first_of_others);
    // Nobody's streams are held open, and what is received has higher numbers than theirs.
    const int null = ::open("/dev/null", O_RDWR);
    for (int i = 0; i < kept_socket; ++i) ::dup2(null, i);
    if (null > kept_socket) ::close(null);
    static_cast<void>(!::chdir("/"));
    keeper_wish wish;
    for (std::array<int, wish_descriptors> control{}; receive_with(kept_socket, wish, control);) {
        const pid_t made = ::fork();
        if (made == 0) {
            ::close(kept_socket);
            keeper(control[0]).run();
        }
        // Also a keeper that is stopped before it can say anything can be sent on.
        const keeper_report report{made < 0 ? keeper_event::failed : keeper_event::kept,
                                   made < 0 ? errno : 0, made};
        static_cast<void>(::send(control[0], &report, sizeof report, MSG_NOSIGNAL));
        ::close(control[0]);
    }
    ::_exit(0);
}

} // namespace heddle::process
