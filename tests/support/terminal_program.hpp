// A part of a test as a program of its own on a pseudo-terminal.
#pragma once

#include <gtest/gtest.h>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace heddle::testing {

struct terminal_end {
    int code = -1; ///< -1: it did not end by itself
    std::string shown;
};

/// Runs `program`, which returns an exit code, in a child process whose terminal has `typed` as its
/// input. Reads until the program lets go of the terminal, or shows nothing for `patience`.
template <class Program>
[[nodiscard]] terminal_end run_on_terminal(Program program, std::string_view typed,
                                           std::chrono::milliseconds patience) {
    terminal_end end;
    int master = -1;
    const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (child == 0) ::_exit(program());
    if (child < 0) {
        ADD_FAILURE() << "forkpty";
        return end;
    }
    EXPECT_EQ(::write(master, typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
    std::array<char, 1000> piece{};
    for (;;) {
        pollfd waits{master, POLLIN, 0};
        if (::poll(&waits, 1, static_cast<int>(patience.count())) <= 0) break;
        const ssize_t count = ::read(master, piece.data(), piece.size());
        if (count <= 0) break; // EIO once the last user has closed it
        end.shown.append(piece.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(master);
    if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
    return end;
}

} // namespace heddle::testing
