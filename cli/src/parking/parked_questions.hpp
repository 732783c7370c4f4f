// Questions of rows to people who answer later.
#pragma once

#include <heddle/ports/run_journal.hpp>
#include <heddle/tasks/tools/user_question.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The name of the record of a question, whose kind is step_kind::request.
inline constexpr std::string_view record_of_question = "question";

/// Performs system:ask_user in a durable row: the question is kept in the journal, and the row is
/// parked until another process finds the answer there. Errors: PermissionError in a row without a
/// journal.
[[nodiscard]] tasks::user_port parked_questions();

/// A question that is kept in a journal.
struct kept_question {
    ports::digest128 path; ///< of the step that waits
    tasks::user_question asked;
    std::string text; ///< as it is kept
};

/// The questions among the records of a row that have no answer, in the order of their records.
[[nodiscard]] std::vector<kept_question> open_questions(
    const std::vector<ports::step_record>& records);

/// The answer that `text` is to a question: a choice by its text or its number, or any text where
/// there are no choices; an empty one is the default. Nothing: it names no choice.
[[nodiscard]] std::optional<std::string> answer_in(const tasks::user_question& asked,
                                                   const std::string& text);

/// The record of an answer.
[[nodiscard]] ports::step_record record_of_answer(const kept_question& question,
                                                  std::string answer);

} // namespace heddle::cli
