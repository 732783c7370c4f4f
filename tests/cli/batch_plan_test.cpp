// Plans of rows in progress, questions and retries.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Each response costs 0.0075 dollars.
std::string answering(const std::string& rules = "") {
    return R"({"rules": [)" + rules +
           R"({"match": ".*", "text": "{\"a\": 1}", "usage": {"input": 1000, "output": 500}}]})";
}

class planned_rows : public batch_fixture {
protected:
    void workflow(const std::string& text) const { scratch.file("w.heddle", text); }
    [[nodiscard]] child_result run(model_thread& model, std::vector<std::string> more = {}) const {
        return run_heddle(asking_once(model.url(), std::move(more)));
    }
    [[nodiscard]] boost::json::object plan(model_thread& model,
                                           std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--plan", "--json"});
        const auto planned = run(model, std::move(more));
        EXPECT_EQ(planned.code, 0) << planned.err;
        return boost::json::parse(planned.out).as_object();
    }
    [[nodiscard]] child_result answer(const std::string& row, const std::string& text) const {
        return run_heddle({"runs", "answer", path("out.jsonl"), row, text});
    }
    /// Two calls for each row, between which the row r1 asks a person.
    std::string approving =
        "(defatom draft (params q) (instructions \"draft {{q}}\"))\n"
        "(defatom final (params q) (instructions \"final {{q}}\"))\n"
        "(define (main text)\n"
        "  (let ((d (content (draft text)))\n"
        "        (a (if (string=? text \"t1\") (system:ask_user (question \"Good?\")) \"\")))\n"
        "    (list a (content (final (string-append text a))))))\n";
};

// Responses were used again, and the plan said that they would be asked for again.
TEST_F(planned_rows, have_the_answers_of_people) {
    rows_file(3);
    workflow(approving);
    model_thread model(answering());
    ASSERT_EQ(run(model).code, 4);
    ASSERT_EQ(answer("r1", "yes").code, 0);
    ASSERT_EQ(run(model).code, 0);
    workflow(approving + "; edited\n");
    const auto edited = plan(model);
    EXPECT_EQ(edited.at("unchanged").to_number<int>(), 3) << boost::json::serialize(edited);
    EXPECT_EQ(edited.at("again").to_number<int>(), 0);
    EXPECT_EQ(edited.at("open_ended").to_number<int>(), 0);
    std::string other = approving;
    other.replace(other.find("Good?"), 5, "Fine?");
    workflow(other);
    EXPECT_EQ(plan(model).at("again").to_number<int>(), 1) << "another question";
    workflow(approving + "; edited\n");
    const auto ended = run(model);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 6U);
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr(R"(["yes",)"));
}

TEST_F(planned_rows, have_the_answers_of_people_to_models) {
    rows_file(1);
    const std::string program =
        "(deftool approve (params what) (description \"asks\")\n"
        "  (system:ask_user (question (string-append \"May I \" what \"?\"))))\n"
        "(defatom plan (params q) (instructions \"plan {{q}}\") (tools (approve)))\n"
        "(define (main text) (content (plan text)))\n";
    workflow(program);
    model_thread model(R"({"rules": [{"match": {"user": "plan", "tool": "^$"}, "tool_calls": [
        {"name": "approve", "arguments": {"what": "go"}}]}, {"match": ".*", "text": "gone"}]})");
    ASSERT_EQ(run(model).code, 4);
    ASSERT_EQ(answer("r0", "yes").code, 0);
    ASSERT_EQ(run(model).code, 0);
    workflow(program + "; edited\n");
    EXPECT_EQ(plan(model).at("unchanged").to_number<int>(), 1);
}

