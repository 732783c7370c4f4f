// Rows that ask a person, and go on with the answer.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class questions : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const std::string& url,
                                                  std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o", "--base-url", url};
        all.insert(all.end(), more.begin(), more.end());
        return command(all);
    }
    [[nodiscard]] child_result answer(std::vector<std::string> more) const {
        std::vector<std::string> all{"runs", "answer", path("out.jsonl")};
        all.insert(all.end(), more.begin(), more.end());
        return run_heddle(all);
    }
    /// A call before the question, one beside it, and one after it.
    std::string approving = scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (said q) (get (ask q) 'content))\n"
        "(define (main text)\n"
        "  (let ((first (said text)))\n"
        "    (if (string=? text \"t1\")\n"
        "        (let ((both (parallel\n"
        "                (timeout 3600 (system:ask_user (question \"Which?\")\n"
        "                                               (choices '(\"red\" \"blue\"))))\n"
        "                (said \"beside\"))))\n"
        "          (list first both (said \"after\")))\n"
        "        first)))\n");
};

TEST_F(questions, park_their_rows_until_they_are_answered) {
    rows_file(3);
    model_thread model(R"({"rules": [{"match": "beside", "text": "b", "delay_ms": 300},
                                     {"match": ".*", "text": "a"}]})");
    const auto first = run_heddle(asking(model.url()));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_THAT(first.err, AllOf(HasSubstr("2 done, 1 waiting for an answer"),
                                 HasSubstr("1 row left: 'heddle runs show ")));
    EXPECT_EQ(model.counters().requests, 4U) << "the call beside the question has ended";
    EXPECT_EQ(lines_of("out.jsonl").size(), 2U);
    const auto shown = run_heddle({"runs", "show", path("out.jsonl")});
    EXPECT_THAT(shown.out, AllOf(HasSubstr("r1 asks: Which? (1 red, 2 blue)"),
                                 HasSubstr("2 done, 0 failed, 0 rejected, 1 begun")));
    const auto json = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto listed = boost::json::parse(json.out).at("questions").as_array();
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0].at("row").as_string(), "r1");
    EXPECT_EQ(listed[0].at("choices").as_array().size(), 2U);

    // Without an answer it waits again, and asks nobody else.
    const auto again = run_heddle(asking(model.url(), {"--json"}));
    EXPECT_EQ(again.code, 4) << again.err;
    EXPECT_EQ(boost::json::parse(again.out).at("rows").at("waiting").to_number<int>(), 1);
    EXPECT_EQ(model.counters().requests, 4U);
    const auto replayed = run_heddle({"runs", "replay", path("out.jsonl"), "r1"});
    EXPECT_EQ(replayed.code, 1) << replayed.out;
    EXPECT_THAT(replayed.err, HasSubstr("not recorded is 'tool system:ask_user'"));

    EXPECT_EQ(answer({"r1", "green"}).code, 2);
    EXPECT_EQ(answer({"r0", "red"}).code, 2);
    EXPECT_EQ(answer({"r1", "2", "--question", "2"}).code, 2);
    const auto refused = answer({"r1", "green", "--json"});
    EXPECT_EQ(boost::json::parse(refused.err).at("exit_code").to_number<int>(), 2);
    const auto answered = answer({"r1", "2", "--json"});
    EXPECT_EQ(answered.code, 0) << answered.err;
    EXPECT_EQ(answered.out, "{\"ok\":true,\"row\":\"r1\",\"question\":\"Which?\"}\n");
    EXPECT_EQ(answer({"r1", "2"}).code, 2) << "it has its answer";
    const auto last = run_heddle(asking(model.url()));
    EXPECT_EQ(last.code, 0) << last.err;
    EXPECT_EQ(model.counters().requests, 5U);
    expect_each_row_once(3);
    for (const auto& line : lines_of("out.jsonl")) {
        if (line.at("id").as_string() != "r1") continue;
        EXPECT_EQ(boost::json::serialize(line.at("value")), R"(["a",["blue","b"],"a"])");
    }
}

