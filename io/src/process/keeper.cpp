#include "keeper.hpp"

#include "descriptor_messages.hpp"
#include "keeper_messages.hpp"
#include "own_children.hpp"

#include <algorithm>
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

/// What a keeper was asked to do.
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

[[nodiscard]] std::time_t seconds_now() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void block_all_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

// --- the program ---------------------------------------------------------------------------------

/// The vectors of execve, put together in the mapped image.
struct mapped_image {
    void* memory = nullptr; ///< null: it cannot be mapped
    const char* program = nullptr;
    char** arguments = nullptr;
    char** variables = nullptr;
};

mapped_image map_image(const order_of_start& order) noexcept {
    mapped_image mapped;
    void* const memory = ::mmap(nullptr, order.message.image_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE, order.image(), 0);
    if (memory == MAP_FAILED) return mapped;
    mapped.memory = memory;
    image_header header;
    std::memcpy(&header, memory, sizeof header);
    mapped.arguments = reinterpret_cast<char**>(static_cast<char*>(memory) + sizeof header);
    mapped.variables = mapped.arguments + header.argument_count + 1;
    char* text = reinterpret_cast<char*>(mapped.variables + header.variable_count + 1);
    const auto next = [&text] {
        char* const begin = text;
        text += std::strlen(text) + 1;
        return begin;
    };
    mapped.program = next();
    for (std::uint64_t i = 0; i < header.argument_count; ++i) mapped.arguments[i] = next();
    mapped.arguments[header.argument_count] = nullptr;
    for (std::uint64_t i = 0; i < header.variable_count; ++i) mapped.variables[i] = next();
    mapped.variables[header.variable_count] = nullptr;
    return mapped;
}

[[noreturn]] void give_up(int report) noexcept {
    const int why = errno;
    static_cast<void>(!::write(report, &why, sizeof why));
    ::_exit(127);
}

