#include "tasks/run/response_check.hpp"

#include "tasks_testing.hpp"

#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

class response_check_test : public ::testing::Test {
protected:
    /// What is found in the text of a response to a task with this schema.
    checked_response check(const std::string& schema, std::string text, bool cut = false) {
        task_template declared;
        declared.name = "t";
        declared.instructions = "q";
        declared.output = {true, schema};
        declared.disable_reparsing = as_it_is;
        task_ = compile_task(std::move(declared)).value();
        response_check checking(*task_, text_.memory());
        checking.begin(std::move(text), cut);
        EXPECT_FALSE(checking.waits());
        return checking.take();
    }
    static std::string json(const checked_response& checked) {
        return lang::value_to_json(checked.content).value();
    }
    std::optional<bool> as_it_is;
    testing::reading text_;
    std::shared_ptr<const compiled_task> task_;
};

TEST_F(response_check_test, finds_the_json_and_keeps_the_text) {
    const auto found = check("object", "Here it is:\n```json\n{\"a\": 1}\n```");
    EXPECT_EQ(found.violation, "");
    EXPECT_EQ(json(found), R"({"a":1})");
    EXPECT_EQ(found.text, "Here it is:\n```json\n{\"a\": 1}\n```");
    EXPECT_FALSE(found.completed);
}

TEST_F(response_check_test, completes_json_that_the_length_limit_cut) {
    const auto found = check("", R"({"a": [1, 2)", true);
    EXPECT_EQ(found.violation, "");
    EXPECT_TRUE(found.completed);
    EXPECT_EQ(check("", R"({"a": [1, 2)").kind, "JSONDecodeError") << "not cut: it is wrong";
}

TEST_F(response_check_test, text_without_json_and_json_of_another_form_are_violations) {
    const auto no_json = check("object", "I would rather not.");
    EXPECT_EQ(no_json.kind, "JSONDecodeError");
    EXPECT_THAT(no_json.violation, HasSubstr("the response is not JSON"));
    EXPECT_TRUE(no_json.content.is_nil());

    const auto other = check("number[]", R"([1, "two"])");
    EXPECT_EQ(other.kind, "SchemaViolation");
    EXPECT_EQ(other.location, "/1");
    EXPECT_TRUE(other.content.is_nil());
    EXPECT_FALSE(other.unknown);
}

TEST_F(response_check_test, without_reparsing_the_whole_text_must_be_json) {
    as_it_is = true;
    EXPECT_EQ(check("", "```\n{}\n```").kind, "JSONDecodeError");
    EXPECT_EQ(check("", "{}").violation, "");
}

TEST_F(response_check_test, a_long_response_is_checked_in_turns_and_can_be_given_up) {
    check("", "{}"); // makes the task
    const std::string text = "\"" + std::string(300 * 1024, 'x') + "\"";
    response_check checking(*task_, text_.memory());
    checking.begin(text, false);
    ASSERT_TRUE(checking.waits());
    EXPECT_EQ(checking.give_up(), text);
    EXPECT_FALSE(checking.waits());
}

TEST_F(response_check_test, asks_again_as_often_as_allowed) {
    const auto wrong = check("object", "no");
    response_check checking(*task_, text_.memory());
    EXPECT_FALSE(checking.repeats(wrong)) << "none is allowed";
    checking.allow_repeats(2);
    EXPECT_TRUE(checking.repeats(wrong));
    EXPECT_TRUE(checking.repeats(wrong));
    EXPECT_FALSE(checking.repeats(wrong));

    checking.allow_repeats(1);
    checked_response dear = wrong;
    dear.unknown = true;
    EXPECT_FALSE(checking.repeats(dear)) << "another response would take as long to check";
}

TEST_F(response_check_test, a_failure_has_the_violation_in_its_details) {
    const auto wrong = check("number[]", R"([1, "two"])");
    response_check checking(*task_, text_.memory());
    result_builder results(text_.memory());
    const task_failure failure = checking.failure_of(wrong, results);
    EXPECT_EQ(failure.reason, "output_format_failure");
    EXPECT_EQ(failure.message, wrong.violation);
    const std::string details = lang::value_to_json(failure.details).value();
    EXPECT_THAT(details, HasSubstr(R"("error_type":"SchemaViolation")"));
    EXPECT_THAT(details, HasSubstr(R"("location":"/1")"));
}

} // namespace
} // namespace heddle::tasks
