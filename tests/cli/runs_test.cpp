// `heddle runs`: looking at runs and steering them.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class runs : public batch_fixture {
protected:
    /// Ten rows, of which one fails.
    void make_run() {
        rows_file(10);
        scratch.file("w.heddle",
                     "(define (main text) (if (string=? text \"t3\") (error \"no threes\") text))");
        ASSERT_EQ(run_heddle(command(), at_home()).code, 3);
    }
};

TEST_F(runs, are_listed) {
    make_run();
    const auto listed = run_heddle({"runs", "list", scratch.path()});
    EXPECT_EQ(listed.code, 0) << listed.err;
    EXPECT_THAT(listed.out, AllOf(HasSubstr("out.jsonl.run"), HasSubstr("w.heddle")));
    const auto json = run_heddle({"runs", "list", scratch.path(), "--json"});
    const auto all = boost::json::parse(json.out).as_array();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].at("rows").at("done").to_number<int>(), 9);
    const auto missing = run_heddle({"runs", "list", path("nothing")});
    EXPECT_EQ(missing.code, 2);
    EXPECT_THAT(missing.err, HasSubstr("there is no directory \"" + path("nothing") + "\""));
}

TEST_F(runs, are_shown_by_their_output) {
    make_run();
    const auto shown = run_heddle({"runs", "show", path("out.jsonl")});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("9 done, 1 failed"), HasSubstr("no threes"),
                                 HasSubstr("w.heddle, done\n"), HasSubstr("10 in all")));
    EXPECT_EQ(run_heddle({"runs", "show", path("nothing")}).code, 2);
}

TEST_F(runs, of_unknown_cost_do_not_seem_to_have_cost_nothing) {
    rows_file(2);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(always_answering("x"));
    ASSERT_EQ(run_heddle(command({"--model", "openai:nobody-knows-it", "--base-url", model.url()}),
                         at_home())
                  .code,
              0);
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out, HasSubstr("cost unknown\n"));
    EXPECT_THAT(run_heddle({"runs", "list", scratch.path()}).out, HasSubstr("cost unknown"));
    const auto json = run_heddle({"runs", "show", path("out.jsonl"), "--json"}).out;
    const auto rows = boost::json::parse(json).at("rows").as_object();
    EXPECT_TRUE(rows.at("cost_usd").is_null()) << json;
    EXPECT_EQ(rows.at("unpriced").to_number<int>(), 2);
}

TEST_F(runs, have_a_tail) {
    make_run();
    const auto tail = run_heddle({"runs", "tail", path("out.jsonl"), "-n", "3"});
    EXPECT_EQ(tail.code, 0) << tail.err;
    EXPECT_THAT(tail.out, AllOf(HasSubstr("r9  done  \"t9\""), Not(HasSubstr("r6"))));
}

TEST_F(runs, have_a_tail_in_json) {
    make_run();
    const auto tail = run_heddle({"runs", "tail", path("out.jsonl"), "--json"});
    EXPECT_EQ(tail.code, 0) << tail.err;
    EXPECT_EQ(std::count(tail.out.begin(), tail.out.end(), '\n'), 10) << tail.out;
    EXPECT_THAT(tail.out, HasSubstr("\"id\":\"r9\",\"status\":\"done\",\"value\":\"t9\"}\n"));
    const std::size_t failed = tail.out.find("\"status\":\"failed\"");
    ASSERT_NE(failed, std::string::npos) << tail.out;
    const std::size_t begin = tail.out.rfind('\n', failed) + 1;
    const auto row = boost::json::parse(tail.out.substr(begin, tail.out.find('\n', begin) - begin));
    EXPECT_THAT(std::string(row.at("error").at("message").as_string()), HasSubstr("no threes"));
}

TEST_F(runs, have_a_tail_with_a_line_for_each_row) {
    scratch.file("rows.jsonl", R"({"id": "one\nr7  done  \"forged\"", "text": "t"})"
                               "\n");
    scratch.file("w.heddle", "(define (main text) text)");
    ASSERT_EQ(run_heddle(command(), at_home()).code, 0);
    const auto tail = run_heddle({"runs", "tail", path("out.jsonl")});
    EXPECT_EQ(std::count(tail.out.begin(), tail.out.end(), '\n'), 1) << tail.out;
}

