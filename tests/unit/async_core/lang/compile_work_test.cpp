// Programs that nest or repeat forms: compiling one twice as long takes about twice the work.
#include "lang_harness.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace heddle::lang::testing {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

/// The text with a number in the place of each #.
std::string numbered(const std::string& text, std::size_t number) {
    std::string result;
    for (const char c : text) {
        if (c == '#') result += std::to_string(number);
        else result += c;
    }
    return result;
}

struct nest {
    const char* begin; ///< before the inner one
    const char* end;
};

/// Turns of the machine that it takes to compile a nest, but not to run it.
std::int64_t turns_to_compile(const nest& one, std::size_t depth) {
    lang_harness harness;
    const std::string text = repeated(one.begin, depth) + "1" + repeated(one.end, depth);
    schedule how;
    how.memory = std::size_t{1} << 30;
    how.slice = 200;
    EXPECT_EQ(harness.shown("(eval '(lambda () " + text + ")) 'done", how), "done") << one.begin;
    return harness.runs;
}

TEST(compile_work, of_nested_forms_is_linear) {
    for (const nest& one : {nest{"(parallel ", ")"},
                            {"(race 1 ", ")"},
                            {"(spawn ", ")"},
                            {"(hedge 1 ", ")"},
                            {"(retry 2 ", ")"},
                            {"(retry ((attempts 2) (backoff 1)) ", ")"},
                            {"(bind x 1 ", ")"},
                            {"(bind x ", " x)"},
                            {"(parallel (bind x ", "))"},
                            {"(try 1 (catch (e) ", "))"},
                            {"(try (bind x 1) (catch (e 'x) (bind y ", ")))"},
                            {"(let ((x 1)) ", ")"},
                            {"(progn 1 ", ")"},
                            {"(lambda (x) ", ")"}}) {
        const std::int64_t once = turns_to_compile(one, 1000);
        const std::int64_t twice = turns_to_compile(one, 2000);
        EXPECT_GT(once, 5) << one.begin;
        EXPECT_LT(twice, 3 * once) << one.begin;
    }
}

TEST(compile_work, of_evals_beside_names_is_linear) {
    const auto turns = [](const std::string& names, const std::string& evals, std::size_t count) {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{1} << 30;
        how.slice = 200;
        std::string bound;
        for (std::size_t i = 0; i < count; ++i) bound += numbered(names, i);
        const std::string text = bound + repeated(evals, count);
        EXPECT_EQ(harness.shown("(eval '(lambda () (let () " + text + " 1))) 'done", how), "done");
        return harness.runs;
    };
    for (const auto& [names, evals] : {std::pair{"(bind v# 1) ", "(eval 1) "},
                                       {"(bind v# 1) ", "(lambda () (eval 1)) "},
                                       {"(bind v# 1) ", "(let ((x 1)) (eval 1)) "},
                                       {"(bind v# (eval 1)) ", ""}}) {
        const std::int64_t once = turns(names, evals, 1000);
        EXPECT_GT(once, 5) << evals;
        EXPECT_LT(turns(names, evals, 2000), 3 * once) << evals;
    }
    const auto of_let_star = [](std::size_t count) {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{1} << 30;
        how.slice = 200;
        std::string bound;
        for (std::size_t i = 0; i < count; ++i) bound += numbered("(v# (eval 1)) ", i);
        EXPECT_EQ(harness.shown("(eval '(lambda () (let* (" + bound + ") 1))) 'done", how), "done");
        return harness.runs;
    };
    EXPECT_LT(of_let_star(2000), 3 * of_let_star(1000));
}

