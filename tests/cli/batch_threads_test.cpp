// Batches whose rows are executed on several threads.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

std::size_t threads_of(pid_t process) {
    std::error_code failed;
    const std::filesystem::directory_iterator found("/proc/" + std::to_string(process) + "/task",
                                                    failed);
    return static_cast<std::size_t>(std::distance(begin(found), end(found)));
}

/// A letter for each thread: R runs or could, Z has ended.
std::string states_of_threads(pid_t process) {
    std::string states;
    std::error_code failed;
    std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/task", failed);
    for (const std::filesystem::directory_iterator end; !failed && at != end;
         at.increment(failed)) {
        std::ifstream file(at->path() / "stat");
        std::string text;
        std::getline(file, text);
        const std::size_t name_end = text.rfind(") ");
        if (name_end != std::string::npos) states += text[name_end + 2];
    }
    return states;
}

class threaded_batches : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> on_threads(int count,
                                                      std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--threads", std::to_string(count)});
        return more;
    }
};

TEST_F(threaded_batches, have_the_results_of_one_thread) {
    scratch.file("lib.heddle", "(define (shout text) (string-upcase text))");
    scratch.file("salt.txt", "pepper");
    scratch.file("w.heddle", R"((import "lib.heddle")
(define salt (read-file "salt.txt"))
(define born (now))
(define (work n) (if (= n 0) 0 (+ 1 (work (- n 1)))))
(define (main id text)
  (print id)
  (list (shout text) (work 500) salt born (random 1000000))))");
    rows_file(200);
    child_options here = at_home();
    here.directory = scratch.path();
    const auto ended = run_heddle(command(on_threads(3, {"--seed", "7", "--ordered"})), here);
    ASSERT_EQ(ended.code, 0) << ended.err << scratch.text_of("out.jsonl.failed.jsonl");
    const auto several = lines_of("out.jsonl");
    ASSERT_EQ(several.size(), 200U);
    for (std::size_t i = 0; i < several.size(); ++i) {
        EXPECT_EQ(several[i].at("id").as_string(), "r" + std::to_string(i));
        const auto& value = several[i].at("value").as_array();
        EXPECT_EQ(value[0].as_string(), "T" + std::to_string(i));
        EXPECT_EQ(value[1].as_int64(), 500);
        EXPECT_EQ(value[2].as_string(), "pepper");
        EXPECT_EQ(value[3], several[0].at("value").as_array()[3]) << "the time is that of the run";
        EXPECT_THAT(ended.out, HasSubstr("r" + std::to_string(i) + "\n"));
    }
    // Chance is of the run and the row, not of a thread.
    std::vector<std::string> strings = command({"--seed", "7", "--ordered"});
    std::replace(strings.begin(), strings.end(), path("out.jsonl"), path("one.jsonl"));
    const auto one = run_heddle(std::move(strings), here);
    ASSERT_EQ(one.code, 0) << one.err;
    const auto alone = lines_of("one.jsonl");
    ASSERT_EQ(alone.size(), 200U);
    for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].at("value").as_array()[4], several[i].at("value").as_array()[4]) << i;
    }
}

TEST_F(threaded_batches, draw_for_each_row_by_itself_without_a_journal_too) {
    scratch.file(
        "w.heddle",
        "(define (main text) (cons (uuid) (map (lambda (i) (random 1000000)) (range 3))))");
    rows_file(60);
    const auto drawn = [&](std::vector<std::string> more) {
        more.push_back("--force");
        std::filesystem::remove_all(path("out.jsonl.run"));
        const auto ended = batch(std::move(more));
        EXPECT_EQ(ended.code, 0) << ended.err;
        std::map<std::string, std::string> by_row;
        for (const auto& line : lines_of("out.jsonl")) {
            by_row[std::string(line.at("id").as_string())] =
                boost::json::serialize(line.at("value"));
        }
        EXPECT_EQ(by_row.size(), 60U);
        return by_row;
    };
    const auto expect_all_differ = [](const std::map<std::string, std::string>& by_row) {
        std::set<std::string> values;
        for (const auto& [row, value] : by_row) values.insert(value);
        EXPECT_EQ(values.size(), by_row.size());
    };
    const auto several = drawn(on_threads(3, {"--no-journal", "--seed", "7"}));
    expect_all_differ(several);
    EXPECT_EQ(drawn({"--no-journal", "--seed", "7"}), several);
    EXPECT_EQ(drawn(on_threads(2, {"--seed", "7"})), several) << "with a journal";
    const auto unseeded = drawn(on_threads(3, {"--no-journal"}));
    expect_all_differ(unseeded);
    EXPECT_NE(drawn(on_threads(3, {"--no-journal"})), unseeded);
}