// Only rows with higher numbers than those before were followed.
TEST_F(runs, are_followed_when_their_rows_run_again) {
    rows_file(6);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 300}]})");
    ASSERT_EQ(run_heddle(asking(model.url())).code, 0);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"again {{q}}\"))\n"
                 "(define (main text) (ask text))\n");
    child_process child(heddle_command(asking(model.url(), {"-c", "1"})), at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 7; }));
    const auto tail = run_heddle({"runs", "tail", path("out.jsonl"), "-f", "-n", "1"});
    EXPECT_EQ(tail.code, 0) << tail.err;
    EXPECT_EQ(child.wait().code, 0);
    for (const char* row : {"r1", "r2", "r3", "r4", "r5"})
        EXPECT_THAT(tail.out, HasSubstr(std::string(row) + "  done  \"x\"\n"));
}

TEST_F(runs, are_exported) {
    make_run();
    const auto ended = run_heddle(
        {"runs", "export", path("out.jsonl"), "--out", path("all.jsonl"), "--status", "done"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ids_in("all.jsonl"), ids_in("out.jsonl"));
}

// A table has a row for each id, and the count was that of all rows.
TEST_F(runs, are_exported_to_tables_with_the_true_count) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"one\"}\n"
                 "{\"id\": \"a\", \"text\": \"two\"}\n"
                 "{\"id\": \"b\", \"text\": \"three\"}\n");
    ASSERT_EQ(batch().code, 3);
    const auto table = run_heddle({"runs", "export", path("out.jsonl"), "--out", path("all.db")});
    EXPECT_EQ(table.code, 0) << table.err;
    EXPECT_THAT(table.err, AllOf(HasSubstr("2 rows written to"),
                                 HasSubstr("1 row left out, since another row has the same id")));
    const auto text = run_heddle({"runs", "export", path("out.jsonl"), "--out", path("all.jsonl")});
    EXPECT_THAT(text.err, AllOf(HasSubstr("3 rows written to"), Not(HasSubstr("left out"))));
    EXPECT_EQ(lines_of("all.jsonl").size(), 3U);
}

TEST_F(runs, are_tried_again) {
    make_run();
    scratch.file("w.heddle", "(define (main text) text)");
    const auto ended = run_heddle({"runs", "retry", path("out.jsonl"), "--row", "r3"}, at_home());
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(10);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(runs, that_are_over_cannot_be_steered) {
    make_run();
    const auto ended = run_heddle({"runs", "pause", path("out.jsonl")});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("is not going"));
    for (const char* action : {"pause", "resume", "cancel"}) {
        const auto json = run_heddle({"runs", action, path("out.jsonl"), "--json"});
        EXPECT_EQ(json.code, 1) << action;
        EXPECT_EQ(boost::json::parse(json.err).at("exit_code").to_number<int>(), 1) << action;
    }
}

TEST_F(runs, that_are_steered_answer_in_json) {
    rows_file(300);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 50}]})");
    child_process child(heddle_command(asking(model.url(), {"-c", "2"})), at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 4; }));
    const auto response_of = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "runs");
        arguments.insert(arguments.begin() + 2, path("out.jsonl"));
        arguments.emplace_back("--json");
        const auto ended = run_heddle(arguments);
        EXPECT_EQ(ended.code, 0) << ended.err;
        return boost::json::parse(ended.out);
    };
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"pause"}, {"set", "max-calls=200"}, {"resume"}, {"cancel"}}) {
        const auto response = response_of(each);
        EXPECT_TRUE(response.at("ok").as_bool()) << each[0];
        EXPECT_TRUE(response.at("progress").is_object()) << each[0];
    }
    EXPECT_EQ(child.wait().code, 4);
    const auto later = response_of({"set", "max-calls=none", "retry-rows=3"});
    EXPECT_TRUE(later.at("progress").is_null());
    EXPECT_TRUE(later.at("set").at("max_calls").is_null());
    EXPECT_EQ(later.at("set").at("retry_rows").to_number<int>(), 3);
}

TEST_F(runs, are_tried_again_with_json) {
    make_run();
    scratch.file("w.heddle", "(define (main text) text)");
    const auto ended =
        run_heddle({"runs", "retry", path("out.jsonl"), "--failed", "--json"}, at_home());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(boost::json::parse(ended.out).at("rows").at("done").to_number<int>(), 10);
}

