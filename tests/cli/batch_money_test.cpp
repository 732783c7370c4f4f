// What batches pay for: retries of failed rows, and calls under way when a process is killed.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <random>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class paid_batches : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const model_thread& model,
                                                  std::vector<std::string> more = {}) const {
        return asking_once(model.url(), std::move(more));
    }
    /// The summary as JSON.
    [[nodiscard]] static boost::json::object summary_of(const child_result& ended) {
        return boost::json::parse(ended.out).as_object();
    }
    /// `main` asks for a draft and then for a judgement of it.
    std::string two_steps =
        scratch.file("w.heddle",
                     "(defatom draft (params q) (instructions \"draft {{q}}\"))\n"
                     "(defatom judge (params q) (instructions \"judge {{q}}\"))\n"
                     "(define (main text) (let ((d (draft text))) (judge (content d))))\n");
};

/// The first `times` judgements fail.
std::string failing_judge(int times) {
    return R"({"rules": [{"match": "judge", "text": "good", "error": {"status": 400,
        "message": "no", "times": )" +
           std::to_string(times) + R"(}}, {"match": "draft", "text": "d"}]})";
}

TEST_F(paid_batches, that_are_retried_repeat_only_what_failed) {
    rows_file(3);
    model_thread model(failing_judge(3));
    const auto first = run_heddle(asking(model));
    EXPECT_EQ(first.code, 3) << first.err;
    EXPECT_EQ(model.counters().requests, 6U);
    const auto again = run_heddle(asking(model, {"--retry-failed", "--json"}));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(model.counters().requests, 9U) << "each draft was paid for once";
    expect_each_row_once(3);
    EXPECT_EQ(summary_of(again).at("spent").at("requests").to_number<int>(), 9);
    for (const auto& line : lines_of("out.jsonl")) {
        EXPECT_EQ(line.at("value").as_string(), "good");
        EXPECT_EQ(line.at("usage").at("requests").to_number<int>(), 3) << "over all attempts";
    }
}

TEST_F(paid_batches, that_retry_rows_by_themselves_repeat_only_what_failed) {
    rows_file(3);
    model_thread model(failing_judge(5));
    const auto ended = run_heddle(asking(model, {"--retry-rows", "3", "--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 11U) << "3 drafts, 8 judgements";
    EXPECT_EQ(summary_of(ended).at("spent").at("requests").to_number<int>(), 11);
    expect_each_row_once(3);
}

TEST_F(paid_batches, that_are_killed_during_a_retry_keep_what_was_paid_for) {
    rows_file(1);
    {
        model_thread model(failing_judge(1));
        EXPECT_EQ(run_heddle(asking(model)).code, 3);
        EXPECT_EQ(model.counters().requests, 2U);
    }
    {
        model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})");
        child_process child(heddle_command(asking(model, {"--retry-failed"})));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 1; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
        EXPECT_EQ(model.counters().requests, 1U) << "the judgement";
    }
    model_thread model(always_answering("good"));
    const auto ended = run_heddle(asking(model, {"--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 1U);
    EXPECT_EQ(summary_of(ended).at("maybe_paid").to_number<int>(), 1);
}

TEST_F(paid_batches, repeat_all_branches_that_failed_and_no_other) {
    rows_file(1);
    scratch.file(
        "w.heddle",
        "(defatom part (params q) (instructions \"part {{q}}.\"))\n"
        "(define (main text)\n"
        "  (let ((all (map-settled (lambda (n) (content (part n))) (range 10))))\n"
        "    (if (all? (lambda (r) (get r 'ok)) all) \"whole\" (error \"parts fail\"))))\n");
    model_thread model(R"({"rules": [{"match": "part [37]", "text": "x",
        "error": {"status": 400, "message": "no", "times": 2}}, {"match": ".*", "text": "x"}]})");
    const auto first = run_heddle(asking(model));
    EXPECT_EQ(first.code, 3) << first.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 10U);
    const auto again = run_heddle(asking(model, {"--retry-failed"}));
    EXPECT_EQ(again.code, 0) << again.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 12U);
}

