// Whether the files of a run belong together, and what is done to them before it goes on.
#pragma once

#include "application.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// The files of templates of the workflow. Blocks.
[[nodiscard]] std::vector<setup::template_place> templates_of(const application& tools);
/// The id of a new run: 32 hexadecimal digits.
[[nodiscard]] std::string new_run_id();

/// What is looked at; all of it outlives the calls.
struct opened_files {
    store::run_store& journal;
    run_manifest& manifest;
    const batch_request& asked;
    bool continues = false; ///< there was a manifest
};

/// Whether journal and manifest are those of one run. `known`: the rows of the journal. Errors: as
/// run_store; invalid_argument when a part of the run is missing or that of another one.
[[nodiscard]] coro::task<result<void>> check_journal(opened_files files,
                                                     std::vector<ports::known_row> known,
                                                     coro::call_context context);

/// As check_journal(); the id of a new run goes to both.
[[nodiscard]] coro::task<result<void>> match_journal(opened_files files,
                                                     std::vector<ports::known_row> known,
                                                     coro::call_context context);

/// Whether all results are to be written again: the file of them, `output`, is gone, it has errors
/// of rows that run again, or may, which would be in it twice, or it has errors and is not to have
/// them, or the other way round.
[[nodiscard]] bool writes_output_again(const opened_files& files, const std::string& output,
                                       const std::vector<ports::known_row>& known);

/// Errors: not_found for an id of --retry-row that no row of the run has.
[[nodiscard]] result<void> check_retried_ids(const std::vector<std::string>& ids,
                                             const std::vector<ports::known_row>& known);

/// The arguments of a command for `runs retry`, which has rows of its own to run again.
[[nodiscard]] std::vector<std::string> without_retries(const std::vector<std::string>& arguments);

} // namespace heddle::cli
