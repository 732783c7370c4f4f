// What `heddle batch` was asked for.
#pragma once

#include "parking/parking_request.hpp"
#include "workflow_options.hpp"

#include <heddle/rows/result_writer.hpp>
#include <heddle/rows/row_reader.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// When a record of the journal counts as kept.
enum class journal_durability : std::uint8_t {
    fsync, ///< each one is on the disk
    group, ///< on the disk, several at once
    off    ///< when its turn comes: a kill or a crash loses the last ones
};

struct batch_request {
    workflow_options options;        ///< of the rows; no budgets: those are the run's
    std::string file;                ///< the workflow
    std::vector<std::string> inputs; ///< NAME=VALUE for all rows
    rows::row_input rows;
    std::string where; ///< an expression over the columns; empty: all rows
    rows::result_output out;
    std::string dead_letters; ///< where rows without a result go; empty: beside the output
    bool errors_in_output = false;
    std::string run; ///< the folder of the run; empty: beside the output
    bool journal = true;
    journal_durability durability = journal_durability::group;
    bool ordered = false;
    std::uint64_t window = 1024; ///< rows that may be started ahead of the next one to be written
    bool strict = false;
    bool retry_rejected = false; ///< rejected rows run again: earlier processes were strict
    std::uint64_t retry_rows = 0;
    bool retry_failed = false;
    std::vector<std::string> retry_ids; ///< the failed rows of these ids run again
    bool has_retried = false; ///< an earlier round of the command has run those: only they go on
    bool skips_all_failures = false; ///< goes on also when none of the first rows has a result
    std::optional<std::uint64_t> max_failed; ///< as many failed rows stop the batch
    std::uint64_t concurrency = 64;
    std::size_t threads =
        1; ///< more than one: rows are executed on as many, beside that of the run
    std::optional<double> budget_usd;
    std::optional<std::uint64_t> max_calls;
    std::optional<std::chrono::milliseconds> deadline;
    std::optional<std::chrono::milliseconds> row_timeout;
    std::chrono::milliseconds grace{30'000};
    bool dry_run = false;
    bool plan = false;             ///< only say what would be asked again
    std::uint64_t sample_rows = 0; ///< of a dry run: rows that are run for their price
    progress_style progress = progress_style::automatic;
    bool park = false;      ///< requests to models wait for batches of their services
    bool park_wait = false; ///< stays until they have ended
    std::optional<std::chrono::milliseconds> park_interval; ///< between looks at them
    bool cancel_batches = false; ///< no row runs: the services cancel the batches that they have
    /// For how long one is looked for whose submission was not acknowledged.
    std::optional<std::chrono::milliseconds> park_settling;

    /// `has_parked`: earlier processes of the run have.
    [[nodiscard]] parking_request parking(bool has_parked) const;
    /// Whether rows that failed earlier run again, and no others.
    [[nodiscard]] bool is_retry() const noexcept;
    /// Whether a row that failed earlier runs again.
    [[nodiscard]] bool retries(const std::string& id) const;
    /// The folder of the run; empty: there is none.
    [[nodiscard]] std::string run_folder() const;
    [[nodiscard]] std::string dead_letter_file() const;
    [[nodiscard]] bool writes_to_standard_output() const { return out.target.file == "-"; }
    /// Whether a run and dead letters may lie beside the results: not with standard output, nor in
    /// /dev.
    [[nodiscard]] bool has_place_beside_results() const;
};

} // namespace heddle::cli
