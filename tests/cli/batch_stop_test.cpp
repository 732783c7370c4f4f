// Batches that end early and go on: kills, signals, budgets, outages, two at once.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <csignal>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class stopped_batches : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const std::string& url,
                                                  std::vector<std::string> more = {}) const {
        scratch.file("w.heddle", asking_workflow);
        return batch_fixture::asking(url, std::move(more));
    }
};

TEST_F(stopped_batches, that_are_killed_go_on_until_each_row_is_there_once) {
    constexpr int count = 400;
    rows_file(count);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": [1, 20]}]})");
    for (int kills = 0; kills < 8; ++kills) {
        child_process child(heddle_command(asking(model.url(), {"-c", "8"})));
        const unsigned before = static_cast<unsigned>(model.counters().requests);
        if (!model.wait_until([&](const auto& seen) { return seen.requests >= before + 30; }))
            break;
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(asking(model.url(), {"-c", "8"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(count);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(stopped_batches, at_the_end_of_their_calls_go_on_with_more) {
    rows_file(20);
    model_thread model(always_answering("x"));
    const auto first = run_heddle(asking(model.url(), {"--max-calls", "7"}));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_EQ(model.counters().requests, 7U);
    EXPECT_EQ(lines_of("out.jsonl").size(), 7U);
    EXPECT_THAT(first.err, AllOf(HasSubstr("13 rows left"), HasSubstr("larger --max-calls")));
    const auto again = run_heddle(asking(model.url(), {"--max-calls", "7"}));
    EXPECT_EQ(again.code, 4) << again.err;
    EXPECT_EQ(model.counters().requests, 7U);
    const auto more = run_heddle(asking(model.url(), {"--max-calls", "20"}));
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(model.counters().requests, 20U);
    expect_each_row_once(20);
}

TEST_F(stopped_batches, at_the_end_of_a_budget_keep_what_was_paid_for) {
    rows_file(20);
    model_thread model(R"({"rules": [], "default": {"text": "x",
        "usage": {"input": 1000, "output": 500}}})"); // 0.0075 dollars
    const auto first = run_heddle(asking(model.url(), {"--budget-usd", "0.06"}));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_EQ(model.counters().requests, 8U);
    EXPECT_EQ(lines_of("out.jsonl").size(), 8U);
    EXPECT_THAT(first.err, HasSubstr("the budget of $0.06"));
    const auto more = run_heddle(asking(model.url(), {"--budget-usd", "1"}));
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(model.counters().requests, 20U);
    EXPECT_THAT(more.err, HasSubstr("$0.15, $0.09 of it now"));
    EXPECT_THAT(more.err, HasSubstr("20,000 tokens in"));
    expect_each_row_once(20);
}

TEST_F(stopped_batches, name_no_cause_when_nothing_was_left) {
    rows_file(3);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    const auto failed = batch({"--json", "--on-error", "stop-after=3", "-c", "8"});
    EXPECT_EQ(failed.code, 3) << failed.err;
    const auto summary = boost::json::parse(failed.out).as_object();
    EXPECT_FALSE(summary.at("rows_left").as_bool());
    EXPECT_TRUE(summary.at("stopped_by").is_null());
}

TEST_F(stopped_batches, by_a_set_limit_go_on_with_skip) {
    rows_file(6);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    ASSERT_EQ(batch({"-c", "1", "--limit", "1"}).code, 3);
    ASSERT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "stop-after=2"}).code, 0);
    const auto ended = batch({"-c", "1", "--on-error", "skip"});
    EXPECT_EQ(ended.code, 3) << ended.err;
}

// Lines that cannot be read stopped the batch at the first row that failed.
TEST_F(stopped_batches, because_no_row_has_a_result_count_rows_that_ran) {
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t0\") (error \"no\") text))");
    std::string lines;
    for (int i = 0; i < 99; ++i) lines += "no JSON\n"; // not enough to stop by themselves
    rows_file(3);
    scratch.file("rows.jsonl", lines + scratch.text_of("rows.jsonl"));
    const auto ended = batch({"-c", "1"});
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("2 done"));
}

TEST_F(stopped_batches, are_refused_a_second_process) {
    rows_file(20);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})");
    child_process child(heddle_command(asking(model.url(), {"--grace", "600"})));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 20; }));
    const auto second = run_heddle(asking(model.url()));
    EXPECT_EQ(second.code, 2) << second.err;
    EXPECT_THAT(second.err, HasSubstr("out.jsonl.run"));
    EXPECT_EQ(model.counters().requests, 20U);
    child.send_signal(SIGINT);
    ASSERT_TRUE(child.wait_for_err("Ctrl-C again")) << child.err();
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait().code, 130);
}

