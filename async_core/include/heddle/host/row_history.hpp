// The records of a row, read for a further execution of it.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

/// What earlier executions of a row have left.
struct row_history {
    std::vector<ports::step_record> replayed; ///< for step_log::take_earlier()
    /// Requests that were sent when a process ended, as records of the kind `lost` that the journal
    /// does not have yet, and without what their responses cost: see count_lost().
    std::vector<ports::step_record> newly_lost;
    /// The numbers of the requests whose responses made a step fail that is repeated: no step is to
    /// be given them again.
    std::vector<std::uint64_t> discarded;
    std::uint32_t lost = 0;     ///< such requests that the journal has
    ports::step_spending spent; ///< by the records
};

/// Returns the message of a failed step, whether it ended with an error or with a value that
/// represents one; nothing for a step that succeeded or was cancelled.
using failure_reader = std::function<std::optional<std::string>(const ports::step_record&)>;

/// Reads the records of a row, in order. After each failed attempt, the next one repeats the steps
/// that failed and those that depend on them, and keeps the rest:
///
/// - If the attempt ended with the failure of a step, that step is repeated, and so are those that
///   failed beside it in other branches. If it ended with another error, all failed steps are
///   repeated or, if there are none, the last one that was paid for and not cancelled. If it ran
///   out of time, the steps in progress are repeated; the record of the attempt is marked
///   (without_failed_step).
/// - If the time of a form ended the attempt (ended_by_time), the row continues as if the process
///   had been stopped when the form began. If it ends so again without a new response, steps that
///   failed before the form are repeated. If the program raised another error instead, what the
///   time cut is repeated; if that ends in the same error without a new response, the row starts
///   over with its responses, unless something has acted (has_acted).
/// - Records before the first repeated step are replayed. Of later records, responses of models are
///   kept, for steps that make the same request again (ports::step_memory), and the results of the
///   tools that repeated steps have called.
/// - The responses of a repeated step are kept if the step failed for want of another response or
///   was cancelled. Otherwise they are the reason for the failure.
[[nodiscard]] row_history read_history(std::vector<ports::step_record> records,
                                       const failure_reader& failure_of);

/// The records of the last attempt at the row, for a replay that ends as it did: as read_history,
/// but for the end of that attempt.
[[nodiscard]] std::vector<ports::step_record> last_attempt(std::vector<ports::step_record> records,
                                                           const failure_reader& failure_of);

/// What the response to a request may cost, as the body of its record (step_kind::sent).
[[nodiscard]] std::string output_cost(const ports::cost_if_lost& cost);

/// Makes of a request that was sent a record of the kind `lost`, with what it may have cost: its
/// input, and the longest response that is to be expected. `longest_output`: tokens of the longest
/// response that the run has got, 0 for none; the limit of the request may be lower. Without
/// either, what is set aside for a response of unknown length.
void count_lost(ports::step_record& sent, std::int64_t longest_output);

/// The body of the record of a step that the deadline of its branch ended, in place of a value: no
/// value begins with it.
inline constexpr const char* cut_by_deadline = "deadline";

/// What the name of an `unanswered` record begins with where a budget refused the request.
inline constexpr const char* budget_of = "budget of ";

/// The name of a `failed` record of an attempt in which no step failed: it ran out of time, or its
/// result cannot be stored.
inline constexpr const char* without_failed_step = "no step";
/// That of an attempt that a limit has ended: a step is repeated only if it failed with its
/// message. Otherwise the attempt was at work, and goes on where it was. If the next attempt ends
/// in the same place in the same way, the last paid step is repeated.
inline constexpr const char* ended_by_a_limit = "limit";

/// The same where the time of a form of the program had ended, such as `timeout`. The time of the
/// record is when the form began, by the clock of the row.
inline constexpr const char* ended_by_time = "time";

/// What the `failed` record of an attempt holds about its end.
struct attempt_end {
    std::string_view name; ///< empty: none of these
    double at = 0;         ///< seconds, by the clock of the row
};
[[nodiscard]] attempt_end end_of_attempt(const error& failure);
/// The record of an attempt that failed with that message.
[[nodiscard]] ports::step_record record_of_attempt(std::string message, const attempt_end& end);

/// Prefix of the name of a `tool` record that holds what was read for a request, which a
/// retry reads again if no response of its step has come after it. No tool has a space in its name.
inline constexpr const char* context_of = "context of ";

} // namespace heddle::host
