// What a further attempt at a row is given of the records of earlier ones.
#include "host/step_path.hpp"

#include <heddle/host/row_history.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::host {
namespace {

using ports::digest128;
using ports::step_kind;
using ports::step_record;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* failure_mark = "failed: ";

std::optional<std::string> failure_of(const step_record& step) {
    if (!step.body.starts_with(failure_mark)) return std::nullopt;
    return step.body.substr(std::string_view(failure_mark).size());
}

/// A record of the step `step`, with a request or an answer of that text.
step_record record(step_kind kind, std::uint64_t step, std::string body = "value") {
    step_record written;
    written.kind = kind;
    written.path = {step, 1};
    written.at = static_cast<double>(step);
    written.body = std::move(body);
    const bool is_request = kind == step_kind::sent || kind == step_kind::request ||
                            kind == step_kind::unpaid || kind == step_kind::lost;
    if (is_request) written.content = {7, std::hash<std::string>()(written.body)};
    if (kind == step_kind::answer || kind == step_kind::sent) written.spent.requests = 1;
    if (kind == step_kind::answer || kind == step_kind::sent) written.spent.cost_usd = 0.25;
    return written;
}
step_record attempt_failed(std::string message) {
    step_record written;
    written.kind = step_kind::failed;
    written.body = std::move(message);
    return written;
}
/// A step that asked a model and got `body`.
void ask(std::vector<step_record>& all, std::uint64_t step, const std::string& body = "value") {
    all.push_back(record(step_kind::sent, step, "q" + std::to_string(step)));
    all.push_back(record(step_kind::request, step, "q" + std::to_string(step)));
    all.push_back(record(step_kind::answer, step, body));
}
/// "answer 1", "request 2!" where its cost is counted.
std::vector<std::string> shown(const row_history& history) {
    std::vector<std::string> lines;
    for (const step_record& each : history.replayed) {
        const std::string kind = each.kind == step_kind::request  ? "request "
                                 : each.kind == step_kind::tool   ? "tool "
                                 : each.kind == step_kind::nested ? "nested "
                                                                  : "answer ";
        lines.push_back(kind + std::to_string(each.path.high) + (each.is_counted ? "!" : ""));
    }
    return lines;
}

TEST(row_history, replays_all_of_a_row_that_was_interrupted) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2);
    const row_history history = read_history(all, failure_of);
    EXPECT_THAT(shown(history), ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
    EXPECT_THAT(history.newly_lost, IsEmpty());
    EXPECT_EQ(history.spent.requests, 2U);
}

TEST(row_history, names_the_requests_whose_responses_failed) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2, "failed: bad");
    all.push_back(attempt_failed("bad"));
    ask(all, 2);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
    const row_history history = read_history(all, failure_of);
    EXPECT_THAT(history.discarded, ElementsAre(4U));
    EXPECT_THAT(shown(history), ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
}

TEST(row_history, finds_requests_that_have_no_response) {
    std::vector<step_record> all;
    ask(all, 1);
    all.push_back(record(step_kind::sent, 2, "q2"));
    row_history history = read_history(all, failure_of);
    ASSERT_EQ(history.newly_lost.size(), 1U);
    EXPECT_EQ(history.newly_lost[0].kind, step_kind::lost);
    EXPECT_EQ(history.newly_lost[0].path.high, 2U);
    EXPECT_DOUBLE_EQ(history.newly_lost[0].spent.cost_usd, 0.25);
    EXPECT_EQ(history.spent.requests, 1U) << "not counted yet";
    // Noted once: the next process counts it by its record.
    all.push_back(history.newly_lost[0]);
    all.push_back(record(step_kind::sent, 2, "q2"));
    history = read_history(all, failure_of);
    EXPECT_EQ(history.lost, 1U);
    EXPECT_EQ(history.newly_lost.size(), 1U);
    EXPECT_EQ(history.spent.requests, 2U);
}

// Its service had refused it, and the process was killed before it was sent again.
TEST(row_history, finds_no_requests_that_have_cost_nothing) {
    std::vector<step_record> all;
    all.push_back(record(step_kind::sent, 1, "q1"));
    all.push_back(record(step_kind::unpaid, 1, "q1"));
    EXPECT_THAT(read_history(all, failure_of).newly_lost, IsEmpty());
    all.push_back(record(step_kind::sent, 1, "q1"));
    EXPECT_EQ(read_history(all, failure_of).newly_lost.size(), 1U) << "sent again";
    all.push_back(record(step_kind::unpaid, 1, "q1"));
    all.push_back(record(step_kind::sent, 1, "q2"));
    all.push_back(record(step_kind::unpaid, 1, "other"));
    ASSERT_EQ(read_history(all, failure_of).newly_lost.size(), 1U) << "only of the second one";
    all.push_back(record(step_kind::request, 1, "q2"));
    all.push_back(record(step_kind::request, 1, "q1"));
    EXPECT_THAT(read_history(all, failure_of).newly_lost, IsEmpty());
}

