// A run as it lies in its folder, to be looked at.
#pragma once

#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/run_folder/top_level_store.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/store/run_store.hpp>

#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

struct found_run {
    std::unique_ptr<store::run_store> journal; ///< opened for reading
    run_manifest manifest;                     ///< if it `continues`
    std::vector<ports::known_row> known;
    bool continues = false; ///< there is a manifest
};

/// Whether there is a journal or a manifest in the folder.
[[nodiscard]] bool has_run(const std::string& folder);

/// What the top level of the program got in earlier processes of the run.
struct found_top_levels {
    top_level_store kept; ///< empty: there is no run
    run_manifest manifest;
};

/// Reads that before the program is evaluated. As read_run, but refuses only what cannot be read.
[[nodiscard]] coro::task<result<found_top_levels>> read_top_levels(ports::worker_port* workers,
                                                                   const batch_request* asked,
                                                                   coro::call_context context);

/// Reads the run that the command would go on with, and refuses what the command would refuse.
/// `workers` and `asked` outlive the call, the workers also the result. Errors: as run_store;
/// invalid_argument, not_found.
[[nodiscard]] coro::task<result<found_run>> read_run(ports::worker_port* workers,
                                                     const batch_request* asked,
                                                     coro::call_context context);

} // namespace heddle::cli
