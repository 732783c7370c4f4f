// Nesting far beyond what the native stack holds: no walk over branches, values or errors recurses.
#include "schedules.hpp"

#include "lang/value/hash.hpp"

#include <heddle/lang/equality.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>

#include <gtest/gtest.h>

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <string>

namespace heddle::lang::testing {
namespace {

constexpr std::size_t deep = 100'000;

/// On a small native stack, so that recursion shows at once.
void on_small_stack(const std::function<void()>& work) {
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
    pthread_t thread{};
    const auto run = [](void* given) -> void* {
        (*static_cast<const std::function<void()>*>(given))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, run,
                             const_cast<void*>(static_cast<const void*>(&work))),
              0);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, nullptr);
}

std::string run_deep(const std::string& program) {
    std::string shown;
    on_small_stack([&] {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{4} * 1024 * 1024 * 1024;
        shown = harness.shown(program, how);
        EXPECT_EQ(harness.permits, 0U);
    });
    return shown;
}

const std::string count = std::to_string(deep);

// The compiler went down the rest of the chain on native frames once it had failed.
TEST(depth, of_bindings_beyond_the_registers_of_a_function_is_an_error) {
    std::string bindings = "(x0 0)";
    for (std::size_t i = 1; i < deep; ++i)
        bindings += "(x" + std::to_string(i) + " x" + std::to_string(i - 1) + ")";
    for (const std::string& program :
         {"(let* (" + bindings + ") x1)", "(list (let* (" + bindings + ") x1))"}) {
        EXPECT_NE(run_deep(program).find("a function has too many values at once"),
                  std::string::npos);
        EXPECT_NE(run_deep("(eval (parse \"" + program + "\"))").find("too many values at once"),
                  std::string::npos);
    }
}

// The compiler went down what a macro had made on native frames.
TEST(depth, of_code_that_a_macro_makes_is_an_error) {
    const auto macro = [](const char* inside, const char* around, const char* code) {
        return std::string("(defmacro m () (let ((x ") + inside + ")) (loop " + count +
               " (set! x " + around + ")) " + code + ")) (m)";
    };
    for (const std::string& program : {macro("1", "(list 'list x)", "(list 'let '() x)"),
                                       macro("1", "(list x)", "(list 'let '() x)"),
                                       macro("'(unquote 1)", "(list 'a x)", "(list 'quasiquote x)"),
                                       macro("1", "(list 'list x)", "(list 'lambda '() x)"),
                                       macro("1", "(list 'list x)", "(list 'if (list 'list x))"),
                                       macro("1", "(list 'list x)", "(list 'let 5 x)")}) {
        EXPECT_NE(run_deep(program).find(program.find("'if") != std::string::npos ? "if: expects"
                                         : program.find("let 5") != std::string::npos
                                             ? "let: "
                                             : "code nested deeper than"),
                  std::string::npos)
            << program << run_deep(program);
    }
}

// A `do` becomes several forms inside each other, for which there is room.
TEST(depth, of_loops_is_nearly_that_of_other_forms) {
    const auto nest = [](const std::string& begin, const std::string& end) {
        constexpr std::size_t levels = 4500; // two lists each, perhaps: the reader takes 10,000
        std::string text = "1";
        std::string before;
        for (std::size_t i = 0; i < levels; ++i) {
            before += begin;
            text += end;
        }
        return "(define (f) " + before + text + ") (f)";
    };
    EXPECT_EQ(run_deep(nest("(let ((i 0)) ", ")")), "1");
    EXPECT_EQ(run_deep(nest("(do ((i 0 (+ i 1))) ((= i 1) ", "))")), "1");
    EXPECT_EQ(run_deep(nest("(do ((i 0 (+ i 1))) ((= i 1) 2) ", ")")), "2");
    // Quoted, it is not a loop.
    std::string quoted = "1";
    for (std::size_t i = 0; i < 9000; ++i) quoted = "(do " + quoted + ")";
    EXPECT_EQ(run_deep("(first (quote " + quoted + "))"), "do");
}

TEST(depth, cancellation_reaches_the_innermost_of_nested_maps) {
    EXPECT_EQ(run_deep("(define (down n) (if (= n 0) (pause 60) (map down (list (- n 1))))) (race "
                       "(down " +
                       count + ") (progn (pause 1) 'won))"),
              "won");
}

TEST(depth, cancellation_reaches_the_innermost_of_nested_futures) {
    EXPECT_EQ(run_deep("(define (down n) (if (= n 0) (pause 60) (await (spawn (down (- n 1)))))) "
                       "(race (down 3000) (progn (pause 1) 'won))"), // await looks at all around
              "won");
}

TEST(depth, cleanups_of_nested_branches_are_held_to_their_time) {
    EXPECT_EQ(run_deep("(define (down n) (if (= n 0) (pause 60) (map down (list (- n 1))))) "
                       "(timeout 1 (try (pause 9) (finally (down " +
                       std::to_string(deep / 4) + "))) 'late)"),
              "late");
}

TEST(depth, an_error_comes_out_of_nested_maps_with_a_bounded_trace) {
    on_small_stack([] {
        lang_harness harness;
        schedule how;
        how.memory = std::size_t{4} * 1024 * 1024 * 1024;
        const outcome ended = harness.run(
            "(define (down n) (if (= n 0) (fail-after 1 \"deep\") (map down (list (- n 1))))) "
            "(down "
            "20000)",
            how);
        ASSERT_TRUE(ended.failure);
        EXPECT_EQ(ended.failure->message(), "deep");
        const auto& trace = ended.failure->info().trace;
        EXPECT_LE(trace.size(), 256U);
        EXPECT_EQ(trace.front().what, "in 'down'");
        const auto folded = std::count_if(trace.begin(), trace.end(), [](const trace_entry& entry) {
            return entry.what.find("more lines") != std::string::npos;
        });
        EXPECT_EQ(folded, 1);
    });
}

TEST(depth, errors_that_follow_from_each_other_end) {
    EXPECT_EQ(
        run_deep("(let next ((n 0) (e nil)) (if (= n 20000) (get e 'message) (next (+ n 1) "
                 "(try (race (if e (raise e) (error \"first\")) (error \"second\")) (catch (e) "
                 "e)))))"),
        "\"second\"");
}

TEST(depth, values_of_any_depth_are_walked) {
    on_small_stack([] {
        heap_owner memory(heap::create());
        free_work work;
        const auto nested = [&](bool maps) {
            value result = value::integer(1);
            for (std::size_t i = 0; i < deep; ++i) {
                result = maps ? map_put(*memory, value::empty_map(), "k", std::move(result))
                              : list_push_back(*memory, value::empty_list(), std::move(result));
            }
            return result;
        };
        for (const bool maps : {false, true}) {
            const value one = nested(maps);
            const value other = nested(maps);
            EXPECT_TRUE(values_equal(one, other));
            EXPECT_EQ(value_hasher(*memory, work).hash(one),
                      value_hasher(*memory, work).hash(other));
            EXPECT_GT(print_value(one).size(), deep);
            const auto json = value_to_json(one);
            EXPECT_TRUE(!json || json->size() > deep);
        }
    });
}

} // namespace
} // namespace heddle::lang::testing
