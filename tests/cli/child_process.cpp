#include "child_process.hpp"

#include "exec_arguments.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

namespace heddle::cli_test {

namespace {

using steady = std::chrono::steady_clock;

struct pipe_ends {
    int read = -1;
    int write = -1;
};

pipe_ends make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    return {ends[0], ends[1]};
}

/// A terminal of 100 columns: what the child writes comes out at `read`.
pipe_ends make_terminal() {
    pipe_ends ends;
    winsize size{};
    size.ws_row = 25;
    size.ws_col = 100;
    if (::openpty(&ends.read, &ends.write, nullptr, nullptr, &size) != 0) {
        throw std::runtime_error("openpty");
    }
    ::fcntl(ends.read, F_SETFD, FD_CLOEXEC);
    ::fcntl(ends.write, F_SETFD, FD_CLOEXEC);
    return ends;
}

} // namespace

child_process::child_process(std::vector<std::string> command, child_options options)
    : started_(steady::now()) {
    const pipe_ends in = make_pipe();
    pipe_ends out = make_pipe();
    const pipe_ends err = options.err_to_terminal ? make_terminal() : make_pipe();
    if (options.out_to_full_device) {
        ::close(out.write);
        out.write = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    }
    std::vector<std::string> variables{std::string("PATH=") + std::getenv("PATH")};
    append_variables(variables, options.variables);
    auto argv = pointers(command);
    auto environment = pointers(variables);

    pid_ = ::fork();
    if (pid_ == 0) {
        ::dup2(in.read, STDIN_FILENO);
        ::dup2(out.write, STDOUT_FILENO);
        ::dup2(err.write, STDERR_FILENO);
        if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(126);
        ::execvpe(argv[0], argv.data(), environment.data());
        ::_exit(127);
    }
    for (const int end : {in.read, out.write, err.write}) ::close(end);
    // Small enough for the pipe: written before the child reads.
    if (::write(in.write, options.input.data(), options.input.size()) < 0) ADD_FAILURE();
    ::close(in.write);
    (options.out_unread ? unread_ : out_) = out.read;
    err_ = err.read;
}

child_process::~child_process() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    for (const int end : {out_, unread_}) {
        if (end >= 0) ::close(end);
    }
    if (err_ >= 0) ::close(err_);
}

void child_process::send_signal(int signal) const { ::kill(pid_, signal); }

void child_process::read_out() { out_ = std::exchange(unread_, -1); }

bool child_process::has_ended() const {
    siginfo_t ended{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
    return ended.si_pid != 0;
}

bool child_process::read_some(milliseconds limit) {
    std::array<pollfd, 2> streams{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
    if (out_ < 0 && err_ < 0) return false;
    if (::poll(streams.data(), streams.size(), static_cast<int>(limit.count())) <= 0) return true;
    const auto take = [](pollfd& stream, int& fd, std::string& text) {
        if (fd < 0 || stream.revents == 0) return;
        char piece[4096];
        const ssize_t count = ::read(fd, piece, sizeof piece);
        if (count > 0) {
            text.append(piece, static_cast<std::size_t>(count));
        } else { // a terminal whose other side is closed returns EIO
            ::close(fd);
            fd = -1;
        }
    };
    take(streams[0], out_, result_.out);
    take(streams[1], err_, result_.err);
    return true;
}

bool child_process::wait_for(const std::string& stream, const std::string& text,
                             milliseconds limit) {
    const auto until = steady::now() + limit;
    while (stream.find(text) == std::string::npos) {
        if (steady::now() >= until || !read_some(milliseconds(20))) break;
    }
    return stream.find(text) != std::string::npos;
}

bool child_process::wait_for_out(const std::string& text, milliseconds limit) {
    return wait_for(result_.out, text, limit);
}

bool child_process::wait_for_err(const std::string& text, milliseconds limit) {
    return wait_for(result_.err, text, limit);
}

child_result child_process::wait(milliseconds limit) {
    const auto until = steady::now() + limit;
    while (steady::now() < until && read_some(milliseconds(20))) {}
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        if (steady::now() >= until) {
            ADD_FAILURE() << "the child did not end in time\n" << result_.out << result_.err;
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, &status, 0);
            break;
        }
        std::this_thread::sleep_for(milliseconds(2));
    }
    pid_ = -1;
    result_.signalled = WIFSIGNALED(status);
    result_.code = result_.signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    result_.took = std::chrono::duration_cast<milliseconds>(steady::now() - started_);
    return result_;
}

std::vector<std::string> heddle_command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), heddle::test_paths::program_file());
    return arguments;
}

child_result run_heddle(std::vector<std::string> arguments, child_options options) {
    return child_process(heddle_command(std::move(arguments)), std::move(options)).wait();
}

} // namespace heddle::cli_test
