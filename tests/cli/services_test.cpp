#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "test_paths.hpp"

#include <gmock/gmock.h>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [{"match": "one", "text": "ONE"},
                                           {"match": "two", "text": "TWO"}]})";
constexpr const char* asks = R"((defatom ask (params q) (instructions "{{q}}"))
(map (lambda (q) (content (ask q))) (list "one" "two" "one")))";

class services : public ::testing::Test {
protected:
    child_result heddle(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), heddle::test_paths::program_file());
        return child_process(std::move(arguments)).wait();
    }
    scratch_directory scratch;
    std::string model = "scripted:" + scratch.file("rules.json", rules);
    std::string program = scratch.file("ask.heddle", asks);
    std::string config = scratch.file("heddle.toml", "");
};

TEST_F(services, a_recorded_run_is_played_back_without_its_model) {
    const std::string tape = scratch.path() + "/calls.jsonl";
    const auto first =
        heddle({"run", program, "--config", config, "--model", model, "--record", tape, "--json"});
    EXPECT_EQ(first.out, "[\"ONE\",\"TWO\",\"ONE\"]\n") << first.err;
    const auto again = heddle({"run", program, "--config", config, "--replay", tape, "--json"});
    EXPECT_EQ(again.out, first.out) << again.err;
    // The same command with --replay in place of --record.
    const auto same =
        heddle({"run", program, "--config", config, "--model", model, "--replay", tape, "--json"});
    EXPECT_EQ(same.out, first.out) << same.err;
    const std::string other = scratch.file("other.heddle",
                                           "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                           "(content (ask \"one\"))");
    const auto part = heddle({"run", other, "--config", config, "--replay", tape});
    EXPECT_EQ(part.out, "ONE\n");
    EXPECT_THAT(part.err, HasSubstr("2 of 3 recorded calls were not asked for"));
    const std::string more = scratch.file("more.heddle",
                                          "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                          "(content (ask \"three\"))");
    const auto missing = heddle({"run", more, "--config", config, "--replay", tape});
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.err, HasSubstr("was not recorded"));
    EXPECT_THAT(missing.err, HasSubstr("differs in messages"));
}

TEST_F(services, a_recording_that_cannot_be_written_stops_the_run_before_it_begins) {
    const auto ended = heddle({"run", program, "--config", config, "--model", model, "--record",
                               scratch.path() + "/none/calls.jsonl"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("none/calls.jsonl"));
}

TEST_F(services, kept_responses_are_counted_and_removed) {
    const std::string file = scratch.path() + "/answers.db";
    for (int i = 0; i < 2; ++i) {
        const auto ended = heddle({"run", program, "--config", config, "--model", model, "--cache",
                                   "--cache-file", file, "--json"});
        EXPECT_EQ(ended.out, "[\"ONE\",\"TWO\",\"ONE\"]\n") << ended.err;
    }
    const auto stats =
        heddle({"cache", "stats", "--config", config, "--cache-file", file, "--json"});
    EXPECT_THAT(stats.out, HasSubstr("\"entries\":2"));
    EXPECT_EQ(heddle({"cache", "clear", "--config", config, "--cache-file", file}).out,
              "removed 2 responses from " + file + "\n");
    // What is not there is empty, and is not made.
    const std::string none = scratch.path() + "/none.db";
    EXPECT_THAT(heddle({"cache", "stats", "--config", config, "--cache-file", none}).out,
                HasSubstr("0 responses"));
    EXPECT_EQ(scratch.text_of("none.db"), "");
}

TEST_F(services, mistakes_of_heddle_toml_are_reported_with_their_lines) {
    const std::string wrong = scratch.file("wrong.toml", "modle = \"x\"\n[cache]\nkeep_for = 0\n");
    const auto ended = heddle({"eval", "1", "--config", wrong});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("wrong.toml:1: there is no setting 'modle'"));
    EXPECT_THAT(ended.err, HasSubstr("wrong.toml:3: cache.keep_for must be a time"));
}

TEST_F(services, are_listed_with_where_their_keys_come_from_and_no_key) {
    const std::string key = scratch.file("key", "sk-secret-in-a-file\n");
    const std::string settings =
        scratch.file("models.toml",
                     "model = \"near:qwen\"\n[providers.near]\ntype = \"vllm\"\n"
                     "base_url = \"http://user:word@127.0.0.1:9/v1\"\n"
                     "[providers.far]\ntype = \"anthropic\"\napi_key_file = \"key\"\n"
                     "[aliases]\nq = \"near:qwen\"\n");
    const auto text = heddle({"models", "--config", settings});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("near"));
    EXPECT_THAT(text.out, HasSubstr("none needed"));
    EXPECT_THAT(text.out, HasSubstr("the file " + key));
    EXPECT_THAT(text.out, HasSubstr("default model: near:qwen"));
    EXPECT_THAT(text.out, HasSubstr("alias q: near:qwen"));
    for (const char* hidden : {"sk-secret-in-a-file", "user:word"}) {
        EXPECT_THAT(text.out + text.err, Not(HasSubstr(hidden)));
        EXPECT_THAT(heddle({"models", "--config", settings, "--json"}).out, Not(HasSubstr(hidden)));
    }
}

TEST_F(services, that_do_not_answer_fail_the_ping) {
    const std::string settings = scratch.file(
        "models.toml", "[providers.near]\ntype = \"vllm\"\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    const auto ended = heddle({"models", "--ping", "--config", settings, "--json"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.out, HasSubstr("\"ok\":false"));
    EXPECT_THAT(ended.out, HasSubstr("near"));
}

TEST_F(services, whose_key_cannot_be_read_cost_nothing) {
    const std::string many = scratch.file(
        "many.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define text (string-join (map (lambda (i) \"word word word word\") (range 5000)) \" \"))\n"
        "(map (lambda (i) (try (ask (format \"{} {}\" i text)) (catch (e) (get e 'reason))))"
        " (range 20))");
    std::string reasons = "[\"configuration_error\"";
    for (int i = 1; i < 20; ++i) reasons += ",\"configuration_error\"";
    for (const char* key : {"api_key_file = \"/nope/key\"", "api_key_env = \"NOPE\"",
                            "api_key_command = [\"false\"]"}) {
        const std::string settings =
            scratch.file("keyless.toml", std::string("[providers.openai]\n") + key + "\n");
        const auto ended = heddle({"run", many, "--config", settings, "--model", "gpt-4o",
                                   "--budget-usd", "0.2", "--json", "-v"});
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.out, reasons + "]\n");
        EXPECT_THAT(ended.err, HasSubstr("\"failed\":20")) << key;
        EXPECT_THAT(ended.err, HasSubstr("\"input_tokens\":0")) << key;
        EXPECT_THAT(ended.err, HasSubstr("\"cost_usd\":0")) << key;
    }
}

} // namespace
} // namespace heddle::cli_test
