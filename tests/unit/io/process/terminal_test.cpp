#include "process_testing.hpp"

#include <array>

#include <poll.h>
#include <pty.h>
#include <termios.h>

namespace heddle::process::testing {
namespace {

class terminal : public process_test {};

/// What the program does that has the terminal: lends it to a child and looks at what is left of
/// it.
int lend_terminal(const stdfs::path& root) {
    runner test;
    std::vector<bool> told;
    process_options options;
    options.workspace = root.string();
    options.on_terminal = [&](bool taken) { told.push_back(taken); };
    auto port = make_process_port(test.loop, options);
    if (!port) return 10;
    process_request request;
    request.arguments = {"read line; echo \"child read $line\"; stty -echo; exit 4"};
    request.through_shell = true;
    request.io = ports::process_io::terminal;
    const auto ended = test.run((*port)->run(std::move(request), test.context()));
    if (!ended) return 11;
    if (ended->exit_code != 4) return 12;
    if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return 13;
    termios modes{};
    if (::tcgetattr(STDIN_FILENO, &modes) != 0 || (modes.c_lflag & ECHO) == 0) return 14;
    if (told != std::vector<bool>{true, false}) return 15;
    return 0;
}

TEST_F(terminal, terminal_is_lent_and_taken_back) {
    int master = -1;
    const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(lend_terminal(root));
    ASSERT_EQ(::write(master, "hello\n", 6), 6);
    std::string seen;
    std::array<char, 1000> piece{};
    for (;;) {
        pollfd waits{master, POLLIN, 0};
        if (::poll(&waits, 1, 10'000) <= 0) break;
        const ssize_t count = ::read(master, piece.data(), piece.size());
        if (count <= 0) break; // EIO once the last user has closed it
        seen.append(piece.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(master);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << seen;
    EXPECT_NE(seen.find("child read hello"), std::string::npos) << seen;
}

} // namespace
} // namespace heddle::process::testing
