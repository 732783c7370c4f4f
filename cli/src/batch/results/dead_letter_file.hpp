// The file of dead letters, in line with the journal.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/rows/dead_letters.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace heddle::cli {

/// Drops the letters of rows for which `keep` is false, of those that came twice all but the last,
/// and a line that a crash has cut. Lines that are not letters stay. Replaces the file in one step
/// if anything changes, with its permissions; what is not a regular file, or not there, stays as it
/// is. Errors: io_error.
[[nodiscard]] result<void> tidy_dead_letters(const std::string& file,
                                             const std::function<bool(std::uint64_t)>& keep);

/// Puts the letters of the file `fresh` in the place of those of `file`, in one step; lines of it
/// that are not letters stay. `fresh` is gone then; without it nothing happens. Errors: io_error.
[[nodiscard]] result<void> replace_dead_letters(const std::string& file, const std::string& fresh);

/// Opens the file to go on behind its last line. `is_own`: it is that of the run, which is tidied
/// with `keep`; another one must be empty, or is emptied with `force`. Errors: io_error,
/// invalid_argument.
[[nodiscard]] result<std::unique_ptr<rows::dead_letter_writer>> open_dead_letters(
    const std::string& file, bool is_own, bool force,
    const std::function<bool(std::uint64_t)>& keep);

} // namespace heddle::cli
