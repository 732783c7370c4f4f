// What tasks of a session receive of earlier ones.
#include "tasks/run/conversation.hpp"
#include "tasks_testing.hpp"

#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::IsEmpty;

constexpr auto ask = "(defatom ask (params q) (instructions \"{{q}}\")) ";

/// Answers "re: …" after a time that the prompt names ("a 30": 30 ms).
class talk : public harness {
public:
    talk() {
        llm.replies.push_back([](const ports::chat_request& asked) -> result<ports::chat_response> {
            ports::chat_response response;
            response.text = "re: " + asked.messages.back().text;
            return response;
        });
    }
    /// `ask` and the body of a conversation.
    std::string converse(const std::string& body) {
        return json(std::string(ask) + "(with ((conversation true)) " + body + ")");
    }
    /// The conversation that the request with this prompt carried, prompts only.
    std::vector<std::string> before(const std::string& prompt) {
        for (const ports::chat_request& each : llm.asked) {
            if (each.messages.back().text != prompt) continue;
            std::vector<std::string> said;
            for (std::size_t i = 0; i + 1 < each.messages.size(); i += 2) {
                said.push_back(each.messages[i].text);
                EXPECT_EQ(each.messages[i + 1].role, ports::chat_role::assistant);
                EXPECT_EQ(each.messages[i + 1].text, "re: " + each.messages[i].text);
            }
            return said;
        }
        ADD_FAILURE() << "nobody asked " << prompt;
        return {};
    }
};

TEST(history, a_task_sees_earlier_ones) {
    talk w;
    EXPECT_EQ(w.converse("(ask \"a\") (ask \"b\") 1"), "1");
    EXPECT_THAT(w.before("a"), IsEmpty());
    EXPECT_THAT(w.before("b"), ElementsAre("a"));
    // It ended with the form, and the next one begins empty.
    EXPECT_EQ(w.json("(ask \"c\") (ask \"d\") (with ((conversation true)) (ask \"e\")) 1"), "1");
    EXPECT_THAT(w.before("c"), IsEmpty());
    EXPECT_THAT(w.before("d"), IsEmpty());
    EXPECT_THAT(w.before("e"), IsEmpty());
}

TEST(history, is_off_unless_a_workflow_asks_for_it) {
    talk w;
    EXPECT_EQ(
        w.json(std::string(ask) +
               "(ask \"a\") (map ask '(\"b\" \"c\")) (ask \"d\") "
               "(ask (q \"kept\") (history_config '((record_in_session_history true)))) "
               "(ask \"e\") (ask (q \"f\") (history_config '((use_session_history true)))) 1"),
        "1");
    for (const char* one : {"a", "b", "c", "d", "kept", "e"}) EXPECT_THAT(w.before(one), IsEmpty());
    EXPECT_THAT(w.before("f"), ElementsAre("kept")) << "what was recorded on purpose";
    EXPECT_EQ(w.observer.earlier_turns, 1U);
}

TEST(history, forms_inside_each_other) {
    talk w;
    EXPECT_EQ(w.converse("(ask \"a\") (with ((conversation true)) (ask \"b\") (ask \"c\")) "
                         "(with ((conversation false)) (ask \"d\") (ask (q \"e\") (history_config "
                         "'((use_session_history true))))) (ask \"f\") 1"),
              "1");
    EXPECT_THAT(w.before("b"), IsEmpty());
    EXPECT_THAT(w.before("c"), ElementsAre("b"));
    EXPECT_THAT(w.before("d"), IsEmpty());
    EXPECT_THAT(w.before("e"), IsEmpty());
    EXPECT_THAT(w.before("f"), ElementsAre("a"));
    EXPECT_THAT(w.json("(with ((conversation 1)) 1)"), ::testing::HasSubstr("true or false"));
}

TEST(history, one_form_in_each_branch_and_spawned_ones_do_not_mix) {
    talk w;
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.json(std::string(ask) +
                     "(map (lambda (p) (with ((conversation true)) (ask p) (ask (string-append p "
                     "\"2\")) (map ask (list (string-append p \"3\"))))) '(\"x\" \"y\")) 1"),
              "1");
    EXPECT_THAT(w.before("x2"), ElementsAre("x"));
    EXPECT_THAT(w.before("y3"), ElementsAre("y", "y2"));
    // Futures of one scope, spawned in two conversations.
    EXPECT_EQ(w.json("(define (go) (let ((f (with ((conversation true)) (ask \"p\") (spawn (ask "
                     "\"s\")))) (g (with ((conversation true)) (ask \"q\") (spawn (ask \"t\"))))) "
                     "(await f) (await g) (ask \"end\"))) (go) 1"),
              "1");
    EXPECT_THAT(w.before("s"), ElementsAre("p"));
    EXPECT_THAT(w.before("t"), ElementsAre("q"));
    EXPECT_THAT(w.before("end"), IsEmpty());
}

TEST(history, of_a_sandbox_is_its_own) {
    talk w;
    EXPECT_EQ(w.converse("(ask \"a\") (sandbox ((allow (ask))) (ask \"b\") (ask \"c\") (with "
                         "((conversation true)) (ask \"d\") (ask \"e\"))) (ask \"f\") 1"),
              "1");
    EXPECT_THAT(w.before("b"), IsEmpty());
    EXPECT_THAT(w.before("c"), IsEmpty());
    EXPECT_THAT(w.before("e"), ElementsAre("d"));
    EXPECT_THAT(w.before("f"), ElementsAre("a"));
}

