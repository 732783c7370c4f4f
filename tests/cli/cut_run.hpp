// Runs as a kill right after a record leaves them, without chance.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// A record of the only row of a run.
struct run_record {
    std::int64_t number = 0; ///< in the order in which they were made
    ports::step_kind kind{};
    std::string name;
    bool is_between_slices = false; ///< of a clock
};

/// Those that came of the program while it ran. Failures fail the test.
[[nodiscard]] std::vector<run_record> records_of(const std::string& folder);

/// Copies the folder of a run of one row that has ended to `copy`, which is replaced, with its
/// records up to `last` only: the row is under way. Failures fail the test.
void cut_run(const std::string& folder, const std::string& copy, std::int64_t last);

} // namespace heddle::cli_test
