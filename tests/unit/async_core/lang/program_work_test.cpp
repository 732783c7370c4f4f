// What builtins do in a program is done in turns and counts as its steps.
#include "lang_harness.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace heddle::lang::testing {
namespace {

struct timed {
    const char* program;   ///< much: it takes many turns
    bool is_timed = false; ///< how many depends on the time that a thread takes
};
const timed programs[] = {
    {"(length (sort (map (lambda (i) (modulo (* i 7919) 1000003)) (range 300000))))"},
    {"(length (json-parse (json-string (range 300000))))"},
    {"(length (unique (range 300000)))"},
    {"(let ((x (range 600000)) (y (range 600000))) (if (equal? x y) 1 2))"},
    {"(string-length (string-upcase (string-join (range 200000) \"\u00e4\")))"},
    {"(length (read-all (string-join (range 200000))))"},
    {"(length (parse (string-append \"(\" (string-join (range 200000)) \")\")))"},
    {"(length (regex-match-all \"[0-9]+\" (string-join (range 100000))))", true},
    {"(let ((x (range 100000))) (loop 30 (reverse x)) 1)"},
    {"(let ((x (range 100000))) (loop 30 (cons 1 (rest x))) 1)"},
    {"(let ((x (range 100000))) (loop 30 (reduce (lambda (a f) (f 1 a)) (rest x) (list cons))) 1)"},
    {"(let ((s (string-join (range 20000) \"\u00e4\"))) (loop 300 (string-length s)) 1)"},
    {"(let* ((s (string-join (range 20000))) (m (dict s 1))) (loop 300 (get m s)) 1)"},
    {"(let ((s (string-join (range 20000)))) (loop 100 (try (error s) (catch (e) 1))) 1)"},
    {"(let ((s (string-join (range 20000)))) (loop 300 (gensym s)) 1)"},
    {"(let ((s (string-join (range 6000)))) (loop 300 (string-append s \"x\")) 1)"},
    {"(let ((f (eval (append '(lambda (a)) (map (lambda (i) '(list a a a)) (range 3000)))))) "
     "(loop 100 (f 1)) 1)"},
    {"(let ((f (eval (append '(lambda (a)) (map (lambda (i) '(if (list a a) (list a a a) (list 1 "
     "(list 2) (list 3)))) (range 3000)))))) (loop 100 (f 1)) 1)"},
    {"(let ((f (eval (list 'lambda '(a) (list 'if 'a 1 (list 'let (map (lambda (i) (list "
     "(string->symbol (format \"x{}\" i)) '(list 1))) (range 5000)) 2)))))) (loop 2000 (f 1)) 1)"},
    {"(loop 60 (help)) 1"},
    {"(apply + (range 600000))"},
    {"(length (apply list 1 2 (range 600000)))"},
    {"(apply (lambda (a &rest more) (length more)) 0 1 (range 600000))"},
    {"(length (flatten (map (lambda (i) (list i)) (range 100000))))"},
    {"(let ((x (chunk (range 60000) 1))) (length (unique (append x x))))"},
    {"(let ((x (chunk (range 60000) 1))) (length (flatten (append x x))))"},
    {"(let ((x (range 60000))) (length (sandbox () (chunk x 1))))"},
    {"(let n ((i 0)) (if (< i 2000) (progn (regex-match (format \"ab+c*{}\" i) \"\") (n (+ i 1))) 1))"},
};

TEST(work, of_a_program_is_done_in_turns_and_counts_as_steps) {
    for (const timed& one : programs) {
        lang_harness harness;
        const std::string whole = harness.shown(one.program);
        const std::int64_t runs = harness.runs;
        EXPECT_TRUE(whole.find("Error") == std::string::npos) << one.program << ": " << whole;
        EXPECT_GT(runs, 5) << one.program;

        schedule few;
        few.steps = 5000;
        lang_harness limited;
        EXPECT_TRUE(limited.shown(one.program, few).starts_with("LimitError")) << one.program;
        EXPECT_LT(limited.runs, 30) << one.program;

        lang_harness sandboxed;
        const std::string inside = "(sandbox ((steps 5000)) " + std::string(one.program) + ")";
        EXPECT_TRUE(sandboxed.shown(inside).starts_with("LimitError")) << one.program;
        EXPECT_LT(sandboxed.runs, 60) << one.program;
    }
}

TEST(work, of_a_program_ends_when_it_is_cancelled) {
    for (const timed& one : programs) {
        lang_harness whole;
        (void)whole.shown(one.program);
        for (const std::int64_t at : {whole.runs / 3, whole.runs / 2, whole.runs - 2}) {
            lang_harness harness;
            schedule how;
            how.cancel_at = at;
            const std::string shown = harness.shown(one.program, how);
            if (one.is_timed && harness.runs <= at) continue; // it was quicker this time
            EXPECT_TRUE(shown.starts_with("Cancelled")) << one.program << " at " << at;
            EXPECT_LE(harness.runs, at + 3) << one.program << " at " << at;
        }
    }
}

TEST(work, has_the_same_value_whatever_the_schedule) {
    for (const timed& one : programs) {
        lang_harness first;
        const std::string expected = first.shown(one.program);
        for (const bool split : {false, true}) {
            schedule how;
            how.slice = 50;
            how.split = split;
            how.moved = true;
            lang_harness harness;
            const std::string twice = "(map (lambda (i) " + std::string(one.program) + ") '(1 2))";
            EXPECT_EQ(harness.shown(twice, how), "(" + expected + " " + expected + ")")
                << one.program;
        }
    }
}

TEST(work, of_errors_of_short_json_is_little) {
    lang_harness harness;
    schedule how;
    how.steps = 5000;
    EXPECT_EQ(harness.shown("(progn (loop 20 (try (json-parse \"[1 x\") (catch (e) 1))) 2)", how),
              "2");
}

TEST(work, of_apply_is_done_in_turns_whatever_it_calls) {
    struct row {
        const char* program;
        const char* shown;
    };
    constexpr row rows[] = {
        {"(apply + 1 2 (range 100000))", "4999950003"},
        {"(apply max (range 100000))", "99999"},
        {"(length (apply append (chunk (range 100000) 2)))", "100000"},
        {"(apply (lambda (a b &rest more) (list a b (length more) (first more))) (range 100000))",
         "(0 1 99998 2)"},
        {"(apply (lambda (a &optional b &rest more) (list a b (length more) (first more))) 'x "
         "(range 100000))",
         "(x 0 99999 1)"},
        {"(apply (lambda (&rest more) (length more)) 1 2 3 (range 100000))", "100003"},
        {"(let ((f (lambda (&rest more) (apply + more)))) (f 1 2))", "3"},
        {"(apply (lambda (f &rest more) (apply f more)) + (range 100000))", "4999950000"},
        {"(apply apply + (list 1 2 (range 100000)))", "4999950003"},
        {"(apply apply apply (list (list + (list 1 2))))", "3"},
        {"(length (apply list (map (lambda (i) (list i)) (range 100000))))", "100000"},
        {"(apply (lambda (a) a) (range 100000))",
         "ArityError: a function expects 1 argument, got 100000"},
        {"(apply first (range 100000))", "ArityError: first expects 1 argument, got 100000"},
        {"(apply 5 (range 100000))",
         "SexpEvaluationError: cannot call 5: it is an integer, not a "
         "function"},
        {"(apply + (append (range 100000) '(x)))", "TypeError"},
        {"(apply apply + (append (range 100000) (list '(1))))", "LimitError"},
    };
    for (const row& one : rows) {
        for (const std::uint32_t slice : {50U, 2000U}) {
            lang_harness harness;
            schedule how;
            how.slice = slice;
            how.moved = slice == 50;
            const std::string shown = harness.shown(one.program, how);
            EXPECT_TRUE(shown.starts_with(one.shown)) << one.program << ": " << shown;
        }
    }
}

TEST(work, of_apply_of_itself_needs_no_native_stack) {
    lang_harness harness;
    EXPECT_TRUE(
        harness
            .shown("(apply apply (append (map (lambda (i) apply) (range 1000000)) (list + '(1))))")
            .starts_with("LimitError"));
    EXPECT_EQ(harness.shown("(apply apply (append (map (lambda (i) apply) (range 1000)) "
                            "(list + (let n ((i 0) (x '(1 2))) (if (< i 1000) (n (+ i 1) (list x)) "
                            "x)))))"),
              "3");
}

TEST(work, of_more_builtins_than_have_a_stack_is_done_all_the_same) {
    lang_harness harness;
    schedule how;
    how.split = true;
    EXPECT_EQ(
        harness.shown("(length (unique (map (lambda (i) (length (sort (reverse (range 30000))))) "
                      "(range 30))))",
                      how),
        "1");
}

TEST(work, of_an_error_in_a_long_builtin_can_be_caught) {
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(try (sort (append (range 300000) '(\"x\"))) (catch (e 'TypeError) 7))"),
        "7");
    EXPECT_EQ(harness.shown("(try (json-parse (string-append (json-string (range 200000)) \"x\")) "
                            "(catch (e) 8))"),
              "8");
}

} // namespace
} // namespace heddle::lang::testing
