#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "interrupts.hpp"
#include "render.hpp"

#include <csignal>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

/// The environment of this process and its memory hold keys: no other process of the user's may
/// read them, and no file of a crash has them.
void guard_memory() noexcept { ::prctl(PR_SET_DUMPABLE, 0); }

/// Puts the variables of the environment where only this process sees them: what the system shows
/// as /proc/PID/environ, to root at least, is blank from now on.
void hide_environment() {
    for (char** each = environ; each && *each; ++each) {
        char* const copy = ::strdup(*each);
        if (!copy) return;
        ::explicit_bzero(*each, std::strlen(*each));
        *each = copy; // for good: whoever has asked for a variable keeps a pointer
    }
}

/// Opens a descriptor that can neither be read nor written for each closed standard stream, so that
/// no other file gets its number and using the stream stays an error.
void occupy_closed_streams() noexcept {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0) continue;
        // The lowest number that is free: those below are open by now. Programs get streams of
        // their own.
        const int useless = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        static_cast<void>(::open("/dev/null", useless | O_CLOEXEC));
    }
}

std::string last_words(bool json) {
    using namespace heddle;
    if (!json) return "interrupted\n";
    return cli::render_error_json(error::cancelled(cancel_reason::user), source_map(),
                                  cli::exit_code::interrupted, {});
}

} // namespace

int main(int argc, char** argv) {
    using namespace heddle::cli;
    occupy_closed_streams();
    guard_memory();
    hide_environment();
    // Whoever reads our output may go away, and a file may reach the limit on its size (ulimit -f):
    // both are errors of a write, and no way to end. Programs are started with both as usual.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    console output(stdout, stderr, console_traits::of_process());
    try {
        std::vector<std::string> arguments(argv + 1, argv + argc);
        end_at_signals(last_words(wants_json(arguments)));
        const auto variables = heddle::setup::environment::of_process();
        return static_cast<int>(run_program(std::move(arguments), variables, output));
    } catch (const std::exception& bug) {
        output.err(std::string("heddle: internal error: ") + bug.what() + "\n");
        return static_cast<int>(exit_code::failed);
    }
}