TEST_F(stopped_batches, let_rows_in_progress_end) {
    rows_file(100);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 500}]})");
    child_process child(heddle_command(asking(model.url(), {"-c", "10"})));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 10; }));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
    EXPECT_EQ(model.counters().requests, lines_of("out.jsonl").size());
    EXPECT_GE(lines_of("out.jsonl").size(), 10U);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("no further row starts"), HasSubstr("rows left"),
                                 HasSubstr("the same command continues")));
    const auto more = run_heddle(asking(model.url(), {"-c", "100"}));
    EXPECT_EQ(more.code, 0) << more.err;
    expect_each_row_once(100);
}

TEST_F(stopped_batches, end_rows_at_once_after_the_grace) {
    rows_file(5);
    // Within the usual grace the rows would come to their end.
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 20000}]})");
    child_process child(heddle_command(asking(model.url(), {"--grace", "0.2"})));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 5; }));
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait().code, 130);
    EXPECT_EQ(lines_of("out.jsonl").size(), 0U);
}

TEST_F(stopped_batches, wait_while_a_service_is_down) {
    rows_file(12);
    // When the fifth row has failed, three others are under way, which fail as well.
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "error": {"status": 503, "message": "down", "times": 8}}]})");
    scratch.file("w.heddle", asking_workflow);
    const auto ended = run_heddle(asking_once(model.url(), {"-c", "4"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("paused: 5 consecutive rows failed"), HasSubstr("continuing")));
    EXPECT_EQ(model.counters().requests, 20U);
    expect_each_row_once(12);
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(line.at("attempts").to_number<int>(), 1);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(stopped_batches, stop_after_failures_when_asked) {
    rows_file(50);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    const auto ended = batch({"--on-error", "stop-after=3", "-c", "1"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 3U);
}

TEST_F(stopped_batches, try_failed_rows_again) {
    rows_file(3);
    model_thread model(R"({"rules": [{"match": "t1", "text": "x",
        "error": {"status": 400, "message": "no", "times": 2}}, {"match": ".*", "text": "x"}]})");
    const auto ended = run_heddle(asking(model.url(), {"--retry-rows", "2"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(line.at("attempts").to_number<int>(), line.at("id").as_string() == "r1" ? 3 : 1);
}

TEST_F(stopped_batches, count_the_attempts_of_all_processes) {
    rows_file(2);
    model_thread model(R"({"rules": [{"match": "t1", "text": "x",
        "error": {"status": 400, "message": "no", "times": 3}}, {"match": ".*", "text": "x"}]})");
    EXPECT_EQ(run_heddle(asking(model.url(), {"--retry-rows", "1"})).code, 3);
    const auto attempts = [&](const std::string& status) {
        const auto all = run_heddle({"runs", "export", path("out.jsonl"), "--status", status});
        return boost::json::parse(all.out.substr(all.out.find("\"r1\"") == std::string::npos
                                                     ? 0
                                                     : all.out.rfind("{\"id\":\"r1\"")))
            .at("attempts")
            .to_number<int>();
    };
    EXPECT_EQ(attempts("failed"), 2);
    EXPECT_EQ(run_heddle(asking(model.url(), {"--retry-failed"})).code, 3);
    EXPECT_EQ(attempts("failed"), 3);
    EXPECT_EQ(run_heddle(asking(model.url(), {"--retry-failed"})).code, 0);
    EXPECT_EQ(attempts("done"), 4);
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(line.at("attempts").to_number<int>(), line.at("id").as_string() == "r1" ? 4 : 1);
}

// It was that of the last process.
TEST_F(stopped_batches, add_up_the_time_of_all_processes) {
    rows_file(1);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text) (ask text) (ask (string-append text \" hang\")))");
    {
        model_thread model(R"({"rules": [{"match": "hang", "text": "x", "delay_ms": 600000},
            {"match": ".*", "text": "x", "delay_ms": 400}]})");
        child_process child(heddle_command(batch_fixture::asking(model.url())));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    model_thread model(always_answering("x"));
    EXPECT_EQ(run_heddle(batch_fixture::asking(model.url())).code, 0);
    const auto lines = lines_of("out.jsonl");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_GE(lines[0].at("duration_ms").to_number<int>(), 400);
    EXPECT_EQ(lines[0].at("attempts").to_number<int>(), 1) << "the attempt has gone on";
}

