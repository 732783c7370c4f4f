// What a row is executed with to see what it would ask.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::cli {

/// The arguments of a plan_log.
struct plan_records {
    std::vector<ports::step_record> records;
    std::uint64_t seed = 0; ///< of the row
    std::function<bool(const std::string&)> is_failure;
};

/// Of which row, and how it ended.
struct planned_row {
    std::uint64_t number = 0;   ///< in the run
    std::uint64_t run_seed = 0; ///< of the run
    bool has_failed = false;
    bool asks_anew = false; ///< what made it fail is discarded
};

/// `records`: all that the journal has of the row. `memory`: of the session that executes it;
/// outlives the result.
[[nodiscard]] plan_records plan_records_of(const planned_row& row,
                                           std::vector<ports::step_record> records,
                                           lang::heap& memory);

/// As plan_records_of, for a row whose program and text are the same: what it replays.
[[nodiscard]] plan_records replayed_records_of(const planned_row& row,
                                               std::vector<ports::step_record> records,
                                               lang::heap& memory);

/// The seed of a row in a run of that seed.
[[nodiscard]] std::uint64_t seed_of_row(std::uint64_t run_seed, std::uint64_t number);

} // namespace heddle::cli
