// What `run` and `eval` have in common: a program on the loop, from Ctrl-C to the exit code.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"
#include "program.hpp"
#include "workflow_options.hpp"

#include <heddle/setup/environment.hpp>

namespace heddle::cli {

/// Evaluates, prints the result or the error, closes all connections.
[[nodiscard]] exit_code evaluate_program(program source, const workflow_options& options,
                                         const setup::environment& variables, console& output);

} // namespace heddle::cli
