// The records of `heddle run --run`, which has two evaluations.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <vector>

namespace heddle::cli {

/// A run has one row. Its records are those of the top level of the program, a mark, and those of
/// main.
struct run_records {
    std::vector<ports::step_record> top;
    /// With the requests before the mark: responses of an earlier version of the program, which
    /// main may have used, keep their places.
    std::vector<ports::step_record> main;
    bool main_has_begun = false;
    std::uint64_t answers = 0; ///< steps that have an answer

    [[nodiscard]] static run_records of(const std::vector<ports::step_record>& all);
};

/// The mark. It is not a step: its path is zero.
[[nodiscard]] ports::step_record mark_of_main();

} // namespace heddle::cli
