#include "process_testing.hpp"

#include <terminal_program.hpp>

#include <termios.h>

namespace heddle::process::testing {
namespace {

class terminal : public process_test {};

/// What the program does that has the terminal: lends it to a child and looks at what is left of
/// it.
int lend_terminal(const stdfs::path& root) {
    runner test;
    std::vector<bool> reported;
    process_options options;
    options.workspace = root.string();
    options.on_terminal = [&](bool taken) { reported.push_back(taken); };
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
    if (reported != std::vector<bool>{true, false}) return 15;
    return 0;
}

TEST_F(terminal, terminal_is_lent_and_taken_back) {
    const auto ended = heddle::testing::run_on_terminal([this] { return lend_terminal(root); },
                                                        "hello\n", std::chrono::seconds(10));
    EXPECT_EQ(ended.code, 0) << ended.shown;
    EXPECT_NE(ended.shown.find("child read hello"), std::string::npos) << ended.shown;
}

} // namespace
} // namespace heddle::process::testing
