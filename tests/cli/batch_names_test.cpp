// Names that no column has, files named by a pattern, and what programs read of a batch.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class named_rows : public batch_fixture {
protected:
    [[nodiscard]] child_result over(const std::string& rows,
                                    std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"batch", path("w.heddle"), "--rows",
                                     rows,    "--out",          path("out.jsonl")};
        all.insert(all.end(), more.begin(), more.end());
        return run_heddle(std::move(all));
    }
    [[nodiscard]] std::string rows_of_tex(int count) const {
        std::string text;
        for (int i = 0; i < count; ++i) text += "{\"tex\": \"a\"}\n";
        return scratch.file("wrong.jsonl", text);
    }
    /// Each line of standard error.
    static std::vector<boost::json::object> objects_of(const std::string& err) {
        std::vector<boost::json::object> all;
        std::istringstream in(err);
        for (std::string line; std::getline(in, line);) {
            boost::system::error_code wrong;
            const auto parsed = boost::json::parse(line, wrong);
            EXPECT_TRUE(!wrong && parsed.is_object()) << line;
            if (!wrong && parsed.is_object()) all.push_back(parsed.as_object());
        }
        return all;
    }
};

// Every row was rejected.
TEST_F(named_rows, without_a_column_of_main_are_refused_by_their_header) {
    const std::string rows = scratch.file("rows.csv", "id,tex\n1,a\n2,b\n");
    const auto refused = over(rows);
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("rows.csv, line 1: no column has the name text"),
                                   HasSubstr("did you mean 'tex'")));
    EXPECT_EQ(over(rows, {"--dry-run"}).code, 2);
    EXPECT_EQ(over(rows, {"-i", "text=x"}).code, 0);
}

TEST_F(named_rows, without_a_column_of_where_are_refused_by_their_header) {
    const std::string rows = scratch.file("rows.csv", "text,stars\na,1\n");
    const auto refused = over(rows, {"--where", "(string=? star \"1\")"});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("no column has the name star, which --where needs"),
                                   HasSubstr("did you mean 'stars'")));
}

// A file without a row that the filter takes was refused for the columns of main.
TEST_F(named_rows, without_a_column_of_main_are_left_out_by_where) {
    const std::string program = scratch.file("two.heddle", "(define (main a . more) a)");
    const std::string only_a = scratch.file("a1.csv", "a\n1\n");
    const std::string only_b = scratch.file("b1.csv", "b\n2\n");
    const std::string both = scratch.file("ab.csv", "a,b\n3,4\n");
    const auto ended = run_heddle({"batch", program, "--rows", only_a, only_b, both, "--where",
                                   "(get row \"a\" nil)", "--out", path("a.jsonl")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lines_of("a.jsonl").size(), 2U);
    const auto rejected = run_heddle({"batch", program, "--rows", only_b, "--where",
                                      "(get row \"b\" nil)", "--out", path("b.jsonl")});
    EXPECT_EQ(rejected.code, 3) << rejected.err;
    EXPECT_EQ(lines_of("b.jsonl.failed.jsonl").size(), 1U);
    const auto refused = run_heddle({"batch", program, "--rows", only_b, "--out", path("c.jsonl")});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("no column has the name a, which main needs"));
}

TEST_F(named_rows, of_json_stop_after_a_hundred_that_cannot_run) {
    const auto stopped = over(rows_of_tex(600));
    EXPECT_EQ(stopped.code, 4) << stopped.err;
    EXPECT_THAT(stopped.err, AllOf(HasSubstr("none of the first 100 rows can run"),
                                   HasSubstr("name text"), HasSubstr("did you mean 'tex'")));
    EXPECT_LE(lines_of("out.jsonl.failed.jsonl").size(), 100U);
    std::filesystem::remove_all(path("out.jsonl.run"));
    std::filesystem::remove(path("out.jsonl.failed.jsonl"));
    EXPECT_EQ(over(rows_of_tex(600), {"--on-error", "skip", "--force"}).code, 3);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 600U);
}

// Each repetition rejected 99 others.
TEST_F(named_rows, that_cannot_run_stop_a_repeated_command_at_the_same_place) {
    std::string unreadable;
    for (int i = 0; i < 600; ++i) unreadable += "no JSON " + std::to_string(i) + "\n";
    for (const std::string& rows : {rows_of_tex(600), scratch.file("bad.jsonl", unreadable)}) {
        std::filesystem::remove_all(path("out.jsonl.run"));
        std::filesystem::remove(path("out.jsonl.failed.jsonl"));
        const auto message_of = [&](const std::vector<std::string>& more) {
            auto all = more;
            all.insert(all.end(), {"--json", "--force"});
            const auto stopped = over(rows, all);
            EXPECT_EQ(stopped.code, 4) << stopped.err;
            const auto summary = boost::json::parse(stopped.out).as_object();
            EXPECT_EQ(summary.at("rows").at("rejected").to_number<int>(), 99) << stopped.out;
            EXPECT_EQ(summary.at("stopped_by").as_string(), "all-fail");
            EXPECT_TRUE(summary.at("rows_left").as_bool());
            return std::string(summary.at("error").at("message").as_string());
        };
        const std::string first = message_of({});
        EXPECT_THAT(first, HasSubstr("none of the first 100 rows can run: "));
        for (int times = 0; times < 2; ++times) EXPECT_EQ(message_of({}), first);
        EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 99U);
        // No row is lost.
        EXPECT_EQ(over(rows, {"--on-error", "skip"}).code, 3);
        EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 600U);
        EXPECT_EQ(over(rows).code, 3) << "all rows have ended";
    }
}

