// The records of a row, read for a further execution of it.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::host {

/// What earlier executions of a row have left.
struct row_history {
    std::vector<ports::step_record> replayed; ///< for step_log::take_earlier()
    /// Requests that were sent when a process ended, as records of the kind `lost` that the journal
    /// does not have yet.
    std::vector<ports::step_record> newly_lost;
    std::uint32_t lost = 0;     ///< such requests that the journal has
    ports::step_spending spent; ///< by the records
};

/// The message with which a step has failed; nothing for one that has not, or was cancelled. Such a
/// failure may be an error or a value.
using failure_reader = std::function<std::optional<std::string>(const ports::step_record&)>;

/// Reads the records of a row, in order. After each attempt that failed, the next one repeats what
/// failed and what followed from it, and keeps the rest:
///
/// - If the attempt ended with the failure of a step, that step is repeated. If it ended with
///   another error, all steps that failed are, or, if none did, the last one that was paid for.
///   If it ran out of time, the steps under way are; its record is marked (without_failed_step).
/// - Records up to there are replayed. Of what comes later, the responses of models are kept: a
///   step that makes the same request again is given them (ports::step_memory).
/// - Of a repeated step they are kept if it failed because of a request that has none. Otherwise
///   what they contain is what failed.
[[nodiscard]] row_history read_history(std::vector<ports::step_record> records,
                                       const failure_reader& failure_of);

/// The name of a `failed` record of an attempt in which no step failed: it ran out of time, or what
/// it returned cannot be used.
inline constexpr const char* without_failed_step = "no step";

} // namespace heddle::host