// The row was left while the question, which had lost, was about to end.
TEST_F(questions, that_lose_a_race_let_their_row_end) {
    rows_file(2);
    scratch.file("w.heddle",
                 "(define (main text)\n"
                 "  (race (system:ask_user (question \"Name?\"))\n"
                 "        (progn (sleep 0.1) text)))");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(2);
    scratch.file("w.heddle",
                 "(define (main text)\n"
                 "  (race (system:ask_user (question \"First?\"))\n"
                 "        (system:ask_user (question \"Second?\"))))");
    EXPECT_EQ(batch().code, 4);
    ASSERT_EQ(answer({"r0", "Ada", "--question", "2"}).code, 0);
    ASSERT_EQ(answer({"r1", "Bob", "--question", "1"}).code, 0);
    const auto answered = batch();
    EXPECT_EQ(answered.code, 0) << answered.err;
    EXPECT_THAT(scratch.text_of("out.jsonl"), AllOf(HasSubstr("Ada"), HasSubstr("Bob")));
}

TEST_F(questions, let_an_ordered_batch_go_on) {
    rows_file(30);
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t0\")\n"
                 "  (system:ask_user (question \"Name?\")) text))");
    const auto first = batch({"--ordered", "--window", "4"});
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_EQ(lines_of("out.jsonl").size(), 29U);
    ASSERT_EQ(answer({"r0", "Ada"}).code, 0);
    EXPECT_EQ(batch({"--ordered", "--window", "4"}).code, 0);
    expect_each_row_once(30);
}

TEST_F(questions, of_models_and_of_tools_park_their_rows_too) {
    rows_file(1);
    // Two at the same time, one of them inside of a function of the workflow, beside a call.
    scratch.file("w.heddle",
                 "(defatom slow (params) (instructions \"slow\"))\n"
                 "(deftool approve (params what) (description \"asks\")\n"
                 "  (system:ask_user (question (string-append \"May I \" what \"?\"))))\n"
                 "(deftool linger (params) (description \"waits\")\n"
                 "  (get (slow) 'content))\n"
                 "(defatom plan (params q) (instructions \"plan {{q}}\")\n"
                 "  (tools (approve linger system:ask_user)))\n"
                 "(define (main text) (get (plan (q text)) 'content))\n");
    model_thread model(R"({"rules": [
        {"match": {"user": "plan", "tool": "^$"}, "tool_calls": [
            {"name": "approve", "arguments": {"what": "go"}},
            {"name": "linger", "arguments": {}},
            {"name": "system_ask_user", "arguments": {"question": "Where?"}}]},
        {"match": "slow", "text": "slept", "delay_ms": 400},
        {"match": {"tool": "home"}, "text": "went home"},
        {"match": ".*", "text": "lost"}]})");
    const auto first = run_heddle(asking(model.url()));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_EQ(model.counters().requests, 2U) << "the slow call has ended";
    const auto shown = run_heddle({"runs", "show", path("out.jsonl")});
    EXPECT_THAT(shown.out, AllOf(HasSubstr("r0 asks: May I go?"), HasSubstr("r0 asks: Where?")));
    const bool first_is_may = shown.out.find("May I") < shown.out.find("Where?");
    EXPECT_EQ(answer({"r0", first_is_may ? "yes" : "home"}).code, 0);
    EXPECT_EQ(run_heddle(asking(model.url())).code, 4) << "the other one is open";
    EXPECT_EQ(answer({"r0", first_is_may ? "home" : "yes"}).code, 0);
    const auto last = run_heddle(asking(model.url()));
    EXPECT_EQ(last.code, 0) << last.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 3U);
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr("went home"));
}

TEST_F(questions, of_a_single_run_are_not_answered_so) {
    scratch.file("w.heddle", "(define (main) (system:ask_user (question \"Name?\")))");
    (void)run_heddle({"run", path("w.heddle"), "--run", path("one.run")});
    const auto ended = run_heddle({"runs", "answer", path("one.run"), "0", "yes"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("is one of 'heddle run', not a batch"));
}

TEST_F(questions, without_a_journal_are_refused) {
    rows_file(1);
    scratch.file("w.heddle", "(define (main text) (system:ask_user (question \"Name?\")))");
    EXPECT_EQ(batch({"--no-journal"}).code, 3);
    EXPECT_THAT(scratch.text_of("out.jsonl.failed.jsonl"),
                AllOf(HasSubstr("nobody can answer here"), HasSubstr("leave out --no-journal")));
}

} // namespace
} // namespace heddle::cli_test