TEST(compile_work, evals_of_one_scope_see_what_was_there_before_each) {
    const auto shown = [](const char* program) {
        lang_harness harness;
        return harness.shown(program);
    };
    EXPECT_EQ(shown("(define (f a) (bind b 2) (eval '(bind c 3)) (let ((d 4)) (eval '(list a b c "
                    "d)))) (f 1)"),
              "(1 2 3 4)");
    EXPECT_EQ(shown("(define (f a) (list (eval '(set! a (+ a 1))) (eval 'a) a)) (f 1)"), "(2 2 2)");
    // In code that an eval was given, and in what that was given.
    EXPECT_EQ(shown("(define (f a) (let ((b 2)) (eval '(let ((c 3)) (eval '(let ((d 4)) (eval "
                    "'(list a b c d)))))))) (f 1)"),
              "(1 2 3 4)");
    EXPECT_EQ(shown("(define (f a) (let ((b 2)) (eval '(progn (bind e 5) (eval '(progn (set! b (+ "
                    "b e)) (list a b)))))  b)) (f 1)"),
              "7");
    EXPECT_EQ(shown("(eval '(let ((y 2)) (eval '(eval '(list x y)))) (dict 'x 1))"), "(1 2)");
    EXPECT_EQ(shown("(eval '(eval '(eval 'x)) (dict 'x 1))"), "1");
    // A name that is bound later, or only perhaps, is that further out.
    EXPECT_EQ(shown("(define x 'global) (define (f) (list (eval 'x) (progn (bind x 1) (eval 'x)))) "
                    "(f)"),
              "(global 1)");
    EXPECT_EQ(
        shown("(define x 'global) (define (f c) (when c (bind x 1)) (eval 'x)) (list (f true) "
              "(f false))"),
        "(1 global)");
    // Bound certainly, a form's name means the variable.
    EXPECT_EQ(shown("(define (f) (bind let 5) (eval 'let)) (f)"), "5");
    // What a macro binds after an eval is not there before it.
    EXPECT_EQ(shown("(defmacro b () '(bind x 1)) (define x 'global) (define (f) (let ((y (eval "
                    "'x))) (b) (list y (eval 'x)))) (f)"),
              "(global 1)");
    EXPECT_EQ(shown("(define (f) (let go ((i 0) (fs '())) (if (= i 3) (map (lambda (g) (g)) fs) "
                    "(go (+ i 1) (cons (lambda () (eval 'i)) fs))))) (f)"),
              "(2 1 0)");
    EXPECT_EQ(shown("(define (f a) (sandbox () (bind b 2) (eval '(let ((c 3)) (eval '(list b "
                    "c)))))) (f 1)"),
              "(2 3)");
    EXPECT_EQ(shown("(define (f a) (try (error \"x\") (catch (e) (eval '(list a (get e "
                    "'message)))))) (f 1)"),
              "(1 \"x\")");
    EXPECT_EQ(shown("(define (f a) (case a (1 (bind b 2) (eval '(list a b))) (else (eval 'a)))) "
                    "(list (f 1) (f 3))"),
              "((1 2) 3)");
}

