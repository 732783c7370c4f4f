// sandbox: what code inside may do, and the ways out that are closed.
#include "lang_harness.hpp"

#include "lang/compile/special_form.hpp"
#include "lang/machine/semaphore.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

struct example {
    const char* program;
    const char* expected; ///< or the beginning of it
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
    // also what is refused before it is taken
    {"(sandbox ((memory 100000)) (try (range 1000000) (catch (e) 'caught)))",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(sandbox ((memory 100000)) (sandbox ((memory 90000000)) (try (range 1000000) (catch (e) 1))))",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(sandbox ((memory 100000)) 1) (length (range 100000))", "100000"},
    // a cleanup has a quarter more, of what the sandbox was given
    {"(sandbox ((memory 1000000)) (try (let go ((xs '())) (go (list xs)))"
     "                            (finally (let go ((xs '())) (go (list xs))))))",
     "LimitError: the memory limit of this sandbox is used up inside 'finally'"},
    {"(define big (range 2000000))"
     "(sandbox ((memory 1000000)) (try (let go ((xs '())) (go (list xs)))"
     "  (finally (let go ((xs '()) (n 0)) (when (< n 40000) (go (list xs) (+ n 1)))))))",
     "LimitError: the memory limit of this sandbox is used up inside 'finally'"},
    // time
    {"(sandbox ((timeout 5) (allow (pause))) (pause 10))", "TimeoutError"},
    {"(try (sandbox ((timeout 5) (allow (pause))) (pause 10)) (catch (e) (get e 'kind)))",
     "\"TimeoutError\""},
    // calls
    {"(sandbox ((calls 1) (allow (pause))) (list (pause 1) (pause 2)))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 1) (allow (pause))) (try (list (pause 1) (pause 2)) (catch (e) (get e "
     "'kind))))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
};

void expect_everywhere(const example& one) {
    for (int mode = 0; mode < 4; ++mode) {
        schedule how;
        if (mode >= 1) how.slice = 1;
        how.split = mode >= 2;
        if (mode == 3) how.concurrency = 1;
        lang_harness harness;
        const std::string shown = harness.shown(one.program, how);
        EXPECT_EQ(shown.substr(0, std::string(one.expected).size()), one.expected)
            << one.program << " in mode " << mode << ": " << shown;
        EXPECT_EQ(harness.shown("(+ 1 1)"), "2") << "afterwards: " << one.program;
    }
}

// A refusal or a limit in a computation that nobody awaits ends the sandbox all the same.
const example unawaited[] = {
    {"(sandbox () (let ((f (spawn (pause 1)))) (sleep 1) (format \"{}\" f)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (spawn (pause 1)) (sleep 1) 7)",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox ((allow (pause)) (calls 0)) (let ((f (spawn (pause 1)))) (sleep 1) 1))",
     "LimitError: the sandbox allows 0 calls of tasks and tools, and they are used up"},
    {"(sandbox () (let ((f (spawn (let ((g (spawn (pause 1)))) (sleep 1) 1))))"
     " (try (await f) (catch (e) 2))))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (let ((f (spawn (error \"no\")))) (try (await f) (catch (e) 8))))", "8"},
    {"(sandbox () (spawn (error \"nobody awaits it\")) (sleep 1) 9)", "9"},
    {"(sandbox () (let ((f (timeout 1 (spawn (sleep 5)) 'late))) (sleep 2) 10))", "10"},
};

TEST(sandbox, ends_at_a_refusal_that_nobody_awaits) {
    for (const example& one : unawaited) expect_everywhere(one);
}

TEST(sandbox, keeps_its_limits) {
    for (const example& one : limited) expect_everywhere(one);
}

