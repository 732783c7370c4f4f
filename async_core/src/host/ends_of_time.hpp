// Records of times that have ended, for a further attempt at a row.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle::host {

/// The last record of a wait, a function or a step that the end of a time has cut. Nothing: there
/// is none.
[[nodiscard]] std::optional<std::size_t> last_end_of_time(
    const std::vector<ports::step_record>& all);

/// The first record of the same end as the record `of`: several branches may have met it.
[[nodiscard]] std::size_t first_end_of_time(const std::vector<ports::step_record>& all,
                                            std::size_t of);

/// Whether something has ended between the two records that acts, such as a program that was run,
/// and would act again in a repetition. Tasks, waits and what only reads do not count.
[[nodiscard]] bool has_acted(const std::vector<ports::step_record>& all, std::size_t from,
                             std::size_t until);

} // namespace heddle::host
