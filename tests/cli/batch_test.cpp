// `heddle batch`: rows in, results out.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class batches : public batch_fixture {};

// A mistake in the command became a dead letter of each row.
TEST_F(batches, are_refused_an_input_that_main_does_not_take) {
    rows_file(3);
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
             {"-i", "other=1"}, {"-i", "text=a", "-i", "text=b"}}) {
        const auto ended = batch(more);
        EXPECT_EQ(ended.code, 2) << ended.err;
        EXPECT_NE(ended.err.find(more[1].substr(0, 4)), std::string::npos) << ended.err;
        EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.run")));
    }
}

TEST_F(batches, does_not_count_more_rows_than_there_are) {
    rows_file(6);
    ASSERT_EQ(batch().code, 0);
    const auto again = batch({"--limit", "1"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.err.find("\n6 of 6 rows: 6 done (6 of them earlier)"), std::string::npos)
        << again.err;
}

TEST_F(batches, write_a_result_for_each_row) {
    rows_file(1000);
    const auto ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "");
    expect_each_row_once(1000);
    for (const auto& line : lines_of("out.jsonl")) {
        EXPECT_EQ(line.at("status").as_string(), "done");
        EXPECT_EQ("T" + std::string(line.at("id").as_string()).substr(1),
                  line.at("value").as_string());
    }
    EXPECT_THAT(ended.err, HasSubstr("1,000 of 1,000 rows: 1,000 done"));
}

TEST_F(batches, take_csv_and_write_to_standard_output) {
    const std::string rows = scratch.file("rows.csv", "id,text\na,\"one, two\"\nb,three\n");
    const auto ended =
        run_heddle({"batch", computing, "--rows", rows, "--no-journal", "--id", "id", "--ordered"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr(R"("value":"ONE, TWO")"));
    EXPECT_LT(ended.out.find("ONE, TWO"), ended.out.find("THREE"));
}

TEST_F(batches, need_a_directory_where_results_go_to_standard_output) {
    rows_file(1);
    const auto ended = run_heddle({"batch", computing, "--rows", path("rows.jsonl")});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("--run DIR is required"), HasSubstr("--no-journal")));
}

TEST_F(batches, put_nothing_beside_a_device) {
    rows_file(3);
    scratch.file("w.heddle", "(define (main text) (error text))");
    std::filesystem::create_symlink("/dev/null", path("null"));
    const std::vector<std::string> command{"batch", computing,   "--rows", path("rows.jsonl"),
                                           "--out", path("null")};
    const auto refused = run_heddle(command);
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--run DIR is required"));
    auto with_run = command;
    with_run.insert(with_run.end(), {"--run", path("run")});
    EXPECT_EQ(run_heddle(with_run).code, 3);
    EXPECT_EQ(lines_of("run/failed.jsonl").size(), 3U);
    EXPECT_FALSE(std::filesystem::exists(path("null.failed.jsonl")));
}

TEST_F(batches, name_a_full_disk_and_how_to_go_on) {
    rows_file(300);
    const std::vector<std::string> command{"batch", computing,  "--rows", path("rows.jsonl"),
                                           "--out", "/dev/full"};
    auto unkept = command;
    unkept.emplace_back("--no-journal");
    const auto lost = run_heddle(unkept);
    EXPECT_EQ(lost.code, 4);
    EXPECT_THAT(lost.err, AllOf(HasSubstr("No space left"), HasSubstr("cannot be written\n")));
    auto kept = command;
    kept.insert(kept.end(), {"--run", path("run")});
    const auto ended = run_heddle(kept);
    EXPECT_EQ(ended.code, 4);
    EXPECT_THAT(ended.err, HasSubstr("cannot be written; the same command continues\n"));
}

TEST_F(batches, are_refused_an_id_that_is_no_column) {
    scratch.file("rows.csv", "name,text\na,b\n");
    const auto ended = run_heddle({"batch", computing, "--rows", path("rows.csv"), "--out",
                                   path("out.jsonl"), "--id", "number"});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("\"number\""), Not(HasSubstr("rows are left"))));
}

TEST_F(batches, stop_where_no_row_is_done_unless_asked_to_skip) {
    rows_file(500);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    const auto stopped = batch({"-c", "10"});
    EXPECT_EQ(stopped.code, 4) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("none of the first 100 rows had a result"));
    EXPECT_LE(lines_of("out.jsonl.failed.jsonl").size(), 110U);
    EXPECT_EQ(batch({"-c", "10", "--on-error", "skip"}).code, 3);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 500U);
}