// The clock of a row begins anew with another program, and the version before hid behind it.
TEST_F(stopped_batches, add_up_the_work_on_all_versions_of_the_program) {
    rows_file(1);
    const auto edit = [&](const std::string& version) {
        scratch.file("w.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main text) (ask \"" +
                         version + "\") (ask \"" + version + " hang\"))");
    };
    {
        model_thread model(R"({"rules": [{"match": "hang", "text": "x", "delay_ms": 600000},
            {"match": ".*", "text": "x", "delay_ms": 400}]})");
        for (const char* version : {"first", "second", "third"}) {
            const auto before = model.counters().requests;
            edit(version);
            child_process child(heddle_command(batch_fixture::asking(model.url())));
            ASSERT_TRUE(
                model.wait_until([&](const auto& seen) { return seen.requests >= before + 2; }));
            child.send_signal(SIGKILL);
            (void)child.wait();
        }
    }
    model_thread model(always_answering("x"));
    edit("last");
    EXPECT_EQ(run_heddle(batch_fixture::asking(model.url())).code, 0);
    const auto lines = lines_of("out.jsonl");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].at("attempts").to_number<int>(), 4);
    EXPECT_GE(lines[0].at("duration_ms").to_number<int>(), 3 * 400);
}

TEST_F(stopped_batches, that_begin_anew_after_each_edit_count_the_attempts) {
    rows_file(1);
    const auto run_as = [&](const std::string& question) {
        scratch.file("w.heddle",
                     "(define (main text) (system:ask_user (question \"" + question + "\")))");
        return run_heddle(command());
    };
    for (const char* question : {"One?", "Two?", "Two?", "Three?"})
        EXPECT_EQ(run_as(question).code, 4) << "it waits";
    ASSERT_EQ(run_heddle({"runs", "answer", path("out.jsonl"), "r0", "yes"}).code, 0);
    EXPECT_EQ(run_as("Three?").code, 0);
    const auto lines = lines_of("out.jsonl");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].at("attempts").to_number<int>(), 3);
}

// An attempt that had failed counted once more with the edit.
TEST_F(stopped_batches, between_two_attempts_and_edited_count_each_attempt_once) {
    rows_file(1);
    model_thread model(R"({"rules": [{"match": "t0", "text": "x",
        "error": {"status": 400, "message": "no", "times": 1}}, {"match": ".*", "text": "x"}]})");
    {
        child_process child(heddle_command(asking(model.url(), {"--retry-rows", "1"})));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 1; }));
        const auto has_failed = [&] {
            const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
            return shown.out.find("\"requests\":1") != std::string::npos;
        };
        ASSERT_TRUE(hang_guard::comes_true(has_failed)); // a second before the next attempt
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    if (model.counters().requests != 1) GTEST_SKIP() << "the next attempt was faster";
    scratch.file("w.heddle", "(define (main text) 1)");
    EXPECT_EQ(run_heddle(batch_fixture::asking(model.url(), {"--retry-rows", "1"})).code, 0);
    const auto lines = lines_of("out.jsonl");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].at("attempts").to_number<int>(), 2);
}

// The second attempt had sent a request when it ended.
TEST_F(stopped_batches, in_a_further_attempt_and_edited_count_that_too) {
    rows_file(1);
    model_thread model(R"({"rules": [
        {"match": "t0", "text": "x", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": ".*", "text": "x", "delay_ms": 600000}]})");
    {
        child_process child(heddle_command(asking(model.url(), {"--retry-rows", "1"})));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    scratch.file("w.heddle", "(define (main text) 1)");
    EXPECT_EQ(run_heddle(batch_fixture::asking(model.url(), {"--retry-rows", "1"})).code, 0);
    const auto lines = lines_of("out.jsonl");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].at("attempts").to_number<int>(), 3);
}

TEST_F(stopped_batches, at_their_deadline_start_nothing_more) {
    rows_file(100);
    scratch.file("w.heddle", "(define (main text) (sleep 0.1) text)");
    const auto ended = batch({"--deadline", "0.35", "-c", "1"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the time of --deadline has passed"));
    EXPECT_GE(lines_of("out.jsonl").size(), 1U);
    EXPECT_LE(lines_of("out.jsonl").size(), 6U);
}

} // namespace
} // namespace heddle::cli_test
