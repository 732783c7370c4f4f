// Rows from files, one after the other.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/rows/row.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::rows {

enum class row_format : std::uint8_t {
    automatic, ///< by the extension, behind which .gz and .zst are ignored; JSONL for standard
               ///< input and pipes
    jsonl,     ///< .jsonl .ndjson: a JSON object on each line; another value v is {"value": v}
    csv,       ///< .csv: RFC 4180 with a header line; values are strings
    tsv,       ///< .tsv .tab: the same with tabs
    lines      ///< .txt: {"line": "…"}
};

/// The format of that name ("auto", "jsonl", "csv", "tsv", "lines"), or nothing.
[[nodiscard]] std::optional<row_format> row_format_of(std::string_view name) noexcept;

/// Which rows are taken. The same seed takes the same rows, whatever their order.
struct row_sample {
    std::variant<std::uint64_t, double> size; ///< a number of rows, or a fraction in (0, 1]
    std::uint64_t seed = 0;
};

/// "500" or "0.05" or "5%". Errors: invalid_argument.
[[nodiscard]] result<row_sample> parse_row_sample(std::string_view text, std::uint64_t seed = 0);

/// What to read. Files are read in their order, each with its own header; "-" is standard input.
/// Files compressed with gzip and zstd are recognised by their first bytes.
struct row_input {
    std::vector<std::string> files;
    row_format format = row_format::automatic;
    std::string id_field; ///< the member with the id of a row; empty: ids are made
    std::size_t max_row_bytes = std::size_t{16} * 1024 * 1024; ///< decompressed
    std::size_t max_raw_bytes = std::size_t{64} * 1024;        ///< kept of a bad row
    std::size_t max_depth = 64;                                ///< of nested JSON
    std::optional<std::uint64_t> limit; ///< rows that are delivered, bad ones included
    std::optional<row_sample> sample;   ///< of good and bad rows alike; before `limit`
    int standard_input = 0;             ///< the descriptor that "-" means
    /// Looks at the columns of each file whose rows have the same ones: those of its header, or
    /// "line". An error ends the reading before the rows of the file, and is given its place. May
    /// be empty. Called by next(), on its thread.
    std::function<result<void>(const std::vector<std::string>& columns)> check_columns;
};

struct row_progress {
    std::uint64_t rows = 0;                   ///< read, including those that were not taken
    std::uint64_t bytes = 0;                  ///< of the files as they are on disk
    std::optional<std::uint64_t> total_bytes; ///< unknown with standard input and pipes
};

/// Reads the rows of several files. Empty lines are skipped and have no number.
/// Memory: one row and two buffers; `sample` with a number of rows takes 16 bytes for each of them.
/// Threads: one at a time, and `interrupt` and `progress` from any.
class row_reader {
public:
    /// Looks at every file but reads none. Errors: not_found, io_error, invalid_argument (no
    /// files, a folder, an unknown extension, standard input twice, a sample of a number of rows
    /// from standard input or a pipe, which can be read only once).
    [[nodiscard]] static result<std::unique_ptr<row_reader>> open(row_input input);
    ~row_reader();
    row_reader(const row_reader&) = delete;
    row_reader& operator=(const row_reader&) = delete;

    /// Sets row_input::check_columns. Before the first call of next.
    void check_columns(std::function<result<void>(const std::vector<std::string>& columns)> check);
    /// The next row; nothing at the end. Blocks while standard input or a pipe has no data, and
    /// with `sample` of a number of rows, the first call reads all files once.
    /// Errors, each naming the file, after the rows before it were delivered: io_error (disk,
    /// vanished file, damaged or truncated compression), invalid_argument (no header line, column
    /// names that are empty or twice, those of check_columns), cancelled after interrupt. An error
    /// is final: further calls return it again.
    [[nodiscard]] result<std::optional<row_item>> next();

    /// Makes a call of next that waits, and each later one, return the error cancelled.
    void interrupt() noexcept;

    [[nodiscard]] row_progress progress() const noexcept;

private:
    struct state;
    explicit row_reader(std::unique_ptr<state> own);
    std::unique_ptr<state> state_;
};

} // namespace heddle::rows
