// Results in a table of SQLite.
#pragma once

#include <heddle/rows/result_writer.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace heddle::rows {

[[nodiscard]] result<std::unique_ptr<result_writer>> open_sqlite_results(
    const result_output& output);

/// Whether the table in the file ends with the result of that number.
[[nodiscard]] bool has_sqlite_results(const std::string& file, std::uint64_t size);
/// Replaces the results in a database with those of another one, in one transaction.
[[nodiscard]] result<void> replace_sqlite_results(const std::string& file,
                                                  const std::string& fresh);

} // namespace heddle::rows