// An attempt had broken off, and the kill came during the next one: only one of them counted.
TEST(row_history, finds_each_attempt_that_may_be_charged_for) {
    std::vector<step_record> all;
    for (int attempt = 0; attempt < 3; ++attempt) all.push_back(record(step_kind::sent, 1, "q"));
    EXPECT_EQ(read_history(all, failure_of).newly_lost.size(), 3U);
    all.push_back(record(step_kind::unpaid, 1, "q"));
    EXPECT_EQ(read_history(all, failure_of).newly_lost.size(), 2U);
    std::vector<step_record> answered = all;
    answered.push_back(record(step_kind::request, 1, "q"));
    answered.back().spent.requests = 3;
    EXPECT_THAT(read_history(answered, failure_of).newly_lost, IsEmpty())
        << "the response has counted them";
    all.push_back(record(step_kind::lost, 1, "q"));
    EXPECT_EQ(read_history(all, failure_of).newly_lost.size(), 1U);
}

// The responses before it are not what failed.
TEST(row_history, of_a_step_whose_last_request_was_refused_keeps_its_responses) {
    std::vector<step_record> all;
    ask(all, 1);
    all.push_back(record(step_kind::sent, 2, "q2"));
    all.push_back(record(step_kind::request, 2, "q2"));
    all.push_back(record(step_kind::sent, 2, "q2 again"));
    all.push_back(record(step_kind::unpaid, 2, "q2 again"));
    all.push_back(record(step_kind::answer, 2, "failed: no"));
    all.push_back(attempt_failed("no"));
    const row_history history = read_history(all, failure_of);
    EXPECT_THAT(shown(history), ElementsAre("request 1", "answer 1", "request 2!"));
    EXPECT_THAT(history.discarded, IsEmpty());
}

TEST(row_history, of_a_failed_step_repeats_that_one) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2, "failed: handled");
    ask(all, 3);
    all.push_back(record(step_kind::sent, 4, "q4"));
    all.push_back(record(step_kind::answer, 4, "failed: no"));
    ask(all, 5); // of a cleanup
    all.push_back(attempt_failed("no"));
    const row_history history = read_history(all, failure_of);
    EXPECT_THAT(shown(history), ElementsAre("request 1", "answer 1", "request 2", "answer 2",
                                            "request 3", "answer 3", "request 5!"));
    EXPECT_LE(history.replayed.back().at, 3) << "time after the failure has not passed";
    EXPECT_EQ(history.spent.requests, 5U) << "the failure counts";
}

// The first of them has ended the attempt; a retry would meet it again.
TEST(row_history, repeats_the_branches_that_failed_beside_the_step_that_ended_the_attempt) {
    std::vector<step_record> all;
    ask(all, 1, "failed: no"); // and the row went on
    for (const std::uint64_t step : {2, 3, 4, 5}) {
        all.push_back(record(step_kind::sent, step, "q" + std::to_string(step)));
        all.push_back(record(step_kind::unpaid, step, "q" + std::to_string(step)));
    }
    all.push_back(record(step_kind::answer, 2, "failed: no"));
    all.push_back(record(step_kind::request, 3, "q3"));
    all.push_back(record(step_kind::answer, 3));
    all.push_back(record(step_kind::answer, 4, "failed: otherwise"));
    all.push_back(record(step_kind::answer, 5, "failed: no"));
    all.push_back(record(step_kind::answer, 6, "failed: no")); // refused by a budget: never sent
    ask(all, 7);                                               // of a cleanup
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "request 3!", "request 7!"));
}

// The second attempt began no step that asks a service: all that had failed alike was repeated.
TEST(row_history, keeps_a_failure_that_an_earlier_attempt_went_on_from) {
    std::vector<step_record> all;
    ask(all, 1, "failed: no"); // and the row went on
    ask(all, 2);
    all.push_back(record(step_kind::answer, 3, "failed: no")); // of an effect
    all.push_back(attempt_failed("no"));
    const auto kept = ElementsAre("request 1", "answer 1", "request 2", "answer 2");
    EXPECT_THAT(shown(read_history(all, failure_of)), kept);
    all.push_back(record(step_kind::answer, 3, "failed: no"));
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)), kept);
    // It is what the next attempt ends with after all.
    all.push_back(record(step_kind::answer, 3));
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 2!"));
}

