// `heddle runs replay`.
#pragma once

#include "batch/request/batch_request.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "journal/step_trace.hpp"

#include <heddle/setup/environment.hpp>

namespace heddle::cli {

/// Finds the run and the command that started it, and replays the row with that command, in its
/// directory.
[[nodiscard]] exit_code replay_run(replay_request asked, const setup::environment& variables,
                                   console& output);

/// Replays a row of a batch. `batch`: what was asked of the batch; `asked.run`: the folder.
[[nodiscard]] exit_code replay_batch_row(const batch_request& batch, const replay_request& asked,
                                         const setup::environment& variables, console& output);

} // namespace heddle::cli
