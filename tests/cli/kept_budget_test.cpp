// Budgets of `heddle run --run DIR`: of all processes of the run together.
#include "kept_run_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class kept_budgets : public kept_run_fixture {
protected:
    /// A workflow that asks n times, one after the other, with --concurrency 1.
    void ask_each() const {
        scratch.file("m.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main n) (map (lambda (i) (content (ask i))) (range n)))\n");
    }
    /// Kills the command when the model has been asked so often, before it responds.
    void kill_when(model_thread& model, const std::vector<std::string>& command,
                   unsigned requests) const {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([&](const auto& seen) { return seen.requests == requests; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    static constexpr const char* silent =
        R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 600000}]})";
};

// Each edit began a new budget.
TEST_F(kept_budgets, hold_after_an_edit) {
    model_thread model(always_answering("x"));
    const auto program = [&](const std::string& prompt) {
        scratch.file("m.heddle", "(defatom ask (params q) (instructions \"" + prompt +
                                     " {{q}}\"))\n(define (main n) (map (lambda (i) (content (ask "
                                     "i))) (range n)))\n");
    };
    program("one");
    ASSERT_EQ(run_heddle(running(model.url(), {"-i", "n:=4", "-c", "1", "--max-calls", "4"})).code,
              0);
    program("two");
    const auto more =
        run_heddle(running(model.url(), {"-i", "n:=4", "-c", "1", "--max-calls", "6"}));
    EXPECT_EQ(more.code, 1) << more.out;
    EXPECT_THAT(more.err, HasSubstr("max-calls: all 6 calls of the run are used"));
    EXPECT_EQ(model.counters().requests, 6U);
    const auto ended = run_heddle(
        running(model.url(), {"-i", "n:=4", "-c", "1", "--max-calls", "8", "--retry-failed"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(model.counters().requests, 8U);
}

// They were refused responses that they had paid for.
TEST_F(kept_budgets, leave_responses_to_be_reused_after_an_edit) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "usage": {"input": 1000, "output": 500}}]})"); // 0.0075 dollars
    const auto program = [&](const std::string& rest) {
        scratch.file("m.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main n) (let ((all (map (lambda (i) (content (ask i))) "
                     "(range n)))) " +
                         rest + "))\n");
    };
    program("(string-join all \",\")");
    ASSERT_EQ(run_heddle(running(model.url(), {"-i", "n:=6"})).code, 0);
    for (const auto& [option, limit] : {std::pair{"--budget-usd", "0.01"}, {"--max-calls", "2"}}) {
        for (const char* stream : {"--stream", "--no-stream"}) {
            program(std::string("(string-join all \"") + option + stream + "\")");
            std::vector<std::string> more{"-i", "n:=6", option, limit};
            if (std::string(stream) == "--stream") more.emplace_back(stream);
            const auto again = run_heddle(running(model.url(), more));
            EXPECT_EQ(again.code, 0) << option << ": " << again.err;
        }
    }
    EXPECT_EQ(model.counters().requests, 6U);
    // What was reused counts once: two more fit, and a third does not.
    program("all");
    const auto more =
        run_heddle(running(model.url(), {"-i", "n:=9", "-c", "1", "--budget-usd", "0.061"}));
    EXPECT_EQ(more.code, 1) << more.out;
    EXPECT_THAT(more.err, HasSubstr("of $0.061"));
    EXPECT_EQ(model.counters().requests, 8U);
}

TEST_F(kept_budgets, count_requests_without_a_response) {
    model_thread model(silent);
    ask_each();
    const auto command = running(model.url(), {"-i", "n:=5", "-c", "1", "--max-calls", "3"});
    for (unsigned kills = 1; kills <= 3; ++kills) kill_when(model, command, kills);
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("max-calls: all 3 calls of the run are used"));
    EXPECT_EQ(model.counters().requests, 3U);
}

