// What a name at the head of a list means, and what is said of one that means nothing.
#include "lang_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string hint_of(lang_world& w, const std::string& program) {
    const outcome ended = w.run(program);
    return ended.failure ? ended.failure->info().hint : "no error";
}

TEST(names_of_forms, the_form_wins_over_variables) {
    lang_world w;
    EXPECT_EQ(w.shown("(let ((loop 5)) (loop 2 'x))"), "x");
    EXPECT_EQ(w.shown("((lambda (if) (if true 1 2)) 5)"), "1");
    EXPECT_EQ(w.shown("(define timeout 5) (timeout 1 timeout)"), "5");
    EXPECT_EQ(w.shown("(let ((retry 5)) (list retry))"), "(5)");
}

TEST(names_of_forms, but_not_over_the_name_of_a_named_let) {
    lang_world w;
    EXPECT_EQ(w.shown("(let loop ((i 0)) (if (< i 5) (loop (+ i 1)) i))"), "5");
    // As a function, not as a loop.
    EXPECT_EQ(w.shown("(let loop ((i 0)) (if (< i 5) (+ 1 (loop (+ i 1))) 0))"), "5");
    EXPECT_EQ(w.shown("(let loop ((i 0)) (let ((loop2 loop)) (if (< i 5) (loop2 (+ i 1)) i)))"),
              "5");
}

TEST(names_of_forms, no_function_task_or_macro_has_one) {
    lang_world w;
    for (const char* program :
         {"(define (if a b c) 'mine)", "(define if (lambda (a) a))", "(bind while (lambda (a) a))",
          "(let ((x 1)) (define (loop a) a) 2)"}) {
        EXPECT_THAT(w.shown(program), HasSubstr("is a special form")) << program;
    }
    EXPECT_THAT(w.shown("(defmacro if (a) a)"), HasSubstr("special form"));
}

TEST(names_of_forms, one_name_is_bound_once_in_a_let) {
    lang_world w;
    EXPECT_THAT(w.shown("(let ((x 1) (x 2)) x)"), HasSubstr("'x' is bound twice"));
    EXPECT_THAT(w.shown("(letrec ((f (lambda () 1)) (f (lambda () 2))) (f))"),
                HasSubstr("'f' is bound twice"));
    EXPECT_EQ(w.shown("(let* ((x 1) (x (+ x 1))) x)"), "2");
}

TEST(names_of_forms, one_name_is_bound_once_in_a_named_let_and_in_do) {
    lang_world w;
    EXPECT_THAT(w.shown("(let next ((x 1) (x 2)) x)"), HasSubstr("'x' is bound twice"));
    EXPECT_THAT(w.shown("(do ((x 1) (x 2)) (true x))"), HasSubstr("'x' is bound twice"));
}

TEST(names_of_forms, do_goes_round_as_in_scheme) {
    lang_world w;
    EXPECT_EQ(w.shown("(do ((i 0 (+ i 1))) ((= i 3) i))"), "3");
    EXPECT_EQ(w.shown("(do ((i 0 (+ i 1)) (sum 0 (+ sum i))) ((= i 4) 'done sum))"), "6");
    EXPECT_EQ(w.shown("(do ((i 0 (+ i 1)) (step 2)) ((> i step)))"), "nil");
    EXPECT_EQ(w.shown("(let ((seen '())) (do ((i 0 (+ i 1))) ((= i 2) seen)"
                      " (define twice (* 2 i)) (set! seen (append seen (list twice)))))"),
              "(0 2)");
    EXPECT_EQ(w.shown("(do ((fs '() (append fs (list (lambda () i)))) (i 0 (+ i 1)))"
                      " ((= i 3) (map (lambda (f) (f)) fs)))"),
              "(0 1 2)");
    EXPECT_EQ(w.shown("(do ((i 0 (+ i 1))) ((= i 2) i) (do ((k 0 (+ k 1))) ((= k 2)) k))"), "2");
    EXPECT_EQ(w.shown("(do () (true 1))"), "1");
    EXPECT_EQ(w.shown("(do ((i 0 (+ i 1))) ((= i 1000000) i))"), "1000000");
    EXPECT_THAT(w.shown("(do 1 2 3)"), HasSubstr("do: expects variables"));
    EXPECT_THAT(w.shown("(do ((i)) (true 1))"), HasSubstr("(name first [next])"));
    EXPECT_THAT(w.shown("(do ((i 0)) () 1)"), HasSubstr("(end? result"));
}

