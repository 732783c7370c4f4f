// Where the files of a run are, also after they were moved.
#pragma once

#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_store.hpp>

namespace heddle::cli {

/// The paths of a manifest for a run whose directory is at `folder` now: results and dead letters
/// that are where the command has them, seen from the directory, were moved with it.
void follow_move(run_manifest& manifest, const batch_request& asked, const std::string& folder);

/// What is known of the file of results of a run that continues.
enum class output_state : std::uint8_t {
    own,     ///< as the run has written it, or missing
    unknown, ///< nothing is known
    foreign  ///< it holds something else
};

/// Compares the file of results with what the run has noted of it. Errors: of the journal.
[[nodiscard]] coro::task<result<output_state>> state_of_output(store::run_store& journal,
                                                               const batch_request& asked,
                                                               coro::call_context context);

/// Errors: invalid_argument if the command writes to another file than the run, names the rows
/// otherwise, or the file of results is not the one that the run has written and is not to be
/// replaced (--force).
[[nodiscard]] result<void> check_location(const run_manifest& manifest, const batch_request& asked,
                                          output_state output);

} // namespace heddle::cli
