// What a name at the head of a list means, and what is said of one that means nothing.
#include "lang_harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string hint_of(lang_harness& w, const std::string& program) {
    const outcome ended = w.run(program);
    return ended.failure ? ended.failure->info().hint : "no error";
}

TEST(names_of_forms, no_function_task_or_macro_has_one) {
    lang_harness w;
    for (const char* program :
         {"(define (if a b c) 'mine)", "(define if (lambda (a) a))", "(bind while (lambda (a) a))",
          "(let ((x 1)) (define (loop a) a) 2)"}) {
        EXPECT_THAT(w.shown(program), HasSubstr("is a special form")) << program;
    }
    EXPECT_THAT(w.shown("(defmacro if (a) a)"), HasSubstr("special form"));
}

TEST(names_of_forms, one_setting_is_given_once_in_a_with) {
    lang_harness w;
    EXPECT_THAT(w.shown("(with ((budget-usd 0.01) (budget-usd 100)) 1)"),
                HasSubstr("with: the setting 'budget-usd' is repeated"));
    EXPECT_THAT(w.shown("(with ((cache \"no\")) 1)"), HasSubstr("cache must be true or false"));
    EXPECT_EQ(w.shown("(with ((cache false)) (with ((cache true)) 1))"), "1");
}

TEST(names_of_forms, errors_name_the_form_that_was_written) {
    lang_harness w;
    EXPECT_THAT(w.shown("(define x 1) (list ,x)"), HasSubstr(",x is not inside of a quasiquote"));
    EXPECT_EQ(w.shown("`(1 ,@2)"), "TypeError: ,@ must be followed by a list, not the integer 2");
    EXPECT_EQ(w.shown("(define xs '(2 3)) `(1 ,@xs ,(length xs))"), "(1 2 3 2)");
    EXPECT_THAT(w.shown("(define \"f\" 3)"), HasSubstr("define: the name must be a symbol"));
    EXPECT_THAT(w.shown("(define (f a a) a)"), HasSubstr("define: parameter 'a' appears twice"));
    EXPECT_THAT(w.shown("((lambda (a a) a) 1 2)"), HasSubstr("lambda: parameter 'a'"));
    EXPECT_EQ(w.shown("(define (unquote x) (* 2 x)) ,4"), "8");
}

TEST(names_of_forms, errors_are_in_plain_words) {
    lang_harness w;
    EXPECT_THAT(w.shown("(timeout 1)"), HasSubstr("got 1 part"));
    EXPECT_THAT(w.shown("(timeout 1)"), Not(HasSubstr("1 parts")));
    EXPECT_THAT(w.shown("(dict 'a)"), HasSubstr("but 1 argument is given"));
    EXPECT_THAT(w.shown("(define (f a &rest b) a) (f)"),
                HasSubstr("'f' expects at least 1 argument, got 0"));
    EXPECT_THAT(w.shown("(director-evaluator-loop (max-iterations 1))"),
                HasSubstr("missing clauses 'initial-director-input', "));
    EXPECT_THAT(w.shown("(format \"%s\" 1)"),
                HasSubstr("has no place in the text; placeholders are {}, not %s or ~a"));
    EXPECT_THAT(w.shown("(filter '(1) number?)"),
                HasSubstr("argument 2 must be a list, not the function number?"));
    EXPECT_EQ(hint_of(w, "(filter '(1) number?)"), "the function comes first");
    EXPECT_THAT(w.shown("(+ 1 (lambda (x) x))"), HasSubstr("not a function"));
    EXPECT_EQ(hint_of(w, "(define (f a) a) (f)"), "") << "the place of f is in the stack";
}

TEST(names_of_forms, a_hint_is_never_the_name_itself) {
    lang_harness w;
    EXPECT_THAT(hint_of(w, "(define (f) (defmacro my-when (x) x) (my-when 1)) (my-when 2)"),
                Not(HasSubstr("'my-when'")));
    EXPECT_THAT(hint_of(w, "(+ \"a\" 1)"), HasSubstr("string-append"));
}

TEST(names_of_forms, what_a_loop_was_given_is_shown_with_its_kind) {
    lang_harness w;
    const auto loop = [&](const std::string& count, const std::string& decision) {
        return w.shown("(director-evaluator-loop (max-iterations " + count +
                       ") (initial-director-input 1) (director (lambda (a i) a))"
                       " (executor (lambda (p i) p)) (evaluator (lambda (r p i) r))"
                       " (controller (lambda (f p r i) " +
                       decision + ")))");
    };
    EXPECT_THAT(loop("\"2\"", "(list 'stop 1)"), HasSubstr("not the string \"2\""));
    EXPECT_THAT(loop("-1", "(list 'stop 1)"), HasSubstr("integer, not -1"));
    EXPECT_THAT(loop("2", "(list \"stop\" 1)"), HasSubstr("it returned the string \"stop\""));
}

TEST(names_of_forms, what_is_defined_further_down_is_reported_as_such) {
    const auto hint = [](const std::string& program) {
        lang_harness w;
        return hint_of(w, program);
    };
    EXPECT_EQ(hint("(t 1)\n\n(define (t x) x)"),
              "it is defined further down, at line 3; move the definition up, or this below it");
    EXPECT_THAT(hint("(define (g) t)\n(g)\n(define t 1)"), HasSubstr("at line 3;"));
    EXPECT_THAT(hint("(set! t 1)\n(define t 1)"), HasSubstr("at line 2;"));
    EXPECT_THAT(hint("(cond (false 1) (t 2))"), HasSubstr("(else value)"));
}

TEST(names_of_forms, words_of_other_languages_are_known) {
    lang_harness w;
    EXPECT_THAT(hint_of(w, "(defun f (x) x)"), HasSubstr("(define (name parameter…) body…)"));
    EXPECT_THAT(hint_of(w, "(setq x 5)"), HasSubstr("(define name value)"));
    EXPECT_THAT(hint_of(w, "(println 5)"), HasSubstr("(print value)"));
    EXPECT_THAT(hint_of(w, "(cond (false 1) (t 2))"), HasSubstr("(else value)"));
    EXPECT_THAT(hint_of(w, "(get (dict) :a)"), HasSubstr("\"a\" or 'a"));
    EXPECT_EQ(hint_of(w, "(sum '(1 2))"), "(import std/lists) defines it");
    EXPECT_THAT(hint_of(w, "(lenght '(1))"), HasSubstr("'length'"));
    EXPECT_THAT(hint_of(w, "(assoc 'a '())"), HasSubstr("(get map key) to look a key up"));
    EXPECT_THAT(hint_of(w, "(null '())"), HasSubstr("(null? value)"));
    EXPECT_THAT(hint_of(w, "(string-concat \"a\" \"b\")"), HasSubstr("(string-append"));
    EXPECT_THAT(hint_of(w, "(exit 1)"), HasSubstr("the last form ends the program"));
    for (const char* name :
         {"member",      "assq",      "vector-ref",   "mod",   "push",   "throw",
          "cadr",        "list-tail", "list->string", "zero?", "even?",  "call/cc",
          "let-values",  "dotimes",   "define-macro", "λ",     "if-let", "size",
          "join",        "split",     "replace",      "upper", "trim",   "assert",
          "defconstant", "deftask",   "dolist"})
        EXPECT_THAT(hint_of(w, "(" + std::string(name) + " 1)"), StartsWith("write (")) << name;
}

} // namespace
} // namespace heddle::lang::testing
