// Which turns of a conversation one execution takes part in.
#include "tasks/run/task_history.hpp"

#include "tasks_testing.hpp"

#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class task_history_unit : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* prompt : {"one", "two", "three"}) {
            talk_->record(prompt, lang::make_string(text_.memory(), std::string(397, 'a')));
        }
    }
    /// The prompts that fit, newest first. `window`: tokens of the model; four bytes are one.
    std::vector<std::string> fitting(const task_history& history,
                                     std::optional<std::int64_t> window,
                                     std::size_t prompt_bytes = 0) {
        task_session session;
        session.begin({}, task_session::default_turns, window, {}, nullptr);
        std::vector<std::string> prompts;
        for (const auto* turn : history.turns_that_fit(session, 0, prompt_bytes)) {
            prompts.push_back(turn->prompt);
        }
        return prompts;
    }
    testing::reading text_;
    std::shared_ptr<conversation> talk_ = std::make_shared<conversation>(text_.harness);
};

TEST_F(task_history_unit, without_settings_it_follows_the_form_around_the_call) {
    EXPECT_FALSE(task_history().begin({}, false));
    task_history open;
    EXPECT_TRUE(open.begin({}, true));
    EXPECT_TRUE(open.uses_turns());
    task_history closed;
    EXPECT_FALSE(closed.begin({false, std::nullopt, false}, true));
    EXPECT_FALSE(closed.uses_turns());
}

TEST_F(task_history_unit, a_task_that_only_records_uses_no_turns) {
    task_history history;
    EXPECT_TRUE(history.begin({false, std::nullopt, true}, false));
    history.join(talk_);
    EXPECT_FALSE(history.uses_turns());
    EXPECT_THAT(fitting(history, std::nullopt), IsEmpty());
}

TEST_F(task_history_unit, takes_the_newest_turns_up_to_their_number) {
    const auto with = [this](std::optional<std::int64_t> count) {
        task_history history;
        EXPECT_TRUE(history.begin({true, count, std::nullopt}, false));
        history.join(talk_);
        return fitting(history, std::nullopt);
    };
    EXPECT_THAT(with(std::nullopt), ElementsAre("three", "two", "one"));
    EXPECT_THAT(with(2), ElementsAre("three", "two"));
    EXPECT_THAT(with(0), IsEmpty());
    EXPECT_THAT(with(-1), IsEmpty());
}

TEST_F(task_history_unit, leaves_out_the_oldest_turns_that_the_window_has_no_room_for) {
    task_history history;
    ASSERT_TRUE(history.begin({}, true));
    history.join(talk_);
    // Each turn takes 100 tokens.
    EXPECT_THAT(fitting(history, 301), ElementsAre("three", "two", "one"));
    EXPECT_THAT(fitting(history, 250), ElementsAre("three", "two"));
    EXPECT_THAT(fitting(history, 250, 400), ElementsAre("three")) << "the prompt comes first";
    EXPECT_THAT(fitting(history, 50), IsEmpty());
}

TEST_F(task_history_unit, a_call_outside_of_all_conversations_neither_uses_nor_records) {
    task_history history;
    ASSERT_TRUE(history.begin({true, std::nullopt, true}, false));
    history.join(nullptr);
    EXPECT_FALSE(history.uses_turns());
    model_dialog dialog;
    dialog.begin("");
    dialog.ask("q");
    history.record(dialog, text_.json(R"({"content": "a"})"));
    EXPECT_EQ(dialog.prompt(), "q") << "not moved from";
}

TEST_F(task_history_unit, records_the_prompt_with_a_content_that_is_a_string) {
    task_history history;
    ASSERT_TRUE(history.begin({false, std::nullopt, true}, false));
    history.join(talk_);
    model_dialog dialog;
    dialog.begin("");
    dialog.ask("q");
    history.record(dialog, text_.json(R"({"content": null})"));
    EXPECT_EQ(talk_->size(), 3U);
    history.record(dialog, text_.json(R"({"content": "a"})"));
    ASSERT_EQ(talk_->size(), 4U);
    EXPECT_EQ(talk_->last(1).front()->prompt, "q");
}

} // namespace
} // namespace heddle::tasks
