// The library's workflow patterns with tasks on the scripted model: good responses, garbage,
// faults, slow responses that are cancelled, limits.
#include "tasks_testing.hpp"
#include "test_paths.hpp"

#include <heddle/scripted/provider.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace heddle::tasks {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// An engine with one session whose tasks run on a model of rules.
class application {
public:
    application(const std::string& rules, std::string_view module) {
        auto parsed = scripted::engine::parse(rules, "rules.json");
        if (!parsed) throw std::runtime_error(parsed.error().message());
        scripted::provider_options options;
        options.retry.max_retries = options.retry.max_rate_limit_retries = 0;
        llm = scripted::make_provider(*parsed, options, log);
        models.add(*llm);
        EXPECT_TRUE(models.set_default("scripted"));
        task_system_parts tasks;
        tasks.models = &models;
        tasks.observer = &observer;
        host::engine_parts parts;
        parts.log = &log;
        parts.operators = operators(std::move(tasks));
        engine.emplace(runner.loop, std::move(parts));
        session = engine->new_session().value();
        EXPECT_EQ(json("(define (at m . ks) (map (lambda (k) (get m k)) ks)) (import std/" +
                       std::string(module) + ") 1"),
                  "1");
    }

    std::string json(std::string text) {
        return testing::json_of(runner.run(session->evaluate("test", std::move(text))));
    }

    loopback::runner runner;
    testing::counting_observer observer;
    testing::keeping_log log;
    std::unique_ptr<ports::llm_port> llm;
    model_registry models;
    std::optional<host::engine> engine;
    std::unique_ptr<host::session> session;
};

constexpr auto voters = R"json({"rules": [
    {"match": "voter 2", "error": {"status": 400, "message": "Broken."}},
    {"match": "voter 3", "text": ""},
    {"match": "voter [17]", "text": "It is 12."},
    {"match": "voter [456]", "text": "13"},
    {"match": "voter 8", "delay_ms": 600000, "text": "13"},
    {"match": "all fail", "error": {"status": 400, "message": "Down."}},
    {"match": "slow", "delay_ms": 600000, "text": "late"}],
    "default": {"text": "42"}})json";

constexpr auto ask =
    "(defatom ask (params question (number optional)) "
    "(instructions \"{{question}}: voter {{number}}\"))";

TEST(std_voting, counts_the_answers_of_a_task) {
    application w(voters, "voting");
    EXPECT_EQ(
        w.json(std::string(ask) +
               "(let ((v (majority-vote ask \"5+8\" 7 (dict 'numbered true 'stop-early "
               "false)))) (list (at v 'answer 'votes 'confidence 'counts 'calls) (map (lambda "
               "(one) (at one 'number 'reason)) (get v 'failed))))"),
        R"([["13",3,0.6,{"it is 12":2,"13":3},7],[[2,"llm_error"],[3,"empty_answer"]]])");
    EXPECT_EQ(w.observer.started, 7);
}

TEST(std_voting, a_certain_majority_cancels_the_calls_that_still_run) {
    application w(voters, "voting");
    // Not after the last of them: the runner gives up long before.
    EXPECT_EQ(w.json(std::string(ask) +
                     "(at (majority-vote (lambda (q i) (ask q (nth '(4 5 6 8 8) (- i 1)))) \"5+8\" "
                     "5 (dict 'numbered true)) 'answer 'votes 'calls 'stopped-early)"),
              R"(["13",3,3,true])");
    EXPECT_EQ(w.observer.started, w.observer.finished);
}

TEST(std_voting, all_failed_raises_their_reasons) {
    application w(voters, "voting");
    EXPECT_THAT(w.json(std::string(ask) + "(majority-vote ask \"all fail\" 3)"),
                ::testing::AllOf(StartsWith("UserError: majority-vote: all 3 samples failed: "),
                                 HasSubstr("Down.")));
    EXPECT_THAT(w.json("(with ((on-failure 'raise)) (majority-vote ask \"all fail\" 3))"),
                StartsWith("UserError: majority-vote: all 3 samples failed: "));
}

TEST(std_voting, a_mistake_in_the_workflow_is_reported_at_once) {
    application w(voters, "voting");
    const std::string shown = w.json(
        "(defatom picky (params a b) (instructions \"{{a}} {{b}}\")) "
        "(majority-vote picky \"?\" 2)");
    EXPECT_THAT(shown, ::testing::AllOf(StartsWith("UserError: "), HasSubstr("picky")));
    EXPECT_THAT(shown, ::testing::Not(HasSubstr("samples failed")))
        << "no sample would fare better";
    EXPECT_EQ(w.json("(try (majority-vote picky \"?\" 2) (catch (e) (get-in e '(data 0 reason))))"),
              "\"input_validation_failure\"");
}

TEST(std_voting, runs_with_a_concurrency_of_one_and_ends_with_its_time) {
    application w(voters, "voting");
    EXPECT_EQ(w.json(std::string(ask) +
                     "(at (with ((concurrency 1)) (majority-vote ask \"6*7\" 5)) 'answer 'calls)"),
              R"(["42",3])");
    EXPECT_THAT(w.json("(with ((timeout 0.05)) (majority-vote ask \"slow\" 3))"),
                StartsWith("TimeoutError"));
}