TEST(row_history, keeps_a_failure_that_a_row_went_on_from_before_it_ran_out_of_time) {
    std::vector<step_record> all;
    ask(all, 1, "failed: no"); // and the row went on
    ask(all, 2);
    all.push_back(attempt_failed("the time limit of this run has passed"));
    all.back().name = without_failed_step;
    all.push_back(record(step_kind::answer, 3, "failed: no")); // of an effect
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
}

TEST(row_history, keeps_the_responses_of_a_step_whose_last_request_failed) {
    std::vector<step_record> all;
    all.push_back(record(step_kind::request, 1, "turn 1"));
    all.push_back(record(step_kind::sent, 1, "turn 2"));
    all.push_back(record(step_kind::answer, 1, "failed: unreachable"));
    all.push_back(attempt_failed("unreachable"));
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 1!"));
    // What it said was of no use: it is asked again.
    all.insert(all.begin() + 2, record(step_kind::request, 1, "turn 2"));
    EXPECT_THAT(shown(read_history(all, failure_of)), IsEmpty());
}

TEST(row_history, of_a_failure_of_the_program_repeats_what_failed_before) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2, "failed: one");
    ask(all, 3);
    ask(all, 4, "failed: two");
    ask(all, 5);
    all.push_back(attempt_failed("2 of 5 failed"));
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "request 3!", "request 5!"));
}

TEST(row_history, of_a_failure_of_the_program_alone_repeats_the_last_call) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2);
    step_record printed = record(step_kind::answer, 3);
    printed.spent = {};
    all.push_back(printed);
    all.push_back(attempt_failed("no number"));
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 1", "answer 1"));
    all.back().name = without_failed_step;
    EXPECT_EQ(shown(read_history(all, failure_of)).size(), 5U);
}

TEST(row_history, repeats_the_functions_of_a_step_with_the_step) {
    std::vector<step_record> all;
    ask(all, 1);
    step_record nested = record(step_kind::nested, 0);
    nested.path = {0xab12, 0};
    all.push_back(nested);
    ask(all, 2);
    all.push_back(record(step_kind::request, 3, "turn 2"));
    all.push_back(record(step_kind::composed, 3, "failed: no use"));
    all.push_back(attempt_failed("no use"));
    // The function of another step stays.
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "nested 43794", "request 2", "answer 2"));
}

TEST(row_history, of_an_attempt_that_was_cut_off_keeps_all) {
    std::vector<step_record> all;
    ask(all, 1);
    all.push_back(record(step_kind::sent, 2, "q2"));
    all.push_back(record(step_kind::lost, 2, "q2"));
    all.back().content = all[all.size() - 2].content;
    all.push_back(attempt_failed("the time limit of this run has passed"));
    const row_history history = read_history(all, failure_of);
    EXPECT_THAT(shown(history), ElementsAre("request 1", "answer 1"));
    EXPECT_EQ(history.lost, 1U);
    EXPECT_THAT(history.newly_lost, IsEmpty());
}

/// The service of a batch has refused the second request of the step.
TEST(row_history, asks_anew_what_a_batch_has_refused) {
    std::vector<step_record> all;
    ask(all, 1);
    all.push_back(record(step_kind::request, 2, "q2"));
    all.push_back(record(step_kind::refused, 2, "it is wrong"));
    const auto has = [](const row_history& history, step_kind kind, std::uint64_t step) {
        return std::any_of(
            history.replayed.begin(), history.replayed.end(),
            [&](const step_record& each) { return each.kind == kind && each.path.high == step; });
    };
    EXPECT_TRUE(has(read_history(all, failure_of), step_kind::refused, 2));
    all.push_back(record(step_kind::answer, 2, "failed: it is wrong"));
    all.push_back(attempt_failed("it is wrong"));
    const row_history next = read_history(all, failure_of);
    EXPECT_FALSE(has(next, step_kind::refused, 2));
    EXPECT_FALSE(has(next, step_kind::answer, 2));
    EXPECT_TRUE(has(next, step_kind::request, 2)) << "what was answered before is kept";
    EXPECT_TRUE(has(next, step_kind::answer, 1));
}

