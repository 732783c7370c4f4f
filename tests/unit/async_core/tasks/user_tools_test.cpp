// system:ask_user.
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct person {
    std::vector<user_question> asked;
    result<std::string> answer = std::string("blue");
    std::chrono::milliseconds delay{0};

    [[nodiscard]] task_system_parts parts() {
        task_system_parts task;
        task.ask_user = [this](user_question question, coro::call_context context) {
            return reply(std::move(question), context);
        };
        return task;
    }
    coro::task<result<std::string>> reply(user_question question, coro::call_context context) {
        asked.push_back(std::move(question));
        const auto slept = co_await coro::sleep_until(context, context.loop->now() + delay);
        if (!slept) co_return slept.error();
        co_return answer;
    }
};

TEST(ask_user, returns_the_answer_of_a_person) {
    person somebody;
    harness w({}, somebody.parts());
    EXPECT_EQ(
        w.json("(system:ask_user (question \"Which?\") (choices '(\"red\" \"blue\")) (default "
               "\"red\"))"),
        "\"blue\"");
    ASSERT_EQ(somebody.asked.size(), 1U);
    EXPECT_EQ(somebody.asked[0].text, "Which?");
    EXPECT_THAT(somebody.asked[0].choices, ElementsAre("red", "blue"));
    EXPECT_EQ(somebody.asked[0].fallback, "red");
    somebody.answer = std::string();
    EXPECT_EQ(w.json("(ask-user (question \"Which?\") (default \"red\"))"), "\"red\"");
    EXPECT_EQ(w.json("(ask-user (question \"Which?\"))"), "\"\"");
}

TEST(ask_user, reports_what_is_wrong) {
    person somebody;
    harness w({}, somebody.parts());
    EXPECT_THAT(w.json("(ask-user (question \"Q\") (choices '(\"a\")))"),
                HasSubstr("\"blue\" is not one of the choices"));
    EXPECT_THAT(w.json("(ask-user (question \"Q\") (choices '(\"a\")) (default \"b\"))"),
                HasSubstr("the default \"b\" is not one of the choices"));
    EXPECT_THAT(w.json("(ask-user (question 7))"), HasSubstr("question"));
    somebody.answer = error(heddle::errc::io_error, "gone");
    EXPECT_THAT(w.json("(ask-user (question \"Q\"))"), HasSubstr("gone"));
    harness alone;
    EXPECT_THAT(alone.json("(ask-user (question \"Q\") (default \"x\"))"),
                StartsWith("PermissionError: system:ask_user: nobody can answer here"));
}

TEST(ask_user, ends_with_its_time_and_needs_leave_in_a_sandbox) {
    person somebody;
    somebody.delay = std::chrono::hours(1);
    harness w({}, somebody.parts());
    EXPECT_THAT(w.json("(timeout 0.02 (ask-user (question \"Q\")))"), StartsWith("TimeoutError"));
    somebody.delay = std::chrono::milliseconds(0);
    EXPECT_THAT(w.json("(sandbox () (eval '(system:ask_user (question \"password?\"))))"),
                StartsWith("PermissionError: 'system:ask_user'"));
    EXPECT_EQ(somebody.asked.size(), 1U);
}

TEST(ask_user, is_offered_to_a_model_that_lists_it) {
    person somebody;
    harness w({}, somebody.parts());
    int turn = 0;
    w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        if (turn++ == 0) {
            response.tool_calls.push_back({"1", "system_ask_user", R"({"question":"Which?"})"});
            response.finish = ports::finish_reason::tool_calls;
        } else {
            response.text = "done";
        }
        return response;
    });
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (tools (system:ask_user))) (content "
                     "(t))"),
              "\"done\"");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[1].messages.back().text, "blue");
    ASSERT_EQ(w.llm.asked[0].tools.size(), 1U);
    EXPECT_THAT(w.llm.asked[0].tools[0].parameters_json, HasSubstr("choices"));
}

} // namespace
} // namespace heddle::tasks
