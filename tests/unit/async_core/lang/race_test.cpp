#include "schedules.hpp"

#include <heddle/base/diagnostic.hpp>

#include <algorithm>

namespace heddle::lang::testing {
namespace {

const std::string failed =
    "(define (failed why) (dict \"status\" \"FAILED\" \"content\" \"\" \"notes\" (dict \"error\" "
    "(dict "
    "\"reason\" why)))) ";

TEST(race, first_success_wins) {
    expect_everywhere("(race 1)", "1");
    expect_everywhere("(race (+ 1 1) (error \"never begun\"))", "2");
    expect_everywhere("(race (error \"no\") (pause 2))", "2");
    expect_everywhere("(map (lambda (x) (race (fail-after 1 \"no\") (pause x))) '(2 3))", "(2 3)");
}

TEST(race, the_quickest_of_those_that_wait_wins_and_the_others_end_first) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        lang_harness harness;
        schedule how;
        how.slice = slice;
        EXPECT_EQ(harness.shown("(race (try (pause 9) (finally (pause 1) (note 'slow))) (pause 2) "
                                "(pause 5))",
                                how),
                  "2");
        EXPECT_EQ(harness.notes, std::vector<std::string>{"slow"});
        EXPECT_EQ(harness.clock(), 3); // the finally of the loser is waited for
        expect_tidy(harness, "race");
    }
}

TEST(race, a_failed_result_is_no_success) {
    expect_everywhere(failed + "(race (failed \"one\") (pause 1))", "1");
    expect_everywhere(failed +
                          "(get-in (race (failed \"one\") (failed \"two\")) '(\"notes\" "
                          "\"error\" \"reason\"))",
                      "\"two\"");
    expect_everywhere(failed + "(race (failed \"one\") (error \"boom\"))", "UserError: boom");
}

TEST(race, when_all_fail_the_last_error_has_the_others_attached) {
    lang_harness harness;
    const outcome ended =
        harness.run("(race (fail-after 2 \"slow\") (error \"quick\") (fail-after 1 \"middle\"))");
    ASSERT_TRUE(ended.failure);
    EXPECT_EQ(ended.failure->message(), "slow");
    ASSERT_TRUE(ended.failure->info().cause);
    EXPECT_EQ(ended.failure->info().cause->message(), "middle");
    ASSERT_TRUE(ended.failure->info().cause->info().cause);
    EXPECT_EQ(ended.failure->info().cause->info().cause->message(), "quick");
    const auto& trace = ended.failure->info().trace;
    EXPECT_TRUE(std::any_of(trace.begin(), trace.end(),
                            [](const trace_entry& entry) { return entry.what == "in part 1"; }));
    expect_everywhere("(race (fail-after 1 \"a\") (fail-after 2 \"b\"))", "SexpEvaluationError: b");
}

TEST(race, what_catch_binds_has_the_other_errors_as_causes) {
    expect_everywhere(
        "(try (race (fail-after 2 \"slow\") (error \"quick\" 7) (fail-after 1 \"middle\")) (catch "
        "(e) (list (get e 'message) (map (lambda (c) (get c 'message)) (get e 'causes)) (get (nth "
        "(get e 'causes) 1) 'data))))",
        "(\"slow\" (\"middle\" \"quick\") (7))");
    expect_everywhere("(try (error \"alone\") (catch (e) (get e 'causes)))", "()");
}

TEST(race, all_begin_at_once_however_few_branches_may_run) {
    expect_everywhere("(race (progn (pause 9) 1) (progn (pause 2) 2))", "2");
    expect_everywhere("(with ((concurrency 1)) (race (progn (pause 9) 1) (progn (pause 2) 2)))",
                      "2");
    // Inside a branch, and while others hold all permits.
    expect_everywhere(
        "(with ((concurrency 1)) (map (lambda (x) (race (progn (pause 9) 1) (progn (pause "
        "x) x))) '(2 3)))",
        "(2 3)");
    expect_everywhere("(with ((concurrency 1)) (race (first (map pause '(4))) (pause 6)))", "4");
    expect_everywhere(
        "(with ((concurrency 2)) (parallel (pause 4) (pause 4) (race (pause 9) (pause 1))))",
        "(4 4 1)");
    lang_harness harness;
    schedule how;
    how.concurrency = 2;
    // A race holds one permit: no more than two of them go on at a time.
    EXPECT_EQ(
        harness.shown("(length (map (lambda (i) (race (pause 1) (pause 2))) (range 10)))", how),
        "10");
    EXPECT_LE(harness.peak_pending, 4U);
    expect_tidy(harness, "race");
}

