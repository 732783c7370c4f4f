// Routes, prices and what a run says of its cost, from heddle.toml to the last line.
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

TEST_F(routes, go_on_to_the_next_service_and_say_who_answered) {
    const auto ended = run("model = \"smart\"\n",
                           "(let ((r (ask \"q\"))) (list (content r) (get-in r '(\"notes\" "
                           "\"provider\")) (get-in r '(\"notes\" \"usage\" \"cost_usd\"))))");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("GOOD"));
    EXPECT_THAT(ended.out, HasSubstr("second"));
    EXPECT_THAT(ended.err, HasSubstr("going on with second:n"));
    EXPECT_THAT(ended.err, Not(HasSubstr("cost"))); // one's own server costs nothing
}

TEST_F(routes, are_paid_by_the_price_of_who_answered) {
    scratch.file("prices.json",
                 R"({"providers": [{"names": ["second"],
                                    "models": {"*": {"input": 1000000, "output": 0}}}]})");
    const auto ended = run("model = \"smart\"\nprices = \"prices.json\"\n",
                           "(get-in (ask \"q\") '(\"notes\" \"usage\" \"cost_usd\"))");
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, ::testing::ContainsRegex("tokens in, [0-9]+ out, \\$[1-9]"));
}

TEST_F(routes, a_wrong_file_of_prices_is_told_with_its_place) {
    scratch.file("prices.json", R"({"providers": [{"names": ["p"], "models": {"m": {}}}]})");
    const auto ended = run("prices = \"prices.json\"\n", "1");
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("providers[0].models[\"m\"] lacks its input or its output"));
}

} // namespace
} // namespace heddle::cli_test