/// Four branches, which all fail at first.
class failing_branches : public paid_batches {
protected:
    std::string branches =
        scratch.file("w.heddle",
                     "(defatom part (params q) (instructions \"part {{q}}.\"))\n"
                     "(define (main text) (map (lambda (n) (content (part n))) (range 4)))\n");
    model_thread model{R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 50,
        "error": {"status": 400, "message": "no", "times": 4}}]})"};
};

// A retry repeated one of them, and the row failed with what another one had recorded.
TEST_F(failing_branches, are_all_repeated_when_the_row_is_retried) {
    rows_file(1);
    ASSERT_EQ(run_heddle(asking(model)).code, 3);
    EXPECT_EQ(model.counters().requests, 4U);
    const auto again = run_heddle(asking(model, {"--retry-failed"}));
    EXPECT_EQ(again.code, 0) << again.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 8U);
}

TEST_F(failing_branches, are_all_repeated_by_the_next_attempt) {
    rows_file(1);
    const auto ended = run_heddle(asking(model, {"--retry-rows", "1"}));
    EXPECT_EQ(ended.code, 0) << ended.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 8U);
}

TEST_F(paid_batches, name_the_calls_that_were_under_way_at_a_kill) {
    rows_file(4);
    {
        model_thread model(R"({"rules": [{"match": "draft", "text": "d",
            "usage": {"input": 1000, "output": 500}},
            {"match": ".*", "text": "x", "delay_ms": 600000}]})");
        child_process child(heddle_command(asking(model)));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 8; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    model_thread model(always_answering("good"));
    const auto ended = run_heddle(asking(model));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 4U) << "the drafts are kept";
    EXPECT_THAT(ended.err, HasSubstr("4 calls may have been paid for"));
    for (const auto& line : lines_of("out.jsonl")) {
        EXPECT_TRUE(line.at("maybe_paid").as_bool());
        EXPECT_EQ(line.at("usage").at("requests").to_number<int>(), 3);
    }
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_EQ(rows.at("maybe_paid").to_number<int>(), 4);
    EXPECT_EQ(rows.at("requests").to_number<int>(), 12);
    EXPECT_GT(rows.at("cost_usd").to_number<double>(), 4 * 0.0075) << "an estimate is counted";
}

