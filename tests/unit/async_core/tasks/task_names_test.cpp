// Calls of tasks that are defined elsewhere, and inputs that are misspelt.
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;

TEST(task_names, a_call_may_be_above_the_definition) {
    harness w;
    w.llm.say("hello");
    EXPECT_EQ(w.json("(define (main topic) (content (writer (topic topic))))"
                     "(defatom writer (params topic) (instructions \"Write about {{topic}}\"))"
                     "(main \"looms\")"),
              "\"hello\"");
    EXPECT_EQ(w.llm.asked.back().messages.back().text, "Write about looms");
    EXPECT_EQ(w.json("(define (main2) (content (inner (x 5))))"
                     "(defatom inner (params x) (instructions \"in {{x}}\")) (main2)"),
              "\"hello\"");
    EXPECT_EQ(w.llm.asked.back().messages.back().text, "in 5");
}

TEST(task_names, also_inside_a_function) {
    harness w;
    w.llm.say("hello");
    EXPECT_EQ(w.json("(define (main) (define (ask) (content (inner (x 5))))"
                     " (defatom inner (params x) (instructions \"in {{x}}\")) (ask)) (main)"),
              "\"hello\"");
    EXPECT_EQ(w.llm.asked.back().messages.back().text, "in 5");
}

TEST(task_names, a_task_is_found_outside_of_the_scope_of_its_name) {
    harness w;
    w.llm.say("hello");
    EXPECT_EQ(w.json("(let ((q 1)) (defatom inner (params x) (instructions \"in {{x}}\")))"
                     "(content (inner (x 5)))"),
              "\"hello\"");
    EXPECT_EQ(w.llm.asked.back().messages.back().text, "in 5");
}

TEST(task_names, misspelt_inputs_are_named) {
    harness w;
    EXPECT_THAT(w.json("(defatom s (params text style) (instructions \"{{text}} {{style}}\"))"
                       "(s (txt \"x\") (style \"y\"))"),
                HasSubstr("no such input: txt"));
    EXPECT_THAT(w.json("(defatom s2 (params text) (instructions \"{{text}}\")) (s2 (txt \"x\"))"),
                HasSubstr("no such input: txt"));
    // A function of the program is one, however near its name is.
    w.llm.say("hello");
    EXPECT_EQ(w.json("(define (texts x) x) (defatom s3 (params text) (instructions \"{{text}}\"))"
                     "(content (s3 (texts \"x\")))"),
              "\"hello\"");
}

TEST(task_names, a_clause_that_no_call_has_is_shown_with_its_place) {
    harness w;
    const auto ended = w.run("(defatom q (params x) (instructions \"{{x}}\"))\n(q (x 1) (seed 7))");
    ASSERT_FALSE(ended);
    const std::string shown = w.session->render(ended.error());
    EXPECT_THAT(shown, HasSubstr("test:2:10"));
    EXPECT_THAT(shown, HasSubstr("write (with ((seed …)) …) around it"));
    EXPECT_THAT(w.json("(q (zzzzz 1) (x 2))"), HasSubstr("no such input: zzzzz"));
}

TEST(task_names, a_tool_can_be_called_like_a_function) {
    harness w;
    EXPECT_EQ(w.json("(deftool pair (params (n any) (i any)) (description \"d\") (list n i))"
                     "(director-evaluator-loop (max-iterations 1) (initial-director-input 1)"
                     " (director (lambda (a i) a)) (executor pair) (evaluator (lambda (r p i) r))"
                     " (controller (lambda (f p r i) (list 'stop r))))"),
              "[1,1]");
    EXPECT_EQ(w.json("(deftool twice (params (n integer)) (description \"d\") (* n 2))"
                     "(map twice '(1 2))"),
              "[2,4]");
    EXPECT_THAT(w.json("(map (lambda (f) (f 1 2)) (list twice))"),
                HasSubstr("takes 1 input, not 2"));
}

} // namespace
} // namespace heddle::tasks
