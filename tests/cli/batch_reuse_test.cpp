// What an edit of a batch may use again, and what it may not.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>
#include <boost/json/serialize.hpp>

#include <csignal>
#include <set>
#include <sstream>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Each response costs 0.0075 dollars.
std::string answering(const std::string& rules) {
    return R"({"rules": [)" + rules +
           R"({"match": ".*", "text": "{\"a\": 1}", "usage": {"input": 1000, "output": 500}}]})";
}

/// Asks for a tool twice; the third response may be late.
std::string calling_tools(const std::string& third) {
    constexpr const char* call = R"("tool_calls": [{"name": "note", "arguments": {"s": "x"}}],
        "usage": {"input": 1000, "output": 500}},)";
    return R"({"rules": [{"match": {"prompt": "(?s)noted.*noted"}, "text": "end", )" + third +
           R"("usage": {"input": 1000, "output": 500}}, {"match": {"tool": "noted"}, )" + call +
           R"({"match": ".*", )" + call + R"({"match": "never", "text": "x"}]})";
}

constexpr const char* judging =
    "(defatom judge (params q) (retries 0)\n"
    "  (output_format ((type \"json\") (schema \"object\")))\n"
    "  (instructions \"judge {{q}}\"))\n"
    "(define (main text) (judge text))\n";

class reused_responses : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const std::string& url,
                                                  std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o", "--base-url", url};
        all.insert(all.end(), more.begin(), more.end());
        return command(all);
    }
    [[nodiscard]] child_result run(model_thread& model, std::vector<std::string> more = {}) const {
        return run_heddle(asking(model.url(), std::move(more)));
    }
    void workflow(const std::string& text) const { scratch.file("w.heddle", text); }
    [[nodiscard]] std::string noting(const std::string& limits) const {
        return "(deftool note (params (s string)) (description \"notes\") \"noted\")\n"
               "(defatom judge (params q) (tools (note)) " +
               limits + " (instructions \"judge {{q}}\"))\n" +
               "(define (main text) (get (judge text) 'content))\n";
    }
};

/// A response that a retry has replaced is not used again by a later edit.
TEST_F(reused_responses, are_never_those_that_a_retry_has_discarded) {
    rows_file(3);
    workflow(judging);
    model_thread bad(answering(R"({"match": "^judge t1$", "text": "no"},)"));
    ASSERT_EQ(run(bad).code, 3);
    model_thread good(answering(""));
    workflow(std::string(judging) + "; edited\n");
    const auto retried = run(good, {"--retry-failed"});
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(good.counters().requests, 1U);
    const auto planned = run(good, {"--plan", "--json"});
    EXPECT_EQ(boost::json::parse(planned.out).at("unchanged").to_number<int>(), 3) << planned.out;
    const auto all = run(good);
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(good.counters().requests, 1U);
    expect_each_row_once(3);
}

/// The same within one program: the retry comes before the edit.
TEST_F(reused_responses, are_those_that_the_last_attempt_was_given) {
    rows_file(3);
    workflow(judging);
    model_thread bad(answering(R"({"match": "^judge t1$", "text": "no"},)"));
    ASSERT_EQ(run(bad).code, 3);
    model_thread good(answering(""));
    ASSERT_EQ(run(good, {"--retry-failed"}).code, 0);
    for (const char* edit : {"; one\n", "; two\n"}) {
        workflow(std::string(judging) + edit);
        const auto ended = run(good);
        EXPECT_EQ(ended.code, 0) << ended.err;
    }
    EXPECT_EQ(good.counters().requests, 1U);
}