// A request that the service had refused counted as one that it may charge for.
TEST_F(paid_batches, do_not_count_what_was_refused_and_waits_to_be_sent_again) {
    rows_file(4);
    scratch.file("w.heddle", asking_workflow);
    for (const int status : {429, 503}) {
        model_thread model(R"({"rules": [{"match": ".*", "text": "x", "error": {"status": )" +
                           std::to_string(status) + R"(, "message": "no", "retry_after": 30}}]})");
        child_process child(heddle_command(batch_fixture::asking(model.url(), {"-c", "4"})));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 1; }));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 0; }));
        std::this_thread::sleep_for(milliseconds(300)); // the refusals arrive, and are noted
        child.send_signal(SIGKILL);
        (void)child.wait();
        const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
        const auto rows = boost::json::parse(shown.out).at("rows").as_object();
        EXPECT_EQ(rows.at("maybe_paid").to_number<int>(), 0) << status;
    }
    model_thread model(always_answering("good"));
    const auto ended = run_heddle(asking(model, {"--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 4U);
    EXPECT_EQ(summary_of(ended).at("maybe_paid").to_number<int>(), 0);
    EXPECT_EQ(summary_of(ended).at("spent").at("requests").to_number<int>(), 4);
}

// Nothing listened, so nothing was sent.
TEST_F(paid_batches, do_not_count_what_could_not_be_sent) {
    rows_file(4);
    scratch.file("w.heddle", asking_workflow);
    std::string url;
    {
        model_thread gone(always_answering("x"));
        url = gone.url();
    }
    child_process child(heddle_command(batch_fixture::asking(url)));
    std::this_thread::sleep_for(milliseconds(1200));
    child.send_signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(100));
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait().code, 130);
    model_thread model(always_answering("good"));
    const auto ended = run_heddle(asking(model, {"--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(summary_of(ended).at("maybe_paid").to_number<int>(), 0);
}

TEST_F(paid_batches, count_what_a_task_under_way_has_paid_for) {
    rows_file(1);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\")\n"
                 "  (output_format ((type \"json\") (schema \"object\"))) (retries 3))\n"
                 "(define (main text) (get (ask text) 'parsedContent))\n");
    {
        model_thread model(R"({"rules": [
            {"match": "cannot be used", "text": "{}", "delay_ms": 600000},
            {"match": ".*", "text": "no", "usage": {"input": 1000, "output": 500}}]})");
        child_process child(heddle_command(asking(model)));
        ASSERT_TRUE(model.wait_until(
            [](const auto& seen) { return seen.in_flight == 1 && seen.requests == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto counted = [&] {
        const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
        return boost::json::parse(shown.out).at("rows").as_object();
    };
    // The one under way counts before its row goes on.
    EXPECT_EQ(counted().at("requests").to_number<int>(), 2);
    EXPECT_EQ(counted().at("maybe_paid").to_number<int>(), 1);
    EXPECT_GT(counted().at("cost_usd").to_number<double>(), 0.0075);
    EXPECT_EQ(run_heddle(asking(model_thread(always_answering("{}")), {"--max-calls", "1"})).code,
              4)
        << "the call of the process that was killed is all that may be made";
    // Finished as it was begun, each call counts once.
    model_thread model(always_answering("{}"));
    const auto ended = run_heddle(asking(model, {"--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto spent = summary_of(ended).at("spent").as_object();
    EXPECT_EQ(spent.at("requests").to_number<std::uint64_t>(), 2 + model.counters().requests);
}

/// What a response of unknown length is taken for costs 4096 * 0.00001 dollars with gpt-4o.
constexpr double unknown_response_usd = 0.04096;
constexpr const char* stuck = R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})";

// They counted for their input, and each kill paid for four more.
TEST_F(paid_batches, that_are_killed_before_a_response_stay_within_their_budget) {
    rows_file(20);
    const std::vector<std::string> bounded{"--budget-usd", "0.25"};
    for (int kills = 0; kills < 2; ++kills) {
        model_thread model(stuck);
        child_process child(heddle_command(asking(model, bounded)));
        const std::uint64_t expected = kills == 0 ? 4 : 2;
        if (!model.wait_until([&](const auto& seen) { return seen.in_flight == expected; }))
            ADD_FAILURE() << model.counters().in_flight;
        std::this_thread::sleep_for(milliseconds(200));
        EXPECT_EQ(model.counters().requests, expected);
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    model_thread model(always_answering("good"));
    const auto ended = run_heddle(asking(model, {"--budget-usd", "0.25", "--json"}));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(model.counters().requests, 0U);
    const auto spent = summary_of(ended).at("spent").at("cost_usd").to_number<double>();
    EXPECT_GE(spent, 6 * unknown_response_usd);
    EXPECT_LT(spent, 6.2 * unknown_response_usd);
}

// Rows that had paid before the kill ended without paying, so the others seemed to cost nothing.
TEST_F(paid_batches, that_are_killed_after_all_responses_stay_within_their_budget) {
    rows_file(40);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (let ((a (content (ask text)))) (sleep 1.5) a))\n");
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "usage": {"input": 1000, "output": 500}}]})"); // 0.0075 dollars
    const std::vector<std::string> bounded{"--budget-usd", "0.075", "-c", "40"};
    child_process child(heddle_command(asking(model, bounded)));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 4; }));
    std::this_thread::sleep_for(milliseconds(300));
    child.send_signal(SIGKILL);
    (void)child.wait();
    const auto ended = run_heddle(asking(model, bounded));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(model.counters().requests, 10U);
}

