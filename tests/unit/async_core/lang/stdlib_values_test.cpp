// std/results, std/functions, std/lists, std/maps and std/text where their docstrings show nothing:
// empty values, wrong types, long inputs.
#include "lang_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct expectation {
    const char* program;
    const char* shown; ///< the value, or how the error begins
};

void expect_all(std::string_view module, std::initializer_list<expectation> all) {
    lang_world world;
    world.run("(import std/" + std::string(module) + ")");
    for (const expectation& each : all) {
        EXPECT_THAT(world.shown(each.program), StartsWith(each.shown)) << each.program;
    }
}

constexpr auto sample_results =
    "(define good (dict 'status \"COMPLETE\" 'content \"g\" 'notes (dict 'usage (dict "
    "'input_tokens 3 'output_tokens 4 'requests 1 'cost_usd 0.5 'latency_ms 10))))"
    "(define bad (dict 'status \"FAILED\" 'content \"b\" 'notes (dict 'error (dict 'reason "
    "\"llm_error\" 'message \"down\") 'usage (dict 'input_tokens nil 'requests 2))))";

TEST(std_results, sort_results_by_how_they_ended) {
    lang_world world;
    world.run(std::string("(import std/results)") + sample_results);
    EXPECT_EQ(world.shown("(map content (successes (list good bad good)))"), "(\"g\" \"g\")");
    EXPECT_EQ(world.shown("(length (failures (list good bad good)))"), "1");
    EXPECT_EQ(world.shown("(let ((p (partition-results (list bad good)))) (list (length (get p "
                          "'ok)) (length (get p 'failed))))"),
              "(1 1)");
    EXPECT_EQ(world.shown("(failure-reasons (list bad good bad))"), "(dict \"llm_error\" 2)");
    EXPECT_EQ(world.shown("(failure-message bad)"), "\"down\"");
    EXPECT_EQ(world.shown("(content-or bad 7)"), "7");
}

TEST(std_results, add_up_what_is_known) {
    lang_world world;
    world.run(std::string("(import std/results)") + sample_results);
    EXPECT_EQ(world.shown("(total-usage (list good good))"),
              "(dict \"input_tokens\" 6 \"output_tokens\" 8 \"cached_tokens\" 0 \"requests\" 2 "
              "\"latency_ms\" 20 \"cost_usd\" 1.0 \"estimated\" false)");
    EXPECT_EQ(world.shown("(get (total-usage (list good bad)) 'cost_usd)"), "nil");
    EXPECT_EQ(world.shown("(get (total-usage (list good bad)) 'requests)"), "3");
    EXPECT_EQ(world.shown("(total-tokens (list good bad))"), "7");
}

TEST(std_results, require_ok_raises_what_went_wrong) {
    lang_world world;
    world.run(std::string("(import std/results)") + sample_results);
    EXPECT_THAT(world.shown("(require-ok bad)"), StartsWith("TaskError: content: the result is"));
    EXPECT_EQ(world.shown("(require-ok (list good bad bad) \"reviews\")"),
              "UserError: 2 of 3 reviews failed: down");
    EXPECT_EQ(world.shown("(length (require-ok (list good good)))"), "2");
    EXPECT_THAT(world.shown("(require-ok 7)"), StartsWith("TypeError"));
    EXPECT_THAT(world.shown("(successes 7)"),
                StartsWith("TypeError: successes: argument 1 must be a list of task results"));
    EXPECT_THAT(world.shown("(successes '(7))"), StartsWith("TypeError: ok?"));
}

TEST(std_functions, take_any_callable) {
    expect_all("functions", {{"((constantly 1))", "1"},
                             {"((compose (lambda (x) (* 2 x)) +) 1 2 3)", "12"},
                             {"((partial map) - '(1 2))", "(-1 -2)"},
                             {"(pipeline 3 - abs)", "3"},
                             {"((juxtapose) 1)", "()"},
                             {"((complement <) 1 2)", "false"},
                             {"((flip -) 1)", "ArityError"}});
}

