#include "start_child.hpp"

#include <heddle/base/utf8.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace heddle::process {

namespace {

using ports::process_errc;

constexpr std::size_t longest_shown = 200;

[[nodiscard]] std::string shown(const std::string& program) {
    return "\"" + utf8::shortened(program, longest_shown) + "\"";
}

[[nodiscard]] error start_error(int number, const std::string& program) {
    const std::string what = shown(program) + " cannot be started: ";
    switch (number) {
    case ENOENT:
        return error(process_errc::not_found, what + "there is no such file")
            .with_hint("the program is missing, or the interpreter that its first line names")
            .with_retryable(false);
    case ENOTDIR:
        return error(process_errc::not_found, what + "a part of its path is no directory")
            .with_retryable(false);
    case EACCES:
    case EPERM:
        return error(process_errc::not_permitted, what + "it cannot be executed")
            .with_hint("make it executable: chmod +x")
            .with_retryable(false);
    case ENOEXEC:
        return error(process_errc::not_permitted, what + "it is no program")
            .with_hint("a script begins with a line such as #!/bin/sh")
            .with_retryable(false);
    case E2BIG:
        return error(process_errc::too_long,
                     what + "its arguments and environment are longer than the system takes")
            .with_hint("hand over big data as input, or in a file")
            .with_retryable(false);
    default:
        return error(process_errc::start_failed, what + std::generic_category().message(number));
    }
}

/// posix_spawn's two objects, released at the end.
class spawn_plan {
public:
    spawn_plan() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    spawn_plan(const spawn_plan&) = delete;
    spawn_plan& operator=(const spawn_plan&) = delete;
    ~spawn_plan() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }

    /// Notes the first thing that goes wrong (memory is all that can be missing).
    void check(int outcome) noexcept {
        if (failure == 0) failure = outcome;
    }

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
    int failure = 0;
};

void plan_signals_and_group(spawn_plan& plan) {
    sigset_t signals;
    sigemptyset(&signals);
    plan.check(::posix_spawnattr_setsigmask(&plan.attributes, &signals));
    sigfillset(&signals);
    plan.check(::posix_spawnattr_setsigdefault(&plan.attributes, &signals));
    plan.check(::posix_spawnattr_setpgroup(&plan.attributes, 0));
    plan.check(::posix_spawnattr_setflags(
        &plan.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

/// A pipe whose reading end does not block. The child's end does: programs do not expect otherwise.
[[nodiscard]] int make_output_pipe(fs::descriptor& ours, fs::descriptor& childs) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    ours = fs::descriptor(ends[0]);
    childs = fs::descriptor(ends[1]);
    if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return errno;
    return 0;
}

[[nodiscard]] std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> made;
    made.reserve(texts.size() + 1);
    for (const std::string& text : texts) made.push_back(const_cast<char*>(text.c_str()));
    made.push_back(nullptr);
    return made;
}

[[nodiscard]] result<void> check_arguments(const ports::process_request& request) {
    if (request.arguments.empty() || request.arguments.front().empty()) {
        return error(process_errc::invalid_argument, "the command is empty").with_retryable(false);
    }
    if (request.through_shell && request.arguments.size() != 1) {
        return error(process_errc::invalid_argument, "a command for the shell is one text")
            .with_retryable(false);
    }
    for (const std::string& argument : request.arguments) {
        if (argument.find('\0') != std::string::npos) {
            return error(process_errc::invalid_argument, "an argument holds a zero byte")
                .with_hint("hand over such data as input, or in a file")
                .with_retryable(false);
        }
    }
    return {};
}

} // namespace

result<fs::descriptor> open_directory(const fs::workspace_root& root, const std::string& path) {
    const std::string wanted = path.empty() ? "." : path;
    const auto refused = [&](const std::string& why) {
        return error(process_errc::bad_directory, "the working directory cannot be used: " + why)
            .with_hint("give a directory relative to the workspace")
            .with_retryable(false);
    };
    auto place = fs::resolve(root, wanted);
    if (!place) return refused(place.error().message());
    fs::descriptor opened(::openat(place->directory.get(), place->name.c_str(),
                                   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.open()) return refused(fs::file_error(errno, "open", wanted).message());
    return opened;
}

result<started_child> start_child(const ports::process_request& request,
                                  const child_setting& setting) {
    HEDDLE_CHECK(check_arguments(request));
    std::vector<std::string> arguments = request.arguments;
    std::string program = "/bin/sh";
    if (request.through_shell) {
        arguments = {"sh", "-c", request.arguments.front()};
    } else {
        HEDDLE_TRY(program, find_program(arguments.front(), *setting.variables));
    }
    spawn_plan plan;
    plan_signals_and_group(plan);
    started_child made;
    fs::descriptor out;
    fs::descriptor err;
    plan.check(::posix_spawn_file_actions_addfchdir_np(&plan.actions, setting.directory));
    if (request.io == ports::process_io::captured) {
        plan.check(make_output_pipe(made.out, out));
        plan.check(make_output_pipe(made.err, err));
        if (plan.failure == 0) {
            plan.check(setting.input >= 0
                           ? ::posix_spawn_file_actions_adddup2(&plan.actions, setting.input, 0)
                           : ::posix_spawn_file_actions_addopen(&plan.actions, 0, "/dev/null",
                                                                O_RDONLY, 0));
            plan.check(::posix_spawn_file_actions_adddup2(&plan.actions, out.get(), 1));
            plan.check(::posix_spawn_file_actions_adddup2(&plan.actions, err.get(), 2));
        }
    }
#if __GLIBC_PREREQ(2, 35)
    if (setting.terminal >= 0) {
        plan.check(::posix_spawn_file_actions_addtcsetpgrp_np(&plan.actions, setting.terminal));
    }
#endif
#if __GLIBC_PREREQ(2, 34)
    // Ours are all close-on-exec; those of the program around us need not be.
    plan.check(::posix_spawn_file_actions_addclosefrom_np(&plan.actions, 3));
#endif
    if (plan.failure != 0) return start_error(plan.failure, arguments.front());
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> variables = pointers(*setting.variables);
    const int failed = ::posix_spawn(&made.pid, program.c_str(), &plan.actions, &plan.attributes,
                                     argv.data(), variables.data());
    if (failed != 0) return start_error(failed, arguments.front());
    return made;
}

} // namespace heddle::process
