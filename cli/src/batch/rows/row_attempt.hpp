// One attempt at a row: from its text to a value or an error.
#pragma once

#include "batch/rows/row_binding.hpp"
#include "batch/rows/row_job.hpp"
#include "batch/rows/row_session.hpp"

#include <heddle/host/run_options.hpp>

namespace heddle::cli {

/// Calls main with the row. Never fails: what goes wrong is the outcome. `bounds.cancel` ends it as
/// cancelled. Everything outlives the call. Threads: those of the session.
[[nodiscard]] coro::task<row_outcome> attempt_row(row_session* with, const row_binding* binding,
                                                  const rows::row* row, host::run_options bounds);

/// The outcome of a row that has no value. `sources`: where its places are found.
[[nodiscard]] row_outcome failed_outcome(const error& failure, const source_map& sources);

} // namespace heddle::cli
