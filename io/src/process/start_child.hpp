// Starting a program.
#pragma once

#include "fs/confined_path.hpp"
#include "process/environment.hpp"
#include "process/starter.hpp"

#include <heddle/fs/descriptor.hpp>
#include <heddle/ports/process_port.hpp>

namespace heddle::process {

/// A program that a keeper is starting, and our ends of its output.
struct started_child {
    fs::descriptor control; ///< of its keeper, see kept_program
    fs::descriptor out;     ///< non-blocking; closed with process_io::terminal
    fs::descriptor err;
};

/// What a child is started with besides the request.
struct child_setting {
    const environment_block* variables = nullptr;
    int directory = -1; ///< open, of the child's working directory
    int input = -1;     ///< its standard input; -1: /dev/null, or ours when it has the terminal
    int terminal = -1;  ///< the terminal that its group gets; -1: none
};

/// Has the program of the request started in a process group of its own, with all signals as usual
/// and no descriptors but the standard ones. The keeper reports whether that worked. Errors:
/// process_errc.
[[nodiscard]] result<started_child> start_child(program_starter& starter,
                                                const ports::process_request& request,
                                                const child_setting& setting);
/// That a program could not be started, out of errno.
[[nodiscard]] error start_error(int number, const std::string& program);

/// Opens the working directory of a request. Errors: bad_directory.
[[nodiscard]] result<fs::descriptor> open_directory(const fs::workspace_root& root,
                                                    const std::string& path);

} // namespace heddle::process
