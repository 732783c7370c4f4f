#include "schedules.hpp"

#include <heddle/base/diagnostic.hpp>

#include <algorithm>

namespace heddle::lang::testing {
namespace {

TEST(futures, await_returns_the_value) {
    expect_everywhere("(await (spawn (+ 1 2)))", "3");
    expect_everywhere("(let ((f (spawn (pause 2)))) (list (await f) (await f)))", "(2 2)");
    expect_everywhere("(define f (spawn (pause 1))) (map await (list f f f))", "(1 1 1)");
    expect_everywhere("(map await (list (spawn (pause 3)) (spawn 1) (spawn (pause 2))))",
                      "(3 1 2)");
    expect_everywhere("(type-of (spawn 1))", "future");
}

TEST(futures, run_side_by_side) {
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(let* ((a (spawn (pause 3))) (b (spawn (pause 2)))) (+ (await a) (await "
                      "b) (pause 1)))"),
        "6");
    EXPECT_EQ(harness.clock(), 4);
    EXPECT_EQ(harness.peak_pending, 2U);
}

TEST(futures, each_await_raises_the_error) {
    expect_everywhere(
        "(define f (spawn (fail-after 1 \"no\"))) (define (get-it) (try (await f) "
        "(catch (e) (get e 'message)))) (list (get-it) (get-it))",
        "(\"no\" \"no\")");
    lang_harness harness;
    const outcome ended = harness.run(
        "(define (work) (+ 1 (fail-after 1 \"no\")))\n"
        "(define f (spawn (work)))\n(await f)");
    ASSERT_TRUE(ended.failure);
    const auto& trace = ended.failure->info().trace;
    EXPECT_TRUE(std::any_of(trace.begin(), trace.end(), [](const trace_entry& entry) {
        return entry.what == "in a spawned computation";
    }));
    EXPECT_EQ(harness.harness.sources().locate(ended.failure->info().span).line, 1U);
}

TEST(futures, an_error_that_nobody_awaits_is_dropped) {
    expect_everywhere("(spawn (error \"nobody asks\")) (spawn (fail-after 1 \"no\")) (pause 2)",
                      "2");
}

TEST(futures, leaving_the_function_ends_what_it_spawned) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        lang_harness harness;
        schedule how;
        how.slice = slice;
        EXPECT_EQ(
            harness.shown("(define (f) (spawn (try (pause 90) (finally (pause 1) (note 'ended)))) "
                          "(pause 1) 'left) (list (f) (note 'after))",
                          how),
            "(left after)");
        EXPECT_EQ(harness.notes, (std::vector<std::string>{"ended", "after"}));
        EXPECT_EQ(harness.clock(), 2);
        harness.shown(
            "(define (g) (spawn (try (pause 90) (finally (note 'ended)))) (pause 1) (error "
            "\"no\")) (try (g) (catch (e) (note 'caught)))",
            how);
        EXPECT_EQ(harness.notes, (std::vector<std::string>{"ended", "caught"}));
        expect_tidy(harness, "scope");
    }
    expect_everywhere(
        "(define (f) (spawn (pause 90))) (try (await (f)) (catch (e) (get e "
        "'message)))",
        "\"await: the future was cancelled\"");
}

TEST(futures, belong_to_the_function_not_to_a_loop_in_it) {
    // Not in tail position: this named let is a function of its own to the machine.
    expect_everywhere(
        "(define (f) (map await (let next ((i 0)) (if (< i 4) (cons (spawn (progn "
        "(pause 1) i)) (next (+ i 1))) '())))) (f)",
        "(0 1 2 3)");
    expect_everywhere(
        "(define (f) (let ((all '())) (let next ((i 0)) (when (< i 4) (set! all (append "
        "all (list (spawn (progn (pause 1) i))))) (next (+ i 1)))) (map await all))) "
        "(f)",
        "(0 1 2 3)");
    expect_everywhere(
        "(define (f) (let ((kept nil)) (let go ((i 0)) (set! kept go) (spawn i)) kept)) "
        "((f) 1)",
        "SexpEvaluationError: spawn: the function that contains this 'spawn' has "
        "returned, and its computations have ended with it");
}

TEST(futures, a_branch_is_a_scope_too) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(parallel (progn (spawn (try (pause 90) (finally (note 'ended)))) 1) "
                            "(pause 2))"),
              "(1 2)");
    EXPECT_EQ(harness.notes, std::vector<std::string>{"ended"});
    EXPECT_EQ(harness.clock(), 2);
}

TEST(futures, cancel_ends_one_and_returns_whether_it_ran) {
    expect_everywhere(
        "(define f (spawn (pause 90))) (pause 1) (list (cancel f) (try (await f) (catch "
        "(e) 'gone)) (cancel f))",
        "(true gone false)");
    expect_everywhere("(define f (spawn 1)) (await f) (cancel f)", "false");
    expect_everywhere("(define fs (list (spawn (pause 90)) (spawn (pause 80)))) (map cancel fs)",
                      "(true true)");
    lang_harness harness;
    harness.run("(define f (spawn (pause 90))) (cancel f) (try (await f) (catch (e) nil))");
    EXPECT_EQ(harness.clock(), 0);
}

TEST(futures, can_cancel_itself_and_what_it_runs_inside) {
    expect_everywhere(
        "(define f nil) (set! f (spawn (progn (pause 1) (cancel f) (pause 1) 'missed))) "
        "(try (await f) (catch (e) 'gone))",
        "gone");
    // While it runs on the stack of its parent nobody has its future but the parallel below it.
    expect_everywhere(
        "(define box nil) (define f (spawn (progn (pause 0) (parallel (progn (cancel box) "
        "(pause 9)) (pause 9))))) (set! box f) (try (await f) (catch (e) 'gone))",
        "gone");
}

TEST(futures, catch_does_not_hold_a_cancelled_one) {
    expect_everywhere(
        "(define f (spawn (try (pause 90) (catch (e) 'caught)))) (pause 1) (cancel f) "
        "(try (await f) (catch (e) (get e 'message)))",
        "\"await: the future was cancelled\"");
}

TEST(futures, waiting_in_a_circle_through_a_race_is_an_error) {
    const std::string shown = " (try (await g) (catch (e) (get e 'message)))";
    const std::string never =
        "\"await: this would wait for ever, because the future itself waits for what awaits it\"";
    const std::string awaits_f = " (set! g (spawn (progn (pause 2) (await f))))";
    for (const std::string race : {
             "(race (progn (pause 1) (await g)) (progn (pause 1) (await g)))",
             "(hedge 0.5 (progn (pause 1) (await g)))",
             "(race (progn (pause 1) (await g)) (map (lambda (x) (pause 1) (await g)) '(1 2)))",
             "(race (progn (pause 1) (race (await g) (await g))) (progn (pause 1) (await g)))",
             "(first (map (lambda (x) (race (progn (pause 1) (await g)))) '(1)))",
         }) {
        const std::string begun = "(define g nil) (define f (spawn " + race + "))" + awaits_f;
        expect_everywhere(begun + shown, never);
    }
    // Through a second future, awaited before that awaits the first.
    expect_everywhere(
        "(define g nil) (define h nil) (define f (spawn (race (progn (pause 2) (await "
        "g)) (progn (pause 2) (await h)))))"
        "(set! h (spawn (progn (pause 1) (await g))))"
        "(set! g (spawn (progn (pause 3) (await f))))" +
            shown,
        never);
    expect_everywhere(
        "(define g nil) (define k nil) (define f (spawn (race (progn (pause 2) (await "
        "g)) (progn (pause 2) (await k)))))"
        "(set! k (spawn (progn (pause 3) (await f))))"
        "(set! g (spawn (progn (pause 4) (await f))))" +
            shown,
        never);
}

TEST(futures, circle_names_its_members) {
    const std::string members =
        "(try (await g) (catch (e) (map (lambda (l) (list (last (string-split (get l 'what) "
        "\":\")) (get-in l '(span line)))) (filter (lambda (l) (string-starts-with? (get l 'what) "
        "\"in the circle\")) (get e 'stack)))))";
    expect_everywhere(
        "(define g nil)\n(define f (spawn (progn (pause 1)\n(await g))))\n"
        "(set! g (spawn (progn (pause 2)\n(await f))))" +
            members,
        R"((("2 is awaited" 5) ("4 is awaited" 3)))");
    expect_everywhere(
        "(define g nil)\n(define f (spawn (race (progn (pause 1)\n(await g)))))\n"
        "(define h (spawn (map (lambda (x) (pause 1)\n(await f)) '(1))))\n"
        "(set! g (spawn (progn (pause 2)\n(await h))))" +
            members,
        R"((("4 is awaited" 7) ("2 is awaited" 5) ("6 is awaited" 3)))");
    // Only so many are named.
    expect_everywhere(
        "(define g nil) (define f (spawn (progn (pause 1) (await g))))"
        "(define all (list f))"
        "(loop 20 (let ((next (first all))) (set! all (cons (spawn (await next)) "
        "all))))"
        "(set! g (spawn (progn (pause 2) (await (first all)))))"
        "(try (await g) (catch (e) (get (nth (get e 'stack) 8) 'what)))",
        R"("in the circle: 14 more")");
    expect_everywhere(
        "(define f nil) (set! f (spawn (progn (pause 1)\n(map (lambda (x) (pause 1)\n"
        "(await f)) '(1)))))\n(try (await f) (catch (e) (map (lambda (l) (get-in l "
        "'(span line))) (filter (lambda (l) (string-starts-with? (get l 'what) \"in "
        "the circle\")) (get e 'stack)))))",
        "(3)");
}

TEST(futures, race_that_may_end_is_no_circle) {
    const auto run = [](const std::string& race, const std::string& shown) {
        expect_everywhere("(define g nil) (define f (spawn " + race +
                              ")) (set! g (spawn (progn (pause 2) (await f)))) (await g)",
                          shown);
    };
    run("(race (progn (pause 1) (await g)) (pause 9))", "9");
    run("(race (progn (pause 1) (await g)) (progn (pause 9) (race (pause 3) (pause 4))))", "3");
    // A deadline ends one of the waits.
    run("(race (progn (pause 1) (timeout 9 (await g) 'late)) (progn (pause 1) (await g)))", "late");
    run("(timeout 9 (race (progn (pause 1) (await g)) (progn (pause 1) (await g))) 'late)", "late");
}

TEST(futures, branch_left_alone_in_a_circle_stops_waiting) {
    const auto run = [](const std::string& branches, const std::string& shown) {
        expect_everywhere("(define g nil) (define f (spawn (race " + branches +
                              "))) (set! g (spawn (progn (pause 2) (await f)))) (try (await g) "
                              "(catch (e) (get e 'message)))",
                          shown);
    };
    run("(progn (pause 1) (await g)) (progn (pause 4) (error \"no\"))",
        "\"await: this would wait for ever, because the future needs the end of the race that this "
        "is a branch of\"");
    run("(try (progn (pause 1) (await g)) (catch (e) 'alone)) (progn (pause 4) (error \"no\"))",
        "alone");
}

TEST(futures, waiting_in_a_circle_is_an_error) {
    const std::string never =
        "await: this would wait for ever, because the future itself waits for "
        "what awaits it";
    expect_everywhere("(define f nil) (set! f (spawn (progn (pause 1) (await f)))) (await f)",
                      "SexpEvaluationError: " + never);
    expect_everywhere(
        "(define g nil) (define f (spawn (progn (pause 1) (await g)))) (set! g (spawn "
        "(progn (pause 2) (await f)))) (try (await g) (catch (e) (get e 'message)))",
        "\"" + never + "\"");
    expect_everywhere(
        "(define a nil) (define b (spawn (progn (pause 1) (await a)))) (define c (spawn "
        "(progn (pause 2) (await b)))) (set! a (spawn (progn (pause 3) (first (map (lambda "
        "(x) (await c)) '(1)))))) (try (await a) (catch (e) 'circle))",
        "circle");
    // The circle closes when a computation waits for its branches.
    expect_everywhere(
        "(define g nil) (define f (spawn (progn (pause 1) (parallel (await g) (let wait "
        "((i 0)) (if (< i 5) (progn (pause 1) (wait (+ i 1))) i)))))) (set! g (spawn "
        "(progn (pause 2) (await f)))) (try (await g) (catch (e) 'circle))",
        "circle");
    // In what a future does, its own await cannot end well either.
    expect_everywhere(
        "(define f nil) (set! f (spawn (progn (pause 1) (map (lambda (x) (await f)) '(1 "
        "2))))) (try (await f) (catch (e) 'circle))",
        "circle");
}

TEST(futures, awaiting_takes_no_place_in_the_map) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        lang_harness harness;
        schedule how;
        how.concurrency = 1;
        how.slice = slice;
        EXPECT_EQ(
            harness.shown("(define f (spawn (map (lambda (x) (pause x)) '(2 3)))) (map (lambda (x) "
                          "(await f) (pause x)) '(1 2 3))",
                          how),
            "(1 2 3)");
        EXPECT_EQ(harness.peak_pending, 1U); // effects of branches need a permit all the same
        expect_tidy(harness, "await");
    }
    expect_everywhere(
        "(map (lambda (x) (await (spawn (map (lambda (y) (await (spawn (pause y)))) '(1 "
        "2))))) '(1 2))",
        "((1 2) (1 2))");
}

TEST(futures, an_await_is_cut_by_a_deadline) {
    expect_everywhere("(define f (spawn (pause 50))) (timeout 1 (await f) 'late)", "late");
    expect_everywhere("(define f (spawn (pause 3))) (list (timeout 1 (await f) 'late) (await f))",
                      "(late 3)");
    // A future keeps the deadline of where it was spawned; its end is an ordinary error elsewhere.
    expect_everywhere(
        "(define f (timeout 1 (spawn (try (pause 9) (catch (e) 'swallowed))))) (try "
        "(await f) (catch (e) (get e 'kind)))",
        "\"TimeoutError\"");
    expect_everywhere(
        "(timeout 1 (let ((f (spawn (pause 9)))) (try (await f) (catch (e) 'swallowed)))"
        " 'late)",
        "late");
}

TEST(futures, a_function_that_spawns_may_recur) {
    expect_everywhere(
        "(define (sum n) (if (= n 0) 0 (let ((rest (spawn (sum (- n 1))))) (+ n (await "
        "rest))))) (sum 50)",
        "1275");
}

TEST(futures, a_long_lived_scope_forgets_what_has_ended) {
    lang_harness harness;
    harness.run("1");
    const std::string many =
        "(let next ((i 0)) (when (< i 200000) (await (spawn i)) (next (+ i 1))))";
    harness.run(many);
    EXPECT_EQ(harness.peak_fibers, 1U);
    const std::size_t before = harness.harness.memory().used();
    schedule how;
    how.memory = 1024 * 1024;
    EXPECT_EQ(harness.shown(many, how), "nil");
    EXPECT_LE(harness.harness.memory().used(), before + 65536);
    EXPECT_EQ(
        harness.shown("(let next ((i 0)) (when (< i 20000) (await (spawn (pause 0))) (next (+ i "
                      "1))))",
                      how),
        "nil");
    EXPECT_EQ(harness.peak_fibers, 2U);
}

TEST(futures, arguments_are_checked) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(await 3)"),
              "TypeError: await: argument 1 must be a future, not the integer 3");
    EXPECT_EQ(harness.shown("(cancel 'f)"),
              "TypeError: cancel: argument 1 must be a future, not the symbol f");
    EXPECT_EQ(harness.shown("(spawn)"), "SexpEvaluationError: spawn: expects 1 expression, got 0");
    EXPECT_EQ(harness.shown("(format \"{}\" (spawn (pause 1)))"), "\"#<future, running>\"");
}