TEST(names_of_forms, clauses_of_an_unknown_task_may_be_named_like_forms) {
    lang_world w;
    EXPECT_THAT(w.shown("(nosuch (timeout 5) (loop 1))"),
                StartsWith("UnboundSymbolError: unbound symbol 'nosuch'"));
    EXPECT_THAT(w.shown("(nosuch (if true))"),
                StartsWith("UnboundSymbolError: unbound symbol 'nosuch'"));
}

TEST(names_of_forms, a_hint_is_never_the_name_itself) {
    lang_world w;
    EXPECT_THAT(hint_of(w, "(define (f) (defmacro my-when (x) x) (my-when 1)) (my-when 2)"),
                Not(HasSubstr("'my-when'")));
    EXPECT_THAT(hint_of(w, "(+ \"a\" 1)"), HasSubstr("string-append"));
}

TEST(names_of_forms, what_a_loop_was_given_is_shown_with_its_kind) {
    lang_world w;
    const auto loop = [&](const std::string& count, const std::string& decision) {
        return w.shown("(director-evaluator-loop (max-iterations " + count +
                       ") (initial-director-input 1) (director (lambda (a i) a))"
                       " (executor (lambda (p i) p)) (evaluator (lambda (r p i) r))"
                       " (controller (lambda (f p r i) " +
                       decision + ")))");
    };
    EXPECT_THAT(loop("\"2\"", "(list 'stop 1)"), HasSubstr("not the string \"2\""));
    EXPECT_THAT(loop("-1", "(list 'stop 1)"), HasSubstr("integer, not -1"));
    EXPECT_THAT(loop("2", "(list \"stop\" 1)"), HasSubstr("it gave the string \"stop\""));
}

TEST(names_of_forms, an_unknown_head_is_named_before_its_arguments) {
    lang_world w;
    EXPECT_THAT(w.shown("(setq x 5)"), StartsWith("UnboundSymbolError: unbound symbol 'setq'"));
    EXPECT_THAT(w.shown("(defun f (x) x)"),
                StartsWith("UnboundSymbolError: unbound symbol 'defun'"));
    EXPECT_THAT(w.shown("(defn f [x] x)"), StartsWith("UnboundSymbolError: unbound symbol 'defn'"));
    EXPECT_THAT(w.shown("(nosuch (thng \"x\"))"),
                StartsWith("UnboundSymbolError: unbound symbol 'nosuch'"));
}

TEST(names_of_forms, what_is_defined_further_down_is_said_to_be) {
    const auto hint = [](const std::string& program) {
        lang_world w;
        return hint_of(w, program);
    };
    EXPECT_EQ(hint("(t 1)\n\n(define (t x) x)"),
              "it is defined further down, at line 3; move the definition up, or this below it");
    EXPECT_THAT(hint("(define (g) t)\n(g)\n(define t 1)"), HasSubstr("at line 3;"));
    EXPECT_THAT(hint("(set! t 1)\n(define t 1)"), HasSubstr("at line 2;"));
    EXPECT_THAT(hint("(cond (false 1) (t 2))"), HasSubstr("(else value)"));
}

TEST(names_of_forms, words_of_other_languages_are_known) {
    lang_world w;
    EXPECT_THAT(hint_of(w, "(defun f (x) x)"), HasSubstr("(define (name parameter…) body…)"));
    EXPECT_THAT(hint_of(w, "(setq x 5)"), HasSubstr("(define name value)"));
    EXPECT_THAT(hint_of(w, "(println 5)"), HasSubstr("(print value)"));
    EXPECT_THAT(hint_of(w, "(cond (false 1) (t 2))"), HasSubstr("(else value)"));
    EXPECT_THAT(hint_of(w, "(get (dict) :a)"), HasSubstr("\"a\" or 'a"));
    EXPECT_EQ(hint_of(w, "(sum '(1 2))"), "(import std/lists) defines it");
    EXPECT_THAT(hint_of(w, "(lenght '(1))"), HasSubstr("'length'"));
}

} // namespace
} // namespace heddle::lang::testing