// A few lists that hold each other twice at every level have a JSON text without end. No setting of
// a request writes it.
TEST(sandbox, bounds_the_settings_of_requests) {
    const std::string list = "(let ((d (list 1))) (loop 60 (set! d (list d d))) ";
    const std::string map = "(let ((d (dict \"a\" 1))) (loop 60 (set! d (dict \"x\" d \"y\" d))) ";
    for (const std::string& shared : {list, map}) {
        for (const char* setting : {"stop", "seed", "tool-choice", "temperature",
                                    "parallel-tool-calls", "reasoning-effort"}) {
            lang_harness harness;
            const std::string code = shared + "(with ((" + setting + " d)) 1))";
            EXPECT_EQ(harness.shown("(sandbox ((steps 1000)) (eval '" + code + "))").substr(0, 17),
                      "TypeError: with: ")
                << code;
        }
        lang_harness harness; // outside of a sandbox a request may have them
        EXPECT_EQ(harness.shown(shared + "(with ((extra-parameters d)) 1))").substr(0, 34),
                  "TypeError: with: extra-parameters ");
    }
}

TEST(sandbox, counts_the_checks_of_settings) {
    const auto stop_at = [](std::size_t bytes) {
        return "(with ((stop \"" + std::string(bytes, 'x') + "\")) 1)";
    };
    lang_harness harness;
    EXPECT_EQ(harness.shown(stop_at(60'000)), "1");
    EXPECT_EQ(
        harness.shown(stop_at(70'000)).substr(0, 87),
        "TypeError: with: stop must be at most 64 KiB as JSON, and at most 32 levels deep, not \"");
    const std::string many = "(loop 100 " + stop_at(60'000) + ")";
    EXPECT_EQ(harness.shown("(sandbox ((steps 400000)) " + many + " 2)"), "2");
    EXPECT_EQ(harness.shown("(sandbox ((steps 10000)) " + many + " 2)"),
              "LimitError: the sandbox allows 10000 steps, and they are used up");
}

// ---------------------------------------------------------------- what a function made inside may
// do

const example kept_inside[] = {
    // called by the program, after the sandbox has ended
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (pause 1))))) (kept)",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (eval '(pause 1)))))) (kept)",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (keep (lambda () (pause 1)))) (kept)",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(define kept nil) (define (keep f) (set! kept f) 1) (define secret 5)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (eval 'secret))))) (kept)",
     "PermissionError: 'secret' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (f) (f 1))))) (kept pause)",
     "PermissionError: the sandbox does not allow 'pause'"},
    // by every way that calls
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (x) (eval '(pause 1)))))) (map kept '(1 2))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (x) (eval '(pause 1)))))) (apply kept '(1))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (lambda () (eval '(pause 1))))))) ((kept))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (eval '(pause 1))))))"
     "(await (spawn (kept)))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda () (eval '(pause 1))))))"
     "(try 1 (finally (kept)))",
     "PermissionError: 'pause' cannot be reached from here"},
    // what the program makes on its behalf
    {"(define kept nil) (define (keep f) (set! kept f) 1) (define (bound f x) (lambda () (f x)))"
     "(sandbox ((allow (keep bound))) (eval '(keep (bound eval '(pause 1))))) (kept)",
     "PermissionError: 'pause' cannot be reached from here"},
    // in another sandbox, which it may not widen
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause))) (eval '(keep (lambda () (pause 1)))))"
     "(sandbox ((allow (kept))) (eval '(kept)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (f) (f 1)))))"
     "(sandbox ((allow (kept pause))) (eval '(kept pause)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    // its limits
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep)) (steps 1000)) (eval '(keep (lambda () (while true 1)))))"
     "(try (kept) (catch (e) (get e 'message)))",
     "\"the sandbox allows 1000 steps, and they are used up\""},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep)) (steps 5000)) (eval '(keep (lambda () (loop 100 1)))))"
     "(loop 1000 (kept))",
     "LimitError: the sandbox allows 5000 steps, and they are used up"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (calls 2)) (eval '(keep (lambda () (pause 1)))))"
     "(list (kept) (kept) (kept))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep)) (memory 100000))"
     " (eval '(keep (lambda () (let go ((xs '())) (go (cons 1 xs)))))))"
     "(define big (range 100000)) (kept)",
     "LimitError: the sandbox allows 100000 bytes of memory, and they are used up"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (timeout 5)) (eval '(keep (lambda () (pause 10)))))"
     "(pause 100) (try (kept) (catch (e) (get e 'kind)))",
     "\"TimeoutError\""},
    // and what it may do
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (x y) (list y x))))) (kept 1 2)",
     "(2 1)"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (x &optional y . more) (list x y more)))))"
     "(list (kept 1) (kept 1 2 3 4))",
     "((1 nil ()) (1 2 (3 4)))"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (x) x)))) (try (kept) (catch (e) (get e "
     "'kind)))",
     "\"ArityError\""},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (timeout 5)) (eval '(keep (lambda () (pause 4)))))"
     "(list (kept) (kept))",
     "(4 4)"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(keep (lambda (n) (let go ((i 0)) (if (< i n) (go (+ i 1)) "
     "i))))))"
     "(kept 10000)",
     "10000"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep))) (eval '(progn (define k 3) (keep (lambda () (eval 'k)))))) (kept)",
     "3"},
};

