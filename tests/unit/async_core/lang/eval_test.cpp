// Code as data: eval, parse, macros.
#include "lang_harness.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

TEST(eval, a_macro_that_nests_for_ever_meets_a_limit) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(defmacro m (x) (list '+ 1 (list 'm x))) (m 1)").substr(0, 28),
              "LimitError: code nested deep");
}

TEST(eval, macros_of_a_session_stay) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(defmacro twice (x) (list '* 2 x))"), "twice");
    EXPECT_EQ(harness.shown("(twice 4)"), "8");
    EXPECT_EQ(harness.shown("(define (twice x) 'function) (twice 4)"), "function");
    EXPECT_EQ(harness.shown("(twice 4)"), "function") << "a definition takes the macro's place";
}

TEST(eval, errors_in_code_show_its_own_text) {
    lang_harness harness;
    const outcome ended = harness.run(
        "(define (run text) (eval (parse text)))\n"
        "(run \"(let ((x 1))\\n  (+ x \\\"a\\\"))\")");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(render_diagnostic(error_kind_name(*ended.failure), *ended.failure,
                                harness.harness.sources()),
              "TypeError: +: argument 2 must be a number, not the string \"a\"\n"
              "   --> parsed text:2:3\n"
              " 2 |   (+ x \"a\"))\n"
              "   |   ^^^^^^^^^\n"
              "  in 'eval' (after 2 tail calls) (parsed text:1:1)\n"
              "hint: (string-append a b) joins strings\n");
}

TEST(eval, an_error_in_a_macro_is_placed_in_its_body) {
    lang_harness harness;
    const outcome ended =
        harness.run("(defmacro broken (x)\n  (list 1)\n  (error \"bad\" x))\n(broken 1)");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(harness.harness.sources().locate(ended.failure->info().span).line, 3U);
}

TEST(eval, generated_code_leaves_nothing_behind) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(loop 100 (eval (parse \"(let ((f (lambda (x) x))) (f 1))\")))"), "1");
    const std::size_t before = harness.harness.memory().used();
    EXPECT_EQ(harness.shown("(loop 10000 (eval (parse \"(let ((f (lambda (x) x))) (f 1))\")))"),
              "1");
    EXPECT_LT(harness.harness.memory().used(), before + 4096);
}

TEST(eval, code_of_any_size_ends_with_a_value_or_an_error) {
    lang_harness harness;
    schedule how;
    how.memory = std::size_t{64} * 1024 * 1024;
    // Nested deeper than the native stack would hold.
    EXPECT_EQ(
        harness.shown("(define code 1) (loop 9000 (set! code (list '+ 1 code))) (eval code)", how),
        "9001");
    EXPECT_EQ(
        harness.shown("(define code 1) (loop 30000 (set! code (list '+ 1 code))) (eval code)", how)
            .substr(0, 40),
        "LimitError: code nested deeper than 2000");
    EXPECT_EQ(harness.shown("(eval (cons 'progn (range 1000000)))", how).substr(0, 10),
              "LimitError");
}

TEST(eval, a_caught_error_is_raised_anew) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(try (nth '(1) 5) (catch (e) (raise e)))"),
              "SexpEvaluationError: nth: index 5 is outside a list of 1");
    EXPECT_EQ(harness.shown("(try (+ 1 \"a\") (catch (e) (raise e)))").substr(0, 10), "TypeError:");
    EXPECT_EQ(
        harness.shown("(raise 5)"),
        "TypeError: raise: argument 1 must be an error that catch has bound, not the integer 5");
    const outcome ended =
        harness.run("(define (f) (error \"no\"))\n(try (f) (catch (e) (raise e)))");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(ended.failure->info().trace.front().what, "first raised at test:1:13");
}

TEST(eval, nested_cleanups_are_bounded) {
    std::string program = "1";
    for (int i = 0; i < 60; ++i) program = "(try 1 (finally " + program + "))";
    lang_harness harness;
    EXPECT_EQ(harness.shown(program),
              "LimitError: more than 8 'finally' are nested inside of each other's cleanup");
}

TEST(eval, distinguishes_all_names_of_a_large_map) {
    lang_harness harness;
    const std::string large =
        "(define m (let lp ((i 0) (m (dict))) (if (= i 70000) m (lp (+ i 1) (put m "
        "(string-append \"x\" (number->string i)) i))))) ";
    EXPECT_EQ(harness.shown(large + "(eval '(list x0 x1 x65535 x65536 x65537 x69999) m)"),
              "(0 1 65535 65536 65537 69999)");
    EXPECT_EQ(
        harness.shown("(eval '(progn (set! x65536 \"S\") (define y 5) (list x0 x65536 y)) m)"),
        "(0 \"S\" 5)");
    EXPECT_EQ(harness.shown("(eval '((lambda () (list x0 x69999))) m)"), "(0 69999)");
}

} // namespace
} // namespace heddle::lang::testing
