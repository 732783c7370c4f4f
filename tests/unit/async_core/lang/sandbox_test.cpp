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

/// What needs the effects of the harness. The rest is in tests/language/sandbox.
struct example {
    const char* program;
    const char* expected; ///< or the beginning of it
};

const example limited[] = {
    {"(sandbox ((timeout 5) (allow (pause))) (pause 10))", "TimeoutError"},
    {"(try (sandbox ((timeout 5) (allow (pause))) (pause 10)) (catch (e) (get e 'kind)))",
     "\"TimeoutError\""},
    {"(sandbox ((calls 1) (allow (pause))) (list (pause 1) (pause 2)))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 1) (allow (pause))) (try (list (pause 1) (pause 2)) (catch (e) (get e "
     "'kind))))",
     "LimitError: the sandbox allows 1 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 2) (allow (pause))) (map-settled pause '(1 2 3)))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    {"(sandbox ((calls 2) (allow (pause))) (progn (loop 9 (try (pause 1) (catch (e) 1))) 'on))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    // steps that end before a slice does
    {"(sandbox ((steps 1000) (allow (pause))) (loop 1000 (progn (loop 50 1) (pause 0))))",
     "LimitError: the sandbox allows 1000 steps, and they are used up"},
    // in a computation that nobody awaits
    {"(sandbox ((allow (pause)) (calls 0)) (let ((f (spawn (pause 1)))) (sleep 1) 1))",
     "LimitError: the sandbox allows 0 calls of tasks and tools, and they are used up"},
    // of a function that was made inside, and is called by the program afterwards
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (calls 2)) (eval '(keep (lambda () (pause 1)))))"
     "(list (kept) (kept) (kept))",
     "LimitError: the sandbox allows 2 calls of tasks and tools, and they are used up"},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (timeout 5)) (eval '(keep (lambda () (pause 10)))))"
     "(pause 100) (try (kept) (catch (e) (get e 'kind)))",
     "\"TimeoutError\""},
    {"(define kept nil) (define (keep f) (set! kept f) 1)"
     "(sandbox ((allow (keep pause)) (timeout 5)) (eval '(keep (lambda () (pause 4)))))"
     "(list (kept) (kept))",
     "(4 4)"},
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

// An error was enough: what its cleanup did was not bounded by the steps of the sandbox, nor was
// what came after it in the same slice.
TEST(sandbox, cleanups_share_ten_million_steps_beyond_its_own) {
    constexpr std::string_view used_up = "LimitError: the steps of this sandbox are used up";
    for (const char* code :
         {"(try (error \"y\") (finally (while true 1)))",
          "(try (try (error \"y\") (finally (while true 1))) (catch (e) 'caught))",
          "(while true (try (try (error \"y\") (finally (loop 30000000 1))) (catch (e) 1)))",
          "(sandbox ((steps 100000000)) (try (error \"y\") (finally (while true 1))))",
          "(while true (timeout 0.001 (try (sleep 10) (finally (while true 1))) 1))"}) {
        lang_harness harness;
        const std::string shown =
            harness.shown("(sandbox ((steps 200)) (eval '" + std::string(code) + "))");
        EXPECT_TRUE(shown.starts_with("LimitError")) << code << ": " << shown;
        EXPECT_LT(harness.runs, 20'000) << code; // slices
    }
    // Only functions of the sandbox end: the program's cleanup has steps left.
    lang_harness harness;
    EXPECT_EQ(
        harness.shown("(define f nil) (define (keep x) (set! f x)) (define said '())"
                      "(try (sandbox ((steps 1000) (allow (keep)))"
                      "       (keep (lambda () ((lambda () 42))))"
                      "       (try (while true 1) (finally (while true 1)))) (catch (e) nil))"
                      "(try (timeout 0.05 (try (sleep 100)"
                      "       (finally (try (f) (catch (e) (set! said (cons (get e 'kind) said))))"
                      "                (set! said (cons 'released said))))) (catch (e) nil))"
                      "said"),
        "(released \"LimitError\")");
    // A function that the sandbox made has what is left.
    const std::string shown = harness.shown(
        "(sandbox ((steps 200)) (let ((f (lambda () (try (error \"y\") (finally (while true 1))))))"
        " (try (f) (catch (e) (f)))))");
    EXPECT_TRUE(shown.starts_with(used_up)) << shown;
}

// As in machine_test.cpp: a cancellation that comes after the last wait and safe point of a program
// comes too late, and the program's own outcome is right.
TEST(sandbox, cancellation_at_any_step_ends_cleanly) {
    for (const example& one : limited) {
        for (std::int64_t k = 0; k < 30; ++k) {
            lang_harness harness;
            schedule how;
            how.slice = 20;
            how.split = true;
            how.cancel_at = k;
            const std::string shown = harness.shown(one.program, how);
            const bool asked = harness.runs > k;
            EXPECT_TRUE(shown.starts_with(one.expected) ||
                        (asked && shown.starts_with("CancelledError")))
                << one.program << " at " << k << ": " << shown;
            if (!asked) break;
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