// A recorded response kept its text, so that the row took the same branch, and nothing said
// that it may take the other one.
TEST_F(planned_rows, may_call_other_tasks_if_responses_differ) {
    rows_file(4);
    const auto program = [](const std::string& prompt) {
        return "(defatom judge (params q) (instructions \"" + prompt +
               " {{q}}\"))\n"
               "(defatom yes (params q) (instructions \"yes {{q}}\"))\n"
               "(defatom no (params q) (instructions \"no {{q}}\"))\n"
               "(define (main text)\n"
               "  (if (string-contains? (content (judge text)) \"good\")\n"
               "      (content (yes text)) (content (no text))))\n";
    };
    workflow(program("first"));
    // t0 to t2 are good at first, and bad after the edit.
    model_thread model(answering(R"({"match": "^first t[0-2]$", "text": "it is good",
        "usage": {"input": 1000, "output": 500}},)"));
    ASSERT_EQ(run(model).code, 0);
    const auto before = model.counters().requests;
    workflow(program("second"));
    const auto edited = plan(model);
    EXPECT_NEAR(edited.at("cost_usd").to_number<double>(), 4 * 0.0075, 1e-9);
    EXPECT_EQ(edited.at("other_calls").to_number<int>(), 3) << boost::json::serialize(edited);
    EXPECT_TRUE(edited.at("max_cost_usd").is_null()) << "what follows the other calls";
    std::map<std::string, std::vector<int>> tasks;
    for (const auto& each : edited.at("tasks").as_array()) {
        const auto& task = each.as_object();
        for (const char* member : {"again", "depends"})
            tasks[std::string(task.at("name").as_string())].push_back(
                task.at(member).to_number<int>());
    }
    EXPECT_EQ(tasks["judge"], (std::vector<int>{4, 0}));
    EXPECT_EQ(tasks["no"].front(), 0);
    EXPECT_EQ(tasks["no"].back(), 3);
    const auto shown = run(model, {"--plan"});
    EXPECT_THAT(shown.out, AllOf(HasSubstr("if responses differ, 3 rows make calls that were not"),
                                 HasSubstr(" or more\n")));
    ASSERT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests - before, 4U + 3U);
}

// A call was counted at both of its paths.
TEST_F(planned_rows, count_a_call_once_whose_path_depends_on_responses) {
    rows_file(5);
    const auto program = [](const std::string& prompt) {
        return "(defatom judge (params q) (instructions \"" + prompt +
               " {{q}}\"))\n"
               "(defatom second (params q) (instructions \"second {{q}}\"))\n"
               "(define (main text)\n"
               "  (let ((r (content (judge text))))\n"
               "    (write-file \"mark\" \"1\")\n"
               "    (when (not (string-contains? r \"yes\")) (write-file \"mark\" \"2\"))\n"
               "    (content (second r))))\n";
    };
    workflow(program("first"));
    model_thread model(R"({"rules": [{"match": ".*", "text": "yes"}]})");
    ASSERT_EQ(run(model).code, 0);
    workflow(program("title"));
    const auto planned = plan(model);
    const auto& tasks = planned.at("tasks").as_array();
    ASSERT_EQ(tasks.size(), 2U) << boost::json::serialize(planned);
    EXPECT_EQ(tasks.at(0).at("again").to_number<int>(), 5);
    EXPECT_EQ(tasks.at(1).at("again").to_number<int>(), 0);
    EXPECT_EQ(tasks.at(1).at("depends").to_number<int>(), 5);
    EXPECT_EQ(tasks.at(1).at("kept").to_number<int>(), 0);
}

// The calls that had failed have no price, and nobody looked at those of other rows.
TEST_F(planned_rows, that_failed_cost_what_other_rows_did) {
    rows_file(4);
    workflow(asking_workflow);
    model_thread model(answering(R"({"match": "^t2$", "text": "x",
        "error": {"status": 400, "message": "no", "times": 1}},)"));
    ASSERT_EQ(run(model).code, 3);
    workflow(
        "(defatom ask (params q) (instructions \"{{q}} please\"))\n"
        "(define (main text) (ask text))\n");
    const auto retried = plan(model, {"--retry-failed"});
    EXPECT_EQ(retried.at("again").to_number<int>(), 1) << boost::json::serialize(retried);
    ASSERT_TRUE(retried.at("cost_usd").is_number()) << boost::json::serialize(retried);
    EXPECT_NEAR(retried.at("cost_usd").to_number<double>(), 0.0075, 1e-9);
    workflow(asking_workflow);
    EXPECT_NEAR(plan(model, {"--retry-failed"}).at("new_cost_usd").to_number<double>(), 0.0075,
                1e-9);
}

