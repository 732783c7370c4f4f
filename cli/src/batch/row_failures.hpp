// Whether a step of a row has failed.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/ports/run_journal.hpp>

#include <optional>
#include <string>

namespace heddle::cli {

/// The message with which a recorded step failed: of an error, or of a task's FAILED result.
/// Nothing for a step that has not failed or was cancelled (host::failure_reader).
[[nodiscard]] std::optional<std::string> failure_of_step(lang::heap& memory,
                                                         const ports::step_record& step);

} // namespace heddle::cli