TEST_F(named_rows, that_cannot_run_do_not_stop_a_repeated_command_before_others_that_have) {
    (void)rows_of_tex(150);
    const std::string rows =
        scratch.file("mixed.jsonl", scratch.text_of("wrong.jsonl") + "{\"text\": \"b\"}\n");
    EXPECT_EQ(over(rows).code, 4);
    EXPECT_EQ(over(rows, {"--on-error", "skip"}).code, 3);
    scratch.file("mixed.jsonl", scratch.text_of("mixed.jsonl") + "{\"text\": \"c\"}\n");
    const auto again = over(rows);
    EXPECT_EQ(again.code, 3) << again.err;
    EXPECT_EQ(lines_of("out.jsonl").size(), 2U);
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 150U);
}

TEST_F(named_rows, of_json_with_one_that_can_run_do_not_stop) {
    (void)rows_of_tex(300);
    const std::string rows =
        scratch.file("mixed.jsonl", "{\"text\": \"b\"}\n" + scratch.text_of("wrong.jsonl"));
    const auto ended = over(rows);
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 300U);
}

TEST_F(named_rows, may_be_in_several_files_after_one_option) {
    for (const char* name : {"a.jsonl", "b.jsonl"})
        scratch.file(name, std::string("{\"text\": \"") + name + "\"}\n");
    const auto ended = run_heddle({"batch", path("w.heddle"), "--rows", path("a.jsonl"),
                                   path("b.jsonl"), "--out", path("both.jsonl")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(lines_of("both.jsonl").size(), 2U);
    EXPECT_THAT(run_heddle({"batch", "--rows", path("a.jsonl"), path("b.jsonl")}).err,
                HasSubstr("b.jsonl is a file of rows: name the workflow, too"));
    // The workflow that was left out, not the rows, which are there.
    EXPECT_THAT(run_heddle({"batch", path("a.jsonl")}).err,
                HasSubstr("a.jsonl is a file of rows: name the workflow, too"));
}

TEST_F(named_rows, have_columns_of_values_in_csv_and_tsv_only) {
    rows_file(1);
    const auto refused = batch({"--columns", "a"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--columns is for results in CSV and TSV"));
}

// The summary and other lines were text between the objects.
TEST_F(named_rows, show_progress_as_json_only) {
    rows_file(3);
    for (const bool again : {false, true}) {
        if (again)
            scratch.file("w.heddle",
                         "(define (main text) (if (string=? text \"t1\") "
                         "(error \"no\") text))");
        const auto ended = batch({"--progress", "json"});
        EXPECT_EQ(ended.code, again ? 3 : 0) << ended.err;
        const auto lines = objects_of(ended.err);
        ASSERT_FALSE(lines.empty());
        EXPECT_EQ(lines.back().at("event").as_string(), "summary") << ended.err;
        EXPECT_EQ(lines.back().at("exit_code").to_number<int>(), ended.code);
        EXPECT_EQ(lines.back().at("rows").at("total").to_number<int>(), 3);
        if (!again) continue;
        EXPECT_EQ(lines.front().at("event").as_string(), "note") << "about the edit";
    }
    scratch.file("w.heddle", "(define (main text) (undefined-name text))");
    const auto wrong = batch({"--progress", "json"});
    EXPECT_EQ(wrong.code, 2);
    (void)objects_of(wrong.err);
    const auto single =
        run_heddle({"run", scratch.file("e.heddle", "(print 1) (first 5)"), "--progress", "json"});
    EXPECT_EQ(single.code, 1);
    EXPECT_TRUE(objects_of(single.err).back().contains("error")) << single.err;
}

TEST_F(named_rows, are_looked_at_with_what_the_bounds_allow) {
    rows_file(10);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "usage": {"input": 1000, "output": 500}}]})"); // 0.0075 dollars
    ASSERT_EQ(run_heddle(asking(model.url(), {"--limit", "2"})).code, 0);
    const auto with = [&](std::vector<std::string> more) {
        return run_heddle(asking(model.url(), std::move(more)));
    };
    EXPECT_THAT(with({"--dry-run", "--budget-usd", "0.031"}).out,
                HasSubstr("--budget-usd allows about 2 of the 8 rows ($0.015 spent before)"));
    EXPECT_THAT(with({"--dry-run", "--max-calls", "5"}).out,
                HasSubstr("--max-calls allows about 3 of the 8 rows (2 calls before)"));
    EXPECT_THAT(with({"--dry-run", "--budget-usd", "1"}).out, Not(HasSubstr("--budget-usd")));
    const auto looked = boost::json::parse(
        with({"--dry-run", "--json", "--sample-rows", "2", "--max-calls", "5"}).out);
    EXPECT_EQ(looked.at("requests").to_number<int>(), 8);
    EXPECT_EQ(looked.at("max_calls_rows").to_number<int>(), 3);
    EXPECT_THAT(with({"--plan", "--budget-usd", "0.01"}).out,
                HasSubstr("--budget-usd: $0.015 of $0.01 spent; only rows that need no request"));
    scratch.file("w.heddle", std::string(asking_workflow) + "; edited\n");
    EXPECT_THAT(with({"--dry-run"}).out, HasSubstr("--plan reports what is sent again"));
}

} // namespace
} // namespace heddle::cli_test