// What responses have cost shows what one may cost, also those of an earlier program.
TEST_F(paid_batches, that_are_killed_after_an_edit_count_the_longest_response_so_far) {
    rows_file(2);
    scratch.file("w.heddle", asking_workflow);
    {
        model_thread model(R"({"rules": [{"match": "t0", "text": "x",
            "usage": {"input": 10, "output": 100}},
            {"match": "t1", "text": "x", "usage": {"input": 10, "output": 700}}]})");
        ASSERT_EQ(run_heddle(asking(model)).code, 0);
    }
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"edited {{q}}\"))\n"
                 "(define (main text) (ask text))\n");
    {
        model_thread model(stuck);
        child_process child(heddle_command(asking(model)));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_EQ(rows.at("output_tokens").to_number<int>(), 100 + 700 + 2 * 700) << shown.out;
}

TEST_F(paid_batches, whose_rows_run_out_of_time_stay_within_their_budget) {
    rows_file(20);
    model_thread model(stuck);
    const auto ended =
        run_heddle(asking(model, {"--budget-usd", "0.1", "-t", "0.3", "-c", "1", "--json"}));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(model.counters().requests, 2U) << "a third one may pass the budget";
    const auto summary = summary_of(ended);
    EXPECT_GE(summary.at("spent").at("cost_usd").to_number<double>(), 2 * unknown_response_usd);
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_NEAR(rows.at("cost_usd").to_number<double>(),
                summary.at("spent").at("cost_usd").to_number<double>(), 1e-3);
}

// The summary counted the mean of the calls before, the journal the longest response alone: after a
// restart the budget had room again.
TEST_F(paid_batches, whose_rows_run_out_of_time_cost_the_same_in_the_next_process) {
    rows_file(2);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": "t0", "text": "x",
        "usage": {"input": 100000, "output": 10}},
        {"match": "t1", "text": "x", "delay_ms": 600000}]})"); // 0.2501 dollars
    const auto ended = run_heddle(asking(model, {"-t", "0.5", "-c", "1", "--json"}));
    EXPECT_EQ(model.counters().requests, 2U) << ended.err;
    const auto spent = summary_of(ended).at("spent").at("cost_usd").to_number<double>();
    EXPECT_NEAR(spent, 2 * 0.2501, 1e-3);
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_NEAR(rows.at("cost_usd").to_number<double>(), spent, 1e-6) << shown.out;
}

// Requests that the service had refused were not in the journal where the row's time ended their
// call: each start of the command sent as many again.
TEST_F(paid_batches, whose_rows_run_out_of_time_keep_the_number_of_refused_requests) {
    rows_file(4);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "error": {"status": 429, "message": "too many", "times": 100}}]})");
    const std::vector<std::string> bounded{"-t", "0.5", "--max-calls", "4", "-c", "4", "--json"};
    const auto ended = run_heddle(asking(model, bounded));
    const auto requests = model.counters().requests;
    EXPECT_GE(requests, 1U);
    const auto counted = summary_of(ended).at("spent").at("requests").to_number<std::uint64_t>();
    EXPECT_EQ(counted, requests) << ended.err;
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_EQ(rows.at("requests").to_number<std::uint64_t>(), requests) << shown.out;
    EXPECT_EQ(rows.at("cost_usd").to_number<double>(), 0) << shown.out;
}

// Their rows end all the same: such calls counted with their input, and no budget ended the batch.
TEST_F(paid_batches, whose_calls_lose_a_race_stay_within_their_budget) {
    rows_file(20);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text) (race (content (ask text)) (progn (sleep 0.1) text)))\n");
    model_thread model(stuck);
    const auto ended = run_heddle(asking(model, {"--budget-usd", "0.1", "-c", "1", "--json"}));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(model.counters().requests, 2U) << "a third one may pass the budget";
    const auto spent = summary_of(ended).at("spent").at("cost_usd").to_number<double>();
    EXPECT_GE(spent, 2 * unknown_response_usd);
    EXPECT_LT(spent, 2.2 * unknown_response_usd);
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    EXPECT_GE(boost::json::parse(shown.out).at("rows").at("cost_usd").to_number<double>(),
              2 * unknown_response_usd);
}

