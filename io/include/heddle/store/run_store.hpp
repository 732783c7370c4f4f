// The journal of a run in a folder.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/store/run_parking.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::store {

/// When a record counts as kept.
enum class run_durability : std::uint8_t {
    fsync, ///< on the disk; whatever waits is written at once
    group, ///< on the disk; what comes while a commit would last is written together
    off    ///< with the journal's thread: survives a crash of the machine and of this process in
           ///< part only
};

enum class run_opening : std::uint8_t {
    create, ///< there must be no run in the folder
    resume, ///< there must be one
    create_or_resume,
    read ///< there must be one, which another process may have open; nothing is written
};

/// Keeps other processes from opening the run for writing, until it is destroyed.
class run_hold {
public:
    virtual ~run_hold() = default;
};

struct run_store_options {
    std::string folder; ///< made when absent, for its owner only; the one above must be there
    run_opening opening = run_opening::create_or_resume;
    run_durability durability = run_durability::group;
    std::size_t group_records = 256; ///< a group is written when it has so many
    /// Or when its first has waited for as long as a commit has lasted lately, but no longer than
    /// this. `off`: for this.
    std::chrono::milliseconds group_time{5};
    std::size_t max_queued = 64 * 1024 * 1024; ///< bytes, above which `off` waits for the disk
    std::uint64_t max_pages = 0; ///< of the file, 4 KiB each; 0: as SQLite has it. For tests.
    /// Of this folder, for a run that is opened several times in a row and held in between; the
    /// store shares it. Null: the store takes its own.
    std::shared_ptr<run_hold> hold{};
};

/// A part of what was run: a source, a template, settings.
struct manifest_entry {
    std::string name;
    std::string digest; ///< as the caller forms it
    std::string text;
};

/// A row for listings and replays.
struct run_row {
    ports::known_row known;
    std::string id;
    std::string text;                    ///< the row as JSON
    std::optional<ports::row_end> ended; ///< without value and error where they were not asked for
};

/// Why a row has no result.
struct row_failure {
    ports::known_row known;
    std::string id;
    std::string error_json;
};

/// The end of a row among those of a run.
struct end_place {
    std::uint64_t row = 0;
    std::uint64_t number = 0; ///< ascending in the order of the ends; 0: of an older journal
};

/// Records of one row.
struct row_records {
    std::uint64_t row = 0;
    std::vector<ports::step_record> records;
};

/// A record by its content.
struct content_record {
    std::uint64_t row = 0;
    ports::step_record record;
};

/// What rows have used under the version of the program that they ran under last, as if there had
/// been no other.
struct row_sample {
    std::uint64_t rows = 0;
    ports::step_spending spent; ///< by all of them
    /// Of the longest response that rows of any version and status have got, in tokens.
    std::int64_t longest_output = 0;
};

/// Where the results of a run are written after its program has changed.
enum class output_phase : std::uint8_t {
    in_place, ///< to the output file
    beside,   ///< to a file next to it, with the results of the changed program
    replacing ///< that file is complete and takes the place of the output file
};

/// A run_journal in `run.db` of a folder (SQLite). Totals: spending is that of the records, those
/// of restarted rows included; all of them as of the last write to the disk. Destroying it writes
/// what waits. Calls may come from the loops of several threads, which outlive it.
class run_store : public ports::run_journal {
public:
    /// Replaces or adds entries of the manifest; returns before that is durable.
    virtual result<void> set_manifest(std::vector<manifest_entry> entries) = 0;
    [[nodiscard]] virtual coro::task<result<std::vector<manifest_entry>>> manifest(
        coro::call_context context) = 0;

    /// Notes when a row was worked on last, in milliseconds since 1970; returns before that is
    /// durable.
    virtual result<void> set_time(std::uint64_t row, std::int64_t at) = 0;
    /// Rows that were worked on last before `at`, the oldest first, at most `count`. Those without
    /// a time are not among them.
    [[nodiscard]] virtual coro::task<result<std::vector<ports::known_row>>> rows_before(
        std::int64_t at, std::size_t count, coro::call_context context) = 0;
    /// Deletes rows with all that belongs to them; returns before that is durable. What they have
    /// spent stays in the totals.
    virtual result<void> forget_rows(std::vector<std::uint64_t> rows) = 0;

