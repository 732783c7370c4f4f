#include <heddle/lang/check.hpp>

#include <heddle/lang/prelude.hpp>

#include "layout_sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::lang {
namespace {

/// The problems of a program as lines "code line:column message".
class check : public ::testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> problems(const std::string& text,
                                                    const check_options& options = {}) {
        realm harness;
        EXPECT_TRUE(load_prelude(harness));
        if (memory != 0) harness.memory().set_limit(harness.memory().used() + memory);
        const std::uint32_t position = harness.sources().add("p", text);
        std::vector<std::string> lines;
        hints.clear();
        for (const problem& each : check_program(harness, text, position, options)) {
            const source_location place = harness.sources().locate(each.span);
            lines.push_back(std::string(each.code) + " " + std::to_string(place.line) + ":" +
                            std::to_string(place.column) + " " + each.message);
            hints.push_back(each.hint);
            is_error.push_back(each.level == severity::error);
        }
        return lines;
    }
    using lines = std::vector<std::string>;
    std::vector<std::string> hints;
    std::vector<bool> is_error;
    std::size_t memory = 0; ///< that the heap may take; 0: any
};

// It took gigabytes, without end. The bound of a heap without a limit is 1 GiB.
TEST_F(check, ends_where_a_macro_returns_a_tree_without_end) {
    memory = 32 * 1024 * 1024;
    const lines found = problems(
        "(defmacro boom (n)\n"
        "  (let ((x 1)) (do ((i 0 (+ i 1))) ((= i n) nil) (set! x (list 'progn x x))) x))\n"
        "(boom 60)");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].starts_with("limit ")) << found[0];
}

TEST_F(check, finds_nothing_in_good_programs) {
    for (const char* good :
         {"", "; nothing", "(define (f x) (if x (f (- x 1)) 0)) (f 3)",
          "(map (lambda (x) (* x x)) '(1 2))", "(define (a) (b)) (define (b) (a))",
          "(let next ((i 0)) (if (< i 3) (next (+ i 1)) i))",
          "(define (f) 1) (cond ((f) 1) (true 2))", "(let ((_unused 1)) 2)",
          "(try (error \"x\") (catch (e) 1))", "(case 1 (1 2) (else 3))",
          "(defmacro m (x) `(let ((tmp ,x)) tmp)) (m 1)", "(define (f) 1) (while true (f))",
          "(letrec ((a (lambda (n) (b n))) (b (lambda (n) (a n)))) (a 1))", "'(anything (if) here)",
          "(lambda (list) list)", "(define x 1) (set! x 2)", "(let ((x 1)) (eval 'x))",
          "(let* ((a 1) (b (+ a 1))) b)",
          // A variable that is bound later, or perhaps, is the one that is set.
          "(let () (define (s) (set! lst 6)) (bind lst 1) (s) lst)",
          "(define (f) true) (let () (when (f) (bind lst 1)) (set! lst 6) lst)",
          "(let () (try (bind lst 1) (catch (e) 2)) (set! lst 2) lst)",
          // Data, and names of bindings, define nothing.
          "(case 1 ((bind list) 1) (else (list 2)))",
          "(define (f &optional a . b) (list a b)) (f) (f 1 2 3)"}) {
        EXPECT_EQ(problems(good), lines{}) << good;
    }
}

TEST_F(check, ends_at_wrong_code_of_any_depth_that_a_macro_makes) {
    for (const char* head : {"'let 5", "'if", "'let '((a))", "'when"}) {
        const lines found = problems(std::string("(defmacro m () (let ((x 1)) (loop 100000 (set! x "
                                                 "(list 'f x))) (list ") +
                                     head + " x))) (m)");
        EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const std::string& each) {
            return each.starts_with("malformed-form") || each.starts_with("limit");
        })) << head;
    }
}

TEST_F(check, reports_every_malformed_form) {
    EXPECT_EQ(
        problems("(if 1 2)\n(define (f) (when))\n(let ((a)) (unless))"),
        (lines{"malformed-form 1:1 if: expects 3 parts (condition, then, else), got 2",
               "malformed-form 2:13 when: expects a condition and at least one expression",
               "malformed-form 3:7 let: a binding must be (name value), not (a)",
               "malformed-form 3:12 unless: expects a condition and at least one expression"}));
    EXPECT_EQ(problems("(cond (true (if)) (else 1) (false 2))").size(), 2U);
    EXPECT_EQ(problems("(director-evaluator-loop (max-iterations 1) (directr f))"),
              (lines{"malformed-form 1:45 director-evaluator-loop: unknown clause 'directr'"}));
    EXPECT_EQ(hints[0], "did you mean 'director'?");
}