// The row that was the next counted as well.
// The last call before the limit was paid for again.
TEST_F(paid_batches, that_met_a_limit_go_on_where_they_were) {
    rows_file(1);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (let* ((a (content (ask \"1\"))) (b (content (ask \"2\"))))\n"
                 "    (length (map (lambda (i) (string-append a b (number->string i)))\n"
                 "                 (range 20000)))))\n");
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto first = run_heddle(asking(model, {"--memory-limit", "1MiB"}));
    EXPECT_EQ(first.code, 3) << first.err;
    EXPECT_EQ(model.counters().requests, 2U);
    const auto again = run_heddle(asking(model, {"--retry-failed"}));
    EXPECT_EQ(again.code, 0) << again.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_EQ(model.counters().requests, 2U);
}

// They waited for a further attempt, which no bound allowed, and kept the others from being read.
TEST_F(paid_batches, end_at_a_bound_that_failed_rows_wait_for) {
    rows_file(12);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    ASSERT_EQ(run_heddle(asking(model)).code, 0);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (if (string=? text \"t0\") (error \"not that\") (ask text)))\n");
    const auto ended = run_heddle(asking(
        model, {"--ordered", "--window", "3", "--retry-rows", "1", "--max-calls", "12", "--json"}));
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(summary_of(ended).at("stopped_by").as_string(), "max-calls");
    EXPECT_EQ(model.counters().requests, 12U);
    const auto whole = run_heddle(asking(model));
    EXPECT_EQ(whole.code, 3) << whole.err;
    expect_each_row_once(11);
}

TEST_F(paid_batches, count_a_row_as_continued_when_it_starts) {
    rows_file(3);
    model_thread model(stuck);
    for (const bool is_first : {true, false}) {
        const std::string rows = is_first ? "3" : "1";
        child_process child(
            heddle_command(asking(model, {"-c", rows, "--grace", "0.1", "--json"})));
        ASSERT_TRUE(model.wait_until(
            [&](const auto& seen) { return seen.in_flight == (is_first ? 3U : 1U); }));
        std::this_thread::sleep_for(milliseconds(200));
        child.send_signal(SIGINT);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130) << ended.err;
        EXPECT_EQ(summary_of(ended).at("rows").at("continued").as_int64(), is_first ? 0 : 1);
    }
}

TEST_F(paid_batches, that_nothing_interrupts_name_no_such_call) {
    rows_file(20);
    model_thread model(failing_judge(4));
    const auto ended = run_heddle(asking(model, {"--retry-rows", "4"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("may have been paid")));
    for (const auto& line : lines_of("out.jsonl")) EXPECT_FALSE(line.contains("maybe_paid"));
}

TEST_F(paid_batches, that_are_cancelled_count_the_calls_under_way) {
    rows_file(2);
    { // within the usual grace the rows would come to their end
        model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 20000}]})");
        child_process child(heddle_command(asking(model, {"--grace", "0.1"})));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 2; }));
        child.send_signal(SIGTERM);
        EXPECT_EQ(child.wait().code, 130);
    }
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
    const auto rows = boost::json::parse(shown.out).at("rows").as_object();
    EXPECT_EQ(rows.at("requests").to_number<int>(), 2) << shown.out;
    EXPECT_EQ(rows.at("maybe_paid").to_number<int>(), 2);
}

TEST_F(paid_batches, that_are_killed_at_random_lose_no_call_out_of_sight) {
    constexpr int count = 150;
    rows_file(count);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": [1, 20]}]})");
    std::mt19937 chance(7);
    for (int kills = 0; kills < 12; ++kills) {
        child_process child(heddle_command(asking(model, {"-c", "8"})));
        const std::uint64_t before = model.counters().requests;
        if (!model.wait_until([&](const auto& seen) { return seen.requests >= before + 5; })) break;
        std::this_thread::sleep_for(milliseconds(chance() % 30));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(asking(model, {"-c", "8", "--json"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(count);
    const auto summary = summary_of(ended);
    const auto sent = model.counters().requests;
    const auto lost = summary.at("maybe_paid").to_number<std::uint64_t>();
    EXPECT_GT(lost, 0U);
    EXPECT_GE(2 * count + lost, sent) << "a finished call was repeated, or a lost one not noted";
    EXPECT_GE(summary.at("spent").at("requests").to_number<std::uint64_t>(), sent);
}

} // namespace
} // namespace heddle::cli_test