TEST_F(runs, that_are_over_go_on_with_limits_that_were_set) {
    rows_file(20);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto with = [&](const std::string& calls) {
        return asking(model.url(), {"--max-calls", calls});
    };
    ASSERT_EQ(run_heddle(with("3")).code, 4);
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=8", "stop-after=5"});
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_THAT(set.out, HasSubstr("its next command uses max-calls=8, stop-after=5"));
    const auto more = run_heddle(with("3"));
    EXPECT_EQ(more.code, 4) << more.err;
    EXPECT_THAT(more.err,
                HasSubstr("using the limits of 'heddle runs set': max-calls=8, stop-after=5"));
    EXPECT_EQ(model.counters().requests, 8U);
    const auto other = run_heddle(with("10"));
    EXPECT_EQ(other.code, 4) << "who names another limit has that";
    EXPECT_THAT(other.err, HasSubstr("replace the limits of 'heddle runs set': max-calls=8"));
    EXPECT_EQ(model.counters().requests, 10U);
    const auto refused = run_heddle({"runs", "set", path("out.jsonl"), "deadline=5"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--deadline"));
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "calls=5"}).code, 2);
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "max-calls=5.5"}).code, 2);
}

// The sample had the limits of the command line only.
TEST_F(runs, are_looked_at_within_the_limits_that_were_set) {
    rows_file(20);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--max-calls", "3"});
        return asking(model.url(), std::move(more));
    };
    ASSERT_EQ(run_heddle(with({})).code, 4);
    ASSERT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "max-calls=5"}).code, 0);
    const auto looked = run_heddle(with({"--dry-run", "--sample-rows", "9"}));
    EXPECT_EQ(looked.code, 0) << looked.err;
    EXPECT_THAT(looked.err, HasSubstr("using the limits of 'heddle runs set': max-calls=5"));
    EXPECT_THAT(looked.out, HasSubstr("the sample stopped at --max-calls"));
    EXPECT_EQ(model.counters().requests, 5U);
    EXPECT_THAT(run_heddle({"runs", "set", path("out.jsonl"), "budget-usd=-0"}).out,
                HasSubstr("budget-usd=0"));
}

// A process that starts holds the run before it answers: it was "not going".
TEST_F(runs, are_set_once_a_process_that_starts_or_ends_answers_or_is_gone) {
    rows_file(10);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto asked = asking(model.url(), {"--budget-usd", "0"});
    const auto first = run_heddle(asked);
    ASSERT_EQ(first.code, 4);
    EXPECT_THAT(first.err, HasSubstr("the budget of $0 "));
    const int lock = ::open(path("out.jsonl.run/lock").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
    std::thread other([&] {
        std::this_thread::sleep_for(milliseconds(500));
        ::close(lock);
    });
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=5"});
    other.join();
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_THAT(set.out, HasSubstr("its next command uses max-calls=5"));
}

// A run may come from somebody else.
TEST_F(runs, of_others_set_no_limits) {
    rows_file(10);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto asked = asking(model.url(), {"--max-calls", "3"});
    ASSERT_EQ(run_heddle(asked).code, 4);
    ASSERT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "max-calls=8"}).code, 0);
    child_options elsewhere;
    elsewhere.variables["HOME"] = path("another_home");
    const auto refused = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=9"}, elsewhere);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("there is no record that you started this run"));
    const auto other = run_heddle(asked, elsewhere);
    EXPECT_EQ(other.code, 4);
    EXPECT_THAT(other.err, HasSubstr("ignoring the limits of 'heddle runs set' (max-calls=8)"));
    EXPECT_EQ(model.counters().requests, 3U);
}

// An older heddle has noted no limits of its command: all that were set were dropped.
TEST_F(runs, that_an_older_heddle_began_keep_the_limits_that_are_set) {
    rows_file(10);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto asked = asking(model.url(), {"--max-calls", "3"});
    ASSERT_EQ(run_heddle(asked).code, 4);
    const std::string file = "out.jsonl.run/run.json";
    auto manifest = boost::json::parse(scratch.text_of(file)).as_object();
    manifest.erase("limits");
    manifest.erase("limits_set");
    scratch.file(file, boost::json::serialize(manifest));
    ASSERT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "max-calls=8"}).code, 0);
    EXPECT_EQ(run_heddle(asked).code, 4);
    EXPECT_EQ(model.counters().requests, 8U);
}