// The first estimate of a call, with 4096 tokens of output, was held against the budget as if the
// call had cost it: nothing was sent.
TEST_F(kept_budgets, have_the_same_room_as_those_of_other_runs) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "usage": {"input": 10, "output": 5}}]})"); // 0.000075 dollars
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n) (map (lambda (i) (get (ask i) 'status)) (range n)))\n");
    unsigned before = 0;
    for (const char* at_once : {"1", "8"}) {
        const auto ended =
            run_heddle(running(model.url(), {"-i", "n:=6", "-c", at_once, "--budget-usd", "0.02"}));
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.out,
                  "(\"COMPLETE\" \"COMPLETE\" \"COMPLETE\" \"COMPLETE\" \"COMPLETE\" "
                  "\"COMPLETE\")\n");
        EXPECT_EQ(model.counters().requests, before + 6);
        before = model.counters().requests;
        std::filesystem::remove_all(path("kept"));
    }
}

TEST_F(kept_budgets, end_calls_beyond_them_as_those_of_other_runs) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "usage": {"input": 10, "output": 5}}]})"); // 0.000075 dollars
    const auto program = [&](const std::string& what) {
        scratch.file("m.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main n)\n"
                     "  (map (lambda (i)\n"
                     "         (let ((r (ask i)))\n"
                     "           (if (ok? r) \"" +
                         what +
                         "\" (let ((e (get-in r '(notes error))))\n"
                         "             (list (get e 'type) (get e 'resource))))))\n"
                         "       (range n)))\n");
    };
    const auto run = [&](const std::string& count, const char* option, const char* limit) {
        const auto ended =
            run_heddle(running(model.url(), {"-i", "n:=" + count, "-c", "1", option, limit}));
        EXPECT_EQ(ended.code, 0) << ended.err;
        return ended.out;
    };
    const std::string cost = " (\"RESOURCE_EXHAUSTION\" \"cost\")";
    const std::string calls = " (\"RESOURCE_EXHAUSTION\" \"calls\")";
    program("one");
    EXPECT_EQ(run("3", "--budget-usd", "0.00016"), "(\"one\" \"one\"" + cost + ")\n");
    EXPECT_EQ(model.counters().requests, 2U);
    // Where calls may reuse responses, it is the request that is refused.
    program("two");
    EXPECT_EQ(run("4", "--budget-usd", "0.00016"), "(\"two\" \"two\"" + cost + cost + ")\n");
    EXPECT_EQ(run("4", "--budget-usd", "0.00016"), "(\"two\" \"two\"" + cost + cost + ")\n");
    program("three");
    EXPECT_EQ(run("4", "--max-calls", "2"), "(\"three\" \"three\"" + calls + calls + ")\n");
    EXPECT_EQ(model.counters().requests, 2U);
    program("four");
    EXPECT_EQ(run("4", "--max-calls", "3"), "(\"four\" \"four\" \"four\"" + calls + ")\n");
    EXPECT_EQ(model.counters().requests, 3U);
}

TEST_F(kept_budgets, count_the_attempts_of_a_call_as_one_call) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x",
        "error": {"status": 500, "message": "broken", "times": 2}}]})");
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main) (content (ask \"q\")))\n");
    const auto ended = run_heddle(running(model.url(), {"--max-calls", "1"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "x\n");
    EXPECT_EQ(model.counters().requests, 3U);
}

TEST_F(kept_budgets, count_the_cost_of_requests_without_a_response) {
    model_thread model(silent);
    ask_each();
    // One lost response counts $0.041: 4096 tokens of output.
    const auto command = running(model.url(), {"-i", "n:=5", "-c", "1", "--budget-usd", "0.03"});
    kill_when(model, command, 1);
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("budget-usd: $0.04"));
    EXPECT_THAT(ended.err, HasSubstr(" of $0.03 are spent"));
    EXPECT_EQ(model.counters().requests, 1U);
}

} // namespace
} // namespace heddle::cli_test
