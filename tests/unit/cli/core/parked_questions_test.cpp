#include "parking/parked_questions.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using ports::step_kind;
using ports::step_record;

[[nodiscard]] ports::digest128 step(std::uint64_t number) { return {number, number}; }

step_record question_of(std::uint64_t path, const std::string& text) {
    step_record record;
    record.kind = step_kind::request;
    record.path = step(path);
    record.name = record_of_question;
    record.body = R"({"question":")" + text + "\"}";
    return record;
}

step_record answer_to(const step_record& question) {
    return record_of_answer({question.path, {}, question.body}, "yes");
}

step_record end_of(std::uint64_t path) {
    step_record record;
    record.kind = step_kind::answer;
    record.path = step(path);
    return record;
}

TEST(parked_questions, are_open_until_they_are_answered) {
    const step_record first = question_of(1, "First?");
    const step_record second = question_of(2, "Second?");
    const auto open = open_questions({first, second, answer_to(first)});
    ASSERT_EQ(open.size(), 1U);
    EXPECT_EQ(open[0].asked.text, "Second?");
    EXPECT_EQ(open[0].path, step(2));
}

TEST(parked_questions, of_a_step_that_has_ended_are_none) {
    EXPECT_TRUE(open_questions({question_of(1, "First?"), end_of(1)}).empty());
}

// Nobody could answer it: the step had ended in an earlier attempt of its row.
TEST(parked_questions, are_open_again_when_their_step_is_repeated) {
    const step_record asked = question_of(1, "First?");
    step_record failed;
    failed.kind = step_kind::failed;
    std::vector<step_record> records{asked, answer_to(asked), end_of(1), failed, asked};
    EXPECT_EQ(open_questions(records).size(), 1U);
    records.push_back(answer_to(asked));
    EXPECT_TRUE(open_questions(records).empty());
}

} // namespace
} // namespace heddle::cli
