#include "schedules.hpp"

namespace heddle::lang::testing {
namespace {

TEST(semaphore, bounds_what_runs_inside) {
    for (const std::uint32_t slice : {1U, 2000U}) {
        lang_harness harness;
        schedule how;
        how.slice = slice;
        how.split = slice == 1;
        EXPECT_EQ(harness.shown("(define s (semaphore 2)) (length (map (lambda (x) (with-permit s "
                                "(pause 1))) (range 20)))",
                                how),
                  "20");
        EXPECT_EQ(harness.peak_pending, 2U);
        EXPECT_EQ(harness.clock(), 10);
        expect_tidy(harness, "semaphore");
    }
    expect_everywhere(
        "(define s (semaphore 1)) (map (lambda (x) (with-permit s (pause 1) (* x x))) "
        "'(1 2 3))",
        "(1 4 9)");
}

TEST(semaphore, is_first_come_first_served) {
    lang_harness harness;
    harness.run(
        "(define s (semaphore 1)) (map (lambda (x) (with-permit s (pause 1) (note x))) (range "
        "6))");
    EXPECT_EQ(harness.notes, (std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
}

TEST(semaphore, comes_back_after_errors_and_timeouts) {
    expect_everywhere(
        "(define s (semaphore 1)) (try (with-permit s (error \"no\")) (catch (e) nil)) "
        "(with-permit s 'free)",
        "free");
    expect_everywhere(
        "(define s (semaphore 1)) (timeout 1 (with-permit s (pause 5)) nil) "
        "(with-permit s 'free)",
        "free");
    expect_everywhere(
        "(define s (semaphore 1)) (race (with-permit s (pause 5)) (pause 1)) "
        "(with-permit s 'free)",
        "free");
}

TEST(semaphore, a_wait_for_it_is_cut_by_a_deadline) {
    expect_everywhere(
        "(define s (semaphore 1)) (define f (spawn (with-permit s (pause 50)))) "
        "(pause 1) (timeout 1 (with-permit s 'mine) 'late)",
        "late");
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(define s (semaphore 1)) (parallel (with-permit s (pause 50)) (timeout 1 "
                      "(with-permit s 'mine) 'late) (progn (pause 2) (with-permit s (note "
                      "'later))))"),
        "(50 late later)");
    expect_tidy(harness, "deadline");
}

TEST(semaphore, waiting_for_it_takes_no_place_in_the_map) {
    lang_harness harness;
    schedule how;
    how.concurrency = 1;
    // The holder needs the only permit of the map to go on, while the others wait for the
    // semaphore.
    EXPECT_EQ(
        harness.shown("(define s (semaphore 1)) (map (lambda (x) (with-permit s (map (lambda (y) "
                      "(pause y)) '(1 2)))) '(1 2 3))",
                      how),
        "((1 2) (1 2) (1 2))");
    expect_tidy(harness, "nested");
    EXPECT_EQ(harness.peak_pending, 1U);
}

TEST(semaphore, counts_and_permits_are_checked) {
    lang_harness harness;
    for (const char* bad : {"0", "-1", "1.5", "\"2\"", "nil", "true"}) {
        EXPECT_EQ(harness.shown(std::string("(semaphore ") + bad + ")")
                      .find("TypeError: semaphore: argument 1 must be a positive integer, not "),
                  0U)
            << bad;
    }
    EXPECT_EQ(harness.shown("(with-permit 3 4)"),
              "TypeError: with-permit: argument 1 must be a semaphore, not the integer 3");
    EXPECT_EQ(harness.shown("(with-permit (semaphore 1))"),
              "SexpEvaluationError: with-permit: expects a semaphore and at least one expression");
    EXPECT_EQ(harness.shown("(type-of (semaphore 1))"), "semaphore");
}

TEST(semaphore, a_wait_for_what_the_branch_itself_holds_is_an_error) {
    const std::string refused =
        "SexpEvaluationError: with-permit: this would wait for ever, because this branch, with "
        "those "
        "that wait for its end, holds all permits of the semaphore (";
    for (const auto& [permits, program] : std::initializer_list<std::pair<int, std::string>>{
             {1, "(with-permit s (with-permit s 1))"},
             {2, "(with-permit s (with-permit s (with-permit s 1)))"},
             {1, "(define (f) (with-permit s (+ 1 (f)))) (f)"},
             {1, "(with-permit s (try 1 (finally (with-permit s 2))))"},
             {1, "(with-permit s (first (parallel (with-permit s 1))))"},
             {1,
              "(with-permit s (first (parallel (progn (pause 1) (with-permit s 1)) (pause 2))))"},
             {1,
              "(with-permit s (map (lambda (x) (pause x) (map (lambda (y) (with-permit s y)) "
              "'(1 2))) '(1 2)))"},
             {1, "(with-permit s (race (with-permit s 1) (with-permit s 2)))"},
             {1,
              "(with-permit s (await (spawn (race (progn (pause 1) (with-permit s 1)) "
              "(progn (pause 1) (with-permit s 2))))))"},
             {2,
              "(with-permit s (map (lambda (x) (with-permit s (pause x) (with-permit s x))) "
              "'(1)))"}}) {
        expect_everywhere("(define s (semaphore " + std::to_string(permits) + ")) " + program,
                          refused + std::to_string(permits) + ")");
    }
    for (const char* program :
         {"(with-permit s (await (spawn (progn (pause 1) (with-permit s 1)))))",
          "(with-permit s (let ((f (spawn (with-permit s 1)))) (pause 1) (await f)))",
          "(with-permit s (let ((f (spawn (parallel (pause 5) (with-permit s 1))))) (pause 1) "
          "(await f)))"}) {
        expect_everywhere(std::string("(define s (semaphore 1)) ") + program,
                          "SexpEvaluationError: await: this would wait for ever, because the "
                          "future waits for a permit and what awaits it holds all of that "
                          "semaphore (1)");
    }
    // The permit is given back, and the error can be caught.
    expect_everywhere(
        "(define s (semaphore 1)) "
        "(list (with-permit s (try (with-permit s 1) (catch (e 'SexpEvaluationError) 'no))) "
        "      (with-permit s 2))",
        "(no 2)");
    // A race goes on with a branch that needs none.
    expect_everywhere("(define s (semaphore 1)) (with-permit s (race (with-permit s 1) (pause 3)))",
                      "3");
}

TEST(semaphore, a_wait_below_many_branches_is_found) {
    const std::string refused =
        "SexpEvaluationError: await: this would wait for ever, because the future waits for a "
        "permit and what awaits it holds all of that semaphore (1)";
    const auto awaited_after = [](const std::string& before, const std::string& spawned) {
        lang_harness harness;
        schedule how;
        how.concurrency = 1000;
        const std::string given =
            harness.shown("(define s (semaphore 1)) " + before + "(define f (spawn " + spawned +
                              ")) (with-permit s (pause 3) (await f))",
                          how);
        expect_tidy(harness, spawned);
        return given;
    };
    EXPECT_EQ(awaited_after("",
                            "(map (lambda (x) (if (= x 0) (progn (pause 1) (with-permit s 1)) "
                            "(pause 90))) (range 900))"),
              refused);
    // Those that wait for another semaphore are not a reason to look further up.
    EXPECT_EQ(awaited_after("(define other (semaphore 1)) "
                            "(define h (spawn (with-permit other (pause 50)))) (pause 0) ",
                            "(map (lambda (x) (if (= x 0) (progn (pause 1) (with-permit s 1)) "
                            "(progn (pause 1) (with-permit other 2)))) (range 700))"),
              refused);
}

TEST(semaphore, a_wait_that_others_can_end_is_none) {
    // Another branch holds one of two.
    expect_everywhere(
        "(define s (semaphore 2)) "
        "(parallel (with-permit s (pause 1) (with-permit s (pause 1))) "
        "          (with-permit s (pause 5)))",
        "(1 5)");
    // Nothing waits yet for what was spawned: the permit comes back before it is awaited.
    expect_everywhere(
        "(define s (semaphore 1)) "
        "(let ((f (with-permit s (let ((f (spawn (with-permit s 7)))) (pause 1) f)))) "
        "(await f))",
        "7");
    // Branches of one map hold one another's.
    expect_everywhere(
        "(define s (semaphore 1)) (map (lambda (x) (with-permit s (pause x) x)) "
        "'(1 2 3))",
        "(1 2 3)");
    // One branch after the other in the same place.
    expect_everywhere("(define s (semaphore 1)) (loop 3 (with-permit s (pause 1)))", "1");
}

TEST(semaphore, cancellation_at_every_step_leaks_no_permit) {
    const auto check = [](lang_harness& harness, const std::string& what) {
        EXPECT_EQ(harness.shown("(timeout 1 (with-permit s 'free) 'taken)"), "free") << what;
    };
    expect_cancellable("(define s (semaphore 1))",
                       "(map (lambda (x) (with-permit s (pause 1))) '(1 2 3))", check);
    expect_cancellable("(define s (semaphore 1))",
                       "(map (lambda (x) (timeout x (with-permit s (pause 2)) 'late)) '(1 3 5))",
                       check);
    expect_cancellable("(define s (semaphore 1))",
                       "(with-permit s (try (pause 1) (finally (pause 1))))", check);
}

} // namespace
} // namespace heddle::lang::testing
