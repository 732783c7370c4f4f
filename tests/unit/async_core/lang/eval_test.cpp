// Code as data: eval, parse, macros.
#include "lang_world.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

struct example {
    const char* program;
    const char* expected;
};

const example evaluated[] = {
    {"(eval '(+ 1 2))", "3"},
    {"(eval 5)", "5"},
    {"(eval \"text\")", "\"text\""},
    {"(define x 4) (eval 'x)", "4"},
    {"(eval (list (lambda (x) (* x 2)) 3))", "6"},
    {"(eval (list + 1 2))", "3"},
    {"(let ((n 1)) (eval (list (list (lambda () (lambda (x) (+ x n)))) 4)))", "5"},
    {"(eval (parse \"(+ 1 2)\"))", "3"},
    {"(map eval '((+ 1 2) (* 3 4)))", "(3 12)"},
    {"(eval '(progn))", "()"},
    // the scope it stands in
    {"(let ((x 5)) (eval '(+ x 1)))", "6"},
    {"(define (f a) (let ((b 2)) (map (lambda (c) (eval '(list a b c))) '(3 4)))) (f 1)",
     "((1 2 3) (1 2 4))"},
    {"(let ((x 5)) (eval '(set! x 9)) x)", "9"},
    {"(let ((x 5)) (define get-x (lambda () x)) (eval '(set! x 9)) (get-x))", "9"},
    {"(let ((n 0)) (let go ((i 0)) (if (< i 3) (begin (eval '(set! n (+ n i))) (go (+ i 1))) n)))",
     "3"},
    {"(let go ((i 0)) (if (< i 3) (eval '(go (+ i 1))) i))", "3"},
    {"(try (error \"no\" 7) (catch (e) (eval '(get e 'data))))", "(7)"},
    // what it binds
    {"(eval '(define (g n) (* n 2))) (g 4)", "8"},
    {"(let ((x 5)) (eval '(bind y 9)) (+ x y))", "14"},
    {"(let ((x 5)) (eval '(bind x 9)) x)", "9"},
    {"(let ((x 1)) (let ((y 2)) (eval '(bind x 5)) x))", "5"},
    {"(let ((x 1)) (let ((y 2)) (eval '(bind x 5))) x)", "1"},
    {"(define (f a) (eval '(define (g n) (if (= n 0) a (g (- n 1))))) (g 10)) (f 42)", "42"},
    {"(define (f) (eval '(bind k 1)) (eval '(set! k (+ k 1))) k) (f)", "2"},
    {"(define k 10) (define (f) (eval '(bind k 1)) (set! k 5) k) (list (f) k)", "(5 10)"},
    {"(define k 10) (define (f) (eval '0) (set! k 5) k) (list (f) k)", "(5 5)"},
    {"(define (f) (eval '(bind k 1)) (lambda () k)) ((f))", "1"},
    {"(define (f c) (if c (bind v 1) 0) (eval '(list c v))) (define v 7) (list (f true) (f false))",
     "((true 1) (false 7))"},
    // code in code
    {"(let ((x 1)) (eval '(let ((y 2)) (eval '(+ x y)))))", "3"},
    {"(define (deep n) (if (= n 0) 'end (eval (list 'deep (- n 1))))) (deep 20000)", "end"},
    {"(let ((f (lambda (n self) (if (= n 0) 'end (eval '(self (- n 1) self)))))) (f 20000 f))",
     "end"},
    {"(bind programs (list '(pause 1) '(pause 2))) (map (lambda (p) (eval p)) programs)", "(1 2)"},
    {"(let ((x 3)) (eval (list '+ 'x (eval '(pause 1)))))", "4"},
    // a scope of its own
    {"(eval '(* x x) (dict 'x 7))", "49"},
    {"(eval '(progn (define (sq n) (* n n)) (sq x)) (dict 'x 7))", "49"},
    {"(eval '(map (lambda (y) (+ x y)) '(1 2)) (dict 'x 7))", "(8 9)"},
    {"(define z 1) (eval '(bind z 5) (dict)) z", "1"},
    {"(define map 1) (eval '(map first '((1) (2))) (dict))", "(1 2)"},
    {"(define z 3) (eval '(+ z 1) (dict 'x 7))",
     "PermissionError: 'z' cannot be reached from here"},
    {"(eval '(if true 1 nowhere) (dict))", "1"},
    {"(eval '(nowhere) (dict))", "UnboundSymbolError: unbound symbol 'nowhere'"},
    {"(eval 'x '(x 7))",
     "TypeError: eval: argument 2 must be a map of names to values, not the list "
     "(x 7)"},
    // reading
    {"(parse \"'(a . b)\")", "'(a . b)"},
    {"(read-all \"1 (a b) \\\"c\\\"\")", "(1 (a b) \"c\")"},
    {"(read-all \"\")", "()"},
    {"(try (parse \"(a\") (catch (e) (get e 'kind)))", "\"SexpSyntaxError\""},
    {"(try (parse \"\") (catch (e) (get e 'kind)))", "\"SexpSyntaxError\""},
    {"(try (parse \"1 2\") (catch (e) (get e 'kind)))", "\"SexpSyntaxError\""},
    {"(parse 5)", "TypeError: parse: argument 1 must be a string, not the integer 5"},
    {"(try (eval '(if)) (catch (e) (get e 'message)))",
     "\"if: expects 3 parts (condition, then, else), got 0\""},
    {"(eval)",
     "SexpEvaluationError: eval: expects an expression as data, and perhaps a map of "
     "names; got 0 parts"},
};

