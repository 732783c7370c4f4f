// The results of a batch in a file.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

enum class result_format : std::uint8_t {
    automatic, ///< by the extension; JSONL for standard output and devices
    jsonl,     ///< .jsonl .ndjson
    csv,       ///< .csv
    tsv,       ///< .tsv .tab
    sqlite     ///< .db .sqlite .sqlite3
};

/// The format of that name ("auto", "jsonl", "csv", "tsv", "sqlite"), or nothing.
[[nodiscard]] std::optional<result_format> result_format_of(std::string_view name) noexcept;

/// The result of a row: its id, and how it ended. `value_json` and `error_json` are valid JSON or
/// empty. What is written of them is described in result_writer.
struct row_result {
    std::string id;
    ports::row_end end;
    bool outdated = false; ///< of an earlier version of the program
};

enum class output_start : std::uint8_t {
    /// A new file. An existing file that holds more than the header of these columns is refused, or
    /// emptied with `force`.
    fresh,
    at_size,        ///< goes on at `size`; what comes after it is cut off
    after_last_line ///< goes on behind the last whole line; a missing file is made
};

/// Where to write and how to begin.
struct output_target {
    std::string file; ///< "-" is standard output
    output_start start = output_start::fresh;
    std::uint64_t size = 0;  ///< of at_size: as result_writer::size returned it
    bool force = false;      ///< of fresh: replaces what a file has
    int standard_output = 1; ///< the descriptor that "-" means
    /// Of SQLite: names the run. At_size refuses a table of another one.
    std::string run = {};
    /// As result_writer::stream named what a write was interrupted to. If the results go there
    /// again, the line that may be broken is ended first.
    std::string broken_stream = {};
};

struct result_output {
    output_target target;
    result_format format = result_format::automatic;
    /// CSV and TSV: members of a value that get a column of their own, after `value`.
    std::vector<std::string> columns;
};

/// The format of the file, never `automatic`. Errors: invalid_argument (unknown extension).
[[nodiscard]] result<result_format> resolved_format(const result_output& output);

/// Appends results. All calls block: call them on a worker thread. Threads: one at a time.
///
/// JSONL: one object a line: {"id", "row", "status": "done" | "failed" | "rejected", "value" or
/// "error", "usage": {"requests", "input_tokens", "output_tokens", "estimated"?: true},
/// "cost_usd" (null: unknown), "unpriced_requests"? (not in the cost), "attempts", "duration_ms",
/// "maybe_paid"?: true, "outdated"?: true}. Members with "?" are written only when they apply.
/// CSV: columns id, row, status, value, those of `columns`, error, requests, input_tokens,
/// output_tokens, cost_usd, attempts, duration_ms, maybe_paid. A string is written as it is,
/// another value as JSON; an error as "kind: message".
/// SQLite: table `results` with those columns (without `columns`; value and error as JSON), whose
/// key is id: of several results with one id, the last one that is done is kept, or else the last
/// one of the row with the lowest number.
///
/// After a crash a text file has whole lines only, except for the last, which at_size and
/// after_last_line cut off: a batch is one write. A batch of SQLite is one transaction. Elsewhere
/// (see stream()) a line that may be broken is ended: in JSONL by a line feed, which leaves an
/// empty line where none was broken. In CSV and TSV by `interrupted"` and a line feed, behind the
/// header if that is written again: whether the line was broken inside quotes or not, the record
/// ends there, and its last column, maybe_paid, is missing or neither true nor false.
///
/// Errors of all calls: io_error with the file and what to do (disk full, read-only, deleted or
/// replaced meanwhile, in use by another process, standard output closed), invalid_argument (a
/// file of something else, a file that exists without `force`, other columns than those there). A
/// batch that fails is cut off again as far as the system permits, so that what was there stays as
/// it was; all later calls fail with the same error.
class result_writer {
public:
    /// Opens or makes the file. A file that exists is changed only when this succeeds.
    [[nodiscard]] static result<std::unique_ptr<result_writer>> open(result_output output);
    virtual ~result_writer() = default;

    [[nodiscard]] virtual result<void> write(std::span<const row_result> batch) = 0;
    /// Waits until all batches are on the disk.
    [[nodiscard]] virtual result<void> flush() = 0;
    /// Whether results that are outdated are marked as such.
    [[nodiscard]] virtual bool marks_outdated() const noexcept { return false; }
    /// Whether only one of several results with the same id is kept.
    [[nodiscard]] virtual bool keeps_one_per_id() const noexcept { return false; }
    /// Names the pipe, device or standard output that lines are appended to, as long as it exists;
    /// nothing can be cut off there. Empty: the results go to a file.
    [[nodiscard]] virtual std::string stream() const { return {}; }
    /// Bytes of whole lines in the file; SQLite: results in the table. For at_size after a flush.
    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
};

/// Appends `cost` as people write it: without an exponent, rounded to 10 digits behind the point,
/// without zeros at the end: "0.00222".
void append_usd(std::string& out, double cost);

} // namespace heddle::rows
