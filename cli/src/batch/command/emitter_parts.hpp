// What the results of a batch are written with.
#pragma once

#include "batch/request/batch_request.hpp"
#include "batch/results/result_emitter.hpp"
#include "batch/run_folder/run_files.hpp"
#include "console.hpp"

#include <heddle/ports/tree_port.hpp>

namespace heddle::cli {

/// For the emitter of a run whose files are open: where results go, and what the journal notes of
/// them; without `on_change`. All of it outlives the emitter.
[[nodiscard]] result_emitter::parts emitter_parts(const batch_request& asked, run_files& files,
                                                  ports::worker_port& workers, console& output);

} // namespace heddle::cli