TEST(std_lists, of_nothing_and_of_wrong_things) {
    expect_all("lists",
               {{"(map-in-order - '())", "()"},
                {"(map-indexed + '())", "()"},
                {"(flat-map list '())", "()"},
                {"(flat-map - '(1))", "TypeError: flat-map: what the function gives"},
                {"(zip-with + '() '(1))", "()"},
                {"(take-while not '())", "()"},
                {"(drop-while number? '(1 2))", "()"},
                {"(find number? '())", "nil"},
                {"(find-index number? '(a b))", "nil"},
                {"(count-if number? '())", "0"},
                {"(sum '(1 \"2\"))", "TypeError"},
                {"(mean '())", "SexpEvaluationError: mean: the list is empty"},
                {"(median '())", "SexpEvaluationError: median: the list is empty"},
                {"(min-by abs '())", "SexpEvaluationError: min-by: the list is empty"},
                {"(max-by abs '(-2 2))", "-2"},
                {"(min-by abs '(2 -2))", "2"},
                {"(windows '(1 2) 3)", "()"},
                {"(windows '(1 2) 0)", "TypeError: windows: argument 2 must be a positive integer"},
                {"(windows '(1 2) 1 0)", "TypeError: windows: argument 3"},
                {"(windows '(1 2 3) 1 2)", "((1) (3))"},
                {"(interleave '(1) '())", "()"},
                {"(interleave 1)", "TypeError: interleave"},
                {"(interpose '() 1)", "()"},
                {"(interpose '(1) 2)", "(1)"},
                {"(frequencies '())", "(dict)"},
                {"(frequencies '(1 1.5 \"1\"))", "(dict \"1\" 2 \"1.5\" 1)"},
                {"(unique-by identity-of '())", "UnboundSymbolError"},
                {"(unique-by abs '(1 -1 2))", "(1 2)"},
                {"(scan + 0 '())", "(0)"},
                {"(repeat-value 0 'a)", "()"},
                {"(repeat-value -1 'a)", "TypeError: repeat-value"},
                {"(map-in-order - nil)", "TypeError: map-in-order: argument 2 must be a list"},
                {"(take-while - \"x\")", "TypeError: take-while"}});
}