TEST(row_history, of_several_attempts_repeats_what_failed_in_the_last) {
    std::vector<step_record> all;
    ask(all, 1, "failed: first");
    all.push_back(attempt_failed("first"));
    ask(all, 1);
    ask(all, 2, "failed: second");
    all.push_back(attempt_failed("second"));
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 1", "answer 1"));
}

TEST(row_history, of_the_last_attempt_ends_as_it_did) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2, "failed: no");
    all.push_back(attempt_failed("no"));
    row_history once;
    once.replayed = last_attempt(all, failure_of);
    EXPECT_THAT(shown(once), ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
    ask(all, 2);
    all.push_back(attempt_failed("of the program"));
    row_history twice;
    twice.replayed = last_attempt(all, failure_of);
    EXPECT_THAT(shown(twice), ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
    EXPECT_EQ(twice.replayed.back().body, "value");
}

TEST(row_history, goes_on_where_a_limit_has_ended_an_attempt) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2, "failed: caught");
    step_record limit = attempt_failed("too many steps");
    limit.name = ended_by_a_limit;
    all.push_back(limit);
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
    limit.body = "caught";
    all.back() = limit;
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 1", "answer 1"));
}

TEST(row_history, repeats_the_last_step_where_a_limit_has_ended_two_attempts_alike) {
    std::vector<step_record> all;
    ask(all, 1);
    ask(all, 2);
    step_record limit = attempt_failed("json-parse: deeper than 512 levels");
    limit.name = ended_by_a_limit;
    all.push_back(limit);
    all.push_back(limit);
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("request 1", "answer 1"));
    // Elsewhere, or by another limit, it goes on.
    all.back().body = "too many steps";
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "request 2", "answer 2"));
    all.pop_back();
    ask(all, 3);
    all.push_back(limit);
    EXPECT_THAT(
        shown(read_history(all, failure_of)),
        ElementsAre("request 1", "answer 1", "request 2", "answer 2", "request 3", "answer 3"));
}

TEST(row_history, drops_what_tools_returned_in_a_step_that_is_repeated) {
    std::vector<step_record> all;
    ask(all, 1);
    all.push_back(record(step_kind::request, 2, "call the tool"));
    all.push_back(record(step_kind::tool, 2));
    all.push_back(record(step_kind::tool, 3));
    all.push_back(record(step_kind::answer, 2, "failed: no"));
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)),
                ElementsAre("request 1", "answer 1", "tool 3"));
}

/// A step whose function has failed in a step of its own. `is_numbered`: as journals up to layout 4
/// have it.
std::vector<step_record> failed_beside_function(const std::string& inner, const std::string& outer,
                                                bool is_numbered) {
    std::vector<step_record> all;
    const digest128 path{3, 1};
    all.push_back(record(step_kind::sent, 3, "q3"));
    all.push_back(record(step_kind::request, 3, "q3"));
    step_record nested = record(step_kind::nested, 0);
    if (is_numbered) {
        nested.path = step_path::inside(path, step_path::part::nested, 0);
    } else {
        nested.path = {7, 7};
        nested.content = path;
    }
    all.push_back(nested);
    ask(all, 4, "failed: " + inner);
    all.push_back(record(step_kind::composed, 3, "failed: " + outer));
    all.push_back(attempt_failed("the row is bad"));
    return all;
}

TEST(row_history, keeps_the_responses_of_a_step_that_a_function_has_failed) {
    for (const bool is_numbered : {false, true}) {
        const auto after = [is_numbered](const std::string& outer) {
            return shown(
                read_history(failed_beside_function("missing", outer, is_numbered), failure_of));
        };
        const auto kept = after("in f: missing");
        EXPECT_NE(std::find(kept.begin(), kept.end(), "request 3!"), kept.end());
        // The function has caught it: the response is what was bad.
        const auto anew = after("it is not JSON");
        EXPECT_EQ(std::find(anew.begin(), anew.end(), "request 3!"), anew.end());
    }
}

TEST(row_history, reads_again_what_was_read_for_a_request_without_a_response) {
    std::vector<step_record> all;
    all.push_back(record(step_kind::tool, 3)); // a program that a task has run
    all.push_back(record(step_kind::request, 3, "q of another task"));
    all.push_back(record(step_kind::tool, 3));
    all.back().name = std::string(context_of) + "ask";
    all.push_back(record(step_kind::sent, 3, "q3"));
    all.push_back(record(step_kind::answer, 3, "failed: no"));
    all.push_back(attempt_failed("no"));
    EXPECT_THAT(shown(read_history(all, failure_of)), ElementsAre("tool 3", "request 3!"));
}

} // namespace
} // namespace heddle::host
