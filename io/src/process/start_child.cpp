#include "start_child.hpp"

#include <heddle/base/utf8.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::process {

namespace {

using ports::process_errc;

constexpr std::size_t max_shown_bytes = 200;

[[nodiscard]] std::string shown(const std::string& program) {
    return "\"" + utf8::shortened(program, max_shown_bytes) + "\"";
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

/// The image of a program that is to be started (keeper_messages.hpp).
[[nodiscard]] std::string image_of(const std::string& program,
                                   const std::vector<std::string>& arguments,
                                   const environment_block& variables) {
    const image_header header{arguments.size(), variables.size()};
    const std::size_t slots = arguments.size() + variables.size() + 2;
    std::string out(sizeof header + slots * sizeof(char*), '\0');
    std::memcpy(out.data(), &header, sizeof header);
    const auto add = [&out](const std::string& text) { out.append(text.c_str(), text.size() + 1); };
    add(program);
    for (const std::string& each : arguments) add(each);
    for (const std::string& each : variables) add(each);
    return out;
}

[[nodiscard]] fs::descriptor file_in_memory(const char* name, std::string_view bytes) {
    fs::descriptor file(::memfd_create(name, MFD_CLOEXEC));
    while (file.open() && !bytes.empty()) {
        const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {};
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return file;
}

[[nodiscard]] result<void> check_arguments(const ports::process_request& request) {
    if (request.arguments.empty() || request.arguments.front().empty()) {
        return error(process_errc::invalid_argument, "the command is empty").with_retryable(false);
    }
    if (request.through_shell && request.arguments.size() != 1) {
        return error(process_errc::invalid_argument, "a command for the shell is one string")
            .with_retryable(false);
    }
    for (const std::string& argument : request.arguments) {
        if (argument.find('\0') != std::string::npos) {
            return error(process_errc::invalid_argument, "an argument holds a zero byte")
                .with_hint("pass such data as input, or in a file")
                .with_retryable(false);
        }
    }
    return {};
}

} // namespace

error start_error(int number, const std::string& program) {
    const std::string what = shown(program) + " cannot be started: ";
    switch (number) {
    case ENOENT:
        return error(process_errc::not_found, what + "there is no such file")
            .with_hint("the program is missing, or the interpreter that its first line names")
            .with_retryable(false);
    case ENOTDIR:
        return error(process_errc::not_found, what + "a part of its path is not a directory")
            .with_retryable(false);
    case EACCES:
    case EPERM:
        return error(process_errc::not_permitted, what + "it cannot be executed")
            .with_hint("make it executable: chmod +x")
            .with_retryable(false);
    case ENOEXEC:
        return error(process_errc::not_permitted, what + "it is not a program")
            .with_hint("a script begins with a line such as #!/bin/sh")
            .with_retryable(false);
    case E2BIG:
        return error(process_errc::too_long,
                     what + "its arguments and environment are longer than the system takes")
            .with_hint("pass large data as input, or in a file")
            .with_retryable(false);
    default:
        return error(process_errc::start_failed, what + std::generic_category().message(number));
    }
}

result<fs::descriptor> open_directory(const fs::workspace_root& root, const std::string& path) {
    const std::string wanted = path.empty() ? "." : path;
    const auto refused = [&](const std::string& why) {
        return error(process_errc::bad_directory, "the working directory cannot be used: " + why)
            .with_hint("name a directory relative to the workspace")
            .with_retryable(false);
    };
    auto place = fs::resolve(root, wanted);
    if (!place) return refused(place.error().message());
    fs::descriptor opened(::openat(place->directory.get(), place->name.c_str(),
                                   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.open()) return refused(fs::file_error(errno, "open", wanted).message());
    return opened;
}

result<started_child> start_child(program_starter& starter, const ports::process_request& request,
                                  const child_setting& setting) {
    HEDDLE_CHECK(check_arguments(request));
    std::vector<std::string> arguments = request.arguments;
    std::string program = "/bin/sh";
    if (request.through_shell) {
        arguments = {"sh", "-c", request.arguments.front()};
    } else {
        HEDDLE_TRY(program, find_program(arguments.front(), *setting.variables));
    }
    started_child child;
    fs::descriptor nothing;
    fs::descriptor out;
    fs::descriptor err;
    start_order order;
    order.directory = setting.directory;
    order.in_terminal = request.io == ports::process_io::terminal;
    order.takes_terminal = setting.terminal >= 0;
    order.streams = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    if (request.io == ports::process_io::captured) {
        if (setting.input < 0) nothing = fs::descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        const int number = make_output_pipe(child.out, out);
        const int other = number == 0 ? make_output_pipe(child.err, err) : number;
        if (other != 0) return start_error(other, arguments.front());
        order.streams = {setting.input >= 0 ? setting.input : nothing.get(), out.get(), err.get()};
    }
    const std::string image = image_of(program, arguments, *setting.variables);
    const fs::descriptor memory = file_in_memory("heddle-start", image);
    if (!memory.open()) return start_error(errno, arguments.front());
    order.image = memory.get();
    order.image_bytes = image.size();
    HEDDLE_TRY(child.control, starter.start(order));
    return child;
}

} // namespace heddle::process
