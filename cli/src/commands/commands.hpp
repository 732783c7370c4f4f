// The program.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/setup/environment.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// Parses the arguments (without the name of the program) and runs the command.
[[nodiscard]] exit_code run_program(std::vector<std::string> arguments,
                                    const setup::environment& variables, console& output);

} // namespace heddle::cli
