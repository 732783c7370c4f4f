#include "batch/progress/batch_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <string>

namespace heddle::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

batch_request asked_for() {
    batch_request asked;
    asked.out.target.file = "out.jsonl";
    return asked;
}

batch_summary summary_of(std::uint64_t total, std::uint64_t done) {
    batch_summary end;
    end.results = "out.jsonl";
    end.counts.total = total;
    end.counts.done = done;
    return end;
}

std::string text_of(const batch_summary& end, const batch_request& asked) {
    return summary_text(end, failure_table(), asked, 0);
}

// Nothing showed that the file has results of rows that were moved or deleted.
TEST(summaries_of_batches, name_results_of_rows_that_are_not_in_the_input) {
    batch_summary end = summary_of(7, 7);
    end.counts.absent = 3;
    batch_request asked = asked_for();
    EXPECT_THAT(text_of(end, asked),
                AllOf(HasSubstr("7 of 7 rows: 7 done"),
                      HasSubstr("3 results are of rows that are no longer in the input; with --id "
                                "COLUMN")));
    const auto members = boost::json::parse(summary_json(end, {}, asked)).as_object();
    EXPECT_EQ(members.at("rows").at("absent").to_number<int>(), 3);
    EXPECT_EQ(members.at("rows").at("total").to_number<int>(), 7);

    asked.rows.id_field = "id";
    EXPECT_THAT(text_of(end, asked),
                AllOf(HasSubstr("no longer in the input\n"), Not(HasSubstr("--id"))));
    asked.rows.limit = 4; // what was not read is not missing
    EXPECT_THAT(text_of(end, asked), Not(HasSubstr("no longer")));
    const auto part = boost::json::parse(summary_json(end, {}, asked)).as_object();
    EXPECT_TRUE(part.at("rows").at("absent").is_null());
    EXPECT_EQ(part.at("rows").at("total").to_number<int>(), 7);
    asked.rows.limit.reset();
    end.counts.total_is_estimate = true;
    const auto unknown = boost::json::parse(summary_json(end, {}, asked)).as_object();
    EXPECT_TRUE(unknown.at("rows").at("absent").is_null());
}

// It named a file that did not exist.
TEST(summaries_of_batches, name_the_earlier_results_if_they_are_there) {
    batch_summary end = summary_of(7, 7);
    end.results = "out.new.jsonl";
    EXPECT_THAT(text_of(end, asked_for()), HasSubstr("out.jsonl keeps those of the earlier one"));
    end.lacks_earlier_results = true;
    EXPECT_THAT(text_of(end, asked_for()),
                AllOf(HasSubstr("out.new.jsonl; the file becomes out.jsonl, which is missing, once "
                                "all rows have run again\n"),
                      Not(HasSubstr("keeps"))));
}

TEST(summaries_of_batches, count_the_calls_that_are_used) {
    batch_summary end = summary_of(100, 40);
    end.cause = stop_cause::calls;
    end.rows_left = true;
    batch_request asked = asked_for();
    asked.max_calls = 81;
    end.counts.spent.requests = 80;
    EXPECT_THAT(text_of(end, asked), HasSubstr("60 rows left: 80 of the 81 calls of --max-calls "
                                               "are used, and a further row may need more"));
    end.counts.spent.requests = 81;
    EXPECT_THAT(text_of(end, asked), HasSubstr("the 81 calls of --max-calls are used"));
    asked.max_calls = 1;
    EXPECT_THAT(text_of(end, asked), HasSubstr("the call of --max-calls is used"));
}

TEST(summaries_of_batches, say_of_how_many_rows_the_reasons_are) {
    batch_summary end = summary_of(7, 0);
    end.counts.failed = 7;
    failure_table failures;
    failures.add("TaskError", "no", "r1");
    EXPECT_THAT(summary_text(end, failures, asked_for(), 0),
                HasSubstr("reasons of 1 of the 7 rows without a result:\n"));
    for (int i = 0; i < 6; ++i) failures.add("TaskError", "no", "r2");
    EXPECT_THAT(summary_text(end, failures, asked_for(), 0), Not(HasSubstr("reasons of")));
}

TEST(summaries_of_batches, give_the_manifest_how_the_process_ended) {
    batch_summary end = summary_of(50, 50);
    batch_end noted = end_of(end);
    EXPECT_EQ(noted.state, "done");
    EXPECT_EQ(noted.stopped_by, "");
    EXPECT_EQ(noted.total, 50U);
    EXPECT_EQ(noted.left, 0U);

    end.counts.done = 3;
    end.rows_left = true;
    end.cause = stop_cause::budget;
    noted = end_of(end);
    EXPECT_EQ(noted.state, "stopped");
    EXPECT_EQ(noted.stopped_by, "budget");
    EXPECT_EQ(noted.left, 47U);

    end.cause = stop_cause::interrupted;
    end.counts.total_is_estimate = true;
    noted = end_of(end);
    EXPECT_EQ(noted.state, "interrupted");
    EXPECT_FALSE(noted.total);
    EXPECT_TRUE(noted.left_is_estimate);

    end.cause = stop_cause::none;
    end.counts.waiting = end.counts.asking = 1;
    EXPECT_EQ(end_of(end).state, "waiting");
    end.failure = error(errc::io_error, "the disk is full");
    EXPECT_EQ(end_of(end).state, "stopped");
    EXPECT_EQ(end_of(end).stopped_by, "error");
}

// 'heddle runs cancel' was noted as an error.
TEST(summaries_of_batches, give_the_manifest_what_has_ended_it_before_its_rows) {
    EXPECT_EQ(end_of(early_stop::interrupted).state, "interrupted");
    EXPECT_EQ(end_of(early_stop::interrupted).stopped_by, "");
    EXPECT_EQ(end_of(early_stop::cancelled).state, "stopped");
    EXPECT_EQ(end_of(early_stop::cancelled).stopped_by, "cancelled");
    EXPECT_EQ(end_of(early_stop::error).state, "stopped");
    EXPECT_EQ(end_of(early_stop::error).stopped_by, "error");
    EXPECT_FALSE(end_of(early_stop::cancelled).left);
}

TEST(summaries_of_batches, have_the_same_code_when_the_first_rows_were_rejected_before) {
    batch_summary end = summary_of(600, 0);
    end.counts.rejected = 99;
    end.rows_left = true;
    end.cause = stop_cause::all_fail;
    end.failure = error(errc::invalid_argument, "none of the first 100 rows can run");
    EXPECT_EQ(end.code(), exit_code::rows_left);
    end.counts.kept = 99;
    end.has_started = false;
    EXPECT_EQ(end.code(), exit_code::rows_left);
    end.cause = stop_cause::none;
    EXPECT_EQ(end.code(), exit_code::usage);
}

} // namespace
} // namespace heddle::cli
