#include "tasks_testing.hpp"

#include <heddle/tasks/definition/task_matcher.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;

TEST(words_of, are_lower_case_without_stop_words_and_once_each) {
    EXPECT_THAT(words_of("The review of a Review, C++ code_review: 3 files!"),
                ElementsAre("3", "c", "code", "files", "review"));
    EXPECT_THAT(words_of("Überprüfe das"), ElementsAre("das", "Überprüfe"));
    EXPECT_TRUE(words_of("of the and").empty());
    EXPECT_TRUE(words_of("").empty());
}

TEST(task_matcher, scores_are_jaccard_indexes) {
    task_matcher all;
    all.put(1, "review code for bugs");
    all.put(2, "translate text");
    all.put(3, "review text");
    const auto found = all.find("Review the code", 0);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].number, 1U);
    EXPECT_DOUBLE_EQ(found[0].score, 2.0 / 3); // review code | review code bugs
    EXPECT_DOUBLE_EQ(found[1].score, 1.0 / 3); // review | review text code
    EXPECT_EQ(all.find("Review the code", 0.5).size(), 1U);
    EXPECT_EQ(all.find("review code bugs", 1).size(), 1U);
    EXPECT_TRUE(all.find("nothing known", 0).empty());
    EXPECT_TRUE(all.find("", 0).empty());
}

TEST(task_matcher, forgets_what_is_replaced_and_stays_small) {
    task_matcher all;
    all.put(7, "stays here");
    for (int i = 0; i < 10'000; ++i) all.put(1, "word" + std::to_string(i) + " common");
    EXPECT_TRUE(all.find("word1", 0).empty());
    EXPECT_EQ(all.find("word9999", 0).size(), 1U);
    EXPECT_EQ(all.find("common", 0).size(), 1U);
    EXPECT_EQ(all.find("stays here", 0).at(0).number, 7U);
    all.remove(1);
    all.remove(1);
    EXPECT_TRUE(all.find("common", 0).empty());
}

std::vector<std::string> names_of(const std::vector<matching_task>& found) {
    std::vector<std::string> names;
    for (const matching_task& each : found) names.push_back(each.found->task->declared.name);
    return names;
}

TEST(task_registry, matches_best_first_ties_by_name_and_hints_before_all) {
    task_registry all;
    const auto add = [&](std::string name, std::string description, std::string subtype) {
        task_template declared;
        declared.name = std::move(name);
        declared.description = std::move(description);
        declared.subtype = std::move(subtype);
        all.add({compile_task(std::move(declared)).value(), {}});
    };
    add("zeta", "summarise a text", "standard");
    add("alpha", "summarise a text", "standard");
    add("plan", "plan the work", "director");
    add("judge", "is the summary of a text good", "evaluator");
    EXPECT_THAT(names_of(all.find_matching_tasks("summarise this text", 0.1)),
                ElementsAre("alpha", "zeta", "judge"));
    EXPECT_THAT(names_of(all.find_matching_tasks("summarise this text", 0.9)),
                ElementsAre("alpha", "zeta"));
    EXPECT_THAT(names_of(all.find_matching_tasks("summarise this text", 0.9, {"ZETA"})),
                ElementsAre("zeta", "alpha"));
    const auto hinted =
        all.find_matching_tasks("summarise this text", 0.9, {"atomic:director", "nobody"});
    EXPECT_THAT(names_of(hinted), ElementsAre("plan", "alpha", "zeta"));
    EXPECT_TRUE(hinted[0].hinted);
    EXPECT_EQ(hinted[0].score, 0);
    add("alpha", "something else", "standard");
    EXPECT_THAT(names_of(all.find_matching_tasks("summarise text", 0.5)), ElementsAre("zeta"));
}

} // namespace
} // namespace heddle::tasks
