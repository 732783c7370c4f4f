// What a batch reports at its end.
#pragma once

#include "batch/progress/batch_counts.hpp"
#include "batch/progress/failure_table.hpp"
#include "batch/progress/start_gate.hpp"
#include "batch/request/batch_request.hpp"
#include "batch/request/run_manifest.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

struct batch_summary {
    batch_counts counts;
    stop_cause cause = stop_cause::none;
    bool rows_left = false;
    bool has_started = true;      ///< a row, or one was rejected
    std::optional<error> failure; ///< that ended the batch: of its input, journal or output
    double seconds = 0;
    std::string results; ///< the file that they are in
    /// They are in a file beside the lasting one, which is missing.
    bool lacks_earlier_results = false;
    std::string dead_letters;  ///< empty: there is none
    bool only_waits = false;   ///< what is left waits for batches of the services
    std::uint64_t batches = 0; ///< of the services, that have not ended
    /// Why batches could not be submitted.
    std::vector<std::string> problems;
    std::uint64_t outdated = 0; ///< rows that have not run under the program as it is now
    std::uint64_t waiting = 0;  ///< rows that a retry has left to a command without one
    bool edited = false;        ///< the program differs from that of the rows so far
    bool mixed = false;         ///< results are of two versions of the program

    [[nodiscard]] exit_code code() const noexcept;
};

/// For the manifest of the run.
[[nodiscard]] batch_end end_of(const batch_summary& end);

/// What has ended a process before its rows could begin.
enum class early_stop : std::uint8_t {
    error,
    interrupted, ///< by a signal
    cancelled    ///< by 'heddle runs cancel'
};
/// For the manifest of the run. How many rows are left is not known.
[[nodiscard]] batch_end end_of(early_stop cause);

/// Of `results` whose rows were not read, those of rows that the input lacks. Nothing: unknown,
/// since --limit and --sample leave rows out.
[[nodiscard]] std::optional<std::uint64_t> absent_results(std::uint64_t results,
                                                          const batch_request& asked);
/// For people: the run has so many results of rows that its input does not have. Empty: none, or
/// the input is only a part of the files.
[[nodiscard]] std::string absent_text(std::uint64_t results, const batch_request& asked);
/// For people: the program is not the one that the rows have run under, and what becomes of them.
/// `is_back`: but it is that of the results; rows were retried with another one meanwhile. `what`:
/// of what its top level reads has changed; empty: it is something else.
[[nodiscard]] std::string change_text(const std::vector<ports::known_row>& known,
                                      const batch_request& asked, bool is_back,
                                      const std::string& what);
/// For people: rows, cost, reasons of failures, files, and how to go on. `columns` as
/// failure_table::text.
[[nodiscard]] std::string summary_text(const batch_summary& end, const failure_table& failures,
                                       const batch_request& asked, unsigned columns);
/// One JSON object in one line.
[[nodiscard]] std::string summary_json(const batch_summary& end, const failure_table& failures,
                                       const batch_request& asked);

} // namespace heddle::cli