    /// Changes what is parked; returns before it is durable.
    virtual result<void> change_parking(parking_change change) = 0;

    /// outdate_rows() changes the phase to `beside`; set_phase() changes it at once and returns
    /// before that is durable.
    [[nodiscard]] virtual output_phase phase() const noexcept = 0;
    virtual result<void> set_phase(output_phase phase) = 0;
    /// Notes that the output file holds no result any more, so that all are written again. Returns
    /// once that is durable.
    [[nodiscard]] virtual coro::task<result<void>> forget_output(coro::call_context context) = 0;

    /// Notes that it holds the results of these rows and no others, and has the same size: a crash
    /// leaves the one or the other. Returns once that is durable.
    [[nodiscard]] virtual coro::task<result<void>> keep_output_of(std::vector<std::uint64_t> rows,
                                                                  coro::call_context context) = 0;

    /// Rows by number from `first` on, at most `count`, of one status or all.
    [[nodiscard]] virtual coro::task<result<std::vector<run_row>>> rows(
        std::uint64_t first, std::size_t count, std::optional<ports::row_status> status,
        coro::call_context context) = 0;
    /// One row; nothing when the run does not know it.
    [[nodiscard]] virtual coro::task<result<std::optional<run_row>>> row(
        std::uint64_t number, coro::call_context context) = 0;

    /// Rows of that status, failed or rejected, by number from `first` on: at most `count`, and
    /// fewer where their errors are large, but one at least unless there is none.
    [[nodiscard]] virtual coro::task<result<std::vector<row_failure>>> failures(
        std::uint64_t first, std::size_t count, ports::row_status status,
        coro::call_context context) = 0;

    /// The last rows that have ended, at most `count`, in the order in which they did.
    [[nodiscard]] virtual coro::task<result<std::vector<end_place>>> last_ends(
        std::size_t count, coro::call_context context) = 0;
    /// Rows that have ended after the end of that number, in their order, at most `count`. A row
    /// that has ended several times is there with its last end.
    [[nodiscard]] virtual coro::task<result<std::vector<end_place>>> ends_after(
        std::uint64_t number, std::size_t count, coro::call_context context) = 0;
    /// Rows by number from `first` on, at most `count`, that have begun and not ended, and in which
    /// a request was sent whose step has not ended; with their records, which have bodies only
    /// where they are of requests that were sent.
    [[nodiscard]] virtual coro::task<result<std::vector<row_records>>> rows_with_open_requests(
        std::uint64_t first, std::size_t count, coro::call_context context) = 0;

    /// Rows by number from `first` on, at most `count`, that have begun and not ended, and have the
    /// record of a request (step_kind::request or reused) of that name.
    [[nodiscard]] virtual coro::task<result<std::vector<std::uint64_t>>> begun_rows_with(
        std::string name, std::uint64_t first, std::size_t count, coro::call_context context) = 0;

    /// Of up to a thousand rows that are done; where there are none, of those that failed.
    [[nodiscard]] virtual coro::task<result<row_sample>> sample_rows(
        coro::call_context context) = 0;

    /// Makes the index that records_with needs; takes about a second for a million records, while
    /// nothing else is written.
    [[nodiscard]] virtual coro::task<result<void>> index_contents(coro::call_context context) = 0;
    /// The records with that content, in the order of their rows.
    [[nodiscard]] virtual coro::task<result<std::vector<content_record>>> records_with(
        ports::digest128 content, coro::call_context context) = 0;
};

/// Opens the run in a folder; blocks for as long as files take to open. Reads run on `workers`,
/// which outlive the store, writes on a thread of the store. Errors: io_error, naming the file and
/// what to do: no run or one already, another process has it open, made by a newer version, a
/// database of another program, damaged, not writable.
[[nodiscard]] result<std::unique_ptr<run_store>> open_run_store(ports::worker_port& workers,
                                                                run_store_options options);

/// Whether a process has the run in the folder open for writing.
[[nodiscard]] bool is_run_open(const std::string& folder) noexcept;

/// For what is written into the folder of a run that no process works on, and for
/// run_store_options::hold.
/// Errors: io_error, also while a process has the run open.
[[nodiscard]] result<std::unique_ptr<run_hold>> hold_run(const std::string& folder);

} // namespace heddle::store