const example expanded[] = {
    {"(defmacro twice (x) (list 'progn x x)) (define n 0) (twice (set! n (+ n 1))) n", "2"},
    {"(defmacro my-if (c a b) `(cond (,c ,a) (else ,b))) (my-if true 1 (error \"no\"))", "1"},
    {"(defmacro swap! (a b) (let ((t (gensym))) `(let ((,t ,a)) (set! ,a ,b) (set! ,b ,t)))) "
     "(define t 1) (define u 2) (swap! t u) (list t u)",
     "(2 1)"},
    {"(defmacro m (a . rest) `(list ,a ',rest)) (m 1 2 3)", "(1 (2 3))"},
    {"(defmacro m (&optional a) (if a 1 2)) (list (m) (m x))", "(2 1)"},
    {"(define (helper x) (list '+ x 1)) (defmacro inc1 (x) (helper x)) (inc1 41)", "42"},
    {"(bind helper (lambda (x) (list '+ x 1))) (defmacro inc1 (x) (helper x)) (inc1 41)", "42"},
    {"(defmacro a (x) (list 'b x)) (defmacro b (x) (list '* x 2)) (a 4)", "8"},
    {"(defmacro a (x) (list '* x 2)) (defmacro b (x) (a x)) (b 4)", "8"},
    {"(define (f x) (defmacro plus-x (y) (list '+ 'x y)) (plus-x 10)) (f 5)", "15"},
    {"(defmacro m () 1) (let ((m (lambda () 2))) (m))", "2"},
    {"(defmacro m () 1) (define (f) (m)) (f)", "1"},
    {"(defmacro m () 1) (defmacro m () 2) (m)", "2"},
    {"(defmacro m () 1)", "m"},
    {"(defmacro m (x) (list '+ x 1)) (macroexpand '(m 2))", "(+ 2 1)"},
    {"(macroexpand '(no-macro 2))", "(no-macro 2)"},
    {"(defmacro m () (list 'pause 3)) (map (lambda (x) (m)) '(1 2))", "(3 3)"},
    {"(defmacro m (n) (let go ((i n) (out '())) (if (= i 0) (cons 'list out) (go (- i 1) (cons i "
     "out))))) (m 3)",
     "(1 2 3)"},
    {"(symbol? (gensym))", "true"},
    {"(eq? (gensym) (gensym))", "false"},
    {"(defmacro m (x) (map (lambda (y) y) x)) (m (+ 1 2))", "3"},
    // what goes wrong
    {"(defmacro m (x) x) (m)", "ArityError: 'm' expects 1 argument, got 0"},
    {"(defmacro m () (error \"bad\")) (m)", "UserError: bad"},
    {"(defmacro m (x) (list 'm x)) (m 1)",
     "LimitError: the macro 'm' expands for ever: 1000 expansions inside each other"},
    {"(defmacro m () (while true 1)) (m)",
     "LimitError: the macro 'm' takes too many steps: all macros of a program have 10 million of "
     "them"},
    {"(defmacro m () (pause 1)) (m)",
     "SexpEvaluationError: the macro 'm' cannot wait for the world while it expands"},
    {"(defmacro m () (map pause '(1 2))) (m)",
     "SexpEvaluationError: the macro 'm' cannot wait for the world while it expands"},
    {"(defmacro if (x) x)",
     "SexpEvaluationError: defmacro: 'if' is a special form and cannot be redefined"},
    {"(defmacro m)", "SexpEvaluationError: defmacro: expects (defmacro name (parameter…) body…)"},
};

/// The value must be the same whatever the schedule.
void expect_everywhere(const example& one) {
    for (int mode = 0; mode < 3; ++mode) {
        schedule how;
        if (mode >= 1) how.slice = 1;
        how.split = mode == 2;
        lang_world world;
        EXPECT_EQ(world.shown(one.program, how), one.expected)
            << one.program << " in mode " << mode;
    }
}

