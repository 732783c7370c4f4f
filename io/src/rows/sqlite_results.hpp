// Results in a table of SQLite.
#pragma once

#include <heddle/rows/result_writer.hpp>

#include <memory>

namespace heddle::rows {

[[nodiscard]] result<std::unique_ptr<result_writer>> open_sqlite_results(
    const result_output& output);

} // namespace heddle::rows