TEST_F(threaded_batches, evaluate_top_levels_once_that_read_more_than_a_run_keeps) {
    scratch.file("large.txt", std::string(std::size_t{16} << 20, 'x'));
    // What comes after 64 MB of responses is kept by no journal.
    scratch.file("w.heddle", R"((define sizes
  (map (lambda (i) (string-length (read-file "large.txt"))) (range 5)))
(define born (now))
(print "loading")
(define (main id) (list sizes born)))");
    child_options here = at_home();
    here.directory = scratch.path();
    std::set<std::string> values;
    for (const int rows : {20, 40}) { // the second process continues the run
        rows_file(rows);
        const auto ended = run_heddle(command(on_threads(3)), here);
        ASSERT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.out, "loading\n");
        values.clear();
        const auto lines = lines_of("out.jsonl");
        ASSERT_EQ(lines.size(), static_cast<std::size_t>(rows));
        for (auto line = lines.end() - 20; line != lines.end(); ++line)
            values.insert(boost::json::serialize(line->at("value")));
        EXPECT_EQ(values.size(), 1U);
    }
}

TEST_F(threaded_batches, load_the_program_on_all_threads_at_the_same_time) {
    scratch.file("w.heddle",
                 R"((define long (let loop ((n 20000000)) (if (= n 0) 0 (loop (- n 1)))))
(define (main text) text))");
    rows_file(3);
    child_process child(heddle_command(command(on_threads(3))), at_home());
    // The loop of the run waits meanwhile. Threads that have just begun may compute as well.
    constexpr int enough = 5;
    int seen = 0;
    for (std::string states = "R"; seen < enough && states != "Z";) {
        states = states_of_threads(child.pid());
        if (std::count(states.begin(), states.end(), 'R') >= 3) ++seen;
        std::this_thread::sleep_for(milliseconds(2));
    }
    EXPECT_EQ(seen, enough);
    EXPECT_EQ(child.wait().code, 0);
}

// The option alone, with a service that takes no batches, kept a run to one thread for ever.
TEST_F(threaded_batches, continue_runs_that_were_to_park_and_have_not) {
    scratch.file("w.heddle", asking_workflow);
    rows_file(10);
    const std::string rules = scratch.file("rules.json", R"({"rules": [
        {"match": ".*", "text": "x"}]})");
    const auto first =
        run_heddle(command({"--model", "scripted:" + rules, "--park", "--max-calls", "4"}));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_THAT(first.err, ::testing::HasSubstr("no configured service takes batches"));
    const auto more = run_heddle(command(on_threads(2, {"--model", "scripted:" + rules})));
    EXPECT_EQ(more.code, 0) << more.err;
    expect_each_row_once(10);
}