TEST(sandbox, binds_functions_made_inside_wherever_they_are_called) {
    for (const example& one : kept_inside) expect_everywhere(one);
}

const example escapes[] = {
    // names that it allows can be called, not assigned
    {"(define (ask q) q) (sandbox ((allow (ask))) (eval '(set! ask 5)))",
     "PermissionError: set!: 'ask' is outside of the sandbox"},
    {"(define secret 1) (try (sandbox ((allow (secret))) (eval '(set! secret 2))) (catch (e) "
     "secret))",
     "1"},
    {"(define (f) (eval '(define y 1)) (sandbox () (set! y 2)) (eval 'y)) (f)",
     "PermissionError: set!: 'y' is outside of the sandbox"},
    // nothing inside catches what it may not
    {"(sandbox () (try (pause 1) (catch (e) 'caught)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (eval '(try (set! pause 1) (catch (e) 'caught))))", "PermissionError"},
    {"(sandbox () (map-settled (lambda (x) (pause 1)) '(1 2)))",
     "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (retry 3 (pause 1)))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (race (pause 1) 2))", "PermissionError: the sandbox does not allow 'pause'"},
    {"(sandbox () (eval '(try (sandbox () (pause 1)) (catch (e) 'caught))))",
     "PermissionError: 'pause' cannot be reached from here"},
    {"(sandbox ((allow (pause))) (try (sandbox () (pause 1)) (catch (e) 'caught)))", "caught"},
    {"(sandbox ((calls 2) (allow (pause))) (progn (loop 9 (try (pause 1) (catch (e) 1))) 'on))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 2) (allow (pause))) (map-settled pause '(1 2 3)))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    // steps that end before a slice does
    {"(sandbox ((steps 1000) (allow (pause))) (loop 1000 (progn (loop 50 1) (pause 0))))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    {"(sandbox ((steps 1000)) (loop 1000 (sandbox () (loop 50 1))))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    // dynamic values of the program
    {"(director-evaluator-loop (max-iterations 1) (initial-director-input 's)"
     " (director (lambda (x i) (sandbox () (eval '*loop-config*)))) (executor (lambda (x i) x))"
     " (evaluator (lambda (x p i) x)) (controller (lambda (f p r i) (list 'stop r))))",
     "UnboundSymbolError: unbound symbol '*loop-config*'"},
    // the compiler's own variables
    {"(eval (list 'parallel (list 'set! (string->symbol \"parallel group\") 5)))",
     "UnboundSymbolError: unbound symbol 'parallel group'"},
    {"(sandbox () (eval (string->symbol \"the sandbox\")))",
     "UnboundSymbolError: unbound symbol 'the sandbox'"},
    {"(sandbox () (eval (list 'set! (string->symbol \"eval scope\") 5)))",
     "UnboundSymbolError: unbound symbol 'eval scope'"},
    {"(eval (list 'let (list (list (string->symbol \"case value\") 7))"
     " (list 'case 1 (list 1 (string->symbol \"case value\")))))",
     "7"},
    // models
    {"(sandbox () (with ((model \"m\")) 1))",
     "PermissionError: the sandbox does not let code choose"},
    {"(sandbox () (eval '(with ((provider \"p\")) 1)))",
     "PermissionError: the sandbox does not let code choose"},
    {"(sandbox ((models (m \"p q\"))) (eval '(with ((model \"m\") (provider \"p q\")) 1)))", "1"},
    {"(sandbox ((models (m))) (sandbox () (with ((model \"m\")) 1)))",
     "PermissionError: the sandbox does not let code choose"},
    {"(with ((model \"m\")) (sandbox () 1))", "1"},
    {"(sandbox ((models 5)) 1)", "SexpEvaluationError: sandbox: models must be a list"},
    // shared structure
    {"(length (sandbox ((steps 1000)) (eval '(let n ((i 0) (x '())) (if (< i 60) (n (+ i 1) (list "
     "x "
     "x)) x)))))",
     "2"},
    {"(length (sandbox ((steps 1000)) (eval '(let n ((i 0) (x (dict))) (if (< i 60) (n (+ i 1) "
     "(dict "
     "'a x 'b x)) (list x))))))",
     "1"},
    {"(try (sandbox ((steps 1000)) (eval '(let n ((i 0) (x '())) (if (< i 60) (n (+ i 1) (list x "
     "x)) "
     "(error \"m\" x))))) (catch (e) (length (get e 'data))))",
     "1"},
    {"(length (let n ((i 0) (x 1)) (if (< i 60) (n (+ i 1) (list x x)) (eval (list 'quote x)))))",
     "2"},
    {"(let n ((i 0) (x 1)) (if (< i 60) (n (+ i 1) (list 'progn x x)) (eval x)))",
     "LimitError: the code is too large"},
    // error data that is not a list
    {"(get-in (try (sandbox () (raise (dict \"kind\" \"UserError\" \"message\" \"m\" \"data\" "
     "(dict "
     "\"f\" (lambda () 1))))) (catch (e) e)) '(\"data\"))",
     "\"(dict \\\"f\\\" #<function>)\""},
    {"(type-of (get-in (try (sandbox () (raise (dict \"kind\" \"UserError\" \"message\" \"m\" "
     "\"data\" "
     "\"text\" \"result\" (lambda () 1)))) (catch (e) e)) '(\"result\")))",
     "string"},
    // compiling that compiles
    {"(defmacro m () (eval '(m))) (m)",
     "LimitError: code is compiled while other code is compiled"},
};

TEST(sandbox, has_no_way_around) {
    for (const example& one : escapes) expect_everywhere(one);
}

// ---------------------------------------------------------------- names of the implementation

std::vector<std::string> internal_names() {
    std::vector<std::string> names;
    for (const auto family : builtin_families()) {
        for (const builtin& row : family) {
            if (row.name.starts_with('%')) names.emplace_back(row.name);
        }
    }
    for (const special_form& row : special_forms()) {
        if (row.name.starts_with('%')) names.emplace_back(row.name);
    }
    lang_harness harness;
    for (std::uint32_t i = 0; i < harness.harness.global_count(); ++i) {
        const std::string_view name = harness.harness.global_name(i);
        if (name.starts_with('%')) names.emplace_back(name);
    }
    return names;
}

TEST(internal_names, cannot_be_used_by_any_route) {
    const std::vector<std::string> names = internal_names();
    ASSERT_GT(names.size(), 30U);
    for (const std::string& name : names) {
        lang_harness harness;
        const std::string refused = "PermissionError: '" + name + "' belongs to the implementation";
        const std::string built =
            "(string->symbol (string-append \"%\" \"" + name.substr(1) + "\"))";
        for (const std::string& program :
             {"(" + name + ")",
              "(" + name + " 1 2)",
              name,
              "(apply " + name + " '(1))",
              "(map " + name + " '(1))",
              "(eval " + built + ")",
              "(eval (list " + built + " 1))",
              "(eval (list 'quote (list 1)) (dict)) (eval (list " + built + " 1) (dict))",
              "(eval " + built + " (dict \"" + name + "\" 5))",
              "(sandbox () (eval " + built + "))",
              "(sandbox ((allow (" + name + "))) 1)",
              "(defmacro m () (list " + built + " 1)) (m)",
              "(defmacro " + name + " () 1)",
              "(define " + name + " 1)",
              "(define (" + name + ") 1)",
              "(bind " + name + " 1)",
              "(let ((" + name + " 1)) 1)",
              "(let* ((" + name + " 1)) 1)",
              "(letrec ((" + name + " 1)) 1)",
              "(let " + name + " ((i 1)) i)",
              "(lambda (" + name + ") 1)",
              "(lambda (x . " + name + ") 1)",
              "(set! " + name + " 1)",
              "(try 1 (catch (" + name + ") 1))",
              "(spawn (" + name + "))",
              "(import std/lists) (" + name + ")"}) {
            const std::string shown = harness.shown(program);
            EXPECT_EQ(shown.substr(0, refused.size()), refused) << program << ": " << shown;
        }
        EXPECT_EQ(harness.shown("(help '" + name + ")").substr(0, 17), "UnboundSymbolErro") << name;
        EXPECT_EQ(harness.shown("(list '" + name + " (symbol->string '" + name + "))"),
                  "(" + name + " \"" + name + "\")");
    }
}

/// They are the prelude's, and check what they are given all the same.
TEST(internal_names, check_the_kinds_of_their_arguments) {
    lang_harness harness;
    heap& memory = harness.harness.memory();
    const std::vector<value> odd{
        value(),
        value::integer(5),
        value::integer(-1),
        value::real(0.5),
        value::boolean(true),
        make_string(memory, "a string that is long enough to be read as values"),
        memory.symbol("name"),
        value::empty_list(),
        make_list(memory, std::vector<value>{value::integer(1)}),
        value::empty_map(),
        make_host(memory, std::make_unique<semaphore>(1)),
        value::of_builtin(*find_builtin("+"))};
    std::size_t calls = 0;
    for (const auto family : builtin_families()) {
        for (const builtin& row : family) {
            if (!row.name.starts_with('%') || row.how != builtin_kind::pure) continue;
            const std::size_t count = std::min<std::size_t>(row.min_arguments, 4);
            std::vector<std::size_t> at(count, 0);
            for (bool more = true; more; ++calls) {
                std::vector<value> given;
                for (const std::size_t each : at) given.push_back(odd[each]);
                free_work work;
                native_call call(memory, row, work);
                (void)row.run(call, given); // an error or a value, no crash
                more = false;
                for (std::size_t i = 0; i < count && !more; ++i) {
                    more = ++at[i] < odd.size();
                    if (!more) at[i] = 0;
                }
            }
        }
    }
    EXPECT_GT(calls, 1000U);
}

TEST(sandbox, hostile_recursion_through_catch_ends_at_once) {
    lang_harness harness;
    const std::string shown = harness.shown(
        "(sandbox ((steps 100000)) (define (f) (try (f) (catch (e) (f)) (finally (f)))) (f))");
    EXPECT_TRUE(shown.starts_with("LimitError")) << shown; // of the sandbox, or of its cleanups
    EXPECT_LT(harness.runs, 50'000); // errors on their way out end a slice after 128 steps
}

TEST(sandbox, cancellation_at_any_step_ends_cleanly) {
    for (const example& one : limited) {
        for (std::int64_t k = 0; k < 30; ++k) {
            lang_harness harness;
            schedule how;
            how.slice = 20;
            how.split = true;
            how.cancel_at = k;
            const std::string shown = harness.shown(one.program, how);
            EXPECT_TRUE(shown.starts_with(one.expected) || shown.starts_with("CancelledError"))
                << one.program << " at " << k << ": " << shown;
            if (harness.runs <= k) break;
        }
    }
}

TEST(sandbox, what_is_dead_is_freed_in_turns_before_the_scope_changes) {
    lang_harness harness;
    const std::string big = "(map (lambda (i) (list i)) (range 300000))";
    harness.run("(define big " + big + ")");
    // Entered, left, and left by an error, which takes the scope with it.
    EXPECT_EQ(harness.shown("(set! big nil) (sandbox ((steps 10)) 1)"), "1");
    EXPECT_GT(harness.runs, 5);
    EXPECT_FALSE(harness.harness.memory().has_dead());
    for (const char* end : {"7", "(error \"seven\")", "(while true 1)"}) {
        EXPECT_EQ(harness.shown("(try (sandbox ((steps 5000000)) (let ((big " + big +
                                ")) (set! big nil) " + end +
                                ")) (catch (e) 7)) (try (sandbox ((allow (note))) (note 'in)) "
                                "(finally (note 'out)))"),
                  "in");
    }
}

} // namespace
} // namespace heddle::lang::testing