// Each name has a register, and each pass over the code looks at some of the registers.
TEST(compile_work, of_clauses_that_bind_is_linear) {
    const auto turns = [](const char* begin, const char* end, std::size_t count) {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{1} << 30;
        how.slice = 200;
        std::string clauses;
        for (std::size_t i = 0; i < count; ++i) clauses += numbered("((f #) (bind v# 1) v#) ", i);
        EXPECT_EQ(
            harness.shown(
                "(define (f x) x) (eval '(lambda () " + (begin + clauses) + end + ")) 'done", how),
            "done");
        return harness.runs;
    };
    for (const auto& [begin, end] : {std::pair{"(cond ", ")"},
                                     {"(loop 3 (cond ", "))"},
                                     {"(try (cond ", ") (catch (e) e))"}}) {
        const std::int64_t once = turns(begin, end, 6000);
        EXPECT_GT(once, 5) << begin;
        EXPECT_LT(turns(begin, end, 48'000), 10 * once) << begin;
    }
}

// More registers than the search for their last uses looks at in one go.
TEST(compile_work, values_of_many_registers_are_there_as_long_as_they_are_read) {
    std::string first;
    std::string last;
    std::string many;
    for (std::size_t i = 0; i < 1500; ++i) {
        first += numbered("(bind a# (list #)) ", i);
        many += numbered("(bind b# (if (= k #) (list k) nil)) ", i);
        if (i % 100 == 0) last += numbered(" a# b#", i);
    }
    const auto shown = [&](const std::string& body) {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{1} << 30;
        return harness.shown("(define (f) (bind k 0) (bind m (dict)) " + body + ") (f)", how);
    };
    EXPECT_EQ(
        shown(first + many + "(list" + last + ")"),
        "((0) (0) (100) nil (200) nil (300) nil (400) nil (500) nil (600) nil (700) nil (800) "
        "nil (900) nil (1000) nil (1100) nil (1200) nil (1300) nil (1400) nil)");
    // In loops: what is bound in one turn is read in the next, before it is bound again.
    EXPECT_EQ(
        shown("(bind old nil) (bind seen '()) (while (< k 3) " + first +
              "(set! seen (cons old seen)) " + many +
              "(set! old (list k a0 b1 a1499)) (set! m (put m (number->string k) old)) "
              "(set! k (+ k 1))) (list seen m a0 b2)"),
        "(((1 (0) (1) (1499)) (0 (0) nil (1499)) nil) (dict \"0\" (0 (0) nil (1499)) \"1\" (1 (0) "
        "(1) (1499)) \"2\" (2 (0) nil (1499))) (0) (2))");
    EXPECT_EQ(
        shown(first +
              "(loop 2 (progn (set! k (+ k 1)) (set! m (put m (number->string k) (try (progn " +
              many + "(if (= k 2) (error \"x\") a7)) (catch (e) (list b2 a9))))))) (list m a3)"),
        "((dict \"1\" (7) \"2\" ((2) (9))) (3))");
}

TEST(compile_work, of_imports_in_a_row_is_linear) {
    const auto turns = [](std::size_t imports) {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{1} << 30;
        how.slice = 200;
        const std::string text =
            repeated("(import std/lists) ", imports) + repeated("(list 1) ", imports) + "'done";
        EXPECT_EQ(harness.shown(text, how), "done");
        return harness.runs;
    };
    const std::int64_t once = turns(2000);
    EXPECT_GT(once, 10);
    EXPECT_LT(turns(4000), 3 * once);
}

TEST(compile_work, names_bound_in_a_branch_or_handler_stay_there) {
    const auto shown = [](const char* program) {
        lang_harness harness;
        return harness.shown(program);
    };
    EXPECT_EQ(shown("(define x 'global) (define (f) (parallel (bind x 1) x) x) (f)"), "global");
    EXPECT_EQ(shown("(define (f) (bind x 0) (parallel (progn (bind x 1) x)) x) (f)"), "0");
    EXPECT_EQ(shown("(define (f) (bind x 0) (try (error \"e\") (catch (e) (bind x 1))) x) (f)"),
              "0");
    EXPECT_EQ(shown("(define (f) (parallel (progn (define (g n) (h n)) (define (h n) (* 2 n)) "
                    "(g 4)))) (f)"),
              "(8)");
    EXPECT_EQ(shown("(define (f) (try (error \"e\") (catch (e) (define (g n) (h n)) (define (h n) "
                    "(* 2 n)) (g 4)))) (f)"),
              "8");
    EXPECT_EQ(shown("(define (f) (spawn (eval '(bind x 5))) (try x (catch (e) 'unknown))) (f)"),
              "unknown");
    EXPECT_EQ(shown("(define (f) (await (spawn (progn (eval '(bind x 5)) x)))) (f)"), "5");
    EXPECT_EQ(shown("(define (f) (hedge (progn (bind x 9) 1) 2) x) (f)"), "9");
    EXPECT_EQ(shown("(define (f) (bind y 1 (bind z 2) (+ y z))) (f)"), "3");
    // The kind of a handler and the first values of a loop are outside of their scopes.
    EXPECT_EQ(shown("(define (f) (define (g) k) (try (error \"x\") (catch (e (bind k 'UserError)) "
                    "(g)))) (f)"),
              "UserError");
    EXPECT_EQ(shown("(define (f) (define (g) k) (do ((i (bind k 1) (+ i 1))) ((= i 3) (g)))) (f)"),
              "1");
    // A label is called, whatever form has its name.
    for (const char* label : {"again", "retry", "race", "spawn", "let", "do"}) {
        const std::string program =
            std::string("(define k 'global) (define (f) (let ") + label +
            " ((n 1) (m 0)) (define (g) k) (if (= n 0) 'end (progn (list (" + label +
            " 0 (bind k 2))) (g))))) (f)";
        EXPECT_EQ(shown(program.c_str()), "2") << label;
    }
}

TEST(compile_work, counts_the_levels_of_made_code_as_those_of_written_code) {
    lang_harness harness;
    schedule how;
    how.memory = std::size_t{1} << 30;
    EXPECT_EQ(harness.shown("(defmacro m () (let ((a 'x)) (loop 1400 (set! a (list 'cond (list 1 "
                            "a)))) (list 'lambda '(x) a))) (define (f) (m)) ((f) 7)",
                            how),
              "7");
}

} // namespace
} // namespace heddle::lang::testing
