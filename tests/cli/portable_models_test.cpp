// One workflow with several services: settings that one of them lacks, what the cache holds apart,
// and recordings that outlive a run that does not begin.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* ask = "(defatom ask (params q) (instructions \"{{q}}\"))\n";

std::string provider(const std::string& name, const std::string& type, const std::string& url,
                     const std::string& more = {}) {
    return "[providers." + name + "]\ntype = \"" + type + "\"\nbase_url = \"" + url + "\"\n" + more;
}

class portable_models : public ::testing::Test {
protected:
    child_result run(const std::string& config, const std::string& program,
                     std::vector<std::string> more = {}) {
        const std::string settings = scratch.file("heddle.toml", config);
        const std::string source = scratch.file("run.heddle", program);
        std::vector<std::string> arguments{"run", source, "--config", settings};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_heddle(arguments);
    }
    child_result run_cached(const std::string& config, const std::string& program) {
        return run(config, program, {"--cache", "--cache-file", scratch.path() + "/cache.db"});
    }

    scratch_directory scratch;
};

TEST_F(portable_models, the_cache_distinguishes_servers_of_one_name) {
    model_thread mock(always_answering("MOCK"));
    model_thread real(always_answering("REAL"));
    const std::string program = std::string(ask) + "(content (ask \"1\"))";
    for (int i = 0; i < 2; ++i) {
        for (model_thread* each : {&mock, &real}) {
            const auto ended =
                run_cached("model = \"a:m\"\n" + provider("a", "vllm", each->url()), program);
            EXPECT_EQ(ended.out, each == &mock ? "MOCK\n" : "REAL\n") << ended.err;
        }
    }
    EXPECT_EQ(mock.counters().requests, 1U);
    EXPECT_EQ(real.counters().requests, 1U);
}

TEST_F(portable_models, the_cache_distinguishes_accounts_and_edited_rules) {
    model_thread model(always_answering("A"));
    const std::string program = std::string(ask) + "(content (ask \"1\"))";
    for (const char* key : {"key-of-one-0123456789", "key-of-two-0123456789"}) {
        const std::string file = scratch.file("key", key);
        (void)run_cached("model = \"a:m\"\n" + provider("a", "vllm", model.url(),
                                                        "api_key_file = \"" + file + "\"\n"),
                         program);
    }
    EXPECT_EQ(model.counters().requests, 2U);
    for (const char* text : {"FIRST", "SECOND"}) {
        const std::string rules = scratch.file("rules.json", always_answering(text));
        const auto ended = run_cached("model = \"scripted:" + rules + "\"\n", program);
        EXPECT_EQ(ended.out, std::string(text) + "\n") << ended.err;
    }
}

TEST_F(portable_models, a_route_goes_on_with_a_service_that_lacks_a_setting) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "{\"ok\": true}"}]})");
    const std::string config = "model = \"r\"\n[routes.r]\nmodels = [\"dead:m\", \"claude:m\"]\n" +
                               provider("dead", "vllm", "http://127.0.0.1:1", "max_retries = 0\n") +
                               provider("claude", "anthropic", model.url());
    const std::string program =
        "(defatom t (params q) (instructions \"{{q}}\") (temperature 0.2) (returns \"object\"))\n"
        "(let ((r (t \"x\"))) (list (get-field r \"parsedContent\")\n"
        "                          (get-in r '(\"notes\" \"warnings\"))))";
    const auto ended = run(config, program, {"--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out,
              "[{\"ok\":true},[\"claude: temperature is not sent: API version "
              "2026-10-21 has no such setting\"]]\n");
    EXPECT_THAT(ended.err, HasSubstr("claude: temperature is not sent"));
}

TEST_F(portable_models, a_blank_prompt_is_an_error_that_names_the_provider_and_costs_nothing) {
    model_thread model(always_answering("A"));
    const auto ended = run("model = \"a:m\"\n" + provider("a", "vllm", model.url()),
                           std::string(ask) + "(ask \"  \")");
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err, HasSubstr("a: the prompt is blank"));
    EXPECT_EQ(model.counters().requests, 0U);
}

TEST_F(portable_models, an_earlier_recording_stays_until_a_call_has_ended) {
    model_thread model(always_answering("A"));
    const std::string config = "model = \"a:m\"\n" + provider("a", "vllm", model.url());
    const std::string program = std::string(ask) + "(content (ask \"1\"))";
    const std::string tape = scratch.path() + "/calls.jsonl";
    ASSERT_EQ(run(config, program, {"--record", tape}).code, 0);
    const std::string first = scratch.text_of("calls.jsonl");
    EXPECT_THAT(first, HasSubstr("\"answer\""));
    EXPECT_NE(run(config, program, {"--record", tape, "--model", "anthropic:m"}).code, 0);
    EXPECT_NE(run(config, "(error \"before the first call\")", {"--record", tape}).code, 0);
    EXPECT_NE(run(config, "(", {"--record", tape}).code, 0);
    EXPECT_EQ(scratch.text_of("calls.jsonl"), first);
    // Also if a run has ended well, but made no call.
    EXPECT_EQ(run(config, "1", {"--record", tape}).code, 0);
    EXPECT_EQ(scratch.text_of("calls.jsonl"), first);
    // What was not there is not left behind.
    EXPECT_NE(run(config, "(error \"x\")", {"--record", scratch.path() + "/none.jsonl"}).code, 0);
    EXPECT_FALSE(std::ifstream(scratch.path() + "/none.jsonl").good());
}

} // namespace
} // namespace heddle::cli_test
