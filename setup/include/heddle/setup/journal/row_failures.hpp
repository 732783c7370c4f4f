// What has failed in a row.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/ports/run_journal.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::setup {

/// The message with which a recorded step failed: of an error, or of a task's FAILED result.
/// Nothing for a step that has not failed or was cancelled (host::failure_reader).
[[nodiscard]] std::optional<std::string> failure_of_step(lang::heap& memory,
                                                         const ports::step_record& step);

/// The message of the step that made an evaluation fail with this error, to be found by
/// failure_of_step: of the FAILED result that was read, or of the error itself.
[[nodiscard]] std::string message_of_step(const error& failure);

/// Reads the records of a row that runs again under another program. `has_failed`: it ended with a
/// failure. `asks_anew`: what made it fail is discarded.
[[nodiscard]] host::row_history read_earlier_version(lang::heap& memory,
                                                     std::vector<ports::step_record> records,
                                                     bool has_failed, bool asks_anew);

/// Of a row that has begun and not ended: whether an attempt is under way, or was when a process
/// ended. False: the last one has failed, and since then none has sent a request or ended a step.
[[nodiscard]] bool has_open_attempt(const std::vector<ports::step_record>& records);

/// As if an attempt that has failed followed the records.
void end_attempt(std::vector<ports::step_record>& records);

} // namespace heddle::setup
