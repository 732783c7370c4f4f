// std/lists, std/maps and std/text where neither their docstrings nor tests/language/std show it:
// the order of calls, long and deep inputs.
#include "lang_harness.hpp"

#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

TEST(std_lists, functions_are_called_one_after_another) {
    lang_harness harness;
    harness.run("(import std/lists)");
    EXPECT_EQ(harness.shown("(map-in-order (lambda (x) (pause (- 5 x)) (note x)) '(1 2 3))"),
              "(1 2 3)");
    EXPECT_EQ(harness.notes, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(harness.peak_pending, 1U);
    EXPECT_EQ(harness.shown("(find (lambda (x) (note x) (> x 1)) '(1 2 3))"), "2");
    EXPECT_EQ(harness.notes, (std::vector<std::string>{"1", "2"})) << "no further than needed";
}

TEST(std_lists, long_lists_take_linear_time) {
    lang_harness harness;
    harness.run("(import std/lists)(define xs (range 200000))");
    schedule how;
    how.steps = 40'000'000; // a hundred or so for an element: quadratic ones do not end in time
    EXPECT_EQ(harness.shown("(length (flat-map list (interleave (map-in-order - xs) xs)))", how),
              "400000");
    EXPECT_EQ(harness.shown("(length (windows (interpose (scan + 0 xs) 0) 3))", how), "399999");
    EXPECT_EQ(harness.shown("(length (keys (frequencies (unique-by abs xs))))", how), "200000");
}

TEST(std_maps, a_map_of_any_depth_is_merged) {
    lang_harness harness;
    harness.run("(import std/maps)");
    EXPECT_EQ(
        harness.shown("(define (deep n x) (if (= n 0) x (deep (- n 1) (dict 'a x))))"
                      "(define m (deep-merge (deep 20000 (dict 'x 1)) (deep 20000 (dict 'y 2))))"
                      "(get-in m (map (lambda (i) 'a) (range 20000)))"),
        "(dict \"x\" 1 \"y\" 2)");
}

TEST(std_text, chunks_fit_their_budget_and_lose_nothing) {
    lang_harness harness;
    harness.run(R"((import std/text)(define text (string-join (map (lambda (i) (string-append
        "Sentence " i " is of " (* i i) " words! "
        (if (= 0 (modulo i 7)) "経糸と緯糸。" "")
        (if (= 0 (modulo i 5)) "\n\n" "")
        (if (= 0 (modulo i 50)) (string-replace (format "{}" (range 60)) " " "") ""))) (range 200)) " "))
        (define (bare s) (regex-replace "\\s+" s "")))");
    for (const char* budget : {"1", "2", "7", "30", "100", "100000"}) {
        const std::string chunks = "(chunk-text text " + std::string(budget) + ")";
        EXPECT_EQ(harness.shown("(string=? (bare text) (bare (string-join " + chunks + " \"\")))"),
                  "true")
            << budget;
        EXPECT_EQ(harness.shown("(<= (apply max (map estimate-tokens " + chunks + ")) " +
                                std::string(budget) + ")"),
                  "true")
            << budget;
    }
    EXPECT_EQ(
        harness.shown("(define parts (chunk-text text 40 10)) (list (<= (apply max (map "
                      "estimate-tokens parts)) 40) (all? (lambda (i) (string-contains? (nth "
                      "parts i) (substring (nth parts (+ i 1)) 0 5))) (range (- (length parts) "
                      "1))))"),
        "(true true)")
        << "each chunk begins with words of the one before it";
}

TEST(std_text, a_megabyte_takes_linear_time) {
    lang_harness harness;
    harness.run(
        "(import std/text)(define (grow s n) (if (= n 0) s (grow (string-append s s) (- n 1))))");
    schedule how;
    how.steps = 40'000'000;
    EXPECT_EQ(harness.shown("(> (length (chunk-text (grow \"warp weft. \" 17) 50 10)) 1000)", how),
              "true");
    EXPECT_EQ(harness.shown("(> (length (chunk-text (grow \"経a\" 17) 50)) 1000)", how), "true");
    EXPECT_EQ(harness.shown("(length (code-blocks (grow \"```\\na\\n```\\n\" 15)))", how), "32768");
}

} // namespace
} // namespace heddle::lang::testing
