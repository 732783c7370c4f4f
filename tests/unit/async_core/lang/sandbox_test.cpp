// sandbox: what code inside may do, and the ways out that are closed.
#include "lang_world.hpp"

#include <heddle/lang/errors.hpp>

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

struct example {
    const char* program;
    const char* expected; ///< or the beginning of it
};

const example inside[] = {
    {"(sandbox () (+ 1 2))", "3"},
    {"(let ((x 5)) (sandbox () (+ x 1)))", "6"},
    {"(let ((text \"(+ 1 2)\")) (sandbox ((steps 100)) (eval (parse text))))", "3"},
    {"(sandbox () (bind k 3) (eval '(define (f n) (* n k))) (eval '(f 7)))", "21"},
    {"(sandbox () (eval '(let loop ((i 0)) (if (< i 10) (loop (+ i 1)) i))))", "10"},
    {"(sandbox () (eval '(map (lambda (x) (* x x)) '(1 2 3))))", "(1 4 9)"},
    {"(sandbox () (eval '(progn (define (fact n) (if (= n 0) 1 (* n (fact (- n 1))))) (fact 5))))",
     "120"},
    {"(sandbox ((allow (pause))) (pause 1))", "1"},
    {"(sandbox ((allow (pause))) (eval '(map pause '(1 2))))", "(1 2)"},
    {"(sandbox ((allow (pause note))) (sandbox ((allow (pause))) (eval '(pause 1))))", "1"},
    {"(sandbox ((allow (helper))) 1)", "1"},
    {"(define (helper x) (* 2 x)) (sandbox ((allow (helper))) (eval '(helper 4)))", "8"},
    {"(define (helper x) (* 2 x)) (sandbox () (helper 4))", "8"},
    {"(define x 1) (sandbox () (define x 2) (eval '(set! x 3)) x)", "3"},
    {"(define x 1) (sandbox () (define x 2) x) x", "1"},
    {"(defmacro twice (x) (list '* 2 x)) (sandbox () (twice 4))", "8"},
    {"(sandbox ((calls 2) (allow (pause))) (list (pause 1) (pause 2)))", "(1 2)"},
    {"(try (sandbox () (error \"no\" 7)) (catch (e) (get e 'data)))", "(7)"},
    {"(sandbox () (try (eval '(pause 1)) (catch (e) (get e 'kind))))", "\"PermissionError\""},
};