TEST(futures, ten_levels_of_nested_map_with_concurrency_one_end) {
    std::string program = "(await (spawn (pause 1)))";
    for (int i = 0; i < 8; ++i)
        program = "(map (lambda (x) (await (spawn " + program + "))) (list 1 2))";
    lang_harness harness;
    schedule how;
    how.concurrency = 1;
    EXPECT_EQ(harness.run(program, how).kind, outcome_kind::done);
    expect_tidy(harness, program);
}

TEST(futures, finally_runs_once_wherever_it_is_cancelled) {
    // Counted in a global, which no cancellation can take back.
    for (const bool split : {false, true}) {
        lang_harness harness;
        schedule how;
        how.slice = 1;
        how.split = split;
        bool completed = false;
        for (std::int64_t k = 0; !completed; ++k) {
            how.cancel_at = k;
            const std::string what = "cancelled at " + std::to_string(k);
            harness.run("(define begun 0) (define ended 0)");
            harness.run(
                "(define (work) (set! begun (+ begun 1)) (try (pause 2) (finally (set! ended (+ "
                "ended 1))))) (timeout 9 (race (map (lambda (x) (await (spawn (work)))) '(1 2 "
                "3)) (hedge 1 (work))) nil)",
                how);
            completed = harness.runs <= k;
            expect_tidy(harness, what);
            EXPECT_EQ(harness.shown("(= begun ended)"), "true") << what;
        }
    }
}