/// What a retry has discarded stays so for its second attempt.
TEST_F(reused_responses, are_no_answer_to_a_second_attempt_at_a_retry) {
    rows_file(2);
    workflow(judging);
    model_thread bad(answering(R"({"match": "^judge t1$", "text": "no"},)"));
    ASSERT_EQ(run(bad).code, 3);
    workflow(std::string(judging) + "; edited\n");
    model_thread failing(answering(R"({"match": "^judge t1$", "text": "{\"a\": 1}",
        "error": {"status": 400, "message": "no", "times": 1}},)"));
    const auto retried = run(failing, {"--retry-failed", "--retry-rows", "1"});
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(failing.counters().requests, 2U);
}

/// The limits of a task count what a response cost, or the next request would be another one.
TEST_F(reused_responses, count_in_the_limits_of_their_task) {
    rows_file(2);
    for (const char* limit :
         {"(max_output 3000)", "(max_tokens_total 9000)", "(max_cost_usd 0.1)"}) {
        SCOPED_TRACE(limit);
        const std::string program = noting("(resource_limits (" + std::string(limit) + "))");
        const std::vector<std::string> own{"--run", path(std::string("run") + limit), "--force"};
        model_thread model(calling_tools(""));
        workflow(program);
        ASSERT_EQ(run(model, own).code, 0);
        ASSERT_EQ(model.counters().requests, 6U);
        workflow(program + "; edited\n");
        const auto ended = run(model, own);
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(model.counters().requests, 6U);
        EXPECT_THAT(ended.err, HasSubstr("$0.045, nothing of it now"));
    }
}

TEST_F(reused_responses, count_in_the_limits_of_a_task_that_was_killed) {
    rows_file(1);
    workflow(noting("(resource_limits ((max_output 5000)))"));
    {
        model_thread model(calling_tools(R"("delay_ms": 600000, )"));
        child_process child(heddle_command(asking(model.url())));
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 3; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    model_thread model(calling_tools(""));
    const auto ended = run(model);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 1U) << "the two responses are there";
}

TEST_F(reused_responses, count_in_the_limits_around_them) {
    rows_file(2);
    const std::string program =
        "(defatom one (params i text) (instructions \"{{i}} {{text}}\"))\n"
        "(define (main text) (with ((max-calls 2))\n"
        "  (map (lambda (i) (ok? (one i text))) '(1 2 3 4))))\n";
    model_thread model(answering(""));
    workflow(program);
    ASSERT_EQ(run(model).code, 0);
    ASSERT_EQ(model.counters().requests, 4U);
    const std::string before = scratch.text_of("out.jsonl");
    workflow(program + "; edited\n");
    ASSERT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests, 4U);
    const auto values = [](const std::string& text) {
        std::multiset<std::string> all;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);)
            all.insert(boost::json::serialize(boost::json::parse(line).at("value")));
        return all;
    };
    EXPECT_EQ(values(scratch.text_of("out.jsonl")), values(before));
}

/// With a changed program, a retry runs what it was asked for, and the way back is an edit, too.
TEST_F(reused_responses, do_not_make_a_retry_mix_programs) {
    rows_file(6);
    const auto version = [&](const std::string& name, const std::string& of_t1) {
        workflow(
            "(defatom judge (params q) (instructions \"judge {{q}}\"))\n"
            "(define (main text) (if (string=? text \"t1\") " +
            of_t1 + " (list \"" + name + "\" (get (judge text) 'content))))\n");
    };
    model_thread model(answering(""));
    version("A", "(error \"no\")");
    ASSERT_EQ(run(model, {"--limit", "3"}).code, 3);
    ASSERT_EQ(model.counters().requests, 2U);
    version("B", "\"B\"");
    const auto planned = run(model, {"--retry-failed", "--plan", "--json"});
    EXPECT_EQ(boost::json::parse(planned.out).at("waiting").to_number<int>(), 3) << planned.out;
    const auto retried = run(model, {"--retry-failed"});
    EXPECT_EQ(retried.code, 4) << retried.err;
    EXPECT_THAT(retried.err, HasSubstr("without --retry-failed and --retry-row runs them"));
    EXPECT_EQ(model.counters().requests, 2U);
    EXPECT_EQ(ids_in("out.jsonl"), (std::map<std::string, int>{{"r0", 1}, {"r1", 1}, {"r2", 1}}));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                HasSubstr("of two versions of the program"));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl"), "--json"}).out,
                HasSubstr("\"mixed\":true"));
    version("A", "(error \"no\")");
    const auto back = run(model);
    EXPECT_EQ(back.code, 3) << back.err;
    EXPECT_THAT(back.err, HasSubstr("retried with another version"));
    EXPECT_EQ(ids_in("out.jsonl").count("r1"), 0U);
    EXPECT_THAT(scratch.text_of("out.jsonl"), Not(HasSubstr("\"B\"")));
    EXPECT_EQ(model.counters().requests, 5U);
}

TEST_F(reused_responses, are_planned_at_what_a_call_of_one_version_costs) {
    rows_file(2);
    const std::string program = noting("");
    model_thread model(calling_tools(""));
    workflow(program);
    ASSERT_EQ(run(model).code, 0);
    for (const char* edit : {"; one\n", "; two\n"}) {
        workflow(program + edit);
        ASSERT_EQ(run(model).code, 0);
    }
    ASSERT_EQ(model.counters().requests, 6U);
    rows_file(3);
    std::string changed = program;
    changed.replace(changed.find("judge {{q}}"), 5, "weigh");
    workflow(changed);
    const auto planned = run(model, {"--plan", "--json"});
    const auto plan = boost::json::parse(planned.out).as_object();
    EXPECT_NEAR(plan.at("cost_usd").to_number<double>(), 2 * 3 * 0.0075, 1e-9) << planned.out;
    EXPECT_NEAR(plan.at("new_cost_usd").to_number<double>(), 3 * 0.0075, 1e-9) << planned.out;
    ASSERT_EQ(run(model, {"--limit", "2"}).code, 0); // what rows cost in two versions
    const auto dry = run(model, {"--dry-run", "--json"});
    EXPECT_NEAR(boost::json::parse(dry.out).at("cost_usd").to_number<double>(), 3 * 0.0075, 1e-9)
        << dry.out;
}

