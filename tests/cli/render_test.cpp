// Requests that are shown: `heddle render`, --show-prompts, and :prompt in a session.
#include "batch_fixture.hpp"
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <sstream>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* rules = R"({"rules": [], "default": {"text": "good"}})";
constexpr const char* workflow = R"((defatom judge
  (params text)
  (system "You judge.")
  (temperature 0.2)
  (max-tokens 60)
  (instructions "Is it good? {{text}}")
  (output_format ((type "json")
    (schema ((type "object") (properties ((good ((type "boolean"))))) (required ("good")))))))
(print "this is run")
(define (main text) (judge text))
(judge "at the top level")
)";

boost::json::object object_of(const std::string& text) {
    return boost::json::parse(text).as_object();
}

class render : public testing::Test {
protected:
    [[nodiscard]] child_result show(std::vector<std::string> more) const {
        std::vector<std::string> arguments{"render", "judge", "--workflow",
                                           file,     "-i",    "text=A loom."};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_heddle(arguments);
    }

    scratch_directory scratch;
    std::string file = scratch.file("w.heddle", workflow);
    std::string model = "scripted:" + scratch.file("rules.json", rules);
};

TEST_F(render, shows_a_request_that_nobody_gets) {
    const auto shown = show({"--model", "openai:gpt-4o-mini"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(shown.err, "");
    EXPECT_THAT(
        shown.out,
        AllOf(HasSubstr("service:  openai, https://api.openai.com/v1\n"),
              HasSubstr("model:    gpt-4o-mini\n"),
              HasSubstr("settings: temperature 0.2, max_tokens 60\n"),
              HasSubstr(" in, at most 60 out\n"), HasSubstr("cost:     about $0.00000"),
              HasSubstr("system:\n  You judge."), HasSubstr("user:\n  Is it good? A loom.\n"),
              Not(HasSubstr("this is run")), HasSubstr("schema of the response:\n  {")));
}

TEST_F(render, json_is_what_a_recording_has) {
    const auto shown = show({"--model", model, "--json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    const auto rendered = object_of(shown.out);
    EXPECT_EQ(rendered.at("task"), "judge");
    EXPECT_EQ(rendered.at("service"), "scripted");
    EXPECT_TRUE(rendered.at("address").is_null());
    EXPECT_GT(rendered.at("input_tokens").as_int64(), 10);
    EXPECT_EQ(rendered.at("max_cost_usd").to_number<double>(), 0);

    const std::string plain = std::string(workflow).substr(0, std::string(workflow).find("(print"));
    const std::string tape = scratch.path() + "/tape.jsonl";
    const auto ran = run_heddle({"run", scratch.file("v.heddle", plain + "(judge \"A loom.\")"),
                                 "--model", model, "--record", tape});
    std::istringstream lines(scratch.text_of("tape.jsonl"));
    std::string line;
    std::getline(lines, line); // the header
    ASSERT_TRUE(std::getline(lines, line)) << ran.err;
    EXPECT_EQ(object_of(line).at("request"), rendered.at("request"));
}

TEST_F(render, wire_is_the_body_of_the_service) {
    for (const char* name : {"openai:gpt-4o-mini", "anthropic:claude-sonnet-4-5", "gemini:gemini-x",
                             "ollama:llama3", "openai-responses:gpt-5"}) {
        const auto shown = show({"--model", name, "--wire"});
        ASSERT_EQ(shown.code, 0) << name << shown.err;
        const auto body = object_of(shown.out);
        EXPECT_THAT(shown.out, HasSubstr("Is it good? A loom.")) << name;
        const bool gemini = std::string(name).starts_with("gemini");
        EXPECT_TRUE(body.contains(gemini ? "contents" : "model")) << name;
    }
    const auto left_out = show({"--model", "anthropic:claude-sonnet-4-5"});
    EXPECT_THAT(left_out.out, HasSubstr("not sent: temperature: "));
    const auto none = show({"--model", model, "--wire"});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("'scripted' has no wire format"));
}

TEST_F(render, takes_the_settings_of_the_service_from_the_configuration) {
    const std::string config =
        scratch.file("c.toml",
                     "[providers.office]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"
                     "api_key_command = [\"false\"]\n[providers.office.request]\ntop_p = 0.5\n");
    const auto shown = show({"--model", "office:m", "--config", config});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("top_p 0.5"), HasSubstr("http://127.0.0.1:9/v1"),
                                 HasSubstr("cost:     unknown")));
}

TEST_F(render, shows_a_template_of_a_file) {
    const std::string folder = scratch.path();
    const std::string xml =
        scratch.file("greet.xml",
                     "<task type=\"atomic\" name=\"greet\">\n"
                     "  <description>Greets</description>\n"
                     "  <inputs><input name=\"who\"/></inputs>\n"
                     "  <instructions>Greet {{who}}.</instructions>\n</task>\n");
    const auto shown = run_heddle({"render", xml, "-i", "who=Ada", "--model", model});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("task:     greet\n"), HasSubstr("  Greet Ada.\n")));
}

TEST_F(render, hides_keys) {
    const std::string key = "sk-test-0123456789abcdef";
    child_options options;
    options.variables = {{"OPENAI_API_KEY", key}};
    for (const char* how : {"-q", "--json", "--wire"}) {
        const auto shown = run_heddle({"render", "judge", "--workflow", file, "-i",
                                       "text=It is " + key, "-m", "openai:gpt-4o", how},
                                      options);
        EXPECT_EQ(shown.code, 0) << shown.err;
        EXPECT_THAT(shown.out, AllOf(HasSubstr("It is [hidden]"), Not(HasSubstr(key)))) << how;
    }
}