TEST(futures, cancellation_at_every_step_leaves_nothing) {
    expect_cancellable(
        "(let ((f (spawn (pause 2))) (g (spawn (pause 1)))) (+ (await f) (await g)))");
    expect_cancellable("(map (lambda (x) (await (spawn (pause x)))) '(1 2 3))");
    expect_cancellable(
        "(let ((f (spawn (try (pause 9) (finally (pause 1)))))) (pause 1) (cancel f) (try "
        "(await f) (catch (e) 'gone)))");
    expect_cancellable(
        "(let ((f (spawn (map pause '(3 4))))) (timeout 1 (map await (list f f)) 'late))");
}

TEST(futures, long_cycles_are_reported) {
    for (const char* program :
         {"(let ((fs (map (lambda (i) nil) (range 300))))"
          "  (let go ((i 0)) (when (< i 300)"
          "    (set! fs (put fs i (spawn (progn (pause 0.1) (await (nth fs (modulo (+ i 1) "
          "300)))))))"
          "    (go (+ i 1))))"
          "  (await (first fs)))",
          "(with ((concurrency 1000)) (let ((f nil) (g nil))"
          "  (set! f (spawn (progn (pause 0.01)"
          "    (map (lambda (i) (if (= i 0) (await g) (pause 10))) (range 300)))))"
          "  (set! g (spawn (progn (pause 0.02) (await f))))"
          "  (await f)))"}) {
        lang_harness harness;
        EXPECT_NE(harness.shown(program).find("would wait for ever"), std::string::npos) << program;
    }
}

// It raised at once: the deadlines of the waits were not looked at.
TEST(futures, a_circle_that_a_deadline_ends_is_no_error) {
    for (const std::string of_race : {"(error \"no\")", "(pause 90)"}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown("(define g nil)"
                                "(define f (spawn (race (timeout 5 (progn (pause 1) (await g)) 'fb)"
                                "                       (progn (pause 2) " +
                                of_race +
                                "))))"
                                "(set! g (spawn (await f))) (await g)"),
                  "fb")
            << of_race;
        EXPECT_EQ(harness.clock(), 5) << of_race;
        expect_tidy(harness, "futures");
    }
    lang_harness harness; // one deadline for all of them ends none of them alone
    EXPECT_NE(harness
                  .shown("(timeout 5 (progn (define g nil)"
                         " (define f (spawn (progn (pause 1) (await g))))"
                         " (set! g (spawn (await f))) (await g)))")
                  .find("would wait for ever"),
              std::string::npos);
}

} // namespace
} // namespace heddle::lang::testing
