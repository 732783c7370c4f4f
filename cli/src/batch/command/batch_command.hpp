// `heddle batch`, from its options to the exit code.
#pragma once

#include "batch/request/batch_request.hpp"
#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/setup/environment.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// Runs the batch. `arguments`: of the command line, kept for `heddle runs retry`.
[[nodiscard]] exit_code run_batch(batch_request asked, std::vector<std::string> arguments,
                                  const setup::environment& variables, console& output);

} // namespace heddle::cli
