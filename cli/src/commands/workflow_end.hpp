// What a run prints at its end.
#pragma once

#include "commands/workflow_run.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "workflow_options.hpp"

namespace heddle::cli {

class step_trace;

/// Prints the result, or the error with what was paid for, and the counts. `interrupted`: a signal
/// has ended it. Result: the exit code of the command.
[[nodiscard]] exit_code report_end(workflow_run& run, application& tools,
                                   const workflow_options& options, bool interrupted,
                                   console& output);

/// Prints that the run waits for batches of the services (run_parking::waits). Result: the exit
/// code of the command.
[[nodiscard]] exit_code report_waiting(const workflow_run& run, const workflow_options& options,
                                       console& output);

/// Prints how a replay has ended, behind its steps.
[[nodiscard]] exit_code report_replay(const workflow_run& run, const step_trace& trace);

} // namespace heddle::cli