TEST(history, a_task_or_a_call_may_keep_out_of_it) {
    talk w;
    EXPECT_EQ(
        w.converse(
            "(ask \"a\") (ask (q \"b\") (history_config '((record_in_session_history false)))) "
            "(ask \"c\") (ask (q \"d\") (history_config '((use_session_history false)))) "
            "(ask (q \"e\") (history_config '((history_turns_to_include 1)))) 1"),
        "1");
    EXPECT_THAT(w.before("c"), ElementsAre("a"));
    EXPECT_THAT(w.before("d"), IsEmpty());
    EXPECT_THAT(w.before("e"), ElementsAre("d"));
}

TEST(history, failed_tasks_are_not_recorded) {
    talk w;
    w.llm.replies.clear();
    w.llm.break_with(ports::llm_errc::server, "broken");
    w.llm.say("x");
    EXPECT_EQ(w.converse("(ask \"a\") (ask \"b\") 1"), "1");
    EXPECT_EQ(w.llm.asked[1].messages.size(), 1U);
}

TEST(history, branches_see_what_was_there_when_they_began_and_record_in_their_order) {
    talk w;
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.converse("(ask \"a\") (map (lambda (p) (sleep (second p)) (ask (first p)) "
                         "(ask (string-append (first p) \"2\"))) "
                         "'((\"x\" 0.03) (\"y\" 0.0) (\"z\" 0.01))) (ask \"end\") 1"),
              "1");
    EXPECT_THAT(w.before("x"), ElementsAre("a"));
    EXPECT_THAT(w.before("y"), ElementsAre("a"));
    EXPECT_THAT(w.before("z2"), ElementsAre("a", "z"));
    EXPECT_THAT(w.before("end"), ElementsAre("a", "x", "x2", "y", "y2", "z", "z2"));
}

TEST(history, nested_branches) {
    talk w;
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.converse("(map (lambda (p) (ask p) (parallel (ask (string-append p \"1\")) "
                         "(ask (string-append p \"2\"))) (ask (string-append p \"3\"))) "
                         "'(\"x\" \"y\")) (ask \"end\") 1"),
              "1");
    EXPECT_THAT(w.before("x1"), ElementsAre("x"));
    EXPECT_THAT(w.before("y3"), ElementsAre("y", "y1", "y2"));
    EXPECT_THAT(w.before("end"), ElementsAre("x", "x1", "x2", "x3", "y", "y1", "y2", "y3"));
}

TEST(history, of_a_race_the_winner_counts_and_of_a_failed_map_what_was_answered) {
    talk w;
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.converse("(race (progn (ask \"slow\") (sleep 10) 1) (ask \"fast\")) "
                         "(ask \"end\") 1"),
              "1");
    EXPECT_THAT(w.before("end"), ElementsAre("fast"));
    talk failed;
    EXPECT_EQ(
        failed.converse("(try (map (lambda (p) (ask p) (if (equal? p \"y\") (progn (sleep 0.02) "
                        "(error \"no\")) 1)) '(\"x\" \"y\")) (catch (e) nil)) (ask \"end\") 1"),
        "1");
    EXPECT_THAT(failed.before("end"), ElementsAre("x", "y"));
}

TEST(history, spawned_branches_record_when_they_are_awaited) {
    talk w;
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.converse("(define (go) (let ((f (spawn (progn (sleep 0.005) (ask \"s\"))))) "
                         "(ask \"a\") (sleep 0.02) (ask \"b\") (await f) (ask \"c\"))) (go) "
                         "(define (leave) (spawn (ask \"t\")) (sleep 0.01) 1) (leave) "
                         "(ask \"end\") 1"),
              "1");
    EXPECT_THAT(w.before("s"), IsEmpty());
    EXPECT_THAT(w.before("b"), ElementsAre("a"));
    EXPECT_THAT(w.before("c"), ElementsAre("a", "b", "s"));
    EXPECT_THAT(w.before("end"), ElementsAre("a", "b", "s", "c", "t"));
}

TEST(history, tools_and_prompt_calls_have_no_part_in_it) {
    talk w;
    EXPECT_EQ(w.converse("(ask \"a\") (defatom outer (params) (instructions "
                         "\"<{{ask('in')}}>\")) (outer) (ask \"end\") 1"),
              "1");
    EXPECT_THAT(w.before("in"), IsEmpty());
    EXPECT_THAT(w.before("end"), ElementsAre("a", "<re: in>"));
}

TEST(history, a_map_over_many_keeps_the_last_turns_only) {
    talk w;
    EXPECT_EQ(w.converse("(map (lambda (i) (ask i)) (range 3000)) (ask \"end\") 1"), "1");
    const auto said = w.before("end");
    ASSERT_EQ(said.size(), conversation::max_turns);
    EXPECT_EQ(said.front(), "2900");
    EXPECT_EQ(said.back(), "2999");
}

TEST(history, is_bounded_in_bytes) {
    lang::realm harness;
    conversation said(harness);
    const lang::value response = lang::make_string(harness.memory(), "yes");
    for (int i = 0; i < 10; ++i) said.record(std::string(300'000, 'x'), response);
    EXPECT_EQ(said.size(), 3U);
    said.record(std::string(2'000'000, 'x'), response);
    EXPECT_EQ(said.size(), 0U);
}

} // namespace
} // namespace heddle::tasks
