// The workflow patterns with functions in the place of tasks, under every kind of schedule. What
// they do with tasks and a model is in tests/unit/async_core/tasks.
#include "lang_harness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::lang::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto helpers = R"(
    (define (failed message)
      (dict 'status "FAILED" 'content "" 'notes (dict 'error (dict 'reason "llm_error"
                                                                   'message message))))
    (define (done text) (dict 'status "COMPLETE" 'content text 'notes (dict)))
    (define (answers . all) (lambda (input i) (nth all (- i 1))))
    (define (asked n) (dict 'numbered true 'stop-early false))
    (define (at m . ks) (map (lambda (k) (get m k)) ks))
)";

class patterns : public ::testing::TestWithParam<int> {
protected:
    /// Slices of any length, branches split off or not, concurrency of 64 or 1.
    static schedule how() {
        schedule result;
        result.slice = GetParam() == 0 ? 2000 : 1;
        result.split = GetParam() == 2;
        if (GetParam() == 3) result.concurrency = 1;
        return result;
    }
    void load(std::string_view module) {
        harness.run("(import std/" + std::string(module) + ")" + helpers);
    }
    std::string shown(const std::string& program) { return harness.shown(program, how()); }

    lang_harness harness;
};

INSTANTIATE_TEST_SUITE_P(schedules, patterns, ::testing::Values(0, 1, 2, 3));

TEST_P(patterns, vote_of_a_tie_goes_to_the_first_sample) {
    load("voting");
    for (const char* order : {"(- 10 i)", "i"}) { // whoever ends first
        EXPECT_EQ(shown("(at (majority-vote (lambda (q i) (pause " + std::string(order) +
                        ") (nth '(b a a b) (- i 1))) \"?\" 4 (asked 4)) 'answer 'tie 'votes)"),
                  "(b true 2)");
    }
}

TEST_P(patterns, vote_ends_the_rest_once_the_winner_is_certain) {
    load("voting");
    EXPECT_EQ(shown("(at (majority-vote (lambda (q i) (try (pause i) (finally (note i))) (if (= i "
                    "2) 'no 'yes)) \"?\" 7 (dict 'numbered true)) 'answer 'votes 'calls "
                    "'stopped-early)"),
              "(yes 4 5 true)");
    EXPECT_FALSE(harness.stuck);
    EXPECT_EQ(harness.notes.size(), GetParam() == 3 ? 5U : 7U)
        << "branches in flight were cancelled";
}

TEST_P(patterns, vote_is_cancelled_at_any_step) {
    for (std::int64_t k = 0; k < 60; k += 3) {
        lang_harness one;
        one.run("(import std/voting)");
        schedule at = how();
        at.cancel_at = k;
        const std::string shown = one.shown(
            "(get (majority-vote (lambda (q i) (pause 1) 'a) \"?\" "
            "9 (dict 'numbered true)) 'answer)",
            at);
        EXPECT_TRUE(shown == "a" || shown.rfind("CancelledError", 0) == 0) << k << ": " << shown;
    }
}

TEST_P(patterns, best_of_reads_scores_as_people_write_them) {
    load("best-of");
    const auto score = [&](const std::string& verdict) {
        return shown("(get (best-of (lambda (q) q) (lambda (q x) " + verdict +
                     ") \"?\" 1) 'score)");
    };
    EXPECT_EQ(score("\" 7.5 \""), "7.5");
    EXPECT_EQ(score("\"+8 / 10\""), "8");
    EXPECT_EQ(score("\"I like it.\\n**Score:** 9/10\""), "9");
    EXPECT_EQ(score("\"The score is -2\""), "-2");
    EXPECT_EQ(score("\"score = -0.5.\""), "-0.5");
    EXPECT_EQ(score("(dict 'score \"6/10\")"), "6");
    EXPECT_EQ(score("\"Well: {\\\"score\\\": 3}!\""), "3");
    for (const char* none : {"\"7 of 10\"", "\"underscore 3\"", "\"score: high\"", "'(7)",
                             "(dict 'points 7)", "\"99999999999999999999\"", "false"}) {
        EXPECT_THAT(score(none), StartsWith("UserError: best-of: the judge returned a valid score"))
            << none;
    }
}

TEST_P(patterns, refine_takes_nothing_but_true_for_acceptance) {
    load("refine");
    for (const char* verdict :
         {"\"yes\"", "1", "(dict 'accept 1)", "(dict 'accept \"true\")", "'()", "\"true\"",
          "(done \"accept: true\")", "\"{\\\"accept\\\":\"", "(dict)", "\"[true]\""}) {
        EXPECT_EQ(
            shown("(get (refine-until (lambda (q) \"d\") (lambda (q d) " + std::string(verdict) +
                  ") (lambda (q d f) (if (string? f) d (nth f 1))) \"?\") 'accepted)"),
            "false")
            << verdict;
    }
}

TEST_P(patterns, verification_answers_questions_and_revises) {
    load("verification");
    const std::string chain =
        "(verify-chain (lambda (q) \"draft\") (lambda (q d) PLAN) (lambda "
        "(question) (if (string-contains? question \"no\") (failed \"x\") "
        "(string-upcase question))) (lambda (q d findings) (string-join (map "
        "(lambda (f) (get f 'answer)) findings) \"+\")) \"?\" (dict "
        "'max-questions 3))";
    const auto with = [&](const std::string& plan) {
        std::string text = chain;
        text.replace(text.find("PLAN"), 4, plan);
        return shown("(at " + text + " 'answer 'revised 'questions 'calls)");
    };
    EXPECT_EQ(with("'(\"a\" \"b\")"), "(\"A+B\" true (\"a\" \"b\") 5)");
    EXPECT_EQ(with("(dict 'questions (list (dict 'question \"a\") 7 nil \"a\"))"),
              "(\"A\" true (\"a\") 4)");
    EXPECT_EQ(with("\"1. a?\\n\\n- b?\\n2) c\\n* d\""),
              "(\"A?+B?+C\" true (\"a?\" \"b?\" \"c\") 6)");
    EXPECT_EQ(with("\"{\\\"questions\\\": [\\\"a\\\", \\\"no\\\"]}\""),
              "(\"A\" true (\"a\" \"no\") 5)");
    for (const char* none : {"'()", "\"\"", "7", "true", "nil", "(dict)", "\"[]\"", "\"{}\"",
                             "(dict 'questions 3)", "'(1 2)"}) {
        EXPECT_EQ(with(none), "(\"draft\" false () 2)") << none;
    }
    EXPECT_EQ(with("'(\"no\" \"none\")"), "UserError: verify-chain: all 2 questions failed: x");
    EXPECT_EQ(with("(failed \"busy\")"),
              "UserError: verify-chain: the plan of questions failed: busy");
}

TEST_P(patterns, tournament_ranks_by_points) {
    load("tournament");
    const std::string more =
        "(lambda (a b) (cond ((> a b) \"A\") ((< a b) (dict 'winner \"b\")) "
        "(else 0)))";
    EXPECT_EQ(shown("(let ((t (tournament " + more +
                    " '(2 9 2 5)))) (list (at t 'answer 'rounds 'calls) (map (lambda (one) (at one "
                    "'candidate 'number 'points 'wins 'draws 'losses)) (get t 'ranking))))"),
              "((9 1 6) ((9 2 3 3 0 0) (5 4 2 2 0 1) (2 1 0.5 0 1 2) (2 3 0.5 0 1 2)))");
    EXPECT_EQ(shown("(at (tournament " + more + " '(7)) 'answer 'calls 'rounds)"), "(7 0 0)");
    EXPECT_EQ(shown("(tournament " + more + " '())"),
              "SexpEvaluationError: tournament: there are no candidates");
}

TEST_P(patterns, tournament_takes_garbage_for_draws) {
    load("tournament");
    for (const char* garbage : {"\"\"", "3", "true", "nil", "'()", "\"A and B\"",
                                "(dict 'winner 7)", "(failed \"x\")", "\"{\""}) {
        EXPECT_EQ(
            shown("(let ((t (tournament (lambda (a b) (if (eq? b 'c) 2 " + std::string(garbage) +
                  ")) '(a b c)))) (list (get t 'answer) (length (get t 'failed))))"),
            "(c 1)")
            << garbage;
        EXPECT_THAT(shown("(tournament (lambda (a b) " + std::string(garbage) + ") '(a b))"),
                    StartsWith("UserError: tournament: all 1 comparisons failed: "))
            << garbage;
    }
}

TEST_P(patterns, tournament_of_many_is_a_swiss_system) {
    load("tournament");
    const std::string more = "(lambda (a b) (if (> a b) 1 2))";
    EXPECT_EQ(shown("(at (tournament " + more + " (range 16)) 'answer 'rounds 'calls)"),
              "(15 4 32)");
    EXPECT_EQ(shown("(at (tournament " + more + " (range 11)) 'answer 'rounds 'calls)"),
              "(10 4 20)");
    EXPECT_EQ(shown("(let ((t (tournament " + more +
                    " (range 9) (dict 'rounds 8)))) (list (get t 'answer) (map (lambda (one) (get "
                    "one 'candidate)) (take (get t 'ranking) 3)) (length (unique (map (lambda (m) "
                    "(get m 'first)) (filter (lambda (m) (null? (get m 'second))) (get t "
                    "'matches)))))))"),
              "(8 (8 7 6) 8)")
        << "in eight rounds nobody has two byes";
    EXPECT_THAT(shown("(tournament " + more + " '(1 2) (dict 'format \"knockout\"))"),
                StartsWith("SexpEvaluationError: tournament: the option format"));
    EXPECT_EQ(shown("(at (tournament " + more +
                    " '(1 2) (dict 'format 'swiss 'rounds 3)) 'answer 'calls)"),
              "(2 3)")
        << "two may meet again";
}

TEST_P(patterns, map_reduce_keeps_the_order_at_all_levels) {
    load("map-reduce");
    harness.run(
        "(define text (string-join (map (lambda (i) (format \"Line {}.\" (+ 100 i))) (range "
        "30)) \"\\n\\n\"))"
        "(define most 0)"
        "(define (number chunk) (pause (- 200 (string->number (substring chunk 5 8)))) "
        "(substring chunk 6 8))"
        "(define (joined parts) (set! most (max most (string-length parts))) (pause 1) "
        "(string-replace parts \"\\n\\n\" \"\"))");
    EXPECT_EQ(
        shown("(at (map-reduce-text number joined text (dict 'tokens 3)) 'chunks 'levels)"),
        "UserError: map-reduce-text: partial answers of up to 2 tokens cannot be put together "
        "in calls of 3 tokens; ask for shorter answers, or give more tokens")
        << "joining alone makes nothing shorter: 30 pieces of two digits are 15 tokens";
    EXPECT_EQ(shown("(at (map-reduce-text number joined (substring text 0 99) (dict 'tokens 5)) "
                    "'answer 'chunks 'levels 'calls)"),
              "(\"0002040608\" 5 (5) 6)");
    EXPECT_EQ(
        shown("(set! most 0) (let ((m (map-reduce-text number (lambda (parts) (set! most (max "
              "most (string-length parts))) (pause 1) (let ((all (regex-match-all \"[0-9]+\" "
              "parts))) (string-append (first all) \"-\" (last all)))) text (dict 'tokens "
              "3)))) (list (at m 'answer 'chunks 'levels) (<= most 12)))"),
        "((\"00-29\" 30 (30 10 5 3 2)) true)");
}

TEST_P(patterns, map_reduce_follows_its_policy_for_failures) {
    load("map-reduce");
    harness.run(
        "(define (reads chunk) (cond ((string-contains? chunk \"bad\") (failed \"no\")) "
        "((string-contains? chunk \"blank\") \" \") (else (substring chunk 0 1))))"
        "(define (joined parts) (string-replace parts \"\\n\\n\" \"\"))"
        "(define text \"alpha 1.\\n\\nbad 2 bad.\\n\\nblank 3.\\n\\nomega 4.\")");
    EXPECT_EQ(shown("(let ((m (map-reduce-text reads joined text (dict 'tokens 3 'on-failure "
                    "'skip)))) (list (at m 'answer 'chunks 'calls) (map (lambda (one) (at one "
                    "'chunk 'reason)) (get m 'skipped))))"),
              "((\"ao\" 4 5) ((2 \"llm_error\") (3 \"empty_answer\")))");
    EXPECT_EQ(shown("(map-reduce-text reads joined text (dict 'tokens 3))"),
              "UserError: map-reduce-text: 2 of 4 chunks failed: no; the answer is empty");
    EXPECT_EQ(shown("(map-reduce-text reads joined \"bad\" (dict 'on-failure \"skip\"))"),
              "UserError: map-reduce-text: 1 of 1 chunks failed: no");
    EXPECT_EQ(shown("(map-reduce-text reads (lambda (s) (failed \"off\")) \"good\")"),
              "UserError: map-reduce-text: the reduce task failed: off");
    EXPECT_EQ(shown("(map-reduce-text reads joined \" \\n\")"),
              "UserError: map-reduce-text: the text is blank");
    EXPECT_THAT(shown("(map-reduce-text reads joined 7)"), StartsWith("TypeError"));
    EXPECT_THAT(shown("(map-reduce-text reads joined \"a\" (dict 'tokens 0))"),
                StartsWith("SexpEvaluationError: map-reduce-text: the option tokens"));
    EXPECT_THAT(shown("(map-reduce-text reads joined \"a\" (dict 'on-failure 'ignore))"),
                StartsWith("SexpEvaluationError: map-reduce-text: the option on-failure"));
}

TEST_P(patterns, map_reduce_refuses_answers_that_do_not_shrink) {
    load("map-reduce");
    EXPECT_THAT(shown("(map-reduce-text (lambda (c) c) (lambda (s) s) \"One two three. Four five "
                      "six.\" (dict 'tokens 4))"),
                StartsWith("UserError: map-reduce-text: partial answers of up to 4 tokens cannot "
                           "be put together in calls of 4 tokens"));
    EXPECT_THAT(shown("(map-reduce-text (lambda (c) (string-append c c c c c c)) (lambda (s) s) "
                      "\"One two.\" (dict 'tokens 4))"),
                StartsWith("UserError: map-reduce-text: partial answers of up to 12 tokens"));
}

} // namespace
} // namespace heddle::lang::testing