TEST(race, of_nothing_is_an_error) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(race)"),
              "SexpEvaluationError: race: expects at least one expression");
}

TEST(race, does_not_wait_for_a_permit_once_it_is_decided) {
    lang_harness harness;
    schedule how;
    how.concurrency = 2;
    // The second branch of the race cannot start: both permits are in use until time 50.
    EXPECT_EQ(harness.shown("(parallel (pause 50) (race (pause 1) (pause 2)))", how), "(50 1)");
    harness.run("(parallel (pause 50) (progn (race (pause 1) (pause 2)) (note 'decided)))", how);
    EXPECT_EQ(harness.notes, std::vector<std::string>{"decided"});
    expect_tidy(harness, "race");
}

TEST(race, cancellation_at_every_step_leaves_nothing) {
    expect_cancellable(
        "(race (pause 2) (try (pause 3) (finally (pause 1))) (fail-after 1 \"no\"))");
    expect_cancellable("(map (lambda (x) (race (pause x) (pause 2))) '(1 3 5))");
}

TEST(hedge, the_second_run_helps_when_the_first_is_slow) {
    const std::string runs =
        "(define runs 0) (define (work) (set! runs (+ runs 1)) "
        "(if (= runs 1) (pause 9) (pause 2))) ";
    expect_everywhere(runs + "(list (hedge 1 (work)) runs)", "(2 2)");
    expect_everywhere(runs + "(list (hedge 20 (work)) runs)", "(9 1)");
    expect_everywhere("(hedge 1 'at-once)", "at-once");
    expect_everywhere("(hedge 1 (pause 3))", "3");
}

TEST(hedge, failure_before_the_second_run_is_the_outcome) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(hedge 5 (fail-after 1 \"early\"))"), "SexpEvaluationError: early");
    EXPECT_EQ(harness.clock(), 1);
    expect_everywhere("(hedge 5 (fail-after 1 \"early\"))", "SexpEvaluationError: early");
    expect_everywhere(failed + "(get (hedge 5 (progn (pause 1) (failed \"x\"))) 'status)",
                      "\"FAILED\"");
}

TEST(hedge, when_both_fail_the_last_error_is_raised) {
    const std::string runs =
        "(define runs 0) (define (work) (set! runs (+ runs 1)) "
        "(if (= runs 1) (fail-after 3 \"first\") (fail-after 4 \"second\"))) ";
    expect_everywhere(runs + "(hedge 1 (work))", "SexpEvaluationError: second");
    // The failure of the first does not end the second, once that has begun.
    expect_everywhere(
        "(define runs 0) (define (work) (set! runs (+ runs 1)) (if (= runs 1) "
        "(fail-after 3 \"first\") (pause 4))) (hedge 1 (work))",
        "4");
}

TEST(hedge, parts_are_checked) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(hedge 1)"),
              "SexpEvaluationError: hedge: expects (hedge seconds expression), got 1 part");
    EXPECT_EQ(
        harness.shown("(hedge 'soon 1)"),
        "TypeError: hedge: argument 1 must be a non-negative number of seconds, not the symbol "
        "soon");
}

TEST(hedge, counts_as_one_branch_of_a_map) {
    lang_harness harness;
    schedule how;
    how.concurrency = 1;
    EXPECT_EQ(harness.shown("(map (lambda (x) (hedge 1 (pause 3))) '(1 2))", how), "(3 3)");
    expect_tidy(harness, "hedge");
}

TEST(hedge, cancellation_at_every_step_leaves_nothing) {
    expect_cancellable("(hedge 1 (pause 3))");
    expect_cancellable("(map (lambda (x) (hedge x (pause 2))) '(1 3))");
}

} // namespace
} // namespace heddle::lang::testing
