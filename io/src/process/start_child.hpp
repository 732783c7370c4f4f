// Starting a program.
#pragma once

#include "fs/confined_path.hpp"
#include "fs/descriptor.hpp"
#include "process/environment.hpp"

#include <heddle/ports/process_port.hpp>

#include <sys/types.h>

namespace heddle::process {

/// A child that runs, and our ends of its output.
struct started_child {
    pid_t pid = -1;     ///< of the child and of its process group
    fs::descriptor out; ///< non-blocking; closed with process_io::terminal
    fs::descriptor err;
};

/// What a child is started with besides the request.
struct child_setting {
    const environment_block* variables = nullptr;
    int directory = -1; ///< open, of the child's working directory
    int input = -1;     ///< its standard input; -1: /dev/null, or ours when it has the terminal
    int terminal = -1;  ///< the terminal that its group gets; -1: none
};

/// Starts the program of the request in a process group of its own, with all signals as usual and
/// no descriptors but the standard ones. Errors: process_errc. Blocks until the program has been
/// loaded.
[[nodiscard]] result<started_child> start_child(const ports::process_request& request,
                                                const child_setting& setting);

/// Opens the working directory of a request. Errors: bad_directory.
[[nodiscard]] result<fs::descriptor> open_directory(const fs::workspace_root& root,
                                                    const std::string& path);

} // namespace heddle::process
