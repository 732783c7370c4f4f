// What was paid for is never thrown away, and is reported the same everywhere: by results, by the
// budget, by the summary, and by --json.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <cstdio>
#include <fstream>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [
  {"match": "twice", "text": "at last", "usage": {"input": 1000, "output": 500},
   "error": {"status": 500, "message": "broken", "times": 2}},
  {"match": "broken", "text": "x", "error": {"status": 500, "message": "broken"}},
  {"match": "refused", "text": "x", "error": {"status": 400, "message": "no"}},
  {"match": "silent", "text": "sent without any usage", "usage": null},
  {"match": "plain", "text": "plain", "usage": {"input": 1000, "output": 500}},
  {"match": "no number", "text": "PRECIOUS words", "usage": {"input": 1000, "output": 500}},
  {"match": "delayed", "text": "delayed", "delay_ms": 5000},
  {"match": "slow", "text": "PRECIOUS slow words that come one by one", "piece_ms": 400}],
 "default": {"text": "no number", "usage": {"input": 1000, "output": 500}}})";

constexpr const char* definitions = R"(
(defatom ask (params q) (instructions "{{q}}") (model "openai:gpt-4o"))
(defatom num (params q) (instructions "{{q}}") (model "openai:gpt-4o") (retries 1)
  (output_format ((type "json") (schema "number"))))
(defatom gold (params q) (instructions "{{q}}") (model "openai:o1-pro"))
(define outcomes
  (list (ask "plain") (ask "twice") (ask "silent") (ask "broken") (ask "refused")
        (num "a no number")))
