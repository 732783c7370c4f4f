// Rows of a run that wait for answers of people.
#pragma once

#include "batch/steering/opened_run.hpp"
#include "parking/parked_questions.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/task.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::cli {

/// A row that waits for an answer.
struct waiting_row {
    std::string id;
    std::vector<kept_question> questions;
};

/// At most `most` of them. Errors: of the journal.
[[nodiscard]] coro::task<result<std::vector<waiting_row>>> waiting_rows(opened_run* run,
                                                                        std::size_t most);

/// A line for each question of the row.
[[nodiscard]] std::string text_of(const waiting_row& row);

} // namespace heddle::cli
