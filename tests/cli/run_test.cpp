// `heddle run`: inputs, results, errors, models.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

namespace heddle::cli_test {
namespace {

namespace json = boost::json;

constexpr const char* greeter =
    "(define (main name &optional times)\n"
    "  (string-append \"hello \" name (if times times \"\")))\n";

class run : public testing::Test {
protected:
    [[nodiscard]] std::string workflow(const std::string& text) const {
        return scratch.file("w.heddle", text);
    }
    scratch_directory scratch;
};

TEST_F(run, calls_main_with_inputs_by_name) {
    const auto ended = run_heddle({"run", workflow(greeter), "--input", "name=Ada Lovelace"});
    EXPECT_EQ(ended.out, "hello Ada Lovelace\n");
    EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(run, takes_text_as_it_is_and_json_after_colon_equals) {
    const auto file = workflow("(define (main a b) (list a b))");
    const auto ended = run_heddle({"run", file, "-i", "a=[1]", "-i", "b:=[1, 2.5, null]"});
    EXPECT_EQ(ended.out, "(\"[1]\" (1 2.5 nil))\n") << ended.err;
}

TEST_F(run, reads_inputs_from_a_json_object_and_input_wins) {
    const auto file = workflow(greeter);
    const auto ended = run_heddle({"run", file, "--input-json", "-", "-i", "name=Bob"},
                                  with_input("{\"name\": \"Ada\", \"times\": 3}"));
    EXPECT_EQ(ended.out, "hello Bob3\n") << ended.err;
}

TEST_F(run, names_missing_and_unknown_inputs) {
    const auto ended = run_heddle({"run", workflow(greeter), "-i", "nam=Ada"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("main needs name; main has no parameter nam"), std::string::npos)
        << ended.err;
    EXPECT_NE(ended.err.find("its parameters are: name, times"), std::string::npos) << ended.err;
}

TEST_F(run, reports_that_a_text_is_not_json) {
    const auto file = workflow("(define (main rows) (map (lambda (x) x) rows))");
    const auto ended = run_heddle({"run", file, "-i", "rows=5"});
    EXPECT_NE(ended.err.find("hint: rows=5 is the text \"5\"; rows:=5 is read as JSON"),
              std::string::npos)
        << ended.err;
}

TEST_F(run, reports_a_main_that_ran_twice) {
    const auto file = workflow("(define (main) (print \"run\") 5)\n(main)\n");
    const auto ended = run_heddle({"run", file});
    EXPECT_EQ(ended.code, 0);
    EXPECT_NE(ended.err.find("w.heddle calls main itself"), std::string::npos) << ended.err;
    EXPECT_EQ(run_heddle({"run", file, "-q"}).err, "");
    for (const char* calls : {"  (main)", "(print (main))", "(let ((x (list (main)))) x)"}) {
        const auto inside =
            run_heddle({"run", workflow("(define (main) 5)\n" + std::string(calls))});
        EXPECT_NE(inside.err.find("w.heddle calls main itself"), std::string::npos) << calls;
    }
    for (const char* no_call : {"(define (b) (main))", "(define b (lambda () (main)))",
                                "(define form '(main))", "\"\n(main)\"", "; (main)"}) {
        const auto once =
            run_heddle({"run", workflow("(define (main) 5)\n" + std::string(no_call))});
        EXPECT_EQ(once.err, "") << no_call;
    }
}

TEST_F(run, shows_the_data_of_an_error) {
    const auto file = workflow("(error \"top\" (dict 'a 1) 7)");
    const auto ended = run_heddle({"run", file});
    EXPECT_NE(ended.err.find("data: (dict \"a\" 1) 7\n"), std::string::npos) << ended.err;
    const auto as_json = run_heddle({"run", file, "--json"});
    EXPECT_EQ(json::parse(as_json.err).at("error").at("data"), json::parse(R"([{"a":1},7])"));
}

TEST_F(run, refuses_inputs_when_there_is_no_main) {
    const auto ended = run_heddle({"run", workflow("(+ 1 2)"), "-i", "x=1"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("defines no main"), std::string::npos) << ended.err;
}

TEST_F(run, without_main_prints_the_last_value) {
    EXPECT_EQ(run_heddle({"run", workflow("(define x 20) (+ x 1)")}).out, "21\n");
}

TEST_F(run, reads_the_workflow_from_standard_input) {
    EXPECT_EQ(run_heddle({"run", "-"}, with_input("(* 6 7)")).out, "42\n");
}

TEST_F(run, shows_a_list_of_maps_as_a_table) {
    const auto ended = run_heddle(
        {"run", workflow("(list (dict \"name\" \"a\" \"n\" 5)"
                         "      (dict \"name\" \"long one\" \"n\" 12 \"more\" '(1 2)))")});
    EXPECT_EQ(ended.out,
              "name       n  more\n"
              "--------  --  -----\n"
              "a          5\n"
              "long one  12  [1,2]\n");
}

TEST_F(run, prints_json_when_asked) {
    const auto file = workflow("(dict \"a\" '(1 2.5 nil true \"x\"))");
    EXPECT_EQ(run_heddle({"run", file, "--json"}).out, "{\"a\":[1,2.5,null,true,\"x\"]}\n");
}

TEST_F(run, loses_no_part_of_a_result_that_has_no_json_form) {
    const auto file =
        workflow("(dict 'paid \"text\" 'rest (list 1 (lambda (x) x) (dict 'f (spawn 2))))");
    const auto ended = run_heddle({"run", file, "--json"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    const auto failure = json::parse(ended.err).at("error").as_object();
    EXPECT_NE(failure.at("message").as_string().find("a function at [\"rest\"][1]"),
              std::string::npos)
        << ended.err;
    const auto& result = failure.at("result").as_object();
    EXPECT_EQ(result.at("paid").as_string(), "text");
    EXPECT_EQ(result.at("rest").at(0).as_int64(), 1);
    EXPECT_TRUE(result.at("rest").at(1).as_string().starts_with("#<function"));
    EXPECT_TRUE(result.at("rest").at(2).at("f").as_string().starts_with("#<future"));
    const auto data = run_heddle({"run", workflow("(error \"no\" 7 (lambda (x) x))"), "--json"});
    EXPECT_EQ(json::parse(data.err).at("error").at("data").at(0).as_int64(), 7) << data.err;
}

TEST_F(run, shows_the_line_the_caret_and_the_trace) {
    const auto file =
        workflow("(define (half x)\n  (/ x 0))\n\n(define (main)\n  (+ 1 (half 3)))\n");
    const auto ended = run_heddle({"run", file});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.err,
              "SexpEvaluationError: /: division by zero\n"
              "   --> " +
                  file +
                  ":2:3\n"
                  " 2 |   (/ x 0))\n"
                  "   |   ^^^^^^^\n"
                  "  in 'half' (" +
                  file +
                  ":5:8)\n"
                  "  in 'main' (" +
                  file + ":4:1)\n");
}

TEST_F(run, reports_errors_as_json_on_standard_error) {
    const auto file = workflow("(define (main)\n  (+ 1 nobody))");
    const auto ended = run_heddle({"run", file, "--json"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    const auto reported = json::parse(ended.err).as_object();
    const auto& error = reported.at("error").as_object();
    EXPECT_EQ(error.at("kind"), "UnboundSymbolError");
    EXPECT_EQ(error.at("place").at("file"), json::string(file));
    EXPECT_EQ(error.at("place").at("line"), 2);
    EXPECT_EQ(error.at("place").at("column"), 8);
    EXPECT_EQ(reported.at("exit_code"), 1);
    EXPECT_EQ(reported.at("calls").at("done"), 0);
}

TEST_F(run, reports_usage_errors_as_json_too) {
    const auto ended = run_heddle({"run", "/no/such/file", "--json"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(json::parse(ended.err).at("exit_code"), 2);
}

TEST_F(run, print_goes_to_standard_output_in_order) {
    EXPECT_EQ(run_heddle({"run", workflow("(print \"a\" 1) (print '(2 \"b\")) nil")}).out,
              "a 1\n(2 \"b\")\n");
}

TEST_F(run, confines_files_to_the_workspace) {
    const auto file = workflow("(read-file \"../outside\")");
    const auto ended = run_heddle({"run", file, "--workspace", scratch.path()});
    EXPECT_EQ(ended.code, 1);
    scratch.file("inside", "text");
    EXPECT_EQ(run_heddle({"run", workflow("(read-file \"inside\")"), "-w", scratch.path()}).out,
              "text\n");
}

TEST_F(run, is_repeatable_with_a_seed) {
    const auto file = workflow("(list (random) (random 1000) (uuid))");
    const auto first = run_heddle({"run", file, "--seed", "7"}).out;
    EXPECT_EQ(run_heddle({"run", file, "--seed", "7"}).out, first);
    EXPECT_NE(run_heddle({"run", file, "--seed", "8"}).out, first);
}

constexpr const char* one_task =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
    "(define (main q) (ask q))\n";

TEST_F(run, calls_a_scripted_model_in_process) {
    const auto rules = scratch.file(
        "r.json", R"json({"rules": [{"match": "(?P<q>.*)", "template": "you said {{q}}"}]})json");
    const auto ended =
        run_heddle({"run", workflow(one_task), "-i", "q=hi", "--model", "scripted:" + rules});
    EXPECT_EQ(ended.out, "you said hi\n") << ended.err;
    EXPECT_EQ(ended.code, 0);
}

TEST_F(run, reports_every_mistake_of_a_rules_file) {
    const auto rules = scratch.file("r.json", R"({"rules": [{"match": "(", "text": "x"}, {}]})");
    const auto ended =
        run_heddle({"run", workflow(one_task), "-i", "q=hi", "--model", "scripted:" + rules});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("rules[0].match"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("rules[1]"), std::string::npos) << ended.err;
}

TEST_F(run, calls_a_service_over_http) {
    model_thread model(always_answering("over http"), "sk-right");
    child_options options;
    options.variables["OPENAI_API_KEY"] = "sk-right";
    options.variables["OPENAI_BASE_URL"] = model.url();
    options.variables["HEDDLE_MODEL"] = "any-model";
    const auto ended = run_heddle({"run", workflow(one_task), "-i", "q=hi"}, options);
    EXPECT_EQ(ended.out, "over http\n") << ended.err;
    EXPECT_EQ(model.counters().requests, 1U);
    EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.open_connections == 0; }));
}

TEST_F(run, fails_when_its_value_is_a_failed_result) {
    model_thread model(R"({"rules": []})");
    const auto ended =
        run_heddle({"run", workflow(one_task), "-i", "q=hi", "--base-url", model.url(), "--json"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.out, "");
    const auto reported = json::parse(ended.err).as_object();
    EXPECT_EQ(reported.at("error").at("kind"), "TaskError");
    EXPECT_EQ(reported.at("error").at("reason"), "llm_error");
    EXPECT_EQ(reported.at("calls").at("failed"), 1);
}

// Nothing raises, so there was no place.
TEST_F(run, shows_the_form_whose_value_is_a_failed_result) {
    model_thread model(R"({"rules": []})");
    const std::string ask = "(defatom ask (params q) (instructions \"{{q}}\"))\n";
    const auto file = workflow(ask + "(+ 1 2)\n\n(ask \"x\") ; the last\n");
    const auto ended = run_heddle({"run", file, "--base-url", model.url()});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find(":4:1\n 4 | (ask \"x\")"), std::string::npos) << ended.err;
    const auto json = run_heddle({"run", file, "--base-url", model.url(), "--json"});
    const auto reported = json::parse(json.err).as_object();
    EXPECT_EQ(reported.at("error").at("place").at("line"), 4) << json.err;
    const auto of_main = run_heddle(
        {"run", workflow(ask + "(define (main) (ask \"x\"))\n(main)"), "--base-url", model.url()});
    EXPECT_EQ(of_main.err.find("-->"), std::string::npos) << of_main.err; // main was called again
}

TEST_F(run, keeps_at_most_concurrency_calls_in_flight) {
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 20}]})");
    const auto file = workflow(
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main) (length (map (lambda (i) (ask \"q\")) (range 40))))");
    const auto ended = run_heddle({"run", file, "--base-url", model.url(), "-c", "5"});
    EXPECT_EQ(ended.out, "40\n") << ended.err;
    EXPECT_LE(model.counters().max_open_connections, 5U);
}

TEST_F(run, needs_a_key_for_the_real_service_when_it_is_asked_for) {
    const auto ended = run_heddle({"eval", "1", "--model", "openai:gpt-4o-mini"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("OPENAI_API_KEY"), std::string::npos) << ended.err;
}

TEST_F(run, ends_the_line_of_a_stream_before_anything_else) {
    const std::string rules = scratch.file("rules.json", always_answering("Yes."));
    const std::string ask = "(defatom ask (params q) (instructions \"{{q}}\"))\n";
    const auto value = run_heddle({"run", workflow(ask + "(content (ask \"x\"))"), "--stream",
                                   "--model", "scripted:" + rules});
    EXPECT_EQ(value.code, 0);
    EXPECT_EQ(value.out, "Yes.\n");
    EXPECT_EQ(value.err, "[ask] Yes.\n");
    const auto nothing = run_heddle({"run", workflow(ask + "(ask \"x\") (ask \"y\") nil"),
                                     "--stream", "--model", "scripted:" + rules});
    EXPECT_EQ(nothing.out, "");
    EXPECT_EQ(nothing.err, "[ask] Yes.\n[ask] Yes.\n");
    const auto failed = run_heddle({"run", workflow(ask + "(ask \"x\") (error \"no\")"), "--stream",
                                    "--model", "scripted:" + rules});
    EXPECT_EQ(failed.err.find("[ask] Yes.\nUserError: no\n"), 0U) << failed.err;
}

TEST_F(run, takes_its_limits_from_the_command_line) {
    const std::string config =
        scratch.file("heddle.toml", "step_limit = 1000000000\nmemory_limit = \"1GB\"\n");
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> command{"run", "", "--config", config};
        command[1] = workflow(
            "(let loop ((i 0)) (if (< i 100000) (loop (+ i 1)) i))\n"
            "(length (range 1000000))");
        command.insert(command.end(), more.begin(), more.end());
        return run_heddle(command);
    };
    EXPECT_EQ(with({}).out, "1000000\n");
    const auto steps = with({"--step-limit", "1000"});
    EXPECT_EQ(steps.code, 1);
    EXPECT_NE(steps.err.find("LimitError: the step limit of this run is used up"),
              std::string::npos)
        << steps.err;
    const auto memory = with({"--memory-limit", "1MB"});
    EXPECT_EQ(memory.code, 1);
    EXPECT_NE(memory.err.find("LimitError: range: "), std::string::npos) << memory.err;
    EXPECT_EQ(with({"--memory-limit", "64MB", "--step-limit", "100000000"}).out, "1000000\n");
}

TEST_F(run, prints_its_version_as_text_and_as_json) {
    const auto text = run_heddle({"--version"});
    EXPECT_EQ(text.code, 0);
    ASSERT_EQ(text.out.find("heddle "), 0U) << text.out;
    for (const std::vector<std::string>& each :
         {std::vector<std::string>{"--version", "--json"}, {"--json", "--version"}}) {
        const auto reported = run_heddle(each);
        EXPECT_EQ(reported.code, 0) << reported.err;
        EXPECT_EQ(
            "heddle " + std::string(json::parse(reported.out).at("version").as_string()) + "\n",
            text.out);
    }
}

TEST(help, describes_names_of_the_language) {
    const auto ended = run_heddle({"help", "map"});
    EXPECT_EQ(ended.code, 0);
    EXPECT_TRUE(ended.out.starts_with("(map f ")) << ended.out;
    EXPECT_NE(ended.out.find("\n"), std::string::npos);
    EXPECT_EQ(run_heddle({"help", "eval"}).out.find("Evaluate an expression"), 0U) << "a command";
    EXPECT_EQ(run_heddle({"help", "no-such-name"}).code, 2);
    EXPECT_NE(run_heddle({"help", "rnu"}).err.find("did you mean 'run'"), std::string::npos);
}

} // namespace
} // namespace heddle::cli_test