(define cost (reduce + 0 (map (lambda (r) (get-in r '(notes usage cost_usd))) outcomes)))
(define over (get-in (gold (string-join (map number->string (range 30000)) " "))
                     '(notes error message)))
(print cost "|" over "|")
)";

class paid : public testing::Test {
protected:
    child_result run(const std::string& program, std::vector<std::string> more) {
        std::vector<std::string> arguments{
            "run", scratch.file("w.heddle", program), "--base-url", model.url(), "--seed", "1"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_heddle(arguments);
    }

    scratch_directory scratch;
    model_thread model{rules};
};

TEST_F(paid, figures_are_the_same_everywhere) {
    const auto reported =
        run(std::string(definitions) + "(error \"the end\")", {"--budget-usd", "1", "--json"});
    EXPECT_EQ(reported.code, 1);
    double notes = -1;
    double budget = -1;
    ASSERT_EQ(std::sscanf(reported.out.c_str(), "%lf | budget-usd: $%lf of $1 are spent", &notes,
                          &budget),
              2)
        << reported.out << reported.err;
    EXPECT_GT(notes, 4 * 0.0075);
    EXPECT_LT(notes, 5 * 0.0075);
    EXPECT_NEAR(budget, notes, 1e-3 * notes);
    const auto failed = boost::json::parse(reported.err).as_object();
    const auto& calls = failed.at("calls").as_object();
    EXPECT_NEAR(calls.at("cost_usd").to_number<double>(), notes, 1e-9);
    EXPECT_EQ(calls.at("estimated"), 3) << "twice, silent, broken";
    EXPECT_EQ(calls.at("failed"), 4) << "broken, refused, no number, over the budget";

    model_thread again{rules};
    const auto shown =
        run_heddle({"run", scratch.file("v.heddle", std::string(definitions) + "1"), "--base-url",
                    again.url(), "--seed", "1", "--budget-usd", "1", "-v"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    const auto at = shown.err.rfind(" out, $");
    ASSERT_NE(at, std::string::npos) << shown.err;
    double summary = -1;
    ASSERT_EQ(std::sscanf(shown.err.c_str() + at, " out, $%lf", &summary), 1);
    EXPECT_NEAR(summary, notes, 0.00006) << "four places";
}

TEST_F(paid, a_replay_reports_what_was_paid_and_that_nothing_is) {
    const std::string program =
        "(defatom ask (params q) (instructions \"{{q}}\"))"
        "(get-in (ask \"twice\") '(notes usage cost_usd))";
    const std::string tape = scratch.path() + "/tape.jsonl";
    const auto recorded = run(program, {"--model", "openai:gpt-4o", "--record", tape, "-v"});
    ASSERT_EQ(recorded.code, 0) << recorded.err;
    const auto replayed =
        run_heddle({"run", scratch.file("w.heddle", program), "--replay", tape, "-v"});
    ASSERT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_EQ(replayed.out, recorded.out);
    EXPECT_THAT(replayed.err, HasSubstr("when they were recorded, nothing now"));
    EXPECT_THAT(recorded.err, Not(HasSubstr("recorded, nothing")));
}

TEST_F(paid, content_of_a_call_that_failed_is_printed) {
    scratch.file("tasks/j.xml", R"(<template name="j" params="q"><task type="atomic">
      <instructions>{{q}}</instructions><output_format type="json" schema="number"/>
      </task></template>)");
    const std::vector<std::string> call{
        "call",       "j",         "q=no number", "--tasks",      scratch.path() + "/tasks",
        "--base-url", model.url(), "--model",     "openai:gpt-4o"};
    const auto plain = run_heddle(call);
    EXPECT_EQ(plain.code, 1);
    EXPECT_EQ(plain.out, "PRECIOUS words\n");
    EXPECT_THAT(plain.err, HasSubstr("task 'j' failed"));
}

TEST_F(paid, content_of_a_run_that_failed_is_printed) {
    const std::string atom =
        "(defatom j (params) (instructions \"a no number\") (model \"openai:gpt-4o\")"
        " (output_format ((type \"json\") (schema \"number\"))))";
    const auto value = run(atom + "(j)", {});
    EXPECT_EQ(value.code, 1);
    EXPECT_EQ(value.out, "PRECIOUS words\n");
    EXPECT_THAT(value.err, AllOf(HasSubstr("task 'j' failed"), Not(HasSubstr("PRECIOUS"))));
    const auto json = run(atom + "(j)", {"--json"});
    EXPECT_EQ(json.out, "");
    const auto reported = boost::json::parse(json.err).as_object();
    const auto& result = reported.at("error").at("result").as_object();
    EXPECT_EQ(result.at("content"), "PRECIOUS words");
    EXPECT_EQ(result.at("status"), "FAILED");
    // The error of a task that nobody caught.
    const auto raised = run(atom + "(content (j))", {});
    EXPECT_EQ(raised.code, 1);
    EXPECT_EQ(raised.out, "");
    EXPECT_THAT(raised.err, HasSubstr("what the task had of a response:\nPRECIOUS words\n"));
    const auto raised_json = run(atom + "(content (j))", {"--json"});
    EXPECT_EQ(boost::json::parse(raised_json.err).at("error").at("result").at("content"),
              "PRECIOUS words");
}

TEST_F(paid, words_of_a_stream_that_the_time_cut_are_kept) {
    const auto ended =
        run("(defatom s (params) (instructions \"slow\") (model \"openai:gpt-4o\") (timeout 1))"
            "(let ((r (stream (s) (lambda (piece) piece)))) (list (get r 'status) "
            "(get r 'content) (> (get-in r '(notes usage output_tokens)) 0)))",
            {});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("\"FAILED\" \"PRECIOUS"), HasSubstr(" true)")));
}

TEST_F(paid, a_used_up_budget_leaves_kept_responses) {
    const std::string cache = scratch.path() + "/answers.db";
    const auto with = [&](const std::string& list, std::vector<std::string> more) {
        more.insert(more.end(), {"--cache", "--cache-file", cache, "-c", "1"});
        return run(
            "(defatom ask (params q) (instructions \"plain {{q}}\") (model "
            "\"openai:gpt-4o\")) (map (lambda (q) (ok? (ask q))) '(" +
                list + "))",
            more);
    };
    ASSERT_EQ(with("\"b\" \"c\"", {}).out, "(true true)\n");
    EXPECT_EQ(with("\"a\" \"b\" \"c\"", {"--max-calls", "1"}).out, "(true true true)\n");
    EXPECT_EQ(with("\"b\" \"d\" \"c\"", {"--max-calls", "0"}).out, "(true false true)\n");
    EXPECT_EQ(with("\"b\" \"c\" \"d\"", {"--budget-usd", "0"}).out, "(true true false)\n");
    EXPECT_EQ(model.counters().requests, 3U);
}

TEST_F(paid, a_kept_response_does_not_wait_for_the_budget) {
    const std::string cache = scratch.path() + "/answers.db";
    const std::string atom =
        "(defatom ask (params q) (instructions \"{{q}}\") (model \"openai:gpt-4o\"))";
    const auto with = [&](const std::string& program) {
        return run(atom + program, {"--cache", "--cache-file", cache});
    };
    ASSERT_EQ(with("(content (ask \"plain\"))").out, "plain\n");
    const auto ended = with(
        "(with ((max-calls 1)) (race (content (ask \"delayed\"))"
        " (begin (sleep 0.2) (content (ask \"plain\")))))");
    EXPECT_EQ(ended.out, "plain\n") << ended.err;
    EXPECT_EQ(model.counters().requests, 2U);
    // A response that is not kept waits, and is paid for once there is room.
    const auto waits = with(
        "(with ((budget-usd 0.045)) (parallel (ok? (ask \"plain new\")) (ok? (ask \"plain too\"))"
        " (ok? (ask \"plain\"))))");
    EXPECT_EQ(waits.out, "(true true true)\n") << waits.err;
    EXPECT_EQ(model.counters().requests, 4U);
}

TEST_F(paid, a_used_up_budget_leaves_what_is_kept_for_any_model_of_a_route) {
    const std::string cache = scratch.path() + "/answers.db";
    const auto with = [&](const std::string& name, const std::string& route,
                          std::vector<std::string> more) {
        const std::string config = scratch.file(
            "heddle.toml", "[providers.one]\ntype = \"vllm\"\nbase_url = \"" + model.url() +
                               "\"\n[providers.two]\ntype = \"vllm\"\nbase_url = \"" + model.url() +
                               "\"\n[routes.safe]\n" + route);
        more.insert(more.end(),
                    {"--config", config, "--cache", "--cache-file", cache, "--model", name});
        return run("(defatom ask (params q) (instructions \"{{q}}\")) (ok? (ask \"plain\"))", more);
    };
    const std::string routes[] = {
        "models = [\"one:m\", \"two:n\"]\n",
        "models = [\"one:m\", \"two:n\"]\nhedge_after = \"0.1s\"\nhedge_share = 1.0\n"};
    ASSERT_EQ(with("two:n", routes[0], {}).out, "true\n");
    for (const std::string& route : routes) {
        const auto ended = with("safe", route, {"--max-calls", "0"});
        EXPECT_EQ(ended.out, "true\n") << ended.err;
    }
    EXPECT_EQ(model.counters().requests, 1U);
}

} // namespace
} // namespace heddle::cli_test