TEST_F(planned_rows, that_failed_cost_an_unknown_sum_where_nothing_is_known) {
    rows_file(1);
    workflow(asking_workflow);
    model_thread model(answering(R"({"match": "^t0$", "text": "x",
        "error": {"status": 400, "message": "no", "times": 1}},)"));
    ASSERT_EQ(run(model).code, 3);
    workflow(
        "(defatom ask (params q) (instructions \"{{q}} please\"))\n"
        "(define (main text) (ask text))\n");
    EXPECT_TRUE(plan(model, {"--retry-failed"}).at("cost_usd").is_null());
}

// They were counted like rows that have not begun.
TEST_F(planned_rows, that_have_begun_cost_what_is_left_of_them) {
    rows_file(4);
    workflow(approving);
    model_thread model(answering());
    ASSERT_EQ(run(model, {"--limit", "3"}).code, 4);
    const auto begun = plan(model);
    EXPECT_EQ(begun.at("begun").to_number<int>(), 1) << boost::json::serialize(begun);
    EXPECT_EQ(begun.at("new").to_number<int>(), 1);
    EXPECT_NEAR(begun.at("new_cost_usd").to_number<double>(), 3 * 0.0075, 1e-9);
    // An edit that is undone: what the row asks then is known.
    ASSERT_EQ(answer("r1", "yes").code, 0);
    ASSERT_EQ(run(model, {"--limit", "3"}).code, 0);
    std::string asks_twice = approving;
    asks_twice.replace(asks_twice.find("(list a"), 7,
                       "(list (if (string=? text \"t1\")\n"
                       "  (system:ask_user (question \"Really?\")) a)");
    for (const std::string& program : {approving + "; edited\n", asks_twice}) {
        workflow(program);
        (void)run(model, {"--limit", "3"});
    }
    EXPECT_EQ(model.counters().requests, 6U);
    const auto waiting = plan(model, {"--limit", "3"});
    EXPECT_EQ(waiting.at("begun").to_number<int>(), 1) << boost::json::serialize(waiting);
    EXPECT_EQ(waiting.at("new_cost_usd").to_number<double>(), 0) << "with the other answer";
    ASSERT_EQ(answer("r1", "yes").code, 0);
    const auto answered = plan(model, {"--limit", "3"});
    EXPECT_EQ(answered.at("new_cost_usd").to_number<double>(), 0);
    EXPECT_THAT(run(model, {"--limit", "3", "--plan"}).out,
                AllOf(HasSubstr("1 would continue"),
                      HasSubstr("1 row to run: all responses are recorded")));
}

