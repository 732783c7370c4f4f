// What a step returned, as people read it.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <string>

namespace heddle::cli {

/// What the record of a step holds.
struct shown_answer {
    std::string kind; ///< "answer", "error", "FAILED", "cancelled", "deadline", "function"
    std::string text; ///< of a task's result its content
};

/// At most about `most` bytes of text. `memory`: where answers are decoded.
[[nodiscard]] shown_answer answer_of(lang::heap& memory, const ports::step_record& record,
                                     std::size_t most);

} // namespace heddle::cli
