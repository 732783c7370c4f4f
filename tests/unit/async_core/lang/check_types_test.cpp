// What a check finds without a list of its own: it asks the builtins and reads the prelude.
#include <heddle/lang/check.hpp>

#include "watched_work.hpp"

#include <heddle/lang/prelude.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::lang {
namespace {

using lines = std::vector<std::string>;

/// The problems of a program as lines "code line:column message".
lines problems(const std::string& text) {
    realm harness;
    EXPECT_TRUE(load_prelude(harness));
    const std::uint32_t position = harness.sources().add("p", text);
    lines result;
    for (const problem& each : check_program(harness, text, position)) {
        const source_location place = harness.sources().locate(each.span);
        result.push_back(std::string(each.code) + " " + std::to_string(place.line) + ":" +
                         std::to_string(place.column) + " " + each.message);
    }
    return result;
}

TEST(check_types, constants_that_a_builtin_refuses) {
    EXPECT_EQ(problems("(define (f x) (- x \"2\"))"),
              (lines{"wrong-type 1:20 -: argument 2 must be a number, not the string \"2\""}));
    EXPECT_EQ(problems("(define (f xs) (nth xs \"1\"))"),
              (lines{"wrong-type 1:24 nth: argument 2 must be an integer, not the string \"1\""}));
    EXPECT_EQ(problems("(string-append \"a\" '(1))").size(), 1U);
    EXPECT_EQ(problems("(define (f s) (regex-match \"(a\" s))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (format \"{} {}\" x))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (dict 'a x 'b))").size(), 1U);
    EXPECT_EQ(problems("(nth '(1 2) 5)").size(), 1U);
}

TEST(check_types, constants_that_the_program_tests) {
    for (const char* good :
         {"(define limit nil) (define (over? n) (and limit (> n limit)))",
          "(define limit nil) (define (over? n) (or (null? limit) (> n limit)))",
          "(define sep nil) (define (j xs) (if sep (string-join xs sep) (string-join xs)))",
          "(define sep nil) (if sep (string-join '() sep) 1)",
          "(define limit nil) (define (over? n) (> n limit)) (if limit (over? 1) 2)",
          "(define mode \"fast\") (define (f) (if (string? mode) mode (+ mode 1)))",
          "(define mode \"fast\") (define (f) (cond ((equal? mode \"fast\") 1) (else (+ mode 1))))",
          "(define mode \"fast\") (define (f) (when (number? mode) (+ mode 1)))",
          "(define mode \"fast\") (define (f) (unless (string? mode) (+ mode 1)))",
          "(define mode \"fast\") (define (f) (case mode ((\"fast\") 1) (else (+ mode 1))))",
          "(define mode \"fast\") (define (f) (let ((m mode)) (if (string? m) 1 (+ mode 1))))",
          "(define secs nil) (define (f x) (if secs (with ((timeout secs)) x) x))",
          "(let ((n \"4\")) (while (number? n) (+ n 1)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
    EXPECT_EQ(problems("(define n \"4\") (define m true) (define (f) (if m (+ n 1) 0))").size(),
              1U);
    EXPECT_EQ(problems("(define n nil) (+ n 1)").size(), 1U);
    EXPECT_EQ(problems("(define (f n) (and n (+ n nil)))").size(), 1U);
    EXPECT_EQ(problems("(define n \"4\") (define (f) (and (+ n 1) n))").size(), 1U);
}

TEST(check_types, what_eval_may_change) {
    for (const char* good :
         {"(define x nil) (define (run code) (eval (parse code))) (run \"(set! x 5)\") (+ x 1)",
          "(define x nil) (eval (parse \"(bind x 5)\")) (+ x 1)",
          "(define x 1) (eval '(set! x \"abc\")) (string-length x)",
          "(define x 1) (map eval '((set! x \"abc\"))) (string-length x)",
          "(define (solve x) x) (eval (parse \"(define (solve x y) (+ x y))\")) (solve 3 4)",
          "(define (solve x) x) (eval '(set! solve +)) (solve 3 4)",
          "(define x 5) (eval '(eval (parse \"(set! x 1)\"))) (string-length x)",
          "(define x 5) (defmacro mac () '(set! x \"abc\")) (eval '(mac)) (string-length x)",
          "(define x 5) (eval '(progn (defmacro m () `(set! ,'x \"abc\")) (m))) (string-length x)",
          "(define x 5) (define e eval) (e '(set! x \"abc\")) (string-length x)",
          "(define x 5) ((if (null? (list)) eval list) '(set! x \"abc\")) (string-length x)"})
        EXPECT_EQ(problems(good), lines{}) << good;
    for (const char* bad :
         {"(define x nil) (define (f s) (sandbox () (eval (parse s)))) (+ x 1)",
          "(define x nil) (eval '(+ 1 2)) (+ x 1)", "(define x nil) (eval 'y (dict 'y 1)) (+ x 1)",
          "(define (solve x) x) (define (f s) (eval (parse s))) (solve 3 4)"})
        EXPECT_EQ(problems(bad).size(), 1U) << bad;
}

TEST(check_types, lists_that_the_program_tests) {
    EXPECT_EQ(
        problems("(define (f a) a) (let ((args (list))) (unless (null? args) (apply f args)))"),
        lines{});
    EXPECT_EQ(problems("(define (f a) a) (let ((args '())) (unless (null? args) (apply f args)))"),
              lines{});
    EXPECT_EQ(problems("(let ((args (list))) (unless (null? args) (nth args 0)))"), lines{});
    EXPECT_EQ(problems("(let ((args (list))) (nth args 0))").size(), 1U);
    EXPECT_EQ(problems("(define (g) true) (define (f a) a) "
                       "(let ((args (list))) (when (g) (apply f args)))")
                  .size(),
              1U);
}

TEST(check_types, functions_that_forms_call_with_another_count) {
    EXPECT_EQ(problems("(define (q x) x) (stream (q 1) (lambda () 1))"),
              (lines{"arity 1:32 stream calls this function with 1 argument, but it takes 0 "
                     "arguments"}));
    EXPECT_EQ(problems("(define (q x) x) (stream (q 1) (lambda (a b) 1))").size(), 1U);
    EXPECT_EQ(
        problems("(define (q x) x) (stream (q 1) \"out\")"),
        (lines{"wrong-type 1:32 stream: the second argument must be a function, not the string "
               "\"out\""}));
    EXPECT_EQ(problems("(define (q x) x) (stream (q (+ 1 2)) (lambda (a) a))"), lines{});
    EXPECT_EQ(problems("(define (f x) x) (apply f '(1 2))"),
              (lines{"arity 1:25 apply calls 'f' with 2 arguments, but it takes 1 argument"}));
    EXPECT_EQ(problems("(define (f x y z) x) (apply f 0 '(1 2)) (apply + '(1 2)) "
                       "(define (g xs) (apply f 1 xs))"),
              lines{});
}

TEST(check_types, decisions_that_a_controller_cannot_return) {
    const auto reported = [](const std::string& decision) {
        return problems(
            "(define (f x i) x) (define (run)\n(iterative-loop (max-iterations 2) "
            "(initial-input 1) (test-command \"t\") (executor f) (validator f) "
            "(controller (lambda (r v x i)\n" +
            decision + "))))");
    };
    for (const char* good : {"`(stop ,r)", "(when v (list 'stop r))", "`(,v ,r)", "(f v r)"})
        EXPECT_EQ(reported(good), lines{}) << good;
    EXPECT_EQ(reported("'stop"),
              (lines{"wrong-type 3:1 a controller must return a list of two elements, not the "
                     "symbol stop"}));
    EXPECT_EQ(reported("`(done ,r)"),
              (lines{"wrong-type 3:3 a controller decides 'continue or 'stop, "
                     "not the symbol done"}));
    EXPECT_EQ(reported("'(done 1)").size(), 1U);
    EXPECT_EQ(reported("(list 'stop r v)"),
              (lines{"wrong-type 3:1 a controller must return a list of two elements, not 3"}));
}

TEST(check_types, kinds_of_errors_that_a_retry_names) {
    EXPECT_EQ(problems("(retry ((attempts 2) (on 'TaskEror 'rate_limited)) (+ 1 2))"),
              (lines{"unknown-kind 1:26 no error kind is called 'TaskEror'"}));
    EXPECT_EQ(problems("(retry ((attempts 2) (on 'TimeoutError \"TimoutError\")) (+ 1 2))"),
              (lines{"unknown-kind 1:40 no error kind is called 'TimoutError'"}));
    EXPECT_EQ(problems("(retry ((attempts 2) (on 'TaskError 'TimeoutError)) (+ 1 2))"), lines{});
}

TEST(check_types, clauses_that_a_variable_is_called_with) {
    realm harness;
    ASSERT_TRUE(load_prelude(harness));
    const std::string text = "(define (f ask) (ask (x 1)))";
    const auto found = check_program(harness, text, harness.sources().add("p", text));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].hint, "if 'ask' holds a task, write (call-atomic-task ask (x …))");
}

TEST(check_types, texts_with_named_places) {
    for (const char* good : {"(format \"{who}: {{{}}}\" 5 (dict \"who\" \"me\"))",
                             "(define (g row) (format \"{a}-{b}\" row))",
                             "(define (g s) (format \"{a}\" (json-parse s)))",
                             "(define (g a b c d) (format \"{} {} {1} {2} {x}\" a b c d))",
                             "(define (g a) (format \"{0} {status} {x}\" a))"})
        EXPECT_EQ(problems(good), lines{}) << good;
    EXPECT_EQ(problems("(define (g row) (format \"{a}-{b\" row))").size(), 1U);
    EXPECT_EQ(problems("(define (g row) (format \"{a b}\" row))").size(), 1U);
    EXPECT_EQ(problems("(define (g x row) (format \"{a}\" x row))").size(), 1U);
    EXPECT_EQ(problems("(format \"{a}\" 5)"),
              (lines{"wrong-type 1:1 format: placeholder {a} needs a map as the last value"}));
    EXPECT_EQ(problems("(define (g xs) (format \"{a}\" (map first xs)))").size(), 1U);
}

TEST(check_types, through_variables_that_have_one_value) {
    EXPECT_EQ(problems("(define n \"4\")\n(loop n 'x)"),
              (lines{"wrong-type 2:1 loop: the count must be a non-negative integer, not the "
                     "string \"4\""}));
    EXPECT_EQ(problems("(let ((n \"4\")) (+ n 1))").size(), 1U);
    EXPECT_EQ(problems("(let ((n \"4\")) (set! n 4) (+ n 1))"), lines{});
}

TEST(check_types, results_whose_kind_is_certain) {
    EXPECT_EQ(problems("(define (f xs) (content (map list xs)))"),
              (lines{"wrong-type 1:25 content: argument 1 must be a task result, not a list"}));
    EXPECT_EQ(problems("(define (f x) (+ 1 (string-append \"a\" x)))").size(), 1U);
    EXPECT_EQ(problems("(define (f a b) (content (parallel (a) (b))))").size(), 1U);
    EXPECT_EQ(problems("(define (f m) (+ 1 (get m 'a)))"), lines{});
    EXPECT_EQ(problems("(define (f m) (string-append \"a\" (content m)))"), lines{});
}

TEST(check_types, maps_that_are_no_results) {
    EXPECT_EQ(problems("(define (f x) (content (dict 'a x)))"),
              (lines{"wrong-type 1:24 content: argument 1 must be a task result, not a map"}));
    EXPECT_EQ(problems("(parsed (dict \"a\" 1))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (ok? (dict 'status x)))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (content (length x)))").size(), 1U);
    EXPECT_EQ(problems("(define (f s c) (content (dict 'status s 'content c)))"), lines{});
    EXPECT_EQ(problems("(define (f k x) (content (dict k x)))"), lines{});
    EXPECT_EQ(problems("(define (f x) (parsed (dict 'status \"COMPLETE\" 'content x)))"), lines{});
}

TEST(check_types, results_that_are_numbers_or_booleans) {
    EXPECT_EQ(problems("(define (f x) (string-length (length x)))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (length (empty? x)))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (list (nth x (string->number x)) (+ 1 (length x)) "
                       "(string-append x (length x)) (range (index-of x 1)) (max 1 (abs x))))"),
              lines{});
}

TEST(check_types, forms_that_a_check_cannot_run) {
    EXPECT_EQ(problems("(await \"x\")"),
              (lines{"wrong-type 1:8 await: argument 1 must be a future, not the string \"x\""}));
    EXPECT_EQ(problems("(with-permit 5 1)"),
              (lines{"wrong-type 1:14 with-permit: argument 1 must be a semaphore, not the integer "
                     "5"}));
    for (const char* wrong : {"(cancel 5)", "(parse 5)", "(read-all 'a)", "(apply + 1 2)",
                              "(apply 5 '(1))", "(define (f x) (await (list x)))"})
        EXPECT_EQ(problems(wrong).size(), 1U) << wrong;
    EXPECT_EQ(problems("(define (f x s) (list (await (spawn x)) (await x) (with-permit s x) "
                       "(with-permit (semaphore 2) x) (apply + x) (apply + 1 '(2)) (parse x)))"),
              lines{});
    EXPECT_EQ(problems("(try (await 5) (catch (e) 1))"), lines{});
}

TEST(check_types, results_that_are_numbers_of_any_kind) {
    EXPECT_EQ(problems("(define (f x) (length (+ x 1)))").size(), 1U);
    EXPECT_EQ(problems("(await (+ 1 2))"),
              (lines{"wrong-type 1:8 await: argument 1 must be a future, not a number"}));
    EXPECT_EQ(problems("(define (f x) ((* x 2) 1))"),
              (lines{"wrong-type 1:16 cannot call a number: it is not a function"}));
    EXPECT_EQ(problems("(define (f x) (reduce + 0 (- x 1)))").size(), 1U);
    for (const char* good :
         {"(define (f x) (string-append \"n\" (+ x 1) (/ x 2)))",
          "(define (f xs i) (list (nth xs (- i 1)) (take xs (quotient i 2)) (range (* 2 i))))",
          "(define (f x) (if (= 0 (modulo x 2)) (+ x 1) (- x 1)))",
          "(define (f m x) (list (max (+ x 1) 2) (dict 'a (+ x 1)) (equal? (+ x 1) m)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, texts_and_counts_that_are_refused) {
    EXPECT_EQ(problems("(semaphore 0)").size(), 1U);
    EXPECT_EQ(problems("(parse \"(foo\")"),
              (lines{"wrong-type 1:8 parse: unbalanced (: the list opened at line 1, column 1 is "
                     "never closed"}));
    EXPECT_EQ(problems("(read-all \"(foo) )\")").size(), 1U);
    for (const char* good : {"(semaphore 1)", "(parse \"(foo)\")", "(read-all \"a b\")",
                             "(try (parse \"(foo\") (catch (e) 1))", "(define (f s) (parse s))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, predicates_that_are_tested_and_not_called) {
    EXPECT_EQ(problems("(define (done?) true) (if done? 1 2)"),
              (lines{"constant-condition 1:27 this condition is always true: 'done?' is a function "
                     "that is not called"}));
    EXPECT_EQ(problems("(define (big? n) (> n 1)) (define (f) (when big? 1))").size(), 1U);
    EXPECT_EQ(problems("(define (done?) true) (while done? 1)").size(), 1U);
    for (const char* good :
         {"(define (done?) true) (if (done?) 1 2)", "(define (f done?) (if done? (done?) 2))",
          "(define on-done (lambda () 1)) (if on-done (on-done) 2)",
          "(define done? nil) (set! done? (lambda () 1)) (if done? (done?) 1)"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, keys_of_case_in_quotes) {
    EXPECT_EQ(problems("(define (f x) (case x ('a 1) ('b 2) (c 3)))"),
              (lines{"quoted-key 1:24 the keys of case are data already: this one is the symbol "
                     "quote",
                     "quoted-key 1:31 the keys of case are data already: this one is the symbol "
                     "quote"}));
    EXPECT_EQ(problems("(define (f x) (case x ((quote a) 1) ((b c) 2) (else 3)))"), lines{});
}

TEST(check_types, bindings_that_are_used_before_they_have_a_value) {
    EXPECT_EQ(problems("(letrec ((a b) (b 1)) a)"),
              (lines{"used-before-definition 1:13 'b' is used here before it has a value"}));
    EXPECT_EQ(problems("(define (f) (define a (+ b 1)) (define b 1) a)").size(), 1U);
    for (const char* good :
         {"(letrec ((a 1) (b a)) b)", "(letrec ((a (lambda () b)) (b 1)) (a))",
          "(define b 5) (letrec ((a b) (b 1)) (list a b))",
          "(define (f x) (define a (if x 1 b)) (define b 1) (list a b))",
          "(define (f) (define a (map (lambda (x) (b x)) '())) (define (b x) x) a)"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, what_a_sandbox_is_certain_to_refuse) {
    // The effects are those of a host that has some: check_calls_test.cpp.
    EXPECT_EQ(problems("(define (summarise x) x) (sandbox ((allow (sumarise))) 1)"),
              (lines{"unknown-name 1:44 the sandbox allows 'sumarise', which nothing defines"}));
    for (const char* good :
         {"(define (summarise x) x) (sandbox ((allow (summarise))) (summarise 1))",
          "(sandbox ((allow (nothing-that-is-known-here))) 1)", "(sandbox ((allow ())) (+ 1 2))",
          "(define (f g) (sandbox ((allow (g map +))) (g 1)))"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, calls_of_what_is_no_function) {
    EXPECT_EQ(problems("(define limit 5) (limit 1)"),
              (lines{"wrong-type 1:19 cannot call the integer 5: it is not a function"}));
    EXPECT_EQ(problems("(define (f x) (let ((m (dict 'a x))) (m 'a)))").size(), 1U);
    EXPECT_EQ(problems("(define (f x) (let ((g (lambda (y) y)) (h car2)) (g (h x)))) "
                       "(define car2 first)"),
              lines{});
}

TEST(check_types, branches_that_run_nothing) {
    EXPECT_EQ(problems("(define (f) 1) (race (lambda () (f)) (f))"),
              (lines{"nothing-runs 1:22 race: this is a function, which nothing calls"}));
    EXPECT_EQ(problems("(define (f) 1) (race \"x\" (f))").size(), 1U);
    EXPECT_EQ(problems("(define (f) 1) (await (spawn (lambda () (f))))").size(), 1U);
    EXPECT_EQ(problems("(define (f) 1) (retry 3 (lambda () (f)))").size(), 1U);
    EXPECT_EQ(problems("(define (f) 1) (list (parallel (f) 2) (retry 3 (f)) (await (spawn (f))))"),
              lines{});
}

TEST(check_types, settings_and_counts) {
    EXPECT_EQ(problems("(with ((concurrency 0)) 1)"),
              (lines{"wrong-type 1:21 with: concurrency must be a positive integer, not 0"}));
    EXPECT_EQ(problems("(with ((on-failure 'keep)) 1)").size(), 1U);
    EXPECT_EQ(problems("(timeout \"30s\" 1)").size(), 1U);
    EXPECT_EQ(problems("(retry \"3\" 1)").size(), 1U);
    EXPECT_EQ(problems("(sandbox ((steps \"10000\")) 1)").size(), 1U);
    EXPECT_EQ(problems("(with ((cache \"no\")) 1)"),
              (lines{"wrong-type 1:15 with: cache must be true or false, not \"no\""}));
    EXPECT_EQ(problems("(with ((temprature 1)) 1)"),
              (lines{"malformed-form 1:8 with: unknown setting 'temprature'"}));
    EXPECT_EQ(problems("(with ((retries 2) (retries 3)) 3)"),
              (lines{"malformed-form 1:20 with: the setting 'retries' is repeated"}));
    EXPECT_EQ(problems("(with ((concurrency 4) (on-failure 'raise)) (timeout 1.5 2))"), lines{});
    EXPECT_EQ(problems("(define (f b) (with ((cache b)) (with ((cache (not b))) 1)))"), lines{});
}

TEST(check_types, functions_that_are_called_by_functions) {
    EXPECT_EQ(problems("(map (lambda () 1) '(1 2))"),
              (lines{"arity 1:6 map calls this function with 1 argument, but it takes 0 "
                     "arguments"}));
    EXPECT_EQ(problems("(define (add a) a)\n(reduce add 0 '(1 2))"),
              (lines{"arity 2:9 reduce calls 'add' with 2 arguments, but it takes 1 argument"}));
    EXPECT_EQ(problems("(filter (lambda (a b) a) '(1))").size(), 1U);
    EXPECT_EQ(problems("(map substring '(\"a\"))").size(), 1U);
    EXPECT_EQ(problems("(map 5 '(1))"),
              (lines{"wrong-type 1:6 map: 'f' must be a function, not the integer 5"}));
    EXPECT_EQ(problems("(map + '(1) '(2)) (map (lambda (a . b) a) '(1)) (reduce + 0 '(1))"
                       "(sort-by (lambda (x) x) '(1)) (map-settled (lambda (x) x) '(1))"),
              lines{});
    EXPECT_EQ(problems("(map (lambda (x) x) \"abc\")"),
              (lines{"wrong-type 1:21 map: argument 2 must be a list, not the string \"abc\""}));
}

TEST(check_types, functions_that_take_an_element_of_each_list) {
    EXPECT_EQ(problems("(map (lambda (a) a) (list 1) (list 2))"),
              (lines{"arity 1:6 map calls this function with 2 arguments, but it takes 1 "
                     "argument"}));
    EXPECT_EQ(problems("(define (f l) (map string-length l l))").size(), 1U);
    EXPECT_EQ(problems("(define (f l) (map (lambda (a b) a) l l l))").size(), 1U);
    EXPECT_EQ(problems("(define (f l) (list (map + l l l) (map (lambda (a &rest b) a) l l l) "
                       "(map (lambda (a &optional b) a) l l) (map substring l l) (map f l)))"),
              lines{});
}

TEST(check_types, what_an_imported_file_may_change) {
    EXPECT_EQ(problems("(define x nil)\n(import \"sets-x.heddle\")\n(+ x 1)"), lines{});
    EXPECT_EQ(problems("(define x nil)\n(import std/lists)\n(+ x 1)").size(), 1U);
    // A function of the program is not expected to be replaced.
    EXPECT_EQ(problems("(define (f a) a)\n(import \"sets-x.heddle\")\n(f 1 2)").size(), 1U);
}

TEST(check_types, functions_of_imported_libraries) {
    EXPECT_EQ(problems("(import std/lists)\n(frequencies)").size(), 1U);
    EXPECT_EQ(problems("(import std/lists)\n(sum '(1 2))"), lines{});
}

TEST(check_types, phases_and_decisions_of_loops) {
    const auto loop = [](const std::string& iterations, const std::string& director,
                         const std::string& controller) {
        return problems("(director-evaluator-loop (max-iterations " + iterations +
                        ") (initial-director-input 1)\n(director " + director +
                        ")\n(executor (lambda (plan i) plan))\n(evaluator (lambda (r p i) r))\n"
                        "(controller " +
                        controller + "))");
    };
    const std::string director = "(lambda (a i) a)";
    const std::string stop = "(lambda (f p r i) (if f (list 'stop r) (list 'continue f)))";
    EXPECT_EQ(loop("3", director, stop), lines{});
    EXPECT_EQ(loop("\"four\"", director, stop).size(), 1U);
    EXPECT_EQ(loop("3", "(lambda () 1)", stop),
              (lines{"arity 2:1 director-evaluator-loop calls this function with 2 arguments, but "
                     "it takes 0 arguments"}));
    EXPECT_EQ(loop("3", director, "(lambda (f p r i) (list 'stop))"),
              (lines{"wrong-type 5:31 a controller must return a list of two elements, not 1"}));
    EXPECT_EQ(loop("3", director, "(lambda (f p r i) (if f '(stop 1) (append (list 'stop) r)))"),
              lines{});
    EXPECT_EQ(loop("3", director, "(lambda (f p r i) (if f (list 'contine r) (list 'stop f)))"),
              (lines{"wrong-type 5:43 a controller decides 'continue or 'stop, not the symbol "
                     "contine"}));
}

TEST(check_types, kinds_of_errors_that_there_are_not) {
    EXPECT_EQ(problems("(try (f) (catch (e 'TaskErorr) 1)) (define (f) 1)"),
              (lines{"unknown-kind 1:20 no error kind is called 'TaskErorr'; this clause "
                     "never matches"}));
    EXPECT_EQ(problems("(try (f) (catch (e 'CancelledError) 1)) (define (f) 1)"),
              (lines{"unknown-kind 1:20 catch never takes a CancelledError"}));
    EXPECT_EQ(problems("(try (f) (catch (e 'TaskError) 1) (catch (e 'SexpEvaluationError) 2))"
                       "(define (f) 1)"),
              lines{});
}

TEST(check_types, what_is_caught_may_be_meant) {
    EXPECT_EQ(problems("(define (q x) x) (try (stream (q 1) 3) (catch (e) 1))"), lines{});
    EXPECT_EQ(problems("(try (map 3 (list 1)) (catch (e) 1))"), lines{});
    EXPECT_EQ(problems("(try (+ 1 \"a\") (catch (e) (get e 'message)))"), lines{});
    EXPECT_EQ(problems("(try (/ 1 0) (catch (e) 'oh))"), lines{});
}

TEST(check_types, definitions_that_replace_each_other) {
    EXPECT_EQ(problems("(define (f) 1)\n(define x 1)\n(define (f) 2)\n(f) x"),
              (lines{"redefined 3:1 'f' is defined a second time: it replaces the definition on "
                     "line 1"}));
    EXPECT_EQ(problems("(define x 1) (set! x 2) (define (f) (define x 1) x)"), lines{});
}

TEST(check_types, keys_that_a_map_is_given_twice) {
    EXPECT_EQ(problems("(define (f x) (dict \"a\" x 'b 1\n 'a 2 \"b\" x))"),
              (lines{"duplicate-key 2:2 the key a is given twice: the map has only the last value",
                     "duplicate-key 2:7 the key \"b\" is given twice: the map has only the last "
                     "value"}));
    for (const char* good :
         {"(define (f a) (dict a 1 a 2))", "(dict \"a\" (dict \"a\" 1) \"b\" \"a\")",
          "(define (f _dict) (_dict \"a\" 1 \"a\" 2))",
          "(defmacro one (key) `(dict \"a\" 1 ,key 2)) (one \"a\")",
          "(defmacro two (k l) `(dict ,k 1 ,l 2)) (two \"a\" \"a\")"})
        EXPECT_EQ(problems(good), lines{}) << good;
}

TEST(check_types, values_that_nobody_uses) {
    EXPECT_EQ(problems("1 + 2"), (lines{"unused-value 1:1 this value is unused: 1",
                                        "unused-value 1:3 this value is unused: +"}));
    EXPECT_EQ(problems("(define (f x) x 1)"), (lines{"unused-value 1:15 this value is unused: x"}));
    EXPECT_EQ(problems("\"about this file\" (define x '(1 2)) x"), lines{});
}

TEST(check_types, a_main_that_runs_twice) {
    EXPECT_EQ(problems("(define (main) 5)\n(main)"),
              (lines{"runs-twice 2:1 'main' is called here, and 'heddle run' calls it once more"}));
    EXPECT_EQ(problems("(define (main) 5) (define (again) (main))"), lines{});
}

TEST(check_types, takes_time_in_proportion) {
    const auto seconds = [](int calls) {
        std::string text = "(define (f x)\n";
        for (int i = 0; i < calls; ++i)
            text += "  (string-append (substring x 1) (format \"{}\" (nth x 1)) (- 1 x))\n";
        text += "x)";
        const double began = testing::seconds_of_processor();
        EXPECT_EQ(problems(text), lines{});
        return testing::seconds_of_processor() - began;
    };
    (void)seconds(10);
    // Once of three times, because of caches. Four times the work takes 16 times as long in
    // quadratic time, every time.
    bool is_linear = false;
    for (int tries = 0; tries < 3 && !is_linear; ++tries)
        is_linear = seconds(8000) < 8 * seconds(2000);
    EXPECT_TRUE(is_linear);
}

} // namespace
} // namespace heddle::lang