TEST(std_best_of, asks_a_judge_task) {
    application w(R"json({"rules": [
        {"match": "Write (?P<n>[13])", "template": "text {{n}}"},
        {"match": "Write 2", "error": {"status": 500, "message": "Broken."}},
        {"match": "Write 4", "text": "text 4"},
        {"match": "Score text 1", "json": {"score": 4}},
        {"match": "Score text 3", "error": {"status": 500, "message": "Busy.", "times": 1},
         "json": {"score": 9}},
        {"match": "Score text 4", "text": "Splendid! A hundred."}]})json",
                  "best-of");
    EXPECT_EQ(w.json("(defatom write (params topic number) (instructions \"Write {{number}} on "
                     "{{topic}}\")) (defatom score (params topic text) (instructions \"Score "
                     "{{text}}\") (output_format ((type \"json\")))) (let ((b (best-of write score "
                     "\"looms\" 4 (dict 'numbered true 'range '(0 10))))) (list (at b 'answer "
                     "'score 'number 'calls) (map (lambda (one) (at one 'number 'score 'tries)) "
                     "(get b 'candidates)) (map (lambda (one) (get one 'number)) (get b "
                     "'failed))))"),
              R"([["text 3",9,3,9],[[1,4,1],[3,9,2],[4,null,2]],[2]])");
}

TEST(std_refine, goes_round_with_tasks) {
    application w(R"json({"rules": [
        {"match": "^Draft", "text": "one"},
        {"match": "^Judge one$", "json": {"accept": false, "feedback": "add two"}},
        {"match": "^Judge one two$", "error": {"status": 500, "message": "Busy.", "times": 1},
         "text": "```json\n{\"accept\": \"true\", \"feedback\": \"add three\"}\n```"},
        {"match": "^Judge one two three", "json": {"accept": true}},
        {"match": "^Revise one with add two", "text": "one two"},
        {"match": "^Revise one two with add three", "text": "one two three"}]})json",
                  "refine");
    w.json(
        "(defatom draft (params topic) (instructions \"Draft {{topic}}\"))"
        "(defatom judge (params topic text) (instructions \"Judge {{text}}\"))"
        "(defatom revise (params topic text advice) (instructions \"Revise {{text}} with "
        "{{advice}}\"))");
    EXPECT_EQ(w.json("(let ((r (refine-until draft judge revise \"counting\" (dict 'max-rounds "
                     "5)))) (list (at r 'answer 'accepted 'rounds 'calls) (map (lambda (h) (at h "
                     "'draft 'failed)) (get r 'history))))"),
              R"([["one two three",true,4,7],[["one",null],["one two","critic"],["one two",null],)"
              R"(["one two three",null]]])");
}

TEST(std_verification, checks_a_draft_with_tasks) {
    application w(R"json({"rules": [
        {"match": "^Draft", "text": "Looms were built in 1801 and 1804."},
        {"match": "^Plan", "json": ["When was it shown?", "When was it built?", "By whom?"]},
        {"match": "^Answer When was it shown", "text": "In 1801."},
        {"match": "^Answer When was it built", "text": "In 1804."},
        {"match": "^Answer By whom", "error": {"status": 500, "message": "Busy."}},
        {"match": "(?s)^Revise.*1801.*1804", "text": "Shown in 1801, built in 1804."}]})json",
                  "verification");
    EXPECT_EQ(w.json("(defatom draft (params q) (instructions \"Draft {{q}}\"))"
                     "(defatom plan (params q text) (instructions \"Plan {{text}}\") "
                     "(output_format ((type \"json\") (schema \"string[]\"))))"
                     "(defatom answer (params question) (instructions \"Answer {{question}}\"))"
                     "(defatom revise (params q text findings) (instructions \"Revise {{text}} by "
                     "{{findings}}\"))"
                     "(let ((v (verify-chain draft plan answer revise \"looms\"))) (list (at v "
                     "'answer 'revised 'calls) (map (lambda (one) (get one 'answer)) (get v "
                     "'findings)) (map (lambda (one) (get one 'question)) (get v 'unanswered))))"),
              R"([["Shown in 1801, built in 1804.",true,6],["In 1801.","In 1804."],["By whom?"]])");
}

TEST(std_tournament, asks_a_judge_task_both_ways) {
    application w(R"json({"rules": [
        {"match": "A: gold", "json": {"winner": "A"}},
        {"match": "B: gold", "json": {"winner": "B"}},
        {"match": "A: tin B: lead", "text": "Winner: A"},
        {"match": "A: lead B: tin", "error": {"status": 500, "message": "Busy."}}],
        "default": {"text": "Winner: A"}})json",
                  "tournament");
    EXPECT_EQ(w.json("(defatom judge (params a b) (instructions \"A: {{a}} B: {{b}}\"))"
                     "(let ((t (tournament judge '(\"tin\" \"gold\" \"lead\" \"zinc\") (dict "
                     "'both-ways true)))) (list (at t 'answer 'calls 'failed) (map (lambda (one) "
                     "(at one 'candidate 'points)) (get t 'ranking))))"),
              R"([["gold",12,[]],[["gold",3],["tin",1.5],["zinc",1.0],["lead",0.5]]])");
    EXPECT_THAT(w.json("(tournament (lambda (a b) (judge b a)) '(\"tin\" \"lead\"))"),
                HasSubstr("Busy."));
}

