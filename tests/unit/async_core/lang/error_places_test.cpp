// Errors inside of the prelude and the library name the program's line that led there.
#include "lang_harness.hpp"

#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What the terminal shows of the error that a program ends with.
std::string report(const std::string& program, const schedule& how = {}) {
    lang_harness w;
    const outcome ended = w.run(program, how);
    if (!ended.failure) return "no error";
    return render_diagnostic(error_kind_name(*ended.failure), *ended.failure, w.harness.sources());
}

void expect_own_lines_only(const std::string& program, const std::string& place) {
    for (const bool split : {false, true}) {
        schedule how;
        how.split = split;
        how.slice = split ? 1 : 2000;
        const std::string shown = report(program, how);
        EXPECT_THAT(shown, HasSubstr("--> test:" + place + "\n")) << program;
        EXPECT_THAT(shown, Not(HasSubstr("prelude/"))) << program;
        EXPECT_THAT(shown, Not(HasSubstr("std/text:"))) << program;
        EXPECT_THAT(shown, Not(HasSubstr("std/lists:"))) << program;
        EXPECT_THAT(shown, Not(HasSubstr("'%"))) << program;
    }
}

TEST(error_places, of_a_map_over_several_lists) {
    expect_own_lines_only("(define xs '(1))\n(map (lambda (a) a) xs (list 2))", "2:1");
    expect_own_lines_only("(define xs '(1))\n(list (map + xs (list \"a\")))", "2:7");
    expect_own_lines_only("(map pause '(a) '(b))", "1:1");
}

TEST(error_places, of_functions_of_the_library) {
    expect_own_lines_only("(import std/text)\n(list (chunk-text \"abc\" \"3\"))", "2:7");
    expect_own_lines_only("(import std/text)\n(chunk-text \"abc\" \"3\")", "2:1");
    expect_own_lines_only("(import std/lists)\n(sum (list 1 \"a\"))", "2:1");
    expect_own_lines_only("(import std/lists)\n(define (f xs) (sum xs))\n(f (list 1 \"a\"))",
                          "2:16");
    expect_own_lines_only("(import std/lists)\n(min-by first (list 1 2))", "2:1");
}

TEST(error_places, the_stack_names_the_call_that_a_tail_call_replaced) {
    EXPECT_THAT(report("(import std/text)\n(define (f s) (chunk-text s \"3\"))\n(f \"abc\")"),
                HasSubstr("  in 'chunk-text' (test:2:15)\n"));
}

TEST(error_places, of_functions_that_the_library_calls_are_their_own) {
    expect_own_lines_only("(import std/lists)\n(map-in-order\n  (lambda (x) (+ x \"a\"))\n  '(1))",
                          "3:15");
}

TEST(error_places, of_the_memory_limit_while_code_is_compiled) {
    schedule how;
    how.memory = std::size_t{6} * 1024 * 1024;
    for (const char* form : {"(parallel ", "(race ", "(list ", "(and ", "(case 1 ", "(try 1 "}) {
        const std::string part = form == std::string("(case 1 ")  ? "(1 (list 2)) "
                                 : form == std::string("(try 1 ") ? "(catch (e) (list 2)) "
                                                                  : "(list 2) ";
        std::string parts;
        for (std::size_t i = 0; i < 20'000; ++i) parts += part;
        const std::string shown = report("(eval '\n  " + (form + parts) + "))", how);
        EXPECT_THAT(shown, HasSubstr("memory limit")) << form << shown.substr(0, 500);
        EXPECT_THAT(shown, HasSubstr("--> test:2:")) << form << shown.substr(0, 500);
    }
}

// A loop of the program that goes through a function of the library in tail position, for ever.
TEST(error_places, tail_calls_through_the_library_take_no_room) {
    lang_harness w;
    schedule how;
    how.memory = std::size_t{16} * 1024 * 1024;
    EXPECT_EQ(w.shown("(import std/functions)\n"
                      "(define (down k n) (if (= n 0) 'done ((partial down k) (- n 1))))\n"
                      "(down 1 300000)",
                      how),
              "done");
}

} // namespace
} // namespace heddle::lang::testing