/// In the child of the keeper, whose memory it shares, with all signals blocked. `tell` is closed
/// by exec.
[[noreturn]] void become_program(const order_of_start& order, const mapped_image& image, int report,
                                 pid_t keeper) noexcept {
    ::setpgid(0, 0);
    // From the background, which blocked signals allow.
    if (order.message.takes_terminal != 0) ::tcsetpgrp(order.stream(0), ::getpid());
    // Whatever ends the keeper, even without its doing. Too late when it has ended already.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != keeper) ::_exit(127);
    if (::fchdir(order.directory()) != 0) give_up(report);
    // All numbers are above those that they are copied to: see serve_starts.
    for (int i = 0; i < 3; ++i) {
        if (::dup2(order.stream(i), i) < 0) give_up(report);
    }
    if (::dup3(report, kept_socket, O_CLOEXEC) < 0) give_up(report);
    close_from(first_of_others);
    for (int each = 1; each < NSIG; ++each) ::signal(each, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(image.program, image.arguments, image.variables);
    give_up(kept_socket);
}

// --- the keeper ----------------------------------------------------------------------------------

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
        const keeper_report message{what, value, ::getpid()};
        static_cast<void>(::send(control_, &message, sizeof message, MSG_NOSIGNAL));
    }

    bool start(const order_of_start& order) noexcept {
        // What it leaves behind could not be found: /proc went away since the port looked.
        if (!knows_own_children()) {
            report(keeper_event::failed, ENOSYS);
            return false;
        }
        const mapped_image image = map_image(order);
        std::array<int, 2> ends{-1, -1};
        if (image.memory == nullptr || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
            report(keeper_event::failed, errno);
            return false;
        }
        const pid_t self = ::getpid();
        // Shares our memory until it has become the program: none is copied. What it writes there
        // is its own.
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

    /// Serves until it is asked to finish or its parent is gone.
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
        const bool reported =
            !ended_ && ::waitid(P_PID, child, &about, WEXITED | stops_ | WNOHANG | WNOWAIT) == 0;
        if (reported && about.si_pid == program_ && about.si_code == CLD_STOPPED) {
            // Ctrl-Z, and nobody else could send it on.
            ::kill(-program_, SIGCONT);
        } else if (reported && about.si_pid == program_) {
            ended_ = true;
            report(about.si_code == CLD_EXITED ? keeper_event::exited : keeper_event::killed,
                   about.si_status);
        }
        each_stray([](pid_t stray) { static_cast<void>(::waitpid(stray, nullptr, WNOHANG)); });
    }

    void signal_all(int signal) noexcept {
        if (program_ > 0) {
            ::kill(-program_, signal);
            ::kill(program_, signal); // it may have left its group
        }
        each_stray([signal](pid_t stray) { ::kill(stray, signal); });
    }

    /// Calls `what` with the children that are not the program: what it left behind has come to us.
    /// Result: how many; -1: the system does not say.
    template <class What>
    int each_stray(What&& what) const noexcept {
        int strays = 0;
        const int all = for_each_child([&](pid_t child) {
            if (child == program_) return;
            ++strays;
            what(child);
        });
        return all < 0 ? all : strays;
    }

    /// What is killed hands its own children on to us: again, until there are none. False:
    /// something cannot be killed (it is another user's, or stuck in the kernel).
    [[nodiscard]] bool kill_everything() noexcept {
        const std::time_t began = seconds_now();
        for (;;) {
            signal_all(SIGKILL);
            look_after_children();
            const int strays = each_stray([](pid_t) {});
            if (ended_ && strays == 0 && nothing_is_left()) return true;
            if (seconds_now() - began > patience_s) return false;
            const timespec pause{0, 2'000'000};
            static_cast<void>(::sigtimedwait(&ends_, nullptr, &pause));
        }
    }

    /// The list of children may miss one while another ends; whether there is any is certain.
    [[nodiscard]] bool nothing_is_left() noexcept {
        if (program_ > 0) static_cast<void>(::waitpid(program_, nullptr, WNOHANG));
        program_ = 0; // its number may be anybody's now
        pid_t ended = 0;
        do ended = ::waitpid(-1, nullptr, WNOHANG);
        while (ended > 0);
        return ended < 0 && errno == ECHILD;
    }

    int control_;
    int children_ = -1; ///< readable when one has ended
    sigset_t ends_{};
    pid_t program_ = -1;
    bool ended_ = false;
    int stops_ = 0; ///< WSTOPPED where a stop is to be heard of
};

// --- the starter ---------------------------------------------------------------------------------

/// Numbers of processes, in memory of its own: none may be taken from the heap here.
class process_list {
public:
    /// Makes room for one more. False: errno has the reason.
    [[nodiscard]] bool reserve_one() noexcept {
        if (count_ < room_) return true;
        const std::size_t more = room_ == 0 ? page : 2 * room_ * sizeof(pid_t);
        void* const result =
            room_ == 0
                ? ::mmap(nullptr, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                : ::mremap(all_, room_ * sizeof(pid_t), more, MREMAP_MAYMOVE);
        if (result == MAP_FAILED) return false;
        all_ = static_cast<pid_t*>(result);
        room_ = more / sizeof(pid_t);
        return true;
    }
    /// After reserve_one.
    void add(pid_t process) noexcept { all_[count_++] = process; }
    void remove(pid_t process) noexcept {
        pid_t* const at = find(process);
        if (at != end()) *at = all_[--count_];
    }
    [[nodiscard]] bool holds(pid_t process) const noexcept { return find(process) != end(); }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] pid_t* begin() const noexcept { return all_; }
    [[nodiscard]] pid_t* end() const noexcept { return all_ + count_; }

private:
    static constexpr std::size_t page = 4096;

    [[nodiscard]] pid_t* find(pid_t process) const noexcept {
        return std::find(begin(), end(), process);
    }

