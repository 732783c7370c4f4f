// The forms of the language on the machine alone.
#include "lang_harness.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::lang::testing {
namespace {

/// What needs the effects of the harness. The rest of the language is in tests/language, whose
/// runner has such schedules too.
struct example {
    const char* program;
    const char* expected;
};

const example examples[] = {
    {"", "nil"}, // which a file there cannot hold
    {"(parallel 1 (+ 1 1) (pause 3))", "(1 2 3)"},
    {"(map (lambda (x) (pause x)) (list 3 1 2))", "(3 1 2)"},
    {"(map pause (list 3 1 2))", "(3 1 2)"},
    {"(map (lambda (x) (map (lambda (y) (pause (+ x y))) (list 1 2))) (list 10 20))",
     "((11 12) (21 22))"},
    {"(director-evaluator-loop (max-iterations 4) (initial-director-input 0)"
     " (director (lambda (i n) (+ i 1))) (executor (lambda (p n) (pause p)))"
     " (evaluator (lambda (r p n) r)) (controller (lambda (f p r n) (list 'continue r))))",
     "4"},
    {"(map (lambda (x) (fail-after x \"late\")) (list 5))", "SexpEvaluationError: late"},
};

class every_schedule : public ::testing::TestWithParam<int> {};

schedule schedule_of(int mode) {
    schedule how;
    if (mode >= 1) how.slice = 1;
    if (mode >= 2) how.split = true;
    if (mode >= 3) how.concurrency = 1;
    return how;
}

TEST_P(every_schedule, examples_have_the_written_values) {
    for (const example& each : examples) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(each.program, schedule_of(GetParam())), each.expected)
            << each.program;
    }
}