TEST_F(render, finds_definitions_in_a_progn) {
    const auto shown =
        run_heddle({"render", "outer", "--workflow",
                    scratch.file("p.heddle",
                                 "(progn (print \"no\") (begin (defatom outer (params text) "
                                 "(instructions \"Inside: {{text}}\"))) (outer \"no\"))"),
                    "-i", "text=x", "--model", "openai:gpt-4o-mini"});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("Inside: x"), Not(HasSubstr("no\n"))));
}

TEST_F(render, names_what_is_wrong) {
    const auto unknown = run_heddle({"render", "jugde", "--workflow", file, "--model", model});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.err, AllOf(HasSubstr("there is no task 'jugde'"), HasSubstr("'judge'")));
    const auto missing = run_heddle({"render", "judge", "--workflow", file, "--model", model});
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.err, HasSubstr("text"));
    const auto both = show({"--model", model, "--json", "--wire"});
    EXPECT_EQ(both.code, 2);
    const auto asks = run_heddle(
        {"render", "judge", "--workflow",
         scratch.file("a.heddle", std::string(workflow) + "(define early (judge \"x\"))"), "-i",
         "text=x", "--model", model});
    EXPECT_EQ(asks.code, 2);
    EXPECT_THAT(asks.err, HasSubstr("calls a model, but render sends nothing"));
}

// ---------------------------------------------------------------- --show-prompts

class show_prompts : public render {
protected:
    [[nodiscard]] child_result run(const std::string& program,
                                   std::vector<std::string> more) const {
        std::vector<std::string> arguments{"run", scratch.file("p.heddle", program)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_heddle(arguments);
    }
    const std::string two =
        "(defatom ask (params q) (instructions \"Ask {{q}}\"))\n"
        "(defatom tell (params q) (instructions \"Tell {{q}}\"))\n"
        "(list (content (ask \"one\")) (content (tell \"two\")))\n";
};

TEST_F(show_prompts, prints_what_is_sent) {
    const auto all = run(two, {"--model", model, "--show-prompts"});
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(all.err,
              "--- ask: scripted:scripted, about 5 tokens\nuser:\n  Ask one\n"
              "--- tell: scripted:scripted, about 6 tokens\nuser:\n  Tell two\n");
    const auto one = run(two, {"--model", model, "--show-prompts=tell"});
    EXPECT_THAT(one.err, AllOf(HasSubstr("Tell two"), Not(HasSubstr("Ask one"))));
    const auto json = run(two, {"--model", model, "--show-prompts=ask", "--json"});
    const auto line = object_of(json.err);
    EXPECT_EQ(line.at("event"), "request");
    EXPECT_EQ(line.at("task"), "ask");
    EXPECT_EQ(line.at("request").at("messages").at(0).at("text"), "Ask one");
}

TEST_F(show_prompts, leaves_out_what_the_cache_answers) {
    const std::vector<std::string> cached{"--model", model,          "--show-prompts",
                                          "--cache", "--cache-file", scratch.path() + "/c.db"};
    EXPECT_THAT(run(two, cached).err, HasSubstr("Ask one"));
    const auto again = run(two, cached);
    EXPECT_EQ(again.code, 0);
    EXPECT_THAT(again.err, Not(HasSubstr("Ask one")));
}

TEST_F(show_prompts, are_bounded_and_without_keys) {
    model_thread server{rules};
    const std::string key = "sk-test-0123456789abcdef";
    const std::string program =
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(content (ask (string-append \"" +
        key +
        " \" (string-join (map (lambda (i) \"abcdefghi\") "
        "(range 2000)) \" \"))))";
    child_options options;
    options.variables = {{"OPENAI_API_KEY", key}};
    const auto shown = run_heddle({"run", scratch.file("k.heddle", program), "--base-url",
                                   server.url(), "--model", "openai:gpt-4o", "--show-prompts"},
                                  options);
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.err, AllOf(HasSubstr("[hidden] abcdefghi"), Not(HasSubstr(key)),
                                 HasSubstr(" more bytes\n")));
    EXPECT_LT(shown.err.size(), 6000U);
}

class show_prompts_of_rows : public batch_fixture {};

TEST_F(show_prompts_of_rows, name_the_row) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"Ask {{q}}\"))\n"
                 "(define (main text) (content (ask text)))");
    (void)rows_file(2);
    const std::string model = "scripted:" + scratch.file("rules.json", rules);
    const auto ended = batch({"--model", model, "--show-prompts", "-c", "1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("--- ask, row r0: scripted:scripted"), HasSubstr("  Ask t0\n"),
                      HasSubstr("--- ask, row r1: scripted:scripted"), HasSubstr("  Ask t1\n")));
}

// ---------------------------------------------------------------- :prompt

TEST_F(render, a_session_shows_the_request_of_a_call) {
    const auto said =
        run_heddle({"repl", "--model", model, "--cache", "--cache-file", scratch.path() + "/r.db"},
                   with_input("(defatom ask (params q) (instructions \"Ask {{q}}\"))\n"
                              "(content (ask \"one\"))\n"
                              ":prompt ask \"one\"\n"
                              ":prompt (map ask '(\"two\" \"three\"))\n"
                              ":prompt (+ 1 2)\n"
                              "(content (ask \"four\"))\n"));
    EXPECT_THAT(said.out, AllOf(HasSubstr("user:\n  Ask one\n"), HasSubstr("user:\n  Ask two\n"),
                                HasSubstr("task:     ask\n"), Not(HasSubstr("Ask three"))));
    EXPECT_THAT(said.out, ::testing::EndsWith("\"good\"\n")) << "calls go out again";
    EXPECT_THAT(said.err, HasSubstr("no request: (+ 1 2) calls no model"));
}

} // namespace
} // namespace heddle::cli_test
