#include "terminal_child.hpp"

#include "exec_arguments.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace heddle::cli_test {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

terminal_child::terminal_child(std::vector<std::string> command,
                               std::map<std::string, std::string> variables) {
    std::vector<std::string> settings;
    append_variables(settings, variables);
    auto argv = pointers(command);
    auto environment = pointers(settings);
    winsize size{};
    size.ws_row = 25;
    size.ws_col = 100;
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) throw std::runtime_error("forkpty");
    if (pid_ == 0) {
        ::execve(argv[0], argv.data(), environment.data());
        ::_exit(127);
    }
}

terminal_child::~terminal_child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(terminal_);
}

void terminal_child::type(const std::string& keys) const {
    if (::write(terminal_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
        ADD_FAILURE() << "the terminal takes no input";
}

void terminal_child::send_signal(int signal) const { ::kill(pid_, signal); }

bool terminal_child::read_some(milliseconds limit) {
    pollfd watched{terminal_, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(limit.count())) <= 0) return true;
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(terminal_, piece.data(), piece.size());
    if (count <= 0) return false; // EIO: nobody has the other side open
    screen_.append(piece.data(), static_cast<std::size_t>(count));
    return true;
}

bool terminal_child::expect(const std::string& text, milliseconds limit) {
    const auto until = steady::now() + limit;
    std::size_t at = screen_.find(text, found_);
    bool open = true;
    while (at == std::string::npos && open && steady::now() < until) {
        open = read_some(milliseconds(20));
        at = screen_.find(text, found_);
    }
    if (at == std::string::npos) {
        ADD_FAILURE() << "the terminal does not show '" << text << "' but:\n"
                      << screen_.substr(found_);
        return false;
    }
    seen_ = screen_.substr(found_, at + text.size() - found_);
    found_ = at + text.size();
    return true;
}

int terminal_child::wait(milliseconds limit) {
    const auto until = steady::now() + limit;
    while (steady::now() < until && read_some(milliseconds(20))) {}
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (steady::now() >= until) {
            ADD_FAILURE() << "the child did not end in time\n" << screen_.substr(found_);
            return -1;
        }
        std::this_thread::sleep_for(milliseconds(2));
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace heddle::cli_test