// A cancellation takes effect where the program waits or reaches a safe point. After the last of
// these it comes too late: then the program's own outcome is right, too.
TEST_P(every_schedule, cancellation_at_any_step_ends_cleanly) {
    for (const example& each : examples) {
        for (std::int64_t k = 0; k < 40; ++k) {
            lang_harness harness;
            schedule how = schedule_of(GetParam());
            how.cancel_at = k;
            const std::string shown = harness.shown(each.program, how);
            const bool asked = harness.runs > k;
            EXPECT_TRUE(shown == each.expected || (asked && shown.starts_with("CancelledError")))
                << each.program << " at " << k << ": " << shown;
            if (!asked) break;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(modes, every_schedule, ::testing::Values(0, 1, 2, 3));

TEST(machine, recursion_a_million_deep_returns) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(define (down n) (if (= n 0) 0 (+ 1 (down (- n 1))))) (down 1000000)"),
              "1000000");
}

TEST(machine, endless_recursion_meets_the_memory_limit) {
    lang_harness harness;
    schedule how;
    how.memory = 16 * 1024 * 1024;
    const std::string shown = harness.shown("(define (down n) (+ 1 (down n))) (down 1)", how);
    EXPECT_EQ(shown.rfind("LimitError: the memory limit of this run", 0), 0U) << shown;
    EXPECT_EQ(harness.shown("(+ 1 1)"), "2") << "the world is usable afterwards";
}

TEST(machine, tail_calls_need_no_stack) {
    lang_harness harness;
    schedule how;
    how.memory = 1024 * 1024;
    EXPECT_EQ(
        harness.shown(
            "(define (a n) (cond ((= n 0) 'done) (else (and true (or false (b (- n 1))))))) "
            "(define (b n) (if (= n 0) 'done (let ((m n)) (progn 1 (a (- m 1)))))) (a 300000)",
            how),
        "done");
    EXPECT_EQ(
        harness.shown("(define (c n) (if (= n 0) 'done (apply c (list (- n 1))))) (c 300000)", how),
        "done");
}

TEST(machine, step_budget_stops_a_loop_and_cannot_be_caught_away) {
    lang_harness harness;
    schedule how;
    how.steps = 10'000;
    EXPECT_EQ(harness.shown("(while true 1)", how),
              "LimitError: the step limit of this run is used up");
    EXPECT_EQ(harness.shown("(define (f) (try (f) (catch (e) (f)))) (f)", how),
              "LimitError: the step limit of this run is used up");
}

TEST(machine, endless_loop_is_cancelled) {
    lang_harness harness;
    schedule how;
    how.cancel_at = 3;
    EXPECT_EQ(harness.shown("(while true 1)", how), "CancelledError: cancelled by the user");
    EXPECT_EQ(harness.shown("(try (while true 1) (catch (e) 'caught))", how),
              "CancelledError: cancelled by the user");
}

TEST(machine, finally_runs_on_cancellation_and_may_wait) {
    lang_harness harness;
    schedule how;
    how.cancel_at = 1;
    EXPECT_EQ(harness.shown("(try (while true 1) (finally (pause 1) (note 'cleaned)))", how),
              "CancelledError: cancelled by the user");
    EXPECT_EQ(harness.notes, std::vector<std::string>{"cleaned"});
}

// A safe point of long code came between the body and its cleanup.
TEST(machine, finally_runs_wherever_long_code_before_it_is_cancelled) {
    for (std::size_t calls = 4; calls < 20; ++calls) {
        std::string program = "(try (progn (set! n 1)";
        for (std::size_t i = 0; i < calls; ++i) program += " (f 1)";
        program += ") (finally (set! n 2)))";
        lang_harness harness;
        schedule how;
        how.slice = 1;
        bool completed = false;
        for (how.cancel_at = 0; !completed; ++how.cancel_at) {
            harness.run("(define n 0) (define (f x) x)");
            harness.run(program, how);
            completed = harness.runs <= how.cancel_at;
            EXPECT_NE(harness.shown("n"), "1") << calls << " calls, at " << how.cancel_at;
        }
    }
}

TEST(machine, first_error_cancels_the_siblings_and_runs_their_finally) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(map (lambda (x) (if (= x 2) (fail-after 1 \"two\") (try (pause 100) "
                            "(finally (note x))))) (list 1 2 3))"),
              "SexpEvaluationError: two");
    EXPECT_EQ(harness.notes, (std::vector<std::string>{"1", "3"}));
}

TEST(machine, map_bounds_its_branches_and_nested_maps_share_the_bound) {
    lang_harness harness;
    schedule how;
    how.concurrency = 3;
    harness.run("(map (lambda (x) (pause 1)) (range 100))", how);
    EXPECT_EQ(harness.peak_pending, 3U);
    harness.run("(map (lambda (x) (map (lambda (y) (pause 1)) (range 10)) (pause 1)) (range 10))",
                how);
    EXPECT_LE(harness.peak_pending, 3U);
    EXPECT_FALSE(harness.stuck);
}

TEST(machine, ten_levels_of_nested_map_with_concurrency_one_end) {
    std::string program = "(pause 1)";
    for (int i = 0; i < 10; ++i) program = "(map (lambda (x) " + program + ") (list 1 2))";
    schedule how;
    how.concurrency = 1;
    lang_harness harness;
    const outcome ended = harness.run(program, how);
    EXPECT_FALSE(harness.stuck);
    EXPECT_EQ(ended.kind, outcome_kind::done);
    EXPECT_EQ(harness.peak_pending, 1U);
}

// What opened the inner maps waited for a permit behind all branches that the error was to end: of
// 64 leaves 63 began.
TEST(machine, an_error_of_nested_maps_ends_them_before_others_begin) {
    for (const bool split : {false, true}) {
        lang_harness harness;
        schedule how;
        how.concurrency = 4;
        how.split = split;
        const std::string begun = harness.shown(
            "(define begun 0)"
            "(define (leaf n) (set! begun (+ begun 1)) (pause 1) (if (= n 0) (error \"no\") n))"
            "(define (tree lo hi) (if (= (- hi lo) 1) (leaf lo)"
            " (let ((mid (quotient (+ lo hi) 2)))"
            "  (map (lambda (r) (tree (first r) (second r)))"
            "       (list (list lo mid) (list mid hi))))))"
            "(list (try (tree 0 64) (catch (e) (get e 'message))) (<= begun 8))",
            how);
        EXPECT_EQ(begun, "(\"no\" true)");
        EXPECT_LE(harness.peak_pending, 4U);
        EXPECT_FALSE(harness.stuck);
        EXPECT_EQ(harness.permits, 0U);
    }
}

TEST(machine, map_over_many_elements_holds_state_for_a_few) {
    lang_harness harness;
    schedule how;
    how.concurrency = 4;
    EXPECT_EQ(harness.shown("(length (map (lambda (x) (pause 1)) (range 20000)))", how), "20000");
    EXPECT_LE(harness.peak_fibers, 6U);
}

TEST(machine, a_map_that_never_waits_makes_no_fiber) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(length (map (lambda (x) (* x x)) (range 1000)))"), "1000");
    EXPECT_EQ(harness.peak_fibers, 1U);
}

TEST(machine, a_computing_branch_does_not_keep_its_siblings_from_starting) {
    lang_harness harness;
    schedule how;
    how.slice = 100;
    how.split = true;
    EXPECT_EQ(
        harness.shown(
            "(parallel (let loop ((i 0)) (if (< i 5000) (loop (+ i 1)) 'slow)) (note 'quick))",
            how),
        "(slow quick)");
}

// All frames were left in one step, which kept timers waiting.
TEST(machine, an_error_leaves_a_million_frames_in_portions) {
    const std::string deep =
        "(letrec ((f (lambda (n) (if (= n 0) (error \"deep\") (+ 1 (f (- n 1))))))) ";
    schedule how;
    how.slice = 100'000'000;
    for (const std::string& program :
         {deep + "(try (f 1000000) (catch (e) 'caught)))",
          deep + "(try (try 1 (finally (f 1000000))) (catch (e) 'caught)))",
          deep + "(try (parallel (f 1000000)) (catch (e) 'caught)))"}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(program, how), "caught") << program;
        EXPECT_GT(harness.runs, 100) << program;
    }
    lang_harness harness;
    EXPECT_EQ(harness.shown(deep + "(f 1000000))", how), "UserError: deep");
    EXPECT_GT(harness.runs, 100);
    how.cancel_at = 50;
    EXPECT_EQ(harness.run(deep + "(f 1000000))", how).kind, outcome_kind::cancelled);
}