TEST(std_map_reduce, reads_a_long_text_with_tasks) {
    application w(R"json({"rules": [
        {"match": "^Read.*chapter 5", "error": {"status": 500, "message": "Busy."}},
        {"match": "^Read", "template": "{{first:chapter (\\d+)}}"},
        {"match": "(?s)^Join", "template": "{{first:(\\d+)}}-{{last:(\\d+)}}"}]})json",
                  "map-reduce");
    w.json(
        "(defatom read-part (params text) (instructions \"Read {{text}}\"))"
        "(defatom join (params parts) (instructions \"Join {{parts}}\"))"
        "(define book (string-join (map (lambda (i) (format \"chapter {}\" i)) (range 1 13)) "
        "\"\\n\\n\"))");
    EXPECT_EQ(w.json("(at (map-reduce-text read-part join book (dict 'tokens 3 'on-failure 'skip)) "
                     "'answer 'chunks 'levels 'calls 'skipped)"),
              R"(["1-12",12,[11,3,2],17,[{"chunk":5,"reason":"llm_error","message":)"
              R"("scripted: service error (HTTP 500, server_error): Busy."}]])");
    EXPECT_THAT(w.json("(map-reduce-text read-part join book (dict 'tokens 3))"),
                StartsWith("UserError: map-reduce-text: 1 of 12 chunks failed: scripted:"));
}

// ---------------------------------------------------------------- conversations

struct pattern {
    std::string module;
    std::string call; ///< of (ask PROMPT) in each phase
};

const std::vector<pattern> patterns{
    {"best-of",
     "(best-of (lambda (q) (content (ask \"make\"))) (lambda (q x) (ask \"judge\") 5) \"in\" 3)"},
    {"map-reduce",
     "(map-reduce-text (lambda (chunk) (content (ask (string-append \"map \" chunk)))) (lambda "
     "(parts) "
     "(ask \"reduce\") \"x\") \"One two three. Four five six. Seven eight nine.\" (dict 'tokens "
     "10))"},
    {"refine",
     "(refine-until (lambda (q) (content (ask \"draft\"))) (lambda (q d) (ask \"criticise\") "
     "false) "
     "(lambda (q d f) (content (ask \"revise\"))) \"in\" (dict 'accepted? (lambda (v) (ask "
     "\"accept\") "
     "false)))"},
    {"tournament", "(tournament (lambda (a b) (ask \"compare\") 1) '(1 2 3))"},
    {"verification",
     "(verify-chain (lambda (q) (content (ask \"draft\"))) (lambda (q d) (ask \"plan\") '(\"a?\" "
     "\"b?\")) (lambda (q) (content (ask \"check\"))) (lambda (q d f) (content (ask \"revise\"))) "
     "\"in\")"},
    {"voting",
     "(majority-vote (lambda (q) (content (ask \"sample\"))) \"in\" 3 (dict 'normalise (lambda (x) "
     "(ask "
     "\"compare\") x)))"},
};

TEST(std_patterns, neither_see_a_conversation_nor_add_to_one) {
    for (const pattern& each : patterns) {
        testing::harness w;
        int said = 0;
        w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
            ports::chat_response response;
            response.text = "response " + std::to_string(++said);
            return response;
        });
        EXPECT_EQ(w.json("(import std/" + each.module +
                         ") (defatom ask (params q) (instructions \"{{q}}\")) (with ((conversation "
                         "true)) (ask \"before\") " +
                         each.call + " (ask \"after\") 1)"),
                  "1")
            << each.module;
        ASSERT_GE(w.llm.asked.size(), 5U) << each.module;
        for (std::size_t i = 0; i + 1 < w.llm.asked.size(); ++i) {
            EXPECT_EQ(w.llm.asked[i].messages.size(), 1U)
                << each.module << ": " << w.llm.asked[i].messages.back().text;
        }
        const auto& after = w.llm.asked.back().messages;
        ASSERT_EQ(after.size(), 3U) << each.module;
        EXPECT_EQ(after[0].text, "before");
        EXPECT_EQ(after[2].text, "after");
    }
}

TEST(std_patterns, are_all_in_the_table) {
    const std::filesystem::path folder =
        std::filesystem::path(heddle::test_paths::source_folder()) / "async_core/src/lang/stdlib";
    std::vector<std::string> calling;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(file.path());
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        // What calls the functions of a workflow and takes its failures goes through this module.
        if (text.find("(import std/attempts)") != std::string::npos)
            calling.push_back(file.path().stem().string());
    }
    std::sort(calling.begin(), calling.end());
    std::vector<std::string> known;
    for (const pattern& each : patterns) known.push_back(each.module);
    EXPECT_EQ(calling, known);
}

} // namespace
} // namespace heddle::tasks