TEST_F(runs, that_are_going_get_other_limits) {
    rows_file(300);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 50}]})");
    child_process child(heddle_command(asking(model.url(), {"-c", "2"})), at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 4; }));
    // Two and a half seconds of calls: it is set before.
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "max-calls=100"}).code, 0);
    EXPECT_EQ(child.wait().code, 4);
    EXPECT_EQ(model.counters().requests, 100U);
    EXPECT_EQ(run_heddle(asking(model.url(), {"-c", "2"})).code, 4) << "it is kept";
    EXPECT_EQ(model.counters().requests, 100U);
    child_process timed(heddle_command(asking(model.url(), {"-c", "2", "--max-calls", "250"})),
                        at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 104; }));
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "deadline=0.1"}).code, 0);
    const auto ended = timed.wait();
    EXPECT_EQ(ended.code, 4);
    EXPECT_THAT(ended.err, HasSubstr("--deadline"));
}

TEST_F(runs, have_limits_that_are_lifted) {
    rows_file(5);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto asked = asking(model.url(), {"--max-calls", "3"});
    ASSERT_EQ(run_heddle(asked).code, 4);
    for (const char* wrong : {"concurrency=none", "retry-rows=none", "max-calls=inf", "timeout=0"})
        EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), wrong}).code, 2) << wrong;
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=none"});
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_THAT(set.out, HasSubstr("its next command uses max-calls=none"));
    const auto more = run_heddle(asked);
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_THAT(more.err, HasSubstr("using the limits of 'heddle runs set': max-calls=none"));
    EXPECT_EQ(model.counters().requests, 5U);
}

TEST_F(runs, have_limits_that_are_lifted_while_they_are_going) {
    rows_file(300);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 100}]})");
    child_process child(
        heddle_command(asking(model.url(), {"-c", "5", "--max-calls", "250", "--deadline", "60"})),
        at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 4; }));
    ASSERT_EQ(run_heddle({"runs", "pause", path("out.jsonl")}).code, 0);
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=none",
                                 "deadline=none", "stop-after=none", "concurrency=100"});
    EXPECT_EQ(set.code, 0) << set.err;
    EXPECT_EQ(run_heddle({"runs", "resume", path("out.jsonl")}).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 300U);
}

// The report read a budget that was not there any more.
TEST_F(runs, have_a_budget_that_is_lifted_after_it_has_stopped_them) {
    rows_file(6);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [
        {"match": "t0", "text": "x", "usage": {"input": 1000000, "output": 1}},
        {"match": ".*", "text": "x", "delay_ms": 3000}]})");
    child_process child(heddle_command(asking(model.url(), {"-c", "2", "--budget-usd", "1"})),
                        at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 2; }));
    ASSERT_TRUE(hang_guard::comes_true([&] { return !lines_of("out.jsonl").empty(); }));
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "budget-usd=none"});
    EXPECT_EQ(set.code, 0) << set.err;
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("--budget-usd kept rows from starting"),
                                 Not(HasSubstr("the budget of"))));
}

// The rows that it had kept from starting were given up, and nothing said why they were left.
TEST_F(runs, have_limits_that_are_lifted_after_they_were_used_up) {
    rows_file(5);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (define answer (content (ask text)))\n"
                 "  (when (string=? text \"t0\") (sleep 5) (print \"slept\") (sleep 3))\n"
                 "  answer)\n");
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    {
        child_process killed(heddle_command(asking(model.url(), {"-c", "1"})), at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 1; }));
        const auto is_recorded = [&] {
            const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"});
            return shown.out.find("\"requests\":1") != std::string::npos;
        };
        ASSERT_TRUE(hang_guard::comes_true(is_recorded)); // the row sleeps for five seconds then
        killed.send_signal(SIGKILL);
        (void)killed.wait();
    }
    child_process child(
        heddle_command(asking(model.url(), {"-c", "4", "--max-calls", "1", "--json"})), at_home());
    ASSERT_TRUE(child.wait_for_err("slept"));
    const auto set = run_heddle({"runs", "set", path("out.jsonl"), "max-calls=none"});
    EXPECT_EQ(set.code, 0) << set.err;
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
    EXPECT_EQ(model.counters().requests, 5U);
}