TEST_F(threaded_batches, share_limits_and_budgets) {
    scratch.file("w.heddle", asking_workflow);
    rows_file(60);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 5}]})");
    const auto first =
        run_heddle(asking(model.url(), on_threads(3, {"--max-calls", "17", "-c", "8"})));
    EXPECT_EQ(first.code, 4) << first.err;
    EXPECT_EQ(model.counters().requests, 17U);
    EXPECT_EQ(lines_of("out.jsonl").size(), 17U);
    // The number of threads is nothing that the run depends on.
    const auto more = run_heddle(asking(model.url(), on_threads(2, {"-c", "8", "--json"})));
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(model.counters().requests, 60U);
    EXPECT_LE(model.counters().max_open_connections, 8U);
    const auto summary = boost::json::parse(more.out).as_object();
    EXPECT_EQ(summary.at("spent").at("requests").to_number<int>(), 60);
    EXPECT_EQ(summary.at("spent_now").at("requests").to_number<int>(), 43);
    expect_each_row_once(60);
}

TEST_F(threaded_batches, run_on_as_many_threads_and_end_on_interrupts) {
    scratch.file("w.heddle", asking_workflow);
    rows_file(20);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})");
    std::size_t with_one = 0;
    for (const int count : {1, 4}) {
        SCOPED_TRACE(count);
        const unsigned before = static_cast<unsigned>(model.counters().requests);
        child_process child(
            heddle_command(asking(model.url(), on_threads(count, {"--grace", "600"}))), at_home());
        ASSERT_TRUE(
            model.wait_until([&](const auto& seen) { return seen.requests >= before + 20; }));
        if (count == 1) with_one = threads_of(child.pid());
        else EXPECT_GE(threads_of(child.pid()), with_one + 4);
        child.send_signal(SIGINT);
        ASSERT_TRUE(child.wait_for_err("Ctrl-C again")) << child.err();
        child.send_signal(SIGINT);
        EXPECT_EQ(child.wait().code, 130);
    }
    EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 0; }));
}

TEST_F(threaded_batches, show_the_calls_that_wait_for_a_response) {
    scratch.file("w.heddle", asking_workflow);
    rows_file(6);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 3000}]})");
    for (const int count : {1, 2}) {
        const auto ended = run_heddle(asking(
            model.url(), on_threads(count, {"--progress", "json", "--no-journal", "--force"})));
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_THAT(ended.err, HasSubstr(R"("on_the_wire":6)")) << count;
    }
}

TEST_F(threaded_batches, report_failures_with_their_places) {
    scratch.file("w.heddle",
                 "(define (main text)\n  (if (string=? text \"t3\") (error \"no\") text))");
    rows_file(9);
    const auto ended = batch(on_threads(2));
    EXPECT_EQ(ended.code, 3) << ended.err;
    const auto failed = lines_of("out.jsonl.failed.jsonl");
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].at("id").as_string(), "r3");
    const auto& problem = failed[0].at("error").as_object();
    EXPECT_EQ(problem.at("place").at("line").to_number<int>(), 2);
}

// It was noted as an error.
TEST_F(threaded_batches, that_are_cancelled_while_the_threads_load_the_program_are_noted_so) {
    rows_file(2);
    // A computation is done again on each thread, after the run was opened.
    scratch.file("w.heddle",
                 "(define (spin n) (if (> n 0) (spin (- n 1)) 0))\n"
                 "(spin 30000000)\n"
                 "(define (main text) (sleep 600))\n");
    child_process child(heddle_command(command(on_threads(2))), at_home());
    ASSERT_TRUE(hang_guard::comes_true(
        [&] { return std::filesystem::exists(path("out.jsonl.run/run.json")); }));
    EXPECT_EQ(run_heddle({"runs", "cancel", path("out.jsonl")}).code, 0);
    const auto ended = child.wait(); // also where the rows have begun meanwhile
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                HasSubstr("w.heddle, stopped (cancelled)"));
}

TEST_F(threaded_batches, end_rows_that_take_too_long) {
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t1\") (let loop () (loop)) text))");
    rows_file(6);
    const auto ended = batch(on_threads(2, {"-t", "1"}));
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl").size(), 5U);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
}

TEST_F(threaded_batches, exclude_parking) {
    rows_file(1);
    const auto refused = batch(on_threads(2, {"--park"}));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--park and --threads exclude each other"));
}

} // namespace
} // namespace heddle::cli_test