TEST_F(batches, take_the_row_as_a_map) {
    rows_file(3);
    scratch.file("w.heddle", "(define (main row) (string-append (get row \"id\") \"!\"))");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr(R"("value":"r2!")"));
}

TEST_F(batches, give_the_content_of_a_task_result) {
    rows_file(3);
    scratch.file("w.heddle", asking_workflow);
    const std::string rules = scratch.file("rules.json", always_answering("yes"));
    const auto ended = batch({"--model", "scripted:" + rules});
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const auto& line : lines_of("out.jsonl")) {
        EXPECT_EQ(line.at("value").as_string(), "yes");
        EXPECT_EQ(line.at("usage").at("requests").to_number<int>(), 1);
    }
}

TEST_F(batches, put_rows_without_a_result_beside_the_others) {
    scratch.file("rows.jsonl",
                 "{\"id\": \"a\", \"text\": \"fine\"}\n"
                 "{\"id\": \"b\", \"text\": \n"
                 "{\"id\": \"c\"}\n"
                 "{\"id\": \"d\", \"text\": 7}\n"
                 "{\"id\": \"a\", \"text\": \"again\"}\n");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"a", 1}}));
    const auto letters = lines_of("out.jsonl.failed.jsonl");
    ASSERT_EQ(letters.size(), 4U);
    const std::string text = scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(text,
                AllOf(HasSubstr("the row has no column text"), HasSubstr("an earlier row has"),
                      HasSubstr("string-upcase"), HasSubstr("\"line\":2")));
    EXPECT_THAT(ended.err, AllOf(HasSubstr("1 done, 1 failed, 3 rejected"), HasSubstr("TypeError"),
                                 HasSubstr("out.jsonl.failed.jsonl")));
}

TEST_F(batches, stop_at_a_bad_row_when_strict) {
    scratch.file("rows.jsonl", "{\"id\": \"a\", \"text\": \"x\", \"more\": 1}\n");
    const auto ended = batch({"--strict"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("main has no parameter more"), HasSubstr("--strict"),
                                 Not(HasSubstr("left"))));
}

