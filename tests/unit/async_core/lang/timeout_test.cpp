#include "schedules.hpp"

#include <heddle/base/diagnostic.hpp>

namespace heddle::lang::testing {
namespace {

TEST(timeout, value_in_time_passes) {
    expect_everywhere("(timeout 5 (+ 1 2))", "3");
    expect_everywhere("(timeout 5 (pause 2))", "2");
    expect_everywhere("(timeout 5 (pause 2) 'late)", "2");
}

TEST(timeout, too_late_raises_or_returns_the_fallback) {
    expect_everywhere("(timeout 1 (pause 2))",
                      "TimeoutError: the time limit of 'with' or 'timeout' has passed (1.0 s)");
    expect_everywhere("(timeout 1 (pause 2) 'late)", "late");
    expect_everywhere("(timeout 1 (pause 2) (pause 3))", "3");
    expect_everywhere("(try (timeout 1 (pause 2)) (catch (e 'TimeoutError) 'caught))", "caught");
    expect_everywhere("(with ((timeout 1)) (pause 2))",
                      "TimeoutError: the time limit of 'with' or 'timeout' has passed (1.0 s)");
    expect_everywhere("(timeout 0 (let loop () (loop)) 'late)", "late");
}

TEST(timeout, parts_are_checked) {
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(timeout \"1\" 2)"),
        "TypeError: timeout: argument 1 must be a non-negative number of seconds, not the string "
        "\"1\"");
    EXPECT_EQ(
        harness.shown("(timeout -1 2)"),
        "TypeError: timeout: argument 1 must be a non-negative number of seconds, not the integer "
        "-1");
    EXPECT_EQ(harness.shown("(timeout 1)"),
              "SexpEvaluationError: timeout: expects (timeout seconds expression) or (timeout "
              "seconds expression fallback), got 1 part");
    EXPECT_EQ(harness.shown("(timeout 1e300 'far)"), "far");
}

TEST(timeout, no_catch_inside_takes_it) {
    expect_everywhere("(timeout 1 (try (pause 2) (catch (e) 'swallowed)) 'late)", "late");
    expect_everywhere(
        "(timeout 1 (first (map (lambda (x) (try (pause 2) (catch (e) 'swallowed))) '(1 2))) "
        "'late)",
        "late");
    expect_everywhere("(timeout 1 (map-settled pause '(2 3)) 'late)", "late");
    expect_everywhere("(timeout 1 (race (pause 2) (try (pause 3) (catch (e) 'swallowed))) 'late)",
                      "late");
}

TEST(timeout, hostile_recursion_ends_promptly) {
    lang_harness harness;
    schedule how;
    how.steps = UINT64_MAX;
    how.slice = 1000;
    // Time passes with the steps: a branch beside it moves the virtual clock.
    const std::string clock =
        "(parallel (let tick ((i 0)) (if (< i 100) (progn (pause 0.1) (tick (+ i 1))) 'ticked)) ";
    how.split = true;
    EXPECT_EQ(
        harness.shown("(define (f) (try (f) (catch (e) (f)))) " + clock + "(timeout 0 (f) 'late))",
                      how),
        "(ticked late)");
    EXPECT_EQ(harness.shown("(define (g) (try (g) (finally (g)))) (timeout 0 (g) 'late)", how),
              "late");
    EXPECT_EQ(
        harness.shown("(timeout 0 (try (let loop () (loop)) (finally (try (let loop () (loop)) "
                      "(catch (e) (let loop () (loop)))))) 'late)",
                      how),
        "late");
    EXPECT_EQ(harness.shown("(define (h) (try (h) (finally (try (h) (catch (e) (h)))))) "
                            "(try (timeout 0 (h)) (catch (e) (get e 'kind)))",
                            how),
              "\"TimeoutError\"");
}

TEST(timeout, however_its_cleanups_end_the_form_takes_its_fallback) {
    const std::string held_up =
        "(try (try (try (pause 9) (finally (pause 3))) (finally (pause 3))) (finally (pause 3)))";
    expect_everywhere("(timeout 1 " + held_up + " 'late)", "late");
    expect_everywhere("(try (timeout 1 " + held_up +
                          ") (catch (e) (list (get e 'kind) (get (first (get e 'causes)) 'kind))))",
                      "(\"TimeoutError\" \"LimitError\")");
    expect_everywhere("(timeout 1 (first (map (lambda (x) " + held_up + ") '(1))) 'late)", "late");
    expect_everywhere(
        "(try (sandbox ((allow (pause)) (timeout 1)) " + held_up + ") (catch (e) (get e 'kind)))",
        "\"TimeoutError\"");
}

TEST(timeout, inside_a_cleanup_takes_its_fallback_and_the_cleanup_goes_on) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(try (try (error \"no\") (finally (note (timeout 1 (try (pause 9)"
                            "  (finally (let loop () (loop)))) 'late))))"
                            "  (catch (e) (get e 'message)))"),
              "\"no\"");
    EXPECT_EQ(harness.notes, std::vector<std::string>{"late"});
}

TEST(timeout, the_inner_one_cannot_outlast_the_outer) {
    expect_everywhere("(timeout 1 (timeout 5 (pause 3) 'inner) 'outer)", "outer");
    expect_everywhere("(timeout 5 (timeout 1 (pause 3) 'inner) 'outer)", "inner");
    expect_everywhere("(timeout 2 (progn (timeout 1 (pause 3) 'inner) (pause 3)) 'outer)", "outer");
    expect_everywhere("(timeout 3 (try (timeout 1 (pause 9)) (catch (e) 'caught)) 'outer)",
                      "caught");
    expect_everywhere(
        "(timeout 10 (map (lambda (x) (timeout x (map (lambda (y) (timeout y (pause "
        "3) 'innermost)) '(1 5)) 'inner)) '(2 8)) 'outer)",
        "(inner (innermost 3))");
}

TEST(timeout, a_timeout_error_of_another_makes_takes_no_fallback) {
    expect_everywhere(
        "(try (timeout 5 (try (timeout 1 (pause 2)) (catch (e) (error \"no\"))) 'late) "
        "(catch (e) (get e 'message)))",
        "\"no\"");
    expect_everywhere(
        "(define failed nil) (try (timeout 9 (timeout 1 (pause 2)) 'late) (catch (e "
        "'TimeoutError) 'inner))",
        "inner");
}

TEST(timeout, finally_runs_once_and_may_wait_but_its_own_timeouts_hold) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        lang_harness harness;
        schedule how;
        how.slice = slice;
        EXPECT_EQ(harness.shown("(timeout 1 (try (pause 2) (finally (pause 4) (note 'cleaned))) "
                                "'late)",
                                how),
                  "late");
        EXPECT_EQ(harness.notes, std::vector<std::string>{"cleaned"});
        EXPECT_EQ(harness.shown("(timeout 1 (try (pause 2) (finally (note (timeout 1 (pause 9) "
                                "'cut)) (note (map pause '(1 2))))) 'late)",
                                how),
                  "late");
        EXPECT_EQ(harness.notes, (std::vector<std::string>{"cut", "(1 2)"}));
    }
}

