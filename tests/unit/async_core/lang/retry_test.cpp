#include "schedules.hpp"

#include <algorithm>

namespace heddle::lang::testing {
namespace {

const std::string flaky =
    "(define runs 0) (define (work good) (set! runs (+ runs 1)) (if (< runs good) (error "
    "\"not yet\") (list 'run runs))) ";

TEST(retry, tries_until_it_succeeds) {
    expect_everywhere(flaky + "(retry 5 (work 3))", "(run 3)");
    expect_everywhere(flaky + "(retry 1 (work 1))", "(run 1)");
    expect_everywhere(flaky + "(list (try (retry 3 (work 9)) (catch (e) (get e 'message))) runs)",
                      "(\"not yet\" 3)");
    expect_everywhere(flaky + "(retry (+ 1 2) (work 3))", "(run 3)");
    expect_everywhere("(map (lambda (x) (retry 3 (* x 2))) '(1 2))", "(2 4)");
}

TEST(retry, waits_longer_each_time) {
    lang_harness harness; // (random) is 0.5
    EXPECT_EQ(harness.shown(flaky + "(retry 4 (work 4))"), "(run 4)");
    EXPECT_EQ(harness.clock(), 0.5 * (0.5 + 1 + 2));
    lang_harness slow;
    slow.run(flaky + "(retry ((attempts 4) (backoff 50)) (work 4))");
    EXPECT_EQ(slow.clock(), 0.5 * (50 + 60 + 60));
    lang_harness none;
    none.run(flaky + "(retry ((attempts 4) (backoff 0)) (work 4))");
    EXPECT_EQ(none.clock(), 0);
}

TEST(retry, only_what_is_named_is_tried_again) {
    expect_everywhere(flaky +
                          "(list (try (retry ((attempts 3) (on 'TimeoutError)) (work 9)) (catch "
                          "(e) (get e 'kind))) runs)",
                      "(\"UserError\" 1)");
    expect_everywhere(flaky + "(retry ((attempts 3) (on 'TimeoutError \"UserError\")) (work 3))",
                      "(run 3)");
    expect_everywhere(
        "(define runs 0) (retry ((on 'TimeoutError) (attempts 3)) (progn (set! runs (+ "
        "runs 1)) (timeout 1 (pause (if (= runs 3) 0 2))) runs))",
        "3");
}

TEST(retry, failed_results_are_tried_again) {
    const std::string failing =
        "(define runs 0) (define (task good why) (set! runs (+ runs 1)) (dict \"status\" (if (< "
        "runs "
        "good) \"FAILED\" \"COMPLETE\") \"content\" runs \"notes\" (dict \"error\" (dict "
        "\"reason\" "
        "why)))) ";
    expect_everywhere(failing + "(get (retry 3 (task 3 \"a\")) 'content)", "3");
    expect_everywhere(failing + "(get (retry 3 (task 9 \"a\")) 'status)", "\"FAILED\"");
    expect_everywhere(failing + "(retry ((attempts 3) (on 'a)) (task 9 \"b\")) runs", "1");
    expect_everywhere(failing + "(retry ((attempts 3) (on 'b)) (task 9 \"b\")) runs", "3");
}

TEST(retry, an_outer_timeout_ends_it) {
    expect_everywhere("(timeout 5 (retry 1000 (timeout 1 (pause 2))) 'late)", "late");
    expect_everywhere("(timeout 5 (retry ((attempts 3) (backoff 100)) (error \"no\")) 'late)",
                      "late");
}

TEST(retry, the_error_of_the_last_attempt_keeps_its_place_and_trace) {
    lang_harness harness;
    const outcome ended = harness.run("(define (inner) (+ 1 (error \"no\")))\n(retry 2 (inner))");
    ASSERT_TRUE(ended.failure);
    EXPECT_EQ(harness.harness.sources().locate(ended.failure->info().span).line, 1U);
    const auto& trace = ended.failure->info().trace;
    EXPECT_TRUE(std::any_of(trace.begin(), trace.end(), [](const trace_entry& entry) {
        return entry.what.find("'inner'") != std::string::npos;
    }));
    EXPECT_TRUE(std::any_of(trace.begin(), trace.end(),
                            [](const trace_entry& entry) { return entry.what == "in attempt 2"; }));
}

TEST(retry, clauses_are_checked) {
    lang_harness harness;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"(retry 3)",
         "retry: expects (retry attempts expression) or (retry ((attempts n) (backoff "
         "seconds) (on 'name…)) expression), got 1 part"},
        {"(retry () 1)", "retry: missing clause 'attempts'"},
        {"(retry ((backoff 1)) 1)", "retry: missing clause 'attempts'"},
        {"(retry ((attempts 1) (attempts 2)) 1)", "retry: the clause 'attempts' is repeated"},
        {"(retry ((attempts 1) (pause 2)) 1)", "retry: unknown clause 'pause'"},
        {"(retry ((attempts)) 1)", "retry: the clause 'attempts' must hold one expression, not 0"},
        {"(retry ((attempts 1) 7) 1)",
         "retry: a clause must be (attempts n), (backoff seconds) or "
         "(on 'name…), not 7"},
        {"(retry ((attempts 1) (on)) 1)", "retry: 'on' names no error"},
        {"(retry ((attempts 1) (on 7)) 1)",
         "retry: 'on' takes quoted names, such as (on "
         "'TimeoutError 'rate_limited), not 7"},
    };
    for (const auto& [program, message] : cases)
        EXPECT_EQ(harness.shown(program), "SexpEvaluationError: " + message) << program;
    EXPECT_EQ(harness.shown("(retry 0 1)"),
              "TypeError: retry: attempts must be an integer of at least 1, not the integer 0");
    EXPECT_EQ(
        harness.shown("(retry ((attempts 2) (backoff -1)) 1)"),
        "TypeError: retry: backoff must be a non-negative number of seconds, not the integer -1");
}

TEST(retry, cancellation_at_every_step_leaves_nothing) {
    expect_cancellable(
        "(try (retry 3 (try (fail-after 1 \"no\") (finally (pause 1)))) (catch (e) "
        "1))");
}

} // namespace
} // namespace heddle::lang::testing