TEST(std_lists, functions_are_called_one_after_another) {
    lang_world world;
    world.run("(import std/lists)");
    EXPECT_EQ(world.shown("(map-in-order (lambda (x) (pause (- 5 x)) (note x)) '(1 2 3))"),
              "(1 2 3)");
    EXPECT_EQ(world.notes, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(world.most_pending, 1U);
    EXPECT_EQ(world.shown("(find (lambda (x) (note x) (> x 1)) '(1 2 3))"), "2");
    EXPECT_EQ(world.notes, (std::vector<std::string>{"1", "2"})) << "no further than needed";
}

TEST(std_lists, long_lists_take_linear_time) {
    lang_world world;
    world.run("(import std/lists)(define xs (range 200000))");
    schedule how;
    how.steps = 40'000'000; // a hundred or so for an element: quadratic ones do not end in time
    EXPECT_EQ(world.shown("(length (flat-map list (interleave (map-in-order - xs) xs)))", how),
              "400000");
    EXPECT_EQ(world.shown("(length (windows (interpose (scan + 0 xs) 0) 3))", how), "399999");
    EXPECT_EQ(world.shown("(length (keys (frequencies (unique-by abs xs))))", how), "200000");
}

TEST(std_maps, of_nothing_and_of_wrong_things) {
    expect_all("maps",
               {{"(update (dict) 'a list)", "(dict \"a\" (nil))"},
                {"(put-in nil '(a b) 1)", "(dict \"a\" (dict \"b\" 1))"},
                {"(put-in (dict 'a 1) '() 2)", "2"},
                {"(put-in (dict 'a 1) '(a b) 2)", "TypeError"},
                {"(put-in (dict 'a '(1 2)) '(a 0) 2)", "(dict \"a\" (2 2))"},
                {"(put-in (dict) 'a 2)", "TypeError: put-in: argument 2 must be a list"},
                {"(update-in (dict 'a (dict 'b 2)) '(a b) -)", "(dict \"a\" (dict \"b\" -2))"},
                {"(map-values - (dict))", "(dict)"},
                {"(map-values - '(1))", "TypeError: map-values: argument 2 must be a map"},
                {"(map-keys (lambda (k) \"same\") (dict 'a 1 'b 2))", "(dict \"same\" 2)"},
                {"(select-keys (dict 'a nil) '(a))", "(dict \"a\" nil)"},
                {"(omit-keys (dict 'a 1) '(a a))", "(dict)"},
                {"(from-entries (entries (dict 'a 1 'b 2)))", "(dict \"a\" 1 \"b\" 2)"},
                {"(zip-map '() '(1))", "(dict)"},
                {"(index-by first '((a 1) (b 2) (a 3)))", "(dict \"a\" (a 3) \"b\" (b 2))"},
                {"(deep-merge (dict 'a (dict 'x 1)) (dict 'a 2))", "(dict \"a\" 2)"},
                {"(deep-merge (dict 'a 2) (dict 'a (dict 'x 1)))", "(dict \"a\" (dict \"x\" 1))"},
                {"(deep-merge (dict) 1)", "TypeError: deep-merge"},
                {"(filter-entries (lambda (k v) v) (dict 'a 0 'b 1))", "(dict \"b\" 1)"}});
}

TEST(std_maps, a_map_of_any_depth_is_merged) {
    lang_world world;
    world.run("(import std/maps)");
    EXPECT_EQ(
        world.shown("(define (deep n x) (if (= n 0) x (deep (- n 1) (dict 'a x))))"
                    "(define m (deep-merge (deep 20000 (dict 'x 1)) (deep 20000 (dict 'y 2))))"
                    "(get-in m (map (lambda (i) 'a) (range 20000)))"),
        "(dict \"x\" 1 \"y\" 2)");
}

TEST(std_text, of_nothing_and_of_wrong_things) {
    expect_all("text",
               {{"(lines \"\\n\")", "(\"\")"},
                {"(lines \"a\\r\\nb\\rc\")", "(\"a\" \"b\" \"c\")"},
                {"(lines nil)", "TypeError: lines: argument 1 must be a string"},
                {"(words \"\")", "()"},
                {"(paragraphs \"\\n\\n\")", "()"},
                {"(sentences \"\")", "()"},
                {"(sentences \"経糸。緯糸！ok\")", "(\"経糸。\" \"緯糸！\" \"ok\")"},
                {"(truncate-words \"\" 3)", "\"\""},
                {"(truncate-words \"a  b c\" 2 \"\")", "\"a  b\""},
                {"(truncate-words \"a\" -1)", "TypeError: truncate-words: argument 2"},
                {"(estimate-tokens 1)", "TypeError: estimate-tokens"},
                {"(chunk-text \"a\" 0)", "TypeError: chunk-text: argument 2"},
                {"(chunk-text \"a\" 4 3)", "SexpEvaluationError: chunk-text: an overlap of 3"},
                {"(chunk-text \"a\" 4 -1)", "TypeError: chunk-text: argument 3"},
                {"(chunk-text \"\" 4)", "()"},
                {"(chunk-text \"abcdefgh\" 1)", "(\"abcd\" \"efgh\")"},
                {"(chunk-text \"経糸\" 1)", "(\"経\" \"糸\")"},
                {"(join-blocks '())", "\"\""},
                {"(join-blocks '(1))", "TypeError"},
                {"(code-blocks \"```\\na\")", "((dict \"language\" \"\" \"text\" \"a\"))"},
                {"(code-blocks \"```\\n```\")", "((dict \"language\" \"\" \"text\" \"\"))"},
                {"(extract-code-block \"~~~~ c++ x\\n```\\n~~~\\n~~~~\")", "\"```\\n~~~\""},
                {"(extract-code-block \"```c\\nx\\n```\" \"py\")", "nil"},
                {"(number-lines \"\")", "\"\""},
                {"(number-lines \"a\" 10)", "\"10: a\\n\""},
                {"(indent-lines \"\" \" \")", "\"\""}});
}

TEST(std_text, chunks_fit_their_budget_and_lose_nothing) {
    lang_world world;
    world.run(R"((import std/text)(define text (string-join (map (lambda (i) (string-append
        "Sentence " i " is of " (* i i) " words! "
        (if (= 0 (modulo i 7)) "経糸と緯糸。" "")
        (if (= 0 (modulo i 5)) "\n\n" "")
        (if (= 0 (modulo i 50)) (string-replace (format "{}" (range 60)) " " "") ""))) (range 200)) " "))
        (define (bare s) (regex-replace "\\s+" s "")))");
    for (const char* budget : {"1", "2", "7", "30", "100", "100000"}) {
        const std::string chunks = "(chunk-text text " + std::string(budget) + ")";
        EXPECT_EQ(world.shown("(string=? (bare text) (bare (string-join " + chunks + " \"\")))"),
                  "true")
            << budget;
        EXPECT_EQ(world.shown("(<= (apply max (map estimate-tokens " + chunks + ")) " +
                              std::string(budget) + ")"),
                  "true")
            << budget;
    }
    EXPECT_EQ(world.shown("(define parts (chunk-text text 40 10)) (list (<= (apply max (map "
                          "estimate-tokens parts)) 40) (all? (lambda (i) (string-contains? (nth "
                          "parts i) (substring (nth parts (+ i 1)) 0 5))) (range (- (length parts) "
                          "1))))"),
              "(true true)")
        << "each chunk begins with words of the one before it";
}

TEST(std_text, a_megabyte_takes_linear_time) {
    lang_world world;
    world.run(
        "(import std/text)(define (grow s n) (if (= n 0) s (grow (string-append s s) (- n 1))))");
    schedule how;
    how.steps = 40'000'000;
    EXPECT_EQ(world.shown("(> (length (chunk-text (grow \"warp weft. \" 17) 50 10)) 1000)", how),
              "true");
    EXPECT_EQ(world.shown("(> (length (chunk-text (grow \"経a\" 17) 50)) 1000)", how), "true");
    EXPECT_EQ(world.shown("(length (code-blocks (grow \"```\\na\\n```\\n\" 15)))", how), "32768");
}

} // namespace
} // namespace heddle::lang::testing