    pid_t* all_ = nullptr;
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

/// Forks keepers, and ends what comes to it when one of them was killed: as a subreaper above
/// theirs it becomes the parent of all that such a keeper had under it.
class keeper_forker {
public:
    keeper_forker() noexcept {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        // Nobody else reaps our children: a number that was read from the list of them stays theirs
        // until we have waited for it.
        ::signal(SIGCHLD, SIG_DFL);
        sigset_t ends;
        sigemptyset(&ends);
        sigaddset(&ends, SIGCHLD);
        children_ = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    }

    /// Until nobody wishes for keepers any more, and until they have ended.
    [[noreturn]] void run() noexcept {
        bool wishes = true;
        std::time_t ended = 0; // when the wishes did
        int strays = 0;
        bool looks = true; // nothing comes to us without a SIGCHLD
        for (;;) {
            if (looks) strays = end_strays();
            if (!wishes) {
                const std::time_t passed = seconds_now() - ended;
                if (keepers_.empty() && strays <= 0) break;
                // A keeper that was stopped again does not know that its time has come.
                if (passed > patience_s + 1) signal_keepers(SIGKILL);
                if (passed > 2 * patience_s) break;
            }
            std::array<pollfd, 2> waits{
                {{wishes ? kept_socket : -1, POLLIN, 0}, {children_, POLLIN, 0}}};
            if (::poll(waits.data(), waits.size(), pause_ms(strays, wishes)) < 0) continue;
            looks = strays > 0;
            signalfd_siginfo ignored{};
            while (::read(children_, &ignored, sizeof ignored) > 0) looks = true;
            if (waits[0].revents == 0 || take_wish()) continue;
            wishes = false;
            looks = true;
            signal_keepers(SIGCONT); // one that a program has stopped is to see the end as well
            ended = seconds_now();
        }
        ::_exit(0);
    }

private:
    [[nodiscard]] bool take_wish() noexcept {
        keeper_wish wish;
        std::array<int, wish_descriptors> control{};
        if (!receive_with(kept_socket, wish, control)) return false;
        const bool room = keepers_.reserve_one();
        const pid_t result = room ? ::fork() : -1;
        if (result == 0) {
            ::close(kept_socket);
            ::close(children_);
            keeper(control[0]).run();
        }
        const int why = errno;
        if (result > 0) keepers_.add(result);
        // Also a keeper that is stopped before it can say anything can be sent on.
        const keeper_report report{result < 0 ? keeper_event::failed : keeper_event::kept,
                                   result < 0 ? why : 0, result};
        static_cast<void>(::send(control[0], &report, sizeof report, MSG_NOSIGNAL));
        ::close(control[0]);
        return true;
    }

    /// Waits for those that have ended, and kills the children that are not keepers. Result: how
    /// many can be killed; -1: the system does not list them. Each that dies is reported by
    /// SIGCHLD, after its own children have come to us.
    int end_strays() noexcept {
        for (pid_t ended = 0; (ended = ::waitpid(-1, nullptr, WNOHANG)) > 0;)
            keepers_.remove(ended);
        int strays = 0;
        const int all = for_each_child([&](pid_t child) {
            if (keepers_.holds(child)) return;
            if (::kill(child, SIGKILL) == 0) ++strays; // else it is another user's
        });
        if (strays == 0) strays_since_ = 0;
        else if (strays_since_ == 0) strays_since_ = seconds_now();
        return all < 0 ? all : strays;
    }

    /// Again soon while something is being killed; seldom for what cannot be killed.
    [[nodiscard]] int pause_ms(int strays, bool wishes) const noexcept {
        if (strays > 0 && seconds_now() - strays_since_ <= patience_s) return 2;
        return strays > 0 || !wishes ? 200 : -1;
    }

    void signal_keepers(int signal) const noexcept {
        for (const pid_t each : keepers_) ::kill(each, signal);
    }

    process_list keepers_;
    int children_ = -1; ///< readable when one has ended
    std::time_t strays_since_ = 0;
};

} // namespace

void serve_starts(int socket) noexcept {
    block_all_signals();
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
    keeper_forker().run();
}

} // namespace heddle::process