TEST_F(reused_responses, leave_open_what_follows_a_failure) {
    rows_file(2);
    const std::string program =
        "(defatom draft (params q) (instructions \"first {{q}}\"))\n"
        "(defatom final (params q) (instructions \"second {{q}}\"))\n"
        "(define (main text) (content (final (content (draft text)))))\n";
    workflow(program);
    model_thread model(answering(R"({"match": "first t1", "text": "x",
        "error": {"status": 400, "message": "no", "times": 1}},)"));
    (void)run(model);
    workflow(program + "; edited\n");
    const auto planned = run(model, {"--plan", "--json"});
    const auto plan = boost::json::parse(planned.out).as_object();
    EXPECT_EQ(plan.at("open_ended").to_number<int>(), 1) << planned.out;
}

constexpr const char* draft_answered = R"({"match": "draft", "text": ")";
constexpr const char* priced = R"(", "usage": {"input": 1000, "output": 500}},)";

/// The first answer of a step, which a retry had discarded, was taken for that of the step, and
/// both for what one call costs.
TEST_F(reused_responses, are_planned_with_the_last_answer_of_a_step_that_was_repeated) {
    rows_file(1);
    const auto checking = [&](const std::string& prompt) {
        workflow("(defatom draft (params q) (instructions \"" + prompt +
                 " {{q}}\"))\n"
                 "(defatom final (params q) (instructions \"final {{q}}\"))\n"
                 "(define (main text)\n"
                 "  (let ((d (content (draft text))))\n"
                 "    (if (string=? d \"bad\") (error \"not usable\") (content (final d)))))\n");
    };
    checking("draft");
    model_thread bad(answering(std::string(draft_answered) + "bad" + priced));
    ASSERT_EQ(run(bad).code, 3);
    {
        // The workflow would not refuse another response, and what follows is not known.
        checking("edited draft");
        const auto planned = run(bad, {"--plan", "--json", "--retry-failed"});
        EXPECT_EQ(boost::json::parse(planned.out).at("open_ended").to_number<int>(), 1)
            << planned.out;
        checking("draft");
    }
    model_thread good(answering(std::string(draft_answered) + "good" + priced));
    ASSERT_EQ(run(good, {"--retry-failed"}).code, 0);
    checking("edited draft");
    const auto planned = run(good, {"--plan", "--json"});
    const auto plan = boost::json::parse(planned.out).as_object();
    ASSERT_EQ(plan.at("tasks").as_array().size(), 2U) << planned.out;
    EXPECT_NEAR(plan.at("cost_usd").to_number<double>(), 0.0075, 1e-9) << planned.out;
    EXPECT_NEAR(plan.at("max_cost_usd").to_number<double>(), 2 * 0.0075, 1e-9) << planned.out;
    EXPECT_EQ(plan.at("open_ended").to_number<int>(), 0) << planned.out;
}

/// Rows that had begun anew had no costs any more.
TEST_F(reused_responses, are_planned_at_earlier_costs_where_the_last_version_was_killed) {
    rows_file(2);
    const auto asking_with = [&](const std::string& prompt) {
        workflow("(defatom draft (params q) (instructions \"" + prompt +
                 " {{q}}\"))\n(define (main text) (content (draft text)))\n");
    };
    asking_with("one");
    model_thread model(answering(""));
    ASSERT_EQ(run(model).code, 0);
    asking_with("two");
    {
        model_thread stuck(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})");
        child_process child(heddle_command(asking(stuck.url())));
        ASSERT_TRUE(stuck.wait_until([](const auto& seen) { return seen.in_flight == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    asking_with("three");
    const auto planned = run(model, {"--plan", "--json"});
    const auto plan = boost::json::parse(planned.out).as_object();
    ASSERT_TRUE(plan.at("cost_usd").is_number()) << planned.out;
    EXPECT_NEAR(plan.at("cost_usd").to_number<double>(), 2 * 0.0075, 1e-9) << planned.out;
}

/// A value in place of a response may keep a program from ending.
TEST_F(reused_responses, are_planned_also_where_a_loop_would_not_end) {
    rows_file(1);
    const auto counting = [&](const std::string& prompt) {
        workflow(
            "(defatom many (params q) (output_format ((type \"json\") (schema \"number\")))\n"
            "  (instructions \"" +
            prompt +
            " {{q}}\"))\n"
            "(defatom judge (params q) (instructions \"judge {{q}}\"))\n"
            "(define (upto i n) (if (= i n) i (upto (+ i 1) n)))\n"
            "(define (main text)\n"
            "  (upto 0 (get (many text) 'parsedContent)) (get (judge text) 'content))\n");
    };
    counting("How many");
    model_thread model(answering(R"({"match": "many", "text": "3.0"},)"));
    ASSERT_EQ(run(model).code, 0);
    counting("Tell how many");
    const auto planned = run(model, {"--plan", "--json"});
    EXPECT_EQ(planned.code, 0) << planned.err;
    EXPECT_EQ(boost::json::parse(planned.out).at("open_ended").to_number<int>(), 1) << planned.out;
}

} // namespace
} // namespace heddle::cli_test
