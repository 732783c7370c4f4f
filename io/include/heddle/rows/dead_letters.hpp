// Rows that have no result, kept with their errors.
#pragma once

#include <heddle/rows/result_writer.hpp>
#include <heddle/rows/row.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace heddle::rows {

/// A row that failed or could not be read.
struct dead_letter {
    std::uint64_t number = 0;
    std::string id;
    std::string file;
    std::uint64_t line = 0;
    std::string error_json; ///< valid JSON
    std::string row_json;   ///< the row; empty for one that could not be read
    std::string raw;        ///< of such a row: its bytes
    bool raw_cut = false;   ///< of them only the beginning
};

/// The letter of a row that could not be read.
[[nodiscard]] dead_letter dead_letter_of(const bad_row& bad);

/// Appends dead letters as JSONL: {"id", "row", "file", "line", "error", "input" or "raw" (U+FFFD
/// in place of invalid bytes), "raw_cut"?: true}. The members of "input" are those of the row, so
/// that `jq -c .input` makes a file of rows again. Errors, crashes and threads: as result_writer.
class dead_letter_writer {
public:
    /// `after_last_line` is for a run that goes on.
    [[nodiscard]] static result<std::unique_ptr<dead_letter_writer>> open(output_target target);
    ~dead_letter_writer();
    dead_letter_writer(const dead_letter_writer&) = delete;
    dead_letter_writer& operator=(const dead_letter_writer&) = delete;

    [[nodiscard]] result<void> write(std::span<const dead_letter> batch);
    [[nodiscard]] result<void> flush();
    [[nodiscard]] std::uint64_t size() const noexcept;

private:
    struct state;
    explicit dead_letter_writer(std::unique_ptr<state> own);
    std::unique_ptr<state> state_;
};

} // namespace heddle::rows