TEST(timeout, the_step_limit_of_a_run_is_not_caught) {
    lang_harness harness;
    schedule how;
    how.steps = 20'000;
    EXPECT_EQ(harness.shown("(try (let loop () (loop)) (catch (e) 'caught))", how),
              "LimitError: the step limit of this run is used up");
    EXPECT_EQ(harness.shown("(map-settled (lambda (x) (let loop () (loop))) '(1 2))", how),
              "LimitError: the step limit of this run is used up");
}

TEST(timeout, traces_name_the_place) {
    lang_harness harness;
    const outcome ended = harness.run("(define (work) (+ 1 (pause 2)))\n(timeout 1 (work))");
    ASSERT_TRUE(ended.failure);
    EXPECT_EQ(render_diagnostic(error_kind_name(*ended.failure), *ended.failure,
                                harness.harness.sources()),
              "TimeoutError: the time limit of 'with' or 'timeout' has passed (1.0 s)\n   --> "
              "test:1:21\n 1 | (define (work) (+ 1 (pause 2)))\n   |                     "
              "^^^^^^^^^\n  in 'work' (test:2:12)\n");
}

TEST(timeout, cancellation_at_every_step_leaves_nothing) {
    expect_cancellable("(timeout 3 (pause 1) 'late)");
    expect_cancellable("(timeout 1 (try (pause 2) (finally (pause 1))) 'late)");
    expect_cancellable("(timeout 5 (map (lambda (x) (timeout x (pause 2) 'inner)) '(1 3)) 'outer)");
}

TEST(timeout, a_wait_for_a_permit_of_the_map_is_cut) {
    lang_harness harness;
    schedule how;
    how.concurrency = 1;
    // The first branch keeps the only permit while it waits for the effect.
    EXPECT_EQ(harness.shown("(parallel (pause 50) (timeout 1 (map pause '(1 2)) 'late))", how),
              "(50 late)");
    expect_tidy(harness, "permit");
}

} // namespace
} // namespace heddle::lang::testing
