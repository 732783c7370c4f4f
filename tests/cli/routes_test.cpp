// Routes, prices and what a run reports of its cost, from heddle.toml to the last line.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class routes : public ::testing::Test {
protected:
    child_result run(const std::string& more, const std::string& expression) {
        const std::string config = scratch.file(
            "heddle.toml", more +
                               "[providers.first]\ntype = \"vllm\"\nmax_retries = 0\n"
                               "base_url = \"" +
                               busy.url() +
                               "\"\n"
                               "[providers.second]\ntype = \"vllm\"\n"
                               "base_url = \"" +
                               good.url() +
                               "\"\n"
                               "[routes.smart]\nmodels = [\"first:m\", \"second:n\"]\n");
        const std::string program = scratch.file(
            "ask.heddle", "(defatom ask (params q) (instructions \"{{q}}\"))\n" + expression);
        return run_heddle({"run", program, "--config", config, "-v"});
    }
    scratch_directory scratch;
    model_thread busy{R"({"rules": [{"match": ".*", "text": "x", "error": {"status": 503}}]})"};
    model_thread good{always_answering("GOOD")};
};

TEST_F(routes, go_on_to_the_next_service_and_name_who_answered) {
    const auto ended = run("model = \"smart\"\n",
                           "(let ((r (ask \"q\"))) (list (content r) (get-in r '(\"notes\" "
                           "\"provider\")) (get-in r '(\"notes\" \"usage\" \"cost_usd\"))))");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("GOOD"));
    EXPECT_THAT(ended.out, HasSubstr("second"));
    EXPECT_THAT(ended.err, HasSubstr("continuing with second:n"));
    EXPECT_THAT(ended.err, Not(HasSubstr("cost"))); // one's own server costs nothing
}

TEST_F(routes, are_paid_by_the_price_of_who_answered) {
    scratch.file("prices.json",
                 R"({"providers": [{"names": ["second"],
                                    "models": {"*": {"input": 1000000, "output": 0}}}]})");
    const auto ended = run("model = \"smart\"\nprices = \"prices.json\"\n",
                           "(get-in (ask \"q\") '(\"notes\" \"usage\" \"cost_usd\"))");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, ::testing::ContainsRegex("tokens? in, [0-9]+ out, \\$[1-9]"));
}

class hedged_routes : public routes {
protected:
    /// A model that never answers within a test, unless it is asked something quick.
    child_result hedged(const std::string& models, const std::string& expression,
                        std::vector<std::string> more) {
        const std::string config =
            scratch.file("hedged.toml",
                         "model = \"smart\"\n"
                         "[providers.first]\ntype = \"vllm\"\nbase_url = \"" +
                             hanging.url() +
                             "\"\n"
                             "[providers.second]\ntype = \"vllm\"\nbase_url = \"" +
                             good.url() +
                             "\"\n"
                             "[aliases]\nslow = \"first:m\"\n"
                             "[routes.smart]\nmodels = [" +
                             models +
                             "]\n"
                             "hedge_after = \"0.05s\"\nhedge_share = 1.0\n");
        const std::string program = scratch.file(
            "hedged.heddle", "(defatom ask (params q) (instructions \"{{q}}\"))\n" + expression);
        std::vector<std::string> command{"run", program, "--config", config};
        command.insert(command.end(), more.begin(), more.end());
        return run_heddle(command);
    }
    void expect_replay(const std::string& models, const std::string& expression,
                       const std::string& responses) {
        SCOPED_TRACE(models);
        const std::string tape = scratch.path() + "/tape.jsonl";
        const auto recorded = hedged(models, expression, {"--record", tape});
        EXPECT_EQ(recorded.code, 0) << recorded.err;
        EXPECT_THAT(recorded.out, HasSubstr(responses));
        const auto replayed = hedged(models, expression, {"--replay", tape});
        EXPECT_EQ(replayed.code, 0) << replayed.err;
        EXPECT_EQ(replayed.out, recorded.out) << replayed.err;
    }

    model_thread hanging{
        R"({"rules": [{"match": "quick", "text": "QUICK"},
                      {"match": ".*", "text": "LATE", "delay_ms": 600000}]})"};
};

TEST_F(hedged_routes, are_played_back_although_the_first_model_never_answered) {
    const std::string one = "(content (ask \"q\"))";
    expect_replay("\"first:m\", \"second:n\"", one, "GOOD");
    expect_replay("\"slow\", \"second:n\"", one, "GOOD"); // through an alias
}

TEST_F(hedged_routes, are_played_back_whichever_model_won) {
    // The first model is in the recording: it has been called by name.
    expect_replay("\"first:m\", \"second:n\"",
                  "(defatom name (params q) (instructions \"{{q}}\") (model \"first:m\"))\n"
                  "(list (content (name \"quick\")) (content (ask \"q\")))",
                  "GOOD");
}

TEST_F(hedged_routes, report_a_call_that_no_model_of_theirs_has) {
    const std::string tape = scratch.path() + "/tape.jsonl";
    const std::string models = "\"first:m\", \"second:n\"";
    ASSERT_EQ(hedged(models, "(content (ask \"q\"))", {"--record", tape}).code, 0);
    const auto other = hedged(models, "(content (ask \"another\"))", {"--replay", tape});
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("this call of second was not recorded"));
}

TEST_F(routes, a_wrong_file_of_prices_is_reported_with_its_place) {
    scratch.file("prices.json", R"({"providers": [{"names": ["p"], "models": {"m": {}}}]})");
    const auto ended = run("prices = \"prices.json\"\n", "1");
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("providers[0].models[\"m\"] lacks its input or its output"));
}

} // namespace
} // namespace heddle::cli_test