// They were counted as finished, at no cost.
TEST_F(planned_rows, that_were_rejected_run_once_they_are_mended) {
    workflow(asking_workflow);
    model_thread model(answering());
    const auto expect_one_to_run = [&] {
        const auto planned = plan(model);
        EXPECT_EQ(planned.at("finished").to_number<int>(), 1) << boost::json::serialize(planned);
        EXPECT_EQ(planned.at("new").to_number<int>(), 1);
        EXPECT_NEAR(planned.at("new_cost_usd").to_number<double>(), 0.0075, 1e-9);
        const auto looked = boost::json::parse(run(model, {"--dry-run", "--json"}).out).as_object();
        EXPECT_EQ(looked.at("finished").to_number<int>(), 1) << boost::json::serialize(looked);
        EXPECT_EQ(looked.at("to_run").to_number<int>(), 1);
        EXPECT_NEAR(looked.at("cost_usd").to_number<double>(), 0.0075, 1e-9);
    };
    const std::string first = R"({"id": "r0", "text": "t0"})";
    scratch.file("rows.jsonl", first + "\n{\"id\": \"r1\", \"txt\": \"t1\"}\n");
    (void)run(model);
    ASSERT_EQ(model.counters().requests, 1U);
    scratch.file("rows.jsonl", first + "\n{\"id\": \"r1\"}\n");
    EXPECT_EQ(plan(model).at("rejected").to_number<int>(), 1) << "mended, and still wrong";
    scratch.file("rows.jsonl", first + "\n{\"id\": \"r1\", \"text\": \"t1\"}\n");
    expect_one_to_run();
    EXPECT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests, 2U);
    // What only --strict rejects runs without it.
    scratch.file("rows.jsonl", first + "\n{\"id\": \"r2\", \"text\": \"t2\", \"more\": 1}\n");
    (void)run(model, {"--strict"});
    expect_one_to_run();
    EXPECT_EQ(plan(model, {"--strict"}).at("finished").to_number<int>(), 2);
}

// The plan asked the clock again, and so the models.
TEST_F(planned_rows, that_have_begun_replay_what_was_never_the_same) {
    rows_file(2);
    workflow(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main text)\n"
        "  (define d (content (ask (format \"{} {}\" text (now)))))\n"
        "  (system:ask_user (question \"Good?\"))\n"
        "  d)\n");
    model_thread model(answering());
    ASSERT_EQ(run(model).code, 4);
    ASSERT_EQ(answer("r0", "yes").code, 0);
    ASSERT_EQ(run(model).code, 4) << "one has ended, and shows what a row costs";
    ASSERT_EQ(answer("r1", "yes").code, 0);
    const auto planned = plan(model);
    EXPECT_EQ(planned.at("begun").to_number<int>(), 1) << boost::json::serialize(planned);
    EXPECT_EQ(planned.at("new_cost_usd").to_number<double>(), 0);
    EXPECT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests, 2U);
}

TEST_F(planned_rows, that_are_retried_replay_what_was_never_the_same) {
    rows_file(2);
    workflow(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(defatom last (params q) (instructions \"last {{q}}\"))\n"
        "(define (main text)\n"
        "  (define d (content (ask (format \"{} {}\" text (now)))))\n"
        "  (list d (content (last text))))\n");
    model_thread model(answering(R"({"match": "^last t1$", "text": "x",
        "error": {"status": 400, "message": "no", "times": 1}},)"));
    ASSERT_EQ(run(model).code, 3);
    const auto planned = plan(model, {"--retry-failed"});
    EXPECT_NEAR(planned.at("new_cost_usd").to_number<double>(), 0.0075, 1e-9)
        << boost::json::serialize(planned);
    EXPECT_EQ(run(model, {"--retry-failed"}).code, 0);
    EXPECT_EQ(model.counters().requests, 5U);
}

// The refused call counted as one that had never been answered.
TEST_F(planned_rows, do_not_make_the_calls_that_a_budget_refuses) {
    rows_file(2);
    const auto program = [](int n) {
        return "(defatom ask (params q) (instructions \"{{q}}\"))\n"
               "(define (main text)\n"
               "  (let* ((r (with ((max-calls 1)) (list (ask \"a\") (ask \"b\"))))\n"
               "         (last (ask (string-append text (if (ok? (second r)) \"ok\" \"no\")))))\n"
               "    (list (map ok? r) (content last) " +
               std::to_string(n) + ")))\n";
    };
    workflow(program(1));
    model_thread model(answering());
    ASSERT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests, 4U);
    workflow(program(2));
    const auto edited = plan(model);
    EXPECT_EQ(edited.at("open_ended").to_number<int>(), 0) << boost::json::serialize(edited);
    EXPECT_EQ(run(model).code, 0);
    EXPECT_EQ(model.counters().requests, 4U);
}

} // namespace
} // namespace heddle::cli_test
