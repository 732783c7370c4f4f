// The file of dead letters, in line with the journal.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace heddle::cli {

/// Drops the letters of rows for which `keep` is false, of those that came twice all but the last,
/// and a line that a crash has cut. Replaces the file in one step if anything changes; a file that
/// is not there stays so. Errors: io_error.
[[nodiscard]] result<void> tidy_dead_letters(const std::string& file,
                                             const std::function<bool(std::uint64_t)>& keep);

} // namespace heddle::cli
