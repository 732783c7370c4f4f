// --budget-usd and --max-calls: what was paid for is kept.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class budgets : public testing::Test {
protected:
    /// Ten calls; the value shows how many were done and the message of the last of the others.
    child_result run(std::vector<std::string> more) {
        std::vector<std::string> arguments{
            "run",
            scratch.file("w.heddle",
                         "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                         "(define (main)\n"
                         "  (let ((rs (map (lambda (i) (ask \"q\")) (range 10))))\n"
                         "    (list (length (filter ok? rs))\n"
                         "          (get-in (last rs) '(notes error message)))))"),
            "--model", "openai:gpt-4o"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_heddle(arguments);
    }
    static child_options on_terminal() {
        child_options options;
        options.err_to_terminal = true;
        options.variables["TERM"] = "xterm";
        return options;
    }

    scratch_directory scratch;
    model_thread model{R"({"rules": [], "default": {"text": "x", "delay_ms": 300,
        "usage": {"input": 1000, "output": 500}}})"}; // 0.0075 dollars
};

TEST_F(budgets, of_calls_bound_the_run) {
    const auto ended = run({"--base-url", model.url(), "--max-calls", "3"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(3 \"max-calls: all 3 calls are used\")\n");
    EXPECT_EQ(model.counters().requests, 3U);
}

// docs/reference/tasks.md
TEST_F(budgets, of_calls_count_the_attempts_of_a_call_as_one) {
    const std::string file = scratch.file("two.heddle",
                                          "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                          "(list (ok? (ask \"a\")) (ok? (ask \"b\")))");
    model_thread failing(R"({"rules": [{"match": ".*", "text": "x",
        "error": {"status": 500, "message": "broken", "times": 2}}]})");
    const auto retried = run_heddle(
        {"run", file, "--model", "openai:gpt-4o", "--base-url", failing.url(), "--max-calls", "1"});
    EXPECT_EQ(retried.out, "(true false)\n") << retried.err;
    EXPECT_EQ(failing.counters().requests, 3U);

    model_thread quick(R"({"rules": [], "default": {"text": "y"}})");
    const auto service = [](const char* name, const model_thread& at) {
        return std::string("[providers.") + name + "]\ntype = \"vllm\"\nbase_url = \"" + at.url() +
               "\"\n";
    };
    const std::string config =
        scratch.file("hedged.toml", service("slow", model) + service("quick", quick) +
                                        "[routes.both]\nmodels = [\"slow:m\", \"quick:m\"]\n"
                                        "hedge_after = \"0.05s\"\nhedge_share = 1.0\n");
    const auto hedged =
        run_heddle({"run", file, "--config", config, "--model", "both", "--max-calls", "1"});
    EXPECT_EQ(hedged.out, "(true false)\n") << hedged.err;
    EXPECT_EQ(model.counters().requests, 1U);
    EXPECT_EQ(quick.counters().requests, 1U);
}

TEST_F(budgets, of_tokens_are_asked_before_each_attempt) {
    // 500 tokens of input, by estimate, for each attempt that comes to nothing.
    const std::string text(2000, 'p');
    model_thread failing(R"({"rules": [{"match": ".*", "text": "x",
        "error": {"status": 500, "message": "broken"}}]})");
    const auto attempts = [&](int limit) {
        const auto before = failing.counters().requests;
        const auto ended = run_heddle(
            {"run",
             scratch.file("limit.heddle", "(defatom ask (params) (instructions \"" + text +
                                              "\") (resource_limits ((max_tokens_total " +
                                              std::to_string(limit) + "))))\n(ask)"),
             "--model", "openai:gpt-4o", "--base-url", failing.url()});
        EXPECT_EQ(ended.code, 1) << ended.err;
        return failing.counters().requests - before;
    };
    const auto unbounded = attempts(100'000);
    EXPECT_GT(unbounded, 1U) << "it is tried again";
    EXPECT_EQ(attempts(800), 1U) << "a second attempt would pass the limit";
}

TEST_F(budgets, of_dollars_bound_the_run) {
    const auto ended = run({"--base-url", model.url(), "--budget-usd", "0.02", "-v"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("(2 \"budget-usd: $0.015 of $0.02 are spent"));
    EXPECT_EQ(model.counters().requests, 2U);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("2 calls done, 8 failed"), HasSubstr("$0.01"),
                                 Not(HasSubstr("estimated")), Not(HasSubstr("earlier turn"))));
}

TEST_F(budgets, show_what_waits_for_them) {
    const std::string file =
        scratch.file("w.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main) (length (map (lambda (i) (ask \"q\")) (range 10))))");
    const auto ended = run_heddle({"run", file, "--model", "openai:gpt-4o", "--base-url",
                                   model.url(), "--budget-usd", "0.06"},
                                  on_terminal());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("1 running, 9 waiting for the budget"));
}

TEST_F(budgets, must_be_numbers) {
    for (const char* wrong : {"-1", "nan", "inf", "much"}) {
        const auto ended = run({"--base-url", model.url(), "--budget-usd", wrong});
        EXPECT_EQ(ended.code, 2) << wrong;
        EXPECT_THAT(ended.err, HasSubstr("--budget-usd")) << wrong;
    }
    EXPECT_EQ(run({"--base-url", model.url(), "--max-calls", "-1"}).code, 2);
    EXPECT_EQ(model.counters().requests, 0U);
}

TEST_F(budgets, that_are_empty_are_a_mistake) {
    for (const char* option : {"--budget-usd", "--max-calls", "--timeout", "--seed"}) {
        for (const bool joined : {false, true}) {
            const std::string name = option;
            const auto ended = joined ? run({"--base-url", model.url(), name + "="})
                                      : run({"--base-url", model.url(), name, ""});
            EXPECT_EQ(ended.code, 2) << option;
            EXPECT_THAT(ended.err, HasSubstr(option));
            EXPECT_LT(ended.err.size(), 300U) << ended.err;
        }
    }
    for (const char* wrong : {"-1", "1.5", "1e3", "99999999999999999999", "+1"}) {
        const auto ended = run({"--base-url", model.url(), "--max-calls", wrong});
        EXPECT_EQ(ended.code, 2) << wrong;
        EXPECT_THAT(ended.err,
                    AnyOf(HasSubstr("needs a whole number"), HasSubstr("decimal digits")))
            << wrong;
    }
    EXPECT_EQ(model.counters().requests, 0U);
}

TEST_F(budgets, of_dollars_need_a_price) {
    const auto ended =
        run_heddle({"eval", "(defatom t (params) (instructions \"x\")) (t)", "--model",
                    "openai:nobody-knows-it", "--base-url", model.url(), "--budget-usd", "1"});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.err, HasSubstr("the price of the model 'nobody-knows-it' is not known"));
    EXPECT_EQ(model.counters().requests, 0U);
}

TEST_F(budgets, a_summary_has_the_number_of_earlier_turns) {
    const auto ended = run_heddle(
        {"eval",
         "(defatom t (params) (instructions \"x\")) (with ((conversation true)) (t) (t) (t)) 1",
         "--model", "openai:gpt-4o", "--base-url", model.url(), "-v"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("2 calls carried 3 earlier turns"));
}

} // namespace
} // namespace heddle::cli_test
