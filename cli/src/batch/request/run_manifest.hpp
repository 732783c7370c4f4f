// What a run is, kept in its folder for later processes.
#pragma once

#include "batch/request/run_limits.hpp"

#include <heddle/base/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

/// How the last process of a batch has ended.
struct batch_end {
    std::string state;                  ///< "done", "waiting", "interrupted", "stopped"
    std::string stopped_by;             ///< as in the summary: "budget"; or "error"; empty: nothing
    std::optional<std::uint64_t> total; ///< rows; nothing: the input was not read to its end
    std::optional<std::uint64_t> left;  ///< rows that have not ended; nothing: unknown
    bool left_is_estimate = false;
};

/// The file run.json in the folder of a run. How the rows have ended is in the journal beside it.
struct run_manifest {
    static constexpr std::int64_t current_version = 1;

    std::string run_id;         ///< the journal has it, too; empty: of an earlier version
    std::string program;        ///< the workflow as it was named
    std::string program_digest; ///< of all that rows ask for, as 32 hex digits
    std::string begun_digest;   ///< of the last process, which differs where one retried rows only
    std::string model;          ///< of tasks that name none; empty: not known
    bool is_mixed = false;      ///< rows were retried under another program than program_digest
    std::string output;         ///< the file of results; "-": standard output
    std::string dead_letters;
    std::string id_field;
    std::uint64_t seed = 0;             ///< of the run's random numbers
    bool strict = false;                ///< the last command
    bool errors_in_output = false;      ///< of the last command, and so of the file of results
    std::string folder;                 ///< of the run, absolute, when it was written
    std::string directory;              ///< where the command was started
    std::vector<std::string> arguments; ///< of the last command: for `heddle runs retry`
    /// Inputs of the command whose values are not kept: the argument ends with "NAME=".
    std::vector<std::string> withheld;
    std::string started; ///< UTC, of the first process
    std::string heddle_version;
    set_limits limits;            ///< of `heddle runs set`, for the next command
    bool parks = false;           ///< requests were to wait for batches (--park), or have
    bool has_parked = false;      ///< requests have waited, or wait, for batches
    bool notes_end = false;       ///< false: of a single run, or written by an earlier version
    std::optional<batch_end> end; ///< nothing: a process is at work, or was killed

    /// Of `heddle run --run`, and not of a batch.
    [[nodiscard]] bool is_single() const noexcept {
        return !arguments.empty() && arguments.front() == "run";
    }
    /// The end comes last; where it is yet to be noted, spaces leave room for it.
    [[nodiscard]] std::string to_json() const;
    /// Errors: invalid_argument, for one that is damaged or of a later version.
    [[nodiscard]] static result<run_manifest> from_json(const std::string& text,
                                                        const std::string& file);
};

/// "DIR/run.json".
[[nodiscard]] std::string manifest_file(const std::string& folder);
/// Errors: not_found when there is no run in the folder, io_error, invalid_argument.
[[nodiscard]] result<run_manifest> read_manifest(const std::string& folder);
/// Errors: io_error.
[[nodiscard]] result<void> write_manifest(const std::string& folder, const run_manifest& content);
/// The same, for a manifest that differs from the file by its `end` alone, which the file does not
/// have. Where another file has no room, as on a full disk, the end is written into the one that is
/// there, which has room for it. The folder is held.
[[nodiscard]] result<void> write_manifest_end(const std::string& folder,
                                              const run_manifest& content);

/// The folder of a run that is named by its folder or its output file. Errors: not_found; io_error
/// if it may not be read.
[[nodiscard]] result<std::string> find_run(const std::string& name);
/// The folders of runs directly below one, sorted, itself included. Errors: not_found.
[[nodiscard]] result<std::vector<std::string>> runs_below(const std::string& folder);
/// Makes the folder unless it is there, and lets only its owner use it. `option`: which has named
/// it, or the file that it is next to. Errors: io_error naming both, invalid_argument for a folder
/// that holds something else.
[[nodiscard]] result<void> make_run_folder(const std::string& folder,
                                           const std::string& option = "--run");

} // namespace heddle::cli
