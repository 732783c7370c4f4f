// What `heddle batch` would do: --dry-run and --plan.
#pragma once

#include "batch/request/run_manifest.hpp"
#include "batch/results/batch_outputs.hpp"
#include "batch/rows/batch_parts.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/rows/row_reader.hpp>

#include <functional>
#include <string>

namespace heddle::cli {

/// Everything outlives the look.
struct look_parts {
    batch_parts batch;
    rows::row_reader& reader;
    ports::worker_port& store_workers;
    batch_outputs& outputs;
    /// Of the program of this process, for the run that is there: notes its model there.
    std::function<std::string(run_manifest&)> digest;
    unsigned columns = 0; ///< of the terminal; 0: no bound
};

/// Reads the run that the command would go on with, if there is one, and describes what the command
/// would do: as JSON or for people, as asked. Nothing is written. Errors: what the command would
/// refuse; of files and the journal. Cancellation: of `context`.
[[nodiscard]] coro::task<result<std::string>> look_at_batch(look_parts of,
                                                            coro::call_context context);

} // namespace heddle::cli