TEST_F(batches, take_the_column_of_ids_when_strict) {
    rows_file(3);
    const auto ended = batch({"--strict"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
}

TEST_F(batches, keep_the_order_of_rows) {
    rows_file(200);
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t0\") (progn (sleep 0.3) 0) 1))");
    const auto ended = batch({"--ordered", "--window", "50"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    int next = 0;
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_EQ(line.at("id").as_string(), "r" + std::to_string(next++));
    EXPECT_EQ(next, 200);
}

TEST_F(batches, run_no_finished_row_again) {
    rows_file(20);
    ASSERT_EQ(batch({"--limit", "12"}).code, 0);
    const auto ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("12 rows finished"));
    expect_each_row_once(20);
    const std::string before = scratch.text_of("out.jsonl");
    EXPECT_EQ(batch().code, 0);
    EXPECT_EQ(scratch.text_of("out.jsonl"), before);
}

TEST_F(batches, run_failed_rows_again_when_asked) {
    rows_file(10);
    const std::string failing =
        "(define (main text) (if (string=? text \"t3\") (error \"no threes\") text))";
    scratch.file("w.heddle", failing);
    EXPECT_EQ(batch().code, 3);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
    EXPECT_EQ(batch().code, 3);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 1U);
    scratch.file("w.heddle", "(define (main text) text)");
    const auto ended = batch({"--retry-failed"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("have changed since the run began"));
    expect_each_row_once(10);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(batches, run_one_failed_row_again_when_asked) {
    rows_file(8);
    scratch.file("w.heddle", asking_workflow);
    model_thread refusing(
        R"({"rules": [{"match": "t[35]", "error": {"status": 400, "message": "no"}},
                                        {"match": ".*", "text": "x"}]})");
    ASSERT_EQ(batch({"--model", "openai:gpt-4o", "--base-url", refusing.url()}).code, 3);
    ASSERT_EQ(ids_in("out.jsonl.failed.jsonl"), (std::map<std::string, int>{{"r3", 1}, {"r5", 1}}));
    model_thread model(always_answering("y"));
    const auto ended =
        batch({"--model", "openai:gpt-4o", "--base-url", model.url(), "--retry-row", "r3"});
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(model.counters().requests, 1U);
    EXPECT_EQ(ids_in("out.jsonl").size(), 7U);
    EXPECT_EQ(ids_in("out.jsonl").at("r3"), 1);
    EXPECT_EQ(ids_in("out.jsonl.failed.jsonl"), (std::map<std::string, int>{{"r5", 1}}));
}

TEST_F(batches, repeat_the_task_whose_result_was_read_and_no_other) {
    rows_file(1);
    scratch.file("w.heddle", R"((defatom soft (params q) (instructions "soft {{q}}"))
(defatom hard (params q) (instructions "hard {{q}}"))
(define (main text)
  (let* ((first (get (soft text) 'none "left out")) (second (hard text)))
    (list first (content second))))
)");
    model_thread refusing(
        R"({"rules": [{"match": ".*", "error": {"status": 400, "message": "no"}}]})");
    ASSERT_EQ(batch({"--model", "openai:gpt-4o", "--base-url", refusing.url()}).code, 3);
    ASSERT_EQ(refusing.counters().requests, 2U);
    model_thread model(always_answering("y"));
    const auto ended =
        batch({"--model", "openai:gpt-4o", "--base-url", model.url(), "--retry-failed"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 1U) << "soft has failed, and was not what the row lacked";
}

TEST_F(batches, see_nothing_of_the_rows_before) {
    rows_file(50);
    scratch.file("w.heddle",
                 "(define count (let ((n 0)) (lambda () (set! n (+ n 1)) n)))\n"
                 "(define (main text) (count))");
    const auto ended = batch({"--concurrency", "1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    for (const auto& line : lines_of("out.jsonl")) EXPECT_EQ(line.at("value").to_number<int>(), 1);
}

TEST_F(batches, print_one_object_as_the_summary) {
    rows_file(5);
    const auto ended = batch({"--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto summary = boost::json::parse(ended.out).as_object();
    EXPECT_EQ(summary.at("rows").at("done").to_number<int>(), 5);
    EXPECT_EQ(summary.at("rows").at("total").to_number<int>(), 5);
    EXPECT_TRUE(summary.at("stopped_by").is_null());
}

// It had nothing left, and no way to go on.
TEST_F(batches, have_results_left_when_a_file_takes_no_more) {
    rows_file(1);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    const auto ended = batch({"--json", "--dead-letters", "/dev/full"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    const auto summary = boost::json::parse(ended.out).as_object();
    EXPECT_TRUE(summary.at("rows_left").as_bool());
    EXPECT_EQ(summary.at("stopped_by").as_string(), "output");
    EXPECT_FALSE(summary.at("next").is_null());
}

TEST_F(batches, are_stopped_by_an_input_that_ends_early) {
    rows_file(1);
    ASSERT_EQ(child_process({"gzip", path("rows.jsonl")}).wait().code, 0);
    const std::string packed = path("rows.jsonl.gz");
    std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
    const auto ended =
        run_heddle({"batch", computing, "--rows", packed, "--out", path("out.jsonl"), "--json"});
    const auto summary = boost::json::parse(ended.out).as_object();
    EXPECT_EQ(summary.at("stopped_by").as_string(), "input");
}

TEST_F(batches, show_mistakes_of_the_program_before_anything_is_written) {
    rows_file(5);
    scratch.file("w.heddle", "(define (main text) (strng-upcase text))\n(strng 1)");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("w.heddle:2"));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl.run")));
}

TEST_F(batches, do_not_replace_results_of_others) {
    rows_file(5);
    scratch.file("out.jsonl", "mine\n");
    const auto ended = batch();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(scratch.text_of("out.jsonl"), "mine\n");
}

TEST_F(batches, say_what_they_would_do) {
    rows_file(30);
    ASSERT_EQ(batch({"--limit", "10"}).code, 0);
    const auto ended = batch({"--dry-run"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("30 rows: 20 would run, 10 are finished"));
    EXPECT_EQ(lines_of("out.jsonl").size(), 10U);
}

TEST_F(batches, refuse_what_they_cannot_do) {
    rows_file(1);
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
        {{"--on-error", "explode"}, "--on-error must be"},
        {{"--on-error", "stop-after=0"}, "stop-after"},
        {{"--on-error", "stop-after=+3"}, "stop-after"},
        {{"--on-error", "stop-after=99999999999999999999"}, "stop-after"},
        {{"--progress", "loud"}, "--progress must be"},
        {{"--durability", "maybe"}, "--durability must be"},
        {{"--out-format", "xml"}, "--out-format must be"},
        {{"--grace", "-1"}, "--grace must be"},
        {{"--sample", "much"}, "--sample"},
        {{"--sample-rows", "3"}, "needs --dry-run"},
        {{"--stream"}, "--stream"}};
    for (const auto& [more, said] : wrong) {
        const auto ended = batch(more);
        EXPECT_EQ(ended.code, 2) << said;
        EXPECT_THAT(ended.err, HasSubstr(said));
    }
    EXPECT_FALSE(std::filesystem::exists(path("out.jsonl")));
}

// The results of rows that were shifted were paid again, and no word said so.
TEST_F(batches, name_results_of_rows_that_have_moved) {
    rows_file(3);
    const std::vector<std::string> by_position{
        "batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out", path("out.jsonl")};
    ASSERT_EQ(run_heddle(by_position).code, 0);
    scratch.file("rows.jsonl",
                 "{\"id\": \"new\", \"text\": \"n\"}\n" + scratch.text_of("rows.jsonl"));
    auto looking = by_position;
    looking.emplace_back("--dry-run");
    EXPECT_THAT(run_heddle(looking).out, HasSubstr("3 results are of rows that are no longer"));
    for (const char* look : {"--dry-run", "--plan"}) {
        auto in_json = by_position;
        in_json.insert(in_json.end(), {look, "--json"});
        const auto all = boost::json::parse(run_heddle(in_json).out).as_object();
        EXPECT_EQ(all.at("absent").to_number<int>(), 3) << look;
        EXPECT_EQ(all.at("rows").to_number<int>(), 4) << look;
        in_json.insert(in_json.end(), {"--limit", "2"});
        const auto part = boost::json::parse(run_heddle(in_json).out).as_object();
        EXPECT_TRUE(part.at("absent").is_null()) << look;
    }
    const auto again = run_heddle(by_position);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, AllOf(HasSubstr("7 of 7 rows: 7 done (3 of them earlier)"),
                                 HasSubstr("3 results are of rows that are no longer in the input; "
                                           "with --id COLUMN")));
    std::set<std::int64_t> numbers;
    for (const auto& line : lines_of("out.jsonl")) numbers.insert(line.at("row").as_int64());
    EXPECT_EQ(numbers, (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
    auto as_json = by_position;
    as_json.emplace_back("--json");
    const auto summary = boost::json::parse(run_heddle(as_json).out).as_object();
    EXPECT_EQ(summary.at("rows").at("total").to_number<int>(), 7);
    EXPECT_EQ(summary.at("rows").at("done").to_number<int>(), 7);
    EXPECT_EQ(summary.at("rows").at("absent").to_number<int>(), 3);
}

TEST_F(batches, list_the_failures_of_earlier_processes) {
    rows_file(6);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    ASSERT_EQ(batch({"--limit", "4", "--on-error", "skip"}).code, 3);
    const auto again = batch({"--json", "--on-error", "skip"});
    EXPECT_EQ(again.code, 3) << again.err;
    const auto summary = boost::json::parse(again.out).as_object();
    EXPECT_EQ(summary.at("rows").at("failed").to_number<int>(), 6);
    ASSERT_EQ(summary.at("failures").as_array().size(), 1U);
    EXPECT_EQ(summary.at("failures").at(0).at("rows").to_number<int>(), 6);
}

// The total was 4, and none was absent.
TEST_F(batches, that_are_retried_count_failed_rows_which_the_input_has_lost) {
    rows_file(10);
    scratch.file("w.heddle", "(define (main text) (error \"no\"))");
    ASSERT_EQ(batch({"--on-error", "skip"}).code, 3);
    rows_file(4);
    const auto again = batch({"--json", "--on-error", "skip", "--retry-failed"});
    EXPECT_EQ(again.code, 3) << again.err;
    const auto rows = boost::json::parse(again.out).at("rows");
    EXPECT_EQ(rows.at("total").to_number<int>(), 10);
    EXPECT_EQ(rows.at("failed").to_number<int>(), 10);
    EXPECT_EQ(rows.at("kept").to_number<int>(), 6);
    EXPECT_EQ(rows.at("absent").to_number<int>(), 6);
}

TEST_F(batches, name_a_missing_directory_of_the_results_once) {
    rows_file(1);
    const auto ended = run_heddle(
        {"batch", path("w.heddle"), "--rows", path("rows.jsonl"), "--out", path("none/x.jsonl")});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("--out: "), Not(HasSubstr("--run"))));
}

// It spoke of rows before a place that had none.
TEST_F(batches, name_a_header_that_cannot_be_read_once) {
    scratch.file("rows.csv", "text,text\na,b\n");
    const auto ended = run_heddle(
        {"batch", path("w.heddle"), "--rows", path("rows.csv"), "--out", path("out.jsonl")});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("the input ends early")));
}

} // namespace
} // namespace heddle::cli_test