TEST(machine, a_branch_that_moves_takes_the_registers_of_all_its_frames) {
    std::string wide = "(list";
    for (int k = 0; k < 2000; ++k) wide += " (+ x " + std::to_string(k) + ")";
    lang_harness harness;
    EXPECT_EQ(harness.shown("(define (small x) (pause x) x) (map (lambda (x) (small x) (length " +
                            wide + "))) '(1 2 3))"),
              "(2000 2000 2000)");
    for (std::int64_t k = 0; k < 12; ++k) {
        schedule how;
        how.cancel_at = k;
        EXPECT_FALSE(
            harness.shown("(map (lambda (x) (small x) (length " + wide + "))) '(1 2 3))", how)
                .empty());
    }
}

TEST(machine, closure_cycles_are_freed) {
    lang_harness harness;
    harness.run(
        "(define (make) (letrec ((even (lambda (n) (if (= n 0) true (odd (- n 1))))) (odd (lambda "
        "(n) (if (= n 0) false (even (- n 1)))))) even))");
    harness.run("(let loop ((i 0)) (if (< i 1000) (progn (make) (loop (+ i 1))) 0))");
    const std::size_t before = harness.harness.memory().used();
    harness.run("(let loop ((i 0)) (if (< i 200000) (progn (make) (loop (+ i 1))) 0))");
    EXPECT_LT(harness.harness.memory().used(), before + 8 * 1024 * 1024);
}

TEST(machine, a_session_returns_all_memory) {
    std::size_t live = 1;
    {
        lang_harness harness;
        harness.run(
            "(define xs (map (lambda (x) (list x (dict \"a\" x))) (range 1000))) (define (f) (g)) "
            "(define (g) (f))");
        harness.run("(map (lambda (x) (if (= x 5) (error \"stop\") (pause 1))) (range 10))");
        for (std::uint32_t i = 0; i < 200; ++i) {
            if (const auto at = harness.harness.find_global(std::string("xs")))
                harness.harness.change_global(*at) = value();
        }
        live = harness.harness.memory().live_objects();
        harness.run("1");
        EXPECT_LE(harness.harness.memory().live_objects(), live + 2);
    }
}

TEST(machine, lists_and_strings_grow_in_linear_time) {
    lang_harness harness;
    EXPECT_EQ(
        harness.shown(
            "(let loop ((i 0) (l '())) (if (< i 1000000) (loop (+ i 1) (cons i l)) (length l)))"),
        "1000000");
    EXPECT_EQ(harness.shown("(let loop ((i 0) (s \"\")) (if (< i 1000000) (loop (+ i 1) "
                            "(string-append s \"x\")) (string-length s)))"),
              "1000000");
    EXPECT_EQ(
        harness.shown(
            "(let loop ((l (range 1000000)) (n 0)) (if (null? l) n (loop (rest l) (+ n 1))))"),
        "1000000");
}