TEST_F(check, nested_failures_stay_cheap) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "(set! + (if ";
    text += "1";
    for (int i = 0; i < 200; ++i) text += "))";
    EXPECT_GE(problems(text).size(), 100U);
    EXPECT_LE(problems(text).size(), 400U);
}

TEST_F(check, names_are_known_or_suggested) {
    EXPECT_EQ(problems("(define (total xs) (reduce + 0 xs))\n(totl '(1))"),
              (lines{"unknown-name 2:2 unknown name 'totl'"}));
    EXPECT_EQ(hints[0], "did you mean 'total'?");
    EXPECT_EQ(problems("(set! nowhere 1)"), (lines{"unknown-name 1:1 unknown name 'nowhere'"}));
    EXPECT_EQ(problems("(define (f) (define inner 1) inner)\ninner"),
              (lines{"unknown-name 2:1 unknown name 'inner'"}));
    EXPECT_EQ(problems("(user:plan (goal x))"), (lines{"unknown-name 1:2 unknown name 'user:plan'",
                                                       "unknown-name 1:18 unknown name 'x'"}));
    check_options options;
    options.externs = {"user:plan", "x"};
    EXPECT_EQ(problems("(user:plan (goal x))", options), lines{});
}

TEST_F(check, is_silent_about_constants_in_expansions) {
    const std::string macro =
        "(defmacro unless2 (c . body) (list 'if c nil (cons 'progn body)))"
        "(defmacro unless3 (c . body) `(if ,c nil (progn ,@body)))"
        "(defmacro choose (c) `(cond (,c 1) (else 2)))"
        "(defmacro debug? () false)";
    for (const char* call :
         {"(unless2 false 1 2)", "(unless3 false 1 2)", "(unless2 false (+ 1 2))", "(choose false)",
          "(choose true)", "(if (debug?) 1 2)", "(cond ((debug?) 1) (else 2))"})
        EXPECT_EQ(problems(macro + call), lines{}) << call;
    for (const char* call : {"(if false 1 2)", "( when true 1)", "(cond (false 1) (else 2))"})
        EXPECT_EQ(problems("(define (f) 1)" + macro + call).size(), 1U) << call;
}

TEST_F(check, reports_what_a_macro_was_given) {
    EXPECT_EQ(problems("(defmacro keep (x) x) (keep (if false 1 2))"),
              (lines{"constant-condition 1:33 this condition is always false"}));
    const std::string macros =
        "(defmacro unless2 (c . body) (list 'if c nil (cons 'progn body)))"
        "(defmacro outer (c) `(list ,c (unless2 ,c 1 2)))";
    EXPECT_EQ(problems(macros + "(outer false)"), lines{});
    EXPECT_EQ(problems(macros + "(outer (unless2 false 1 2))"), lines{});
    EXPECT_EQ(problems(macros + "(outer (if false 1 2))").size(), 1U);
    EXPECT_EQ(problems(macros + "(outer (unless2 (if false 1 2) 1 2))").size(), 1U);
    EXPECT_EQ(
        problems("(defmacro given (&rest clauses) `(cond ,@clauses)) (given (false 1) (else 2))")
            .size(),
        1U);
}

TEST_F(check, is_silent_about_what_macros_put_together) {
    for (
        const char* good :
        {"(defmacro pick (v a b) `(case ,v (,a 1) (,b 2))) (define (f x) (pick x k k))",
         "(defmacro pick (a b) `(dict ,a 1 ,b 2)) (defmacro twice (k) `(pick ,k ,k)) (twice \"k\")",
         "(defmacro both (a b) `(progn ,a ,b)) (define (f x) (both x 1))",
         "(defmacro sure () ''yes) (if (sure) 1 2)", "(defmacro it () 'x) (define (f x) (it) 1)",
         "(defmacro first-of (a b) `(race ,a ,b)) (define (g) 1) (first-of \"x\" (g))",
         "(defmacro my-cond (&rest cl) `(cond ,@cl (else 0))) (define (f x) (my-cond ((> x 1) 2) "
         "(true 3)))",
         "(defmacro sel (v &rest cl) `(case ,v ,@cl (none 0) (else 1))) (define (f x) (sel x (none "
         "2)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST_F(check, distinguishes_forms_that_have_one_place) {
    const auto found = problems(
        "(defmacro both (t) (list 'progn (list t (list 'x 1)) (list 'nobody)))"
        "(define (f ask) (both ask))");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].ends_with("'nobody'")) << found[0];
    EXPECT_EQ(hints[0].find("call-atomic-task"), std::string::npos) << hints[0];
    EXPECT_EQ(hints[1], "if 'ask' holds a task, write (call-atomic-task ask (x …))");
}