TEST_F(runs, get_other_attempts) {
    rows_file(3);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [
        {"match": "t1", "text": "x", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": "t2", "text": "x", "delay_ms": 600000}, {"match": ".*", "text": "x"}]})");
    const auto asked = asking_once(model.url(), {"--max-calls", "0"});
    ASSERT_EQ(run_heddle(asked).code, 4);
    const auto set = run_heddle(
        {"runs", "set", path("out.jsonl"), "retry-rows=1", "timeout=0.5", "max-calls=none"});
    EXPECT_EQ(set.code, 0) << set.err;
    const auto ended = run_heddle(asked);
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r0", 1}, {"r1", 1}}));
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
    EXPECT_EQ(model.counters().requests, 5U);
}

TEST_F(runs, that_are_going_are_steered) {
    rows_file(300);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 100}]})");
    child_process child(heddle_command(
        command({"--model", "openai:gpt-4o", "--base-url", model.url(), "-c", "2"})));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 4; }));
    const auto paused = run_heddle({"runs", "pause", path("out.jsonl")});
    EXPECT_EQ(paused.code, 0) << paused.err;
    EXPECT_THAT(paused.out, HasSubstr("waiting for 'heddle runs resume'"));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 0; }));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out, HasSubstr("going"));
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "concurrency=20"}).code, 0);
    EXPECT_EQ(run_heddle({"runs", "set", path("out.jsonl"), "concurrency=much"}).code, 2);
    EXPECT_EQ(run_heddle({"runs", "resume", path("out.jsonl")}).code, 0);
    EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 20; }));
    EXPECT_EQ(run_heddle({"runs", "cancel", path("out.jsonl")}).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("heddle runs cancel"));
}

// There was no socket before the first row.
TEST_F(runs, that_are_being_loaded_are_steered) {
    rows_file(3);
    scratch.file("w.heddle", std::string("(sleep 4)\n") + asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    child_process child(
        heddle_command(command({"--model", "openai:gpt-4o", "--base-url", model.url()})));
    child_result paused;
    ASSERT_TRUE(hang_guard::comes_true([&] {
        paused = run_heddle({"runs", "pause", path("out.jsonl")});
        return paused.code == 0;
    })) << paused.err;
    EXPECT_THAT(paused.out, AllOf(HasSubstr("loading"), HasSubstr("w.heddle"),
                                  HasSubstr("waiting for 'heddle runs resume'")));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                AllOf(HasSubstr("going"), HasSubstr("now: loading")));
    EXPECT_TRUE(child.wait_for_err("loading")) << "the line after two seconds";
    child_result shown;
    EXPECT_TRUE(hang_guard::comes_true([&] {
        shown = run_heddle({"runs", "show", path("out.jsonl")});
        return shown.out.find("0 running") != std::string::npos;
    }));
    EXPECT_THAT(shown.out, AllOf(HasSubstr("0 running"), HasSubstr("'heddle runs resume'")));
    EXPECT_EQ(model.counters().requests, 0U);
    EXPECT_EQ(run_heddle({"runs", "resume", path("out.jsonl")}).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
}

TEST_F(runs, that_are_being_loaded_are_cancelled) {
    rows_file(3);
    scratch.file("w.heddle", "(sleep 600)\n(define (main text) text)\n");
    child_process child(heddle_command(command()));
    child_result cancelled;
    EXPECT_TRUE(hang_guard::comes_true([&] {
        cancelled = run_heddle({"runs", "cancel", path("out.jsonl")});
        return cancelled.code == 0;
    })) << cancelled.err;
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("'heddle runs cancel' has ended the batch while"));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.run"))) << "nothing of it is left";
    scratch.file("w.heddle", "(define (main text) text)\n");
    EXPECT_EQ(run_heddle(command()).code, 0);
}

TEST_F(runs, take_no_harm_from_hostile_requests) {
    rows_file(5);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 1500}]})");
    child_process child(
        heddle_command(command({"--model", "openai:gpt-4o", "--base-url", model.url()})));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 5; }));
    const std::string place = path("out.jsonl.run/control.sock");
    struct stat about {};
    ASSERT_EQ(::stat(place.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    const std::vector<std::string> requests{"\n",
                                            "nonsense\n",
                                            "[]\n",
                                            "{\"do\": 7}\n",
                                            "{\"do\": \"set\", \"concurrency\": -1}\n",
                                            "{\"do\": \"set\", \"budget_usd\": \"x\"}\n",
                                            std::string(100'000, '['),
                                            std::string(100'000, 'x') + "\n"};
    for (const std::string& request : requests) {
        const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        place.copy(address.sun_path, sizeof address.sun_path - 1);
        ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        (void)::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
        ::close(socket);
    }
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(5);
}

} // namespace
} // namespace heddle::cli_test