const example refused[] = {
    // the world, named or passed in
    {"(sandbox () (pause 1))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (eval '(pause 1)))", "PermissionError: 'pause' cannot be reached from here"},
    {"(define (leak) (pause 1)) (sandbox () (leak))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(define (leak) (pause 1)) (sandbox () (eval '(leak)))",
     "PermissionError: 'leak' cannot be reached from here"},
    {"(let ((leak pause)) (sandbox () (leak 1)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (map pause '(1)))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (apply pause '(1)))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (eval (list (quote map) 'pause ''(1))))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox () (eval '((eval 'pause) 1)))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox () (eval '(eval '(pause 1) (dict))))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox () (map eval '((pause 1))))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define (run code) (eval code)) (sandbox () (run '(pause 1)))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox () (parallel (eval '(pause 1)) 2))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox () (parallel (pause 1) 2))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (try 1 (finally (pause 1))))",
     "PermissionError: the sandbox does not allow 'pause'"},
    // names around it
    {"(define secret 5) (sandbox () (eval 'secret))",
     "PermissionError: 'secret' cannot be reached from here"},
    {"(let ((secret 5)) (sandbox () (eval 'secret)))",
     "UnboundSymbolError: unbound symbol 'secret'"},
    {"(define (run code) (let ((secret 1)) (eval code))) (sandbox () (run 'secret))",
     "UnboundSymbolError: unbound symbol 'secret'"},
    {"(sandbox () (let ((outer 1)) (sandbox () (eval 'outer))))",
     "UnboundSymbolError: unbound symbol 'outer'"},
    {"(define (run code) (sandbox () (let ((own 1)) (eval code)))) (sandbox () (run 'own))", "1"},
    // changing what is outside
    {"(let ((x 1)) (sandbox () (set! x 2)))",
     "PermissionError: set!: 'x' is outside of the sandbox"},
    {"(define x 1) (sandbox () (set! x 2))",
     "PermissionError: set!: 'x' is outside of the sandbox"},
    {"(define x 1) (sandbox () (eval '(set! x 2)))",
     "PermissionError: 'x' cannot be reached from here"},
    {"(eval (list 'sandbox '() '(set! x 2)) (dict 'x 1))",
     "PermissionError: set!: 'x' is outside of the sandbox"},
    {"(let ((x 1)) (sandbox () (let ((f (lambda () (set! x 2)))) (f))))",
     "PermissionError: set!: 'x' is outside of the sandbox"},
    {"(sandbox () (eval '(define (filter f xs) 'evil)) 1) (filter (lambda (x) x) '(1))", "(1)"},
    {"(sandbox () (define (filter f xs) 'evil) 1) (filter (lambda (x) x) '(1))", "(1)"},
    {"(sandbox () (defmacro m (x) x))",
     "PermissionError: defmacro: a sandbox cannot define macros"},
    {"(sandbox () (eval '(defmacro m (x) x)))",
     "PermissionError: defmacro: a sandbox cannot define macros"},
    {"(sandbox () (defatom t (params) (instructions \"x\")))",
     "PermissionError: defatom: a sandbox cannot define tasks"},
    {"(sandbox () (eval '(defatom t (params) (instructions \"x\"))))",
     "PermissionError: defatom: a sandbox cannot define tasks"},
    // carrying something out
    {"((sandbox () (lambda () (pause 1))))", "PermissionError: sandbox: only data may leave"},
    {"(sandbox () (list 1 (dict 'f (lambda () 1))))",
     "PermissionError: sandbox: only data may leave"},
    {"(sandbox () pause)", "PermissionError: sandbox: only data may leave"},
    {"(try (sandbox () (error \"take\" (lambda () (pause 1)))) (catch (e) (procedure? (first (get "
     "e "
     "'data)))))",
     "false"},
    // more than the sandbox around allows
    {"(sandbox () (sandbox ((allow (pause))) (pause 1)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (eval '(sandbox ((allow (pause))) (pause 1))))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox ((calls 1) (allow (pause))) (sandbox ((allow (pause)) (calls 5)) (pause 1) (pause "
     "2)))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
    // its own form
    {"(sandbox)", "SexpEvaluationError: sandbox: expects ((limit value)…) and a body"},
    {"(sandbox ((stepz 1)) 1)", "SexpEvaluationError: sandbox: unknown limit 'stepz'"},
    {"(sandbox ((steps 1) (steps 2)) 1)",
     "SexpEvaluationError: sandbox: the limit 'steps' is repeated"},
    {"(sandbox ((steps -1)) 1)", "TypeError: sandbox: steps must be a whole number from 0, not -1"},
    {"(sandbox ((allow pause)) 1)",
     "SexpEvaluationError: sandbox: allow must be a list of names of tasks and tools, not pause"},
};

const example limited[] = {
    {"(sandbox ((steps 1000)) (while true 1))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 1000)) (eval '(let go () (go))))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(define (spin) (spin)) (sandbox ((steps 1000)) (spin))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 1000)) (map (lambda (x) (while true 1)) '(1 2 3)))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 0)) (while true 1))",
     "LimitError: the sandbox allows 0 steps, and they are used up"},
    // a limit cannot be caught inside
    {"(sandbox ((steps 1000)) (try (while true 1) (catch (e) 'caught)))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 1000)) (while true (try (while true 1) (catch (e) 'caught))))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(define (f) (try (f) (catch (e) (f)))) (sandbox ((steps 1000)) (f))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(try (sandbox ((steps 1000)) (while true 1)) (catch (e) (get e 'kind)))", "\"LimitError\""},
    {"(sandbox ((steps 100000)) (try (sandbox ((steps 1000)) (while true 1)) (catch (e) 'caught)))",
     "caught"},
    {"(sandbox ((steps 1000)) (try (sandbox ((steps 100000)) (while true 1)) (catch (e) 'caught)))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 1000)) (map-settled (lambda (x) (while true 1)) '(1 2)))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 100)) 1) (let go ((i 0)) (if (< i 10000) (go (+ i 1)) i))", "10000"},
    // memory
    {"(sandbox ((memory 100000)) (let go ((xs '())) (go (cons 1 xs))))",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(define (deep n) (+ 1 (deep n))) (sandbox ((memory 100000)) (deep 1))",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(sandbox ((memory 100000)) (try (let go ((xs '())) (go (cons 1 xs))) (catch (e) 'caught)))",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(try (sandbox ((memory 100000)) (range 1000000)) (catch (e) (get e 'kind)))",
     "\"LimitError\""},
    {"(sandbox ((memory 100000)) 1) (length (range 100000))", "100000"},
    // time
    {"(sandbox ((timeout 5) (allow (pause))) (pause 10))", "TimeoutError"},
    {"(try (sandbox ((timeout 5) (allow (pause))) (pause 10)) (catch (e) (get e 'kind)))",
     "\"TimeoutError\""},
    // calls
    {"(sandbox ((calls 1) (allow (pause))) (list (pause 1) (pause 2)))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 1) (allow (pause))) (try (list (pause 1) (pause 2)) (catch (e) (get e "
     "'kind))))",
     "\"LimitError\""},
};

void expect_everywhere(const example& one) {
    for (int mode = 0; mode < 4; ++mode) {
        schedule how;
        if (mode >= 1) how.slice = 1;
        how.split = mode >= 2;
        if (mode == 3) how.concurrency = 1;
        lang_world world;
        const std::string shown = world.shown(one.program, how);
        EXPECT_EQ(shown.substr(0, std::string(one.expected).size()), one.expected)
            << one.program << " in mode " << mode << ": " << shown;
        EXPECT_EQ(world.shown("(+ 1 1)"), "2") << "afterwards: " << one.program;
    }
}

TEST(sandbox, reaches_what_it_may) {
    for (const example& one : inside) expect_everywhere(one);
}

TEST(sandbox, lets_nothing_out) {
    for (const example& one : refused) expect_everywhere(one);
}

TEST(sandbox, keeps_its_limits) {
    for (const example& one : limited) expect_everywhere(one);
}

TEST(sandbox, hostile_recursion_through_catch_ends_at_once) {
    lang_world world;
    const std::string shown = world.shown(
        "(sandbox ((steps 100000)) (define (f) (try (f) (catch (e) (f)) (finally (f)))) (f))");
    EXPECT_TRUE(shown.starts_with("LimitError")) << shown; // of the sandbox, or of its cleanups
    EXPECT_LT(world.runs, 10000);
}

TEST(sandbox, cancellation_at_any_step_ends_cleanly) {
    for (const example& one : limited) {
        for (std::int64_t k = 0; k < 30; ++k) {
            lang_world world;
            schedule how;
            how.slice = 20;
            how.split = true;
            how.cancel_at = k;
            const std::string shown = world.shown(one.program, how);
            EXPECT_TRUE(shown.starts_with(one.expected) || shown.starts_with("CancelledError"))
                << one.program << " at " << k << ": " << shown;
            if (world.runs <= k) break;
        }
    }
}

} // namespace
} // namespace heddle::lang::testing