TEST_F(check, looks_into_the_text_of_macros) {
    EXPECT_EQ(problems("(defmacro one-more () '(+ total 1)) (define total (one-more))").size(), 1U);
    EXPECT_EQ(problems("(defmacro m () '(list 1)) (define (f x) x (m))"),
              (lines{"unused-value 1:41 this value is unused: x"}));
    EXPECT_EQ(problems("(defmacro m () '(nowhere 1)) (defthing (m))"),
              (lines{"unknown-name 1:31 unknown name 'defthing'"}));
}

TEST_F(check, reads_forms_however_they_are_spelled) {
    for (const char* text : {"[if false 1 2]", "(; why not\n if false 1 2)", "[dict \"a\" 1 'a 2]",
                             "(define (f) 1) [race \"x\" (f)]"})
        EXPECT_EQ(problems(text).size(), 1U) << text;
    EXPECT_EQ(problems("(if (when) 1 2)").size(), 1U) << "what is wrong is not a constant";
}

TEST_F(check, does_not_mistake_what_a_do_becomes_for_its_text) {
    for (const char* good : {"(define (f n) (do ((i 0 (+ i 1))) ((= i n) i) i))",
                             "(define (f) (do ((i 0 (+ i 1))) (false) (list i)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
    EXPECT_EQ(problems("(do ((i 0 (+ i 1))) ((> i 3)) i 5)"),
              (lines{"unused-value 1:31 this value is unused: i"}));
}

TEST_F(check, the_top_level_reads_after_the_definition) {
    EXPECT_EQ(
        problems("(f 1)\n(define (f x) x)"),
        (lines{"used-before-definition 1:2 'f' is used here before its definition at line 2 has "
               "run"}));
    EXPECT_TRUE(is_error[0]);
    EXPECT_EQ(problems("(define x (+ x 1))").size(), 1U);
    EXPECT_EQ(problems("(set! x 1) (define x 2)").size(), 1U);
    EXPECT_EQ(problems("(map f '(1)) (list f) (define (f x) x)").size(), 1U);
    EXPECT_EQ(problems("(let ((a (f 1))) a) (define (f x) x)").size(), 1U);
    EXPECT_EQ(problems("(t (q 1)) (defatom t (params q) (instructions \"{{q}}\"))").size(), 1U);
    for (const char* good :
         {"(define (g) (f 1)) (define (f x) x) (g)",
          "(if (string? (getenv \"A\")) (f 1) 2) (define (f x) x)",
          "(try (f 1) (catch (e) 2)) (define (f x) x)", "(length '()) (define (length xs) 0)",
          "(define x 1) (define x (+ x 1))",
          "(defmacro twice (n) (list 'progn (list 'define n 1) (list 'print n))) (twice x)",
          "(define f (lambda (x) (f x)))", "(try 1 (catch (e) (f 1))) (define (f x) x)",
          "(eval '(define (f x) x)) (f 1) (define f 2)",
          "(define (g) (t (q 1))) (defatom t (params q) (instructions \"{{q}}\")) (g)"}) {
        for (const std::string& line : problems(good))
            EXPECT_EQ(line.find("used-before"), std::string::npos) << good << ": " << line;
    }
}

TEST_F(check, reports_nothing_for_names_in_unknown_forms) {
    EXPECT_EQ(problems("(defun f (x) x)\n(f 1)"), (lines{"unknown-name 1:2 unknown name 'defun'"}));
    EXPECT_EQ(problems("(deftask greet (params who) (instructions \"{{who}}\"))\n(greet (who 1))"),
              (lines{"unknown-name 1:2 unknown name 'deftask'"}));
    EXPECT_EQ(problems("(defthing (g x) (setq y x))\n(g 1)"),
              (lines{"unknown-name 1:2 unknown name 'defthing'"}));
    EXPECT_EQ(problems("(if-let (x (nobody)) x 1)").size(), 1U);
    EXPECT_EQ(problems("(dotimes (i 3) (print i)) (list 1)").size(), 1U);
    EXPECT_EQ(problems("(define (h) (λ (x) x))\n(member nobody (list nowhere))").size(), 4U);
    // A definition of that name makes it known.
    EXPECT_EQ(problems("(define (deffer x) x) (deffer nobody)"),
              (lines{"unknown-name 1:31 unknown name 'nobody'"}));
}

TEST_F(check, what_may_come_from_elsewhere_is_a_warning) {
    EXPECT_EQ(problems("(import \"x.heddle\")\n(helper 1)").size(), 1U);
    EXPECT_FALSE(is_error[0]);
    is_error.clear();
    EXPECT_EQ(problems("(define (f text) (eval (parse text)) (g))").size(), 1U);
    EXPECT_FALSE(is_error[0]);
    EXPECT_EQ(problems("(import std/results) (total-tokens '()) (require-ok 1)"), lines{});
    is_error.clear();
    EXPECT_EQ(problems("(import std/results)\n(nobody)").size(), 1U);
    EXPECT_TRUE(is_error[0]);
    EXPECT_EQ(problems("(import std/resultz)"),
              (lines{"unknown-library 1:1 there is no library std/resultz"}));
}

TEST_F(check, counts_arguments_of_known_functions) {
    EXPECT_EQ(problems("(define (f a &optional b) (list a b))\n(f)\n(f 1 2 3)"),
              (lines{"arity 2:1 'f' takes 1 to 2 arguments, not 0",
                     "arity 3:1 'f' takes 1 to 2 arguments, not 3"}));
    EXPECT_EQ(problems("(let ((g (lambda (x) x))) (g))"),
              (lines{"arity 1:27 'g' takes 1 argument, not 0"}));
    EXPECT_EQ(problems("(string-length)"),
              (lines{"arity 1:1 'string-length' takes 1 argument, not 0"}));
    EXPECT_EQ(problems("(map)"), (lines{"arity 1:1 'map' takes at least 2 arguments, not 0"}));
    EXPECT_EQ(problems("((lambda (x) x))"),
              (lines{"arity 1:1 this function takes 1 argument, not 0"}));
    EXPECT_EQ(problems("(define (f) (define (g a) a) (g 1 2))"),
              (lines{"arity 1:30 'g' takes 1 argument, not 2"}));
}

TEST_F(check, is_silent_about_functions_that_change) {
    EXPECT_EQ(problems("(define (f a) a) (set! f (lambda () 1)) (f)"), lines{});
    EXPECT_EQ(problems("(define (f a) a) (define (f) 1) (f)").size(), 1U) << "redefined, no more";
    EXPECT_EQ(problems("(let ((g (lambda (x) x))) (set! g (lambda () 1)) (g))"), lines{});
}

TEST_F(check, finds_what_is_never_reached) {
    EXPECT_EQ(problems("(cond (true 1)\n (else 2))"),
              (lines{"unreachable 2:8 this clause is never reached: the one before it always "
                     "holds"}));
    EXPECT_EQ(problems("(cond (false 1) (else 2))").size(), 1U);
    EXPECT_EQ(problems("(cond ((list 1) 1) (nil 2))").size(), 1U);
    EXPECT_EQ(problems("(if 0 1 2)"),
              (lines{"constant-condition 1:5 this condition is always false"}));
    EXPECT_EQ(problems("(when true 1)").size(), 1U);
    EXPECT_EQ(problems("(unless true 1)").size(), 1U);
    EXPECT_EQ(problems("(case (list) (1 2) ((3 1) 4))"),
              (lines{"unreachable 1:24 the key 1 appears twice: the first clause takes it"}));
    EXPECT_EQ(problems("(define (f) (error \"x\") 2)").size(), 1U);
}

TEST_F(check, finds_bindings_that_nothing_reads) {
    EXPECT_EQ(problems("(let ((a 1) (b 2)) b)"), (lines{"unused-binding 1:8 'a' is never used"}));
    // A local task is registered: it can be called where its name is out of scope.
    // This host has neither tasks nor tools, which is all that is said of them.
    EXPECT_EQ(problems("(define (loc) (defatom b (params q) (instructions \"{{q}}\")) 1) (loc)"),
              (lines{"malformed-form 1:15 defatom: this host has no task system"}));
    EXPECT_EQ(problems("(define (loc) (deftool b (params q) (description \"d\") q) 1) (loc)"),
              (lines{"malformed-form 1:15 deftool: this host has no tools"}));
    EXPECT_EQ(problems("(define (f) (define (g) 1) 2)"),
              (lines{"unused-binding 1:22 'g' is never used"}));
    EXPECT_EQ(problems("(let* ((a 1) (b a)) 1)"), (lines{"unused-binding 1:15 'b' is never used"}));
    EXPECT_EQ(problems("(let loop ((i 0) (k 1)) (if (< i 3) (loop (+ i 1) 2) i))"),
              (lines{"unused-binding 1:19 'k' is never used"}));
    EXPECT_EQ(problems("(let ((a 1)) (if))").size(), 1U) << "the form that is wrong may use it";
}

TEST_F(check, finds_hidden_builtins) {
    EXPECT_EQ(problems("(let ((list 1)) list)"),
              (lines{"shadowed-builtin 1:8 shadows the builtin 'list'"}));
    EXPECT_EQ(problems("(define (filter x) x)"),
              (lines{"shadowed-builtin 1:10 shadows the builtin 'filter'"}));
    EXPECT_EQ(problems("(lambda (list) (list 1))"),
              (lines{"shadowed-builtin 1:10 shadows the builtin 'list'"}));
}

TEST_F(check, finds_calls_of_forms_that_are_named_like_a_variable) {
    const std::string what = "is the special form here, not the variable of that name";
    EXPECT_EQ(problems("(lambda (timeout) (timeout 1 2))"),
              (lines{"form-not-variable 1:20 'timeout' " + what}));
    EXPECT_EQ(problems("(define (f parallel) (parallel 1 2))"),
              (lines{"form-not-variable 1:23 'parallel' " + what}));
    EXPECT_EQ(problems("(let ((timeout (lambda (a b) (list a b)))) (timeout 1 2))"),
              (lines{"form-not-variable 1:45 'timeout' " + what}));
    EXPECT_EQ(problems("(let ((parallel (lambda (a) a))) (list (parallel 1) (map parallel '(1))))")
                  .size(),
              1U);
    for (const char* good :
         {"(define (f timeout g) (timeout timeout (g)))", "(let ((loop 5)) (loop loop 'x))",
          "(let ((retry 5)) (list retry))", "(let loop ((i 0)) (if (< i 5) (loop (+ i 1)) i))",
          "(defmacro m (x) `(if ,x 1 2)) (define (f if) (list (m if)))",
          "(define timeout 5) (timeout timeout 1)",
          "(let loop ((i 0)) (let ((timeout i)) (timeout timeout (loop (+ i 1)))))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST_F(check, names_what_was_written) {
    EXPECT_EQ(problems("(define x 1) (list ,x)"),
              (lines{"malformed-form 1:20 ,x is not inside of a quasiquote"}));
    EXPECT_EQ(hints[0], "write ` before the list around it, or leave out the ,");
    EXPECT_EQ(problems("(nosuch ,@(list 1))"),
              (lines{"unknown-name 1:2 unknown name 'nosuch'",
                     "malformed-form 1:9 ,@(list 1) is not inside of a quasiquote"}));
    EXPECT_EQ(problems("`(1 ,@2)"),
              (lines{"wrong-type 1:7 ,@ must be followed by a list, not the integer 2"}));
    EXPECT_EQ(problems("(define (f x) `(1 ,@(string-append x \"a\")))"),
              (lines{"wrong-type 1:21 ,@ must be followed by a list, not a string"}));
    EXPECT_EQ(problems("(define \"f\" 3)"),
              (lines{"malformed-form 1:9 define: the name must be a symbol, not \"f\""}));
    EXPECT_EQ(problems("(define (f (x 3)) x)"),
              (lines{"malformed-form 1:12 define: a parameter must be a symbol, not (x 3)"}));
    EXPECT_EQ(hints[0], "write &optional x, which is nil where it is not given");
    for (const char* quoted : {"(define 'x 3)", "(bind 'x 3)", "(set! 'x 3)"}) {
        const auto found = problems(quoted);
        ASSERT_EQ(found.size(), 1U) << quoted;
        EXPECT_TRUE(found[0].ends_with(": the name is written without a quote")) << found[0];
        EXPECT_EQ(hints[0], "write x");
    }
    for (const char* good : {"(define x '(1)) `(1 ,@x ,(first x) `(2 ,(3 ,@x)))",
                             "(define (f xs) `(,@xs ,@(rest xs)))",
                             "(defmacro m (x . more) `(list ,x ,@more)) (m 1 2)"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST_F(check, reports_nothing_for_the_parts_of_a_form_that_are_no_expressions) {
    EXPECT_EQ(problems("(define (loop x) x)"),
              (lines{"malformed-form 1:10 define: 'loop' is a special form, and stays one wherever "
                     "it is called"}));
    EXPECT_EQ(problems("(with (timeout 3) 1)"),
              (lines{"malformed-form 1:8 with: a setting must be (name value), not timeout"}));
    EXPECT_EQ(problems("(let (b (a (if 1))) (when))").size(), 3U);
}

TEST_F(check, knows_the_characters_of_other_languages) {
    const auto hint = [&](const std::string& text) {
        const auto found = problems(text);
        return found.empty() ? "no problem" : hints[0];
    };
    EXPECT_EQ(hint("(list “a”)"), "write a string between straight quotes: \"…\"");
    EXPECT_EQ(hint("(list #\\a)"), "a character is a string: \"a\"");
    EXPECT_EQ(hint("(list {a})"), "{ and } mean nothing here: a map is (dict 'key value …)");
    EXPECT_EQ(hint("(define a 1) (list a . a)"), "there are no dotted pairs: write (list a b)");
    EXPECT_EQ(hint("(define (f x) x) (map #'f '(1))").substr(0, 20), "# means nothing here");
    EXPECT_EQ(problems("#!/usr/bin/env heddle\n(print 1)\n(if 1)"),
              (lines{"syntax 1:1 a line with #! means nothing here",
                     "malformed-form 3:1 if: expects 3 parts (condition, then, else), got 1"}));
}

TEST_F(check, goes_on_after_syntax_errors) {
    EXPECT_EQ(problems("(define (broken x) (+ x 1)\n\n(define (two) \"\\q\")\n(define (three)\n"
                       "  (if 1))\n(four))\n(unknown)"),
              (lines{"syntax 1:1 unbalanced (: the list opened at line 1, column 1 is never closed",
                     "syntax 3:16 bad escape \\q in a string",
                     "malformed-form 5:3 if: expects 3 parts (condition, then, else), got 1",
                     "syntax 6:7 unbalanced ): no list is open at line 6, column 7"}));
    EXPECT_EQ(problems("\xff").size(), 1U);
    EXPECT_EQ(problems("(f \"abc").size(), 1U);
}

TEST_F(check, survives_long_chains_and_deep_nesting) {
    std::string chain = "(define (f x) (cond ";
    for (int i = 0; i < 3000; ++i) chain += "((= x " + std::to_string(i) + ") 1)\n";
    EXPECT_EQ(problems(chain + "))"), lines{});
    std::string deep;
    for (int i = 0; i < 3000; ++i) deep += "(list ";
    deep += "nobody";
    deep += std::string(3000, ')');
    EXPECT_EQ(problems(deep).size(), 1U);
}

TEST_F(check, reports_when_there_are_too_many) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "(nobody" + std::to_string(i) + ")\n";
    const auto found = problems(text);
    ASSERT_EQ(found.size(), 1001U);
    EXPECT_EQ(found.back(), "too-many 0:0 2000 more problems are not shown");
}

TEST_F(check, reports_something_for_any_input) {
    for (std::uint32_t seed = 0; seed < 1500; ++seed) {
        const std::string text = generated_source(seed);
        realm harness;
        ASSERT_TRUE(load_prelude(harness));
        const std::uint32_t position = harness.sources().add("p", text);
        for (const problem& each : check_program(harness, text, position)) {
            EXPECT_FALSE(each.message.empty()) << text;
            EXPECT_LE(each.span.end, position + text.size()) << text;
        }
    }
}

TEST_F(check, expands_macros_within_bounds) {
    const auto found = problems("(defmacro spin (x) (while true x))\n(spin 1)");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].substr(0, 6), "limit ") << found[0];
}

} // namespace
} // namespace heddle::lang