TEST(eval, runs_code_in_the_scope_where_it_stands) {
    for (const example& one : evaluated) expect_everywhere(one);
}

TEST(eval, a_macro_rewrites_code_before_it_is_compiled) {
    for (const example& one : expanded) expect_everywhere(one);
}

TEST(eval, a_macro_that_nests_for_ever_meets_a_limit) {
    lang_world world;
    EXPECT_EQ(world.shown("(defmacro m (x) (list '+ 1 (list 'm x))) (m 1)").substr(0, 28),
              "LimitError: code nested deep");
}

TEST(eval, macros_of_a_session_stay) {
    lang_world world;
    EXPECT_EQ(world.shown("(defmacro twice (x) (list '* 2 x))"), "twice");
    EXPECT_EQ(world.shown("(twice 4)"), "8");
    EXPECT_EQ(world.shown("(define (twice x) 'function) (twice 4)"), "function");
    EXPECT_EQ(world.shown("(twice 4)"), "function") << "a definition takes the macro's place";
}

TEST(eval, errors_in_code_show_its_own_text) {
    lang_world world;
    const outcome ended = world.run(
        "(define (run text) (eval (parse text)))\n"
        "(run \"(let ((x 1))\\n  (+ x \\\"a\\\"))\")");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(
        render_diagnostic(error_kind_name(*ended.failure), *ended.failure, world.world.sources()),
        "TypeError: +: argument 2 must be a number, not the string \"a\"\n"
        "   --> parsed text:2:3\n"
        " 2 |   (+ x \"a\"))\n"
        "   |   ^^^^^^^^^\n"
        "  in 'eval' (after 2 tail calls) (parsed text:1:1)\n"
        "hint: (string-append a b) joins strings\n");
}

TEST(eval, an_error_in_a_macro_is_placed_in_its_body) {
    lang_world world;
    const outcome ended =
        world.run("(defmacro broken (x)\n  (list 1)\n  (error \"bad\" x))\n(broken 1)");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(world.world.sources().locate(ended.failure->info().span).line, 3U);
}

TEST(eval, generated_code_leaves_nothing_behind) {
    lang_world world;
    EXPECT_EQ(world.shown("(loop 100 (eval (parse \"(let ((f (lambda (x) x))) (f 1))\")))"), "1");
    const std::size_t before = world.world.memory().used();
    EXPECT_EQ(world.shown("(loop 10000 (eval (parse \"(let ((f (lambda (x) x))) (f 1))\")))"), "1");
    EXPECT_LT(world.world.memory().used(), before + 4096);
}

TEST(eval, code_of_any_size_ends_with_a_value_or_an_error) {
    lang_world world;
    schedule how;
    how.memory = std::size_t{64} * 1024 * 1024;
    // Nested deeper than the native stack would hold.
    EXPECT_EQ(
        world.shown("(define code 1) (loop 9000 (set! code (list '+ 1 code))) (eval code)", how),
        "9001");
    EXPECT_EQ(
        world.shown("(define code 1) (loop 30000 (set! code (list '+ 1 code))) (eval code)", how)
            .substr(0, 40),
        "LimitError: code nested deeper than 2000");
    EXPECT_EQ(world.shown("(eval (cons 'progn (range 1000000)))", how).substr(0, 10), "LimitError");
}

TEST(eval, a_caught_error_is_raised_anew) {
    lang_world world;
    EXPECT_EQ(world.shown("(try (nth '(1) 5) (catch (e) (raise e)))"),
              "SexpEvaluationError: nth: index 5 is outside a list of 1");
    EXPECT_EQ(world.shown("(try (+ 1 \"a\") (catch (e) (raise e)))").substr(0, 10), "TypeError:");
    EXPECT_EQ(
        world.shown("(raise 5)"),
        "TypeError: raise: argument 1 must be an error that catch has bound, not the integer 5");
    const outcome ended = world.run("(define (f) (error \"no\"))\n(try (f) (catch (e) (raise e)))");
    ASSERT_EQ(ended.kind, outcome_kind::failed);
    EXPECT_EQ(ended.failure->info().trace.front().what, "first raised at test:1:13");
}

TEST(eval, nested_cleanups_are_bounded) {
    std::string program = "1";
    for (int i = 0; i < 60; ++i) program = "(try 1 (finally " + program + "))";
    lang_world world;
    EXPECT_EQ(world.shown(program), "LimitError: a function has too many instructions");
}

} // namespace
} // namespace heddle::lang::testing
