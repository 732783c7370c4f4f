// What is reported of rows that have ended.
#pragma once

#include "application.hpp"
#include "batch/command/batch_round.hpp"
#include "batch/execution/batch_run.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/progress/failure_table.hpp"
#include "batch/results/result_emitter.hpp"
#include "batch/run_folder/run_files.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <optional>
#include <string>

namespace heddle::cli {

/// A round of rows whose results are written. All of it outlives the calls.
struct ended_round {
    const batch_run& batch;
    const result_emitter& emitter;
    run_files& files;
    application& tools;
};

/// Adds the round to those before, and fills in what the summary reports of all of them. `failure`:
/// that has ended the round.
void note_end(const ended_round& of, std::optional<error> failure, batch_round& rounds,
              batch_summary& to);

/// A later round has ended before its rows could begin. Its own end is noted, if it got so far. The
/// command holds the run in the folder.
void note_early_end(const std::string& folder, early_stop cause);

/// Why rows have failed: those of all processes, or of this round if the journal cannot tell.
[[nodiscard]] coro::task<failure_table> failures_to_report(ended_round of, batch_counts counts,
                                                           coro::call_context context);

} // namespace heddle::cli
