// Which versions of the program the rows of a run have run under.
#pragma once

#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "batch/rows/known_table.hpp"

#include <heddle/ports/run_journal.hpp>

#include <string>
#include <vector>

namespace heddle::cli {

/// How the program of this process relates to what rows of the run have run under. A run without
/// rows has nothing to compare.
struct program_edition {
    bool outdates = false;      ///< all rows run again
    bool only_retried = false;  ///< a retry of another program than that of the results
    bool begun_differ = false;  ///< rows that have begun did so under another program
    bool failed_differ = false; ///< rows that have failed may have done so

    /// Whether a row, which is new if `known` is null, waits for a command that retries nothing:
    /// only what was asked for is to be of another program than the results.
    [[nodiscard]] bool lets_wait(const ports::known_row* known, const batch_request& asked,
                                 const std::string& id) const;
    /// Whether a row of the input has ended and does not run again. One that was rejected does once
    /// it was mended in its file, as another row.
    [[nodiscard]] bool keeps_end(const known_table::match& found, const rows::row_origin& row,
                                 const batch_request& asked) const;
};

/// `digest`: of the program of this process.
[[nodiscard]] program_edition compare_program(const run_manifest& run, const std::string& digest,
                                              bool is_retry);

/// Notes in the manifest what the rows of the run are of, once this process works on them.
void note_edition(run_manifest& run, const program_edition& edition, const std::string& digest,
                  const std::vector<ports::known_row>& known);

} // namespace heddle::cli