TEST(machine, a_shared_list_is_not_changed_by_growing_one_of_its_owners) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(let* ((a (list 1 2)) (b (append a (list 3))) (c (append a (list 4))) "
                            "(d (cons 0 a)) (e (cons 9 a))) (list a b c d e))"),
              "((1 2) (1 2 3) (1 2 4) (0 1 2) (9 1 2))");
    EXPECT_EQ(harness.shown("(let* ((a \"x\") (b (string-append a \"y\")) (c (string-append a "
                            "\"z\"))) (list a b c))"),
              "(\"x\" \"xy\" \"xz\")");
    EXPECT_EQ(
        harness.shown("(let* ((a (dict \"k\" 1)) (b (put a \"l\" 2)) (c (put a \"m\" 3)) (d (put b "
                      "\"k\" 9))) (list a b c d))"),
        "((dict \"k\" 1) (dict \"k\" 1 \"l\" 2) (dict \"k\" 1 \"m\" 3) (dict \"k\" 9 \"l\" 2))");
}

TEST(machine, deep_data_is_freed_compared_and_printed_without_native_recursion) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(define (nest n) (let loop ((i 0) (l '())) (if (< i n) (loop (+ i 1) "
                            "(list l)) l))) (eq? (nest 300000) (nest 300000))"),
              "true");
}

TEST(machine, deeply_nested_code_compiles) {
    std::string program(5000, '(');
    std::string nested = "0";
    for (int i = 0; i < 5000; ++i) nested = "(+ 1 " + nested + ")";
    lang_harness harness;
    EXPECT_EQ(harness.shown(nested), "5000");
}

TEST(machine, errors_show_line_caret_and_trace) {
    lang_harness harness;
    const outcome ended = harness.run(
        "(define (inner x)\n  (+ x \"a\"))\n(define (outer xs)\n  (map (lambda (x) (inner x)) "
        "xs))\n(list (outer (list 1 2)))");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(render_diagnostic(error_kind_name(*ended.failure), *ended.failure,
                                harness.harness.sources()),
              "TypeError: +: argument 2 must be a number, not the string \"a\"\n"
              "   --> test:2:3\n"
              " 2 |   (+ x \"a\"))\n"
              "   |   ^^^^^^^^^\n"
              "  in 'inner' (after 1 tail call) (test:1:1)\n"
              "  while mapping item 1\n"
              "  in 'map' (test:4:3)\n"
              "  in 'outer' (test:5:7)\n"
              "hint: (string-append a b) joins strings\n");
}

TEST(machine, traces_name_the_round_and_the_phase) {
    lang_harness harness;
    outcome ended =
        harness.run("(define n 0) (loop 3 (progn (set! n (+ n 1)) (if (= n 2) (error \"no\") n)))");
    ASSERT_TRUE(ended.failure);
    ASSERT_FALSE(ended.failure->info().trace.empty());
    EXPECT_EQ(ended.failure->info().trace.back().what, "in round 2");
    ended = harness.run(
        "(iterative-loop (max-iterations 5) (initial-input 0) (test-command \"\")"
        " (executor (lambda (x n) (if (= n 3) (error \"no\") n))) (validator list)"
        " (controller (lambda (r v x n) (list 'continue r))))");
    ASSERT_TRUE(ended.failure);
    const auto& trace = ended.failure->info().trace;
    EXPECT_TRUE(std::any_of(trace.begin(), trace.end(), [](const trace_entry& entry) {
        return entry.what == "in the executor, iteration 3";
    }));
}

TEST(machine, unknown_names_get_suggestions) {
    lang_harness harness;
    const outcome ended = harness.run("(define (summarise x) x) (sumarise 1)");
    ASSERT_TRUE(ended.failure);
    EXPECT_EQ(ended.failure->info().hint, "did you mean 'summarise'?");
}

TEST(machine_branches, caller_with_more_registers_than_its_callee_moves_whole) {
    lang_harness session;
    const std::string program =
        "(define (narrow) (pause 1))"
        "(define (wide x) (list (narrow) (list x x x x x x x x x x x x x x x (+ x (narrow)))))"
        "(length (map wide (range 200)))";
    EXPECT_EQ(session.shown(program), "200");
    schedule how;
    how.slice = 1;
    how.split = true;
    EXPECT_EQ(session.shown(program, how), "200");
    EXPECT_EQ(session.shown("(parallel ((lambda () (nowhere 0) (list 1 2 3 4 5 6 7))) 0)", how)
                  .substr(0, 18),
              "UnboundSymbolError");
}

} // namespace
} // namespace heddle::lang::testing
