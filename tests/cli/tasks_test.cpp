// `heddle tasks`, `heddle call`, and templates in run, eval, repl and check.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <filesystem>

namespace heddle::cli_test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

constexpr const char* greeting = R"(<tasks>
<task name="greet" type="atomic" subtype="polite">
  <description>Greets somebody by name</description>
  <inputs><input name="who"/><input name="tone" default='"warm"'/></inputs>
  <instructions>Greet {{who}} in a {{tone}} tone.</instructions>
</task>
<template name="sum" params="text"><task><description>Sum up {{text}}</description></task></template>
</tasks>
)";

class task_files : public testing::Test {
protected:
    task_files() {
        scratch.file("rules.json", R"rules({"rules": [
            {"match": "Greet (\\w+) in a (\\w+)", "template": "{{2}} words for {{1}}"},
            {"match": "Sum up (.*)", "template": "sum of {{1}}"}]})rules");
        options.directory = scratch.path();
    }
    child_result run(std::vector<std::string> arguments) {
        return run_heddle(std::move(arguments), options);
    }
    child_result run_with_model(std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {"--model", "scripted:rules.json"});
        return run(std::move(arguments));
    }

    scratch_directory scratch;
    child_options options;
};
using tasks_command = task_files;
using call_command = task_files;

TEST_F(tasks_command, list_shows_what_there_is) {
    scratch.file("tasks/greeting.xml", greeting);
    scratch.file("tasks/notes.txt", "not a template");
    const auto ended = run({"tasks", "list"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("greet  atomic:polite    who, tone?  Greets somebody by name"
                                     "  tasks/greeting.xml:2\n"));
    EXPECT_EQ(ended.out.find("notes"), std::string::npos);
    const auto as_json = run({"tasks", "list", "--json"});
    EXPECT_EQ(json::parse(as_json.out).as_array().size(), 2U);
}

TEST_F(tasks_command, show_prints_all_of_one) {
    scratch.file("lib/greeting.xml", greeting);
    const auto ended = run({"tasks", "show", "atomic:polite", "--tasks", "lib"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("name: greet\n"));
    EXPECT_THAT(ended.out, HasSubstr("  tone (optional), else \"warm\"\n"));
    const auto as_json = run({"tasks", "show", "greet", "--json", "--tasks", "lib/greeting.xml"});
    const json::object shown = json::parse(as_json.out).as_object();
    EXPECT_EQ(shown.at("instructions"), json::value("Greet {{who}} in a {{tone}} tone."));
    const auto missing = run({"tasks", "show", "gret", "--tasks", "lib"});
    EXPECT_EQ(missing.code, 1);
    EXPECT_EQ(missing.err, "heddle: there is no template 'gret'\nhint: did you mean 'greet'?\n");
}

TEST_F(tasks_command, show_writes_numbers_as_the_language_does) {
    scratch.file("lib/exact.xml",
                 "<task name=\"exact\" type=\"atomic\"><description>Exact</description>"
                 "<temperature>0</temperature><top_p>0.5</top_p>"
                 "<instructions>x</instructions></task>");
    const auto ended = run({"tasks", "show", "exact", "--tasks", "lib"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("top_p: 0.5\n"));
    EXPECT_THAT(ended.out, ::testing::ContainsRegex("temperature: 0(\\.0)?\n"));
    EXPECT_THAT(run({"tasks", "show", "exact", "--json", "--tasks", "lib"}).out,
                HasSubstr("\"top_p\":0.5"));
}

TEST_F(tasks_command, match_ranks_by_description) {
    scratch.file("tasks/greeting.xml", greeting);
    const auto ended = run({"tasks", "match", "greets people by name"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("0.500  greet"));
    const auto none = run({"tasks", "match", "quantum chromodynamics"});
    EXPECT_EQ(none.code, 1);
    EXPECT_THAT(none.err, HasSubstr("no template"));
    EXPECT_EQ(run({"tasks", "match", "quantum", "--json"}).out, "[]\n");
}

TEST_F(tasks_command, check_reports_every_mistake) {
    scratch.file("a.xml", "<task type='atomic'>\n<colour/>\n</task>");
    scratch.file("b.xml", "<!DOCTYPE x>\n<task/>");
    const auto ended = run({"tasks", "check", "a.xml", "b.xml"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_EQ(ended.err, "");
    EXPECT_THAT(ended.out, HasSubstr("error: <task> has no <description>\n   --> a.xml:1:1\n"));
    EXPECT_THAT(ended.out, HasSubstr(" 2 | <colour/>\n   | ^^^^^^^^^\n"));
    EXPECT_THAT(ended.out, HasSubstr("--> b.xml:1:1\n"));
    EXPECT_THAT(ended.out, HasSubstr("3 errors, 0 warnings\n"));
    const auto as_json = run({"tasks", "check", "--json", "a.xml"});
    EXPECT_EQ(json::parse(as_json.out).at("errors"), json::value(2));
    options.input = greeting;
    EXPECT_EQ(run({"tasks", "check", "-"}).out, "2 templates, 0 calls, no mistakes\n");
    EXPECT_EQ(run({"tasks", "check", "none.xml"}).code, 2);
}

TEST_F(tasks_command, new_writes_a_template_that_is_good_and_overwrites_nothing) {
    const auto outcome = run({"tasks", "new", "shorten"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("tasks/shorten.xml"));
    EXPECT_EQ(run({"tasks", "check", "tasks"}).out, "1 template, 0 calls, no mistakes\n");
    scratch.file("tasks/shorten.xml", "mine");
    const auto again = run({"tasks", "new", "shorten"});
    EXPECT_EQ(again.code, 2);
    EXPECT_THAT(again.err, HasSubstr("tasks/shorten.xml already exists"));
    EXPECT_EQ(scratch.text_of("tasks/shorten.xml"), "mine");
    EXPECT_THAT(run({"tasks", "new", "other", "-o", "-"}).out, HasSubstr("<task name=\"other\""));
    EXPECT_EQ(run({"tasks", "new", "../up"}).code, 2);
    EXPECT_EQ(run({"tasks", "new", "a b"}).code, 2);
}

TEST_F(tasks_command, without_a_folder_explains_how_to_begin) {
    const auto ended = run({"tasks", "list"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("heddle tasks new NAME"));
    const auto json = run({"tasks", "list", "--json"});
    EXPECT_EQ(json.code, 0) << json.err;
    EXPECT_EQ(json.out, "[]\n");
    EXPECT_EQ(json.err, "");
    EXPECT_EQ(run({"tasks", "list", "--json", "--tasks", "nosuch"}).code, 2);
    EXPECT_EQ(run({"tasks"}).code, 2);
    EXPECT_THAT(run({"tasks", "lst"}).err, HasSubstr("did you mean 'list'"));
}

TEST_F(task_files, run_loads_the_folder_beside_the_workflow) {
    scratch.file("work/tasks/greeting.xml", greeting);
    scratch.file("work/w.heddle", "(content (greet (who \"Ada\")))");
    const auto ended = run_with_model({"run", "work/w.heddle", "-v"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "warm words for Ada\n");
    EXPECT_THAT(ended.err, HasSubstr("task templates are read from work/tasks"));
    EXPECT_EQ(run({"check", "work/w.heddle"}).code, 0) << "the names are known";
    scratch.file("lib/other.xml", "<template name='other' params=''><task/></template>");
    const auto without = run_with_model({"run", "work/w.heddle", "--tasks", "lib"});
    EXPECT_EQ(without.code, 1) << "a folder that is named takes its place";
    const auto both =
        run_with_model({"run", "work/w.heddle", "--tasks", "lib", "--tasks", "work/tasks"});
    EXPECT_EQ(both.out, "warm words for Ada\n");
}

TEST_F(task_files, an_invalid_template_stops_the_run_with_the_whole_report) {
    scratch.file("tasks/a.xml", "<task type='atomic'/>");
    scratch.file("tasks/b.xml", "<task type='x'><description>d</description></task>");
    scratch.file("w.heddle", "(print \"ran\")");
    const auto ended = run({"run", "w.heddle"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.err, HasSubstr("--> tasks/a.xml:1:1"));
    EXPECT_THAT(ended.err, HasSubstr("--> tasks/b.xml:1:13"));
    EXPECT_THAT(ended.err, HasSubstr("2 errors, 0 warnings"));
    const auto as_json = run({"run", "w.heddle", "--json"});
    EXPECT_EQ(json::parse(as_json.err).at("errors"), json::value(2));
    EXPECT_EQ(run({"run", "w.heddle", "--tasks", "nowhere"}).code, 2);
}

TEST_F(task_files, eval_and_repl_take_templates) {
    scratch.file("tasks/greeting.xml", greeting);
    const auto ended =
        run_with_model({"eval", "(content (greet \"Eve\" \"cold\"))", "--tasks", "tasks"});
    EXPECT_EQ(ended.out, "\"cold words for Eve\"\n") << ended.err;
    EXPECT_EQ(run({"eval", "(greet \"Eve\")"}).code, 1) << "eval reads no folder by itself";
    options.input = "(content (greet \"Eve\"))\n";
    EXPECT_EQ(run_with_model({"repl"}).out, "\"warm words for Eve\"\n");
}

TEST_F(task_files, run_makes_the_calls_of_a_file) {
    scratch.file("calls.xml", R"(<tasks>
<template name="greet2" params="who,tone"><task>
  <description>Greet {{who}} in a {{tone}} tone.</description></task></template>
<template name="sum" params="text"><task><description>Sum up {{text}}</description></task></template>
<call name="greeting" template="greet2"><arg>person</arg><arg>tone="cold"</arg></call>
<call template="sum"><arg>{{greeting.content}}, twice</arg></call>
</tasks>)");
    const auto ended = run_with_model({"run", "calls.xml"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "sum of cold words for person, twice\n");
    const auto named = run_with_model({"run", "calls.xml", "--input", "person=Ada"});
    EXPECT_EQ(named.out, "sum of cold words for Ada, twice\n") << named.err;
    scratch.file("none.xml", "<template name='a' params=''><task/></template>");
    const auto none = run({"run", "none.xml"});
    EXPECT_EQ(none.code, 2);
    EXPECT_THAT(none.err, HasSubstr("holds no <call>"));
}

TEST_F(tasks_command, check_holds_models_to_the_configuration_when_strict) {
    scratch.file("heddle.toml",
                 "model = \"local:small\"\n[providers.local]\ntype = \"vllm\"\n"
                 "base_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"small\"]\n");
    scratch.file("t.xml",
                 "<task name='t' type='atomic'><description>d</description>"
                 "<model>local:large</model></task>");
    EXPECT_EQ(run({"tasks", "check", "t.xml"}).code, 0);
    const auto strict = run({"tasks", "check", "--strict", "t.xml"});
    EXPECT_EQ(strict.code, 1) << strict.err;
    EXPECT_THAT(strict.out, HasSubstr("is not known to have a model 'large'"));
    scratch.file("t.xml",
                 "<task name='t' type='atomic'><description>d</description>"
                 "<model>local:small</model></task>");
    EXPECT_EQ(run({"tasks", "check", "--strict", "t.xml"}).code, 0);
}

TEST_F(task_files, calls_without_a_name_run_too_and_errors_show_the_call) {
    scratch.file("rules.json", R"rules({"rules": [
        {"match": "Say bad", "error": {"status": 400, "message": "no"}},
        {"match": "Say (.*)", "template": "said {{1}}"}]})rules");
    const std::string head =
        "<tasks>\n<template name='say' params='x'><task>"
        "<description>Say {{x}}</description></task></template>\n";
    scratch.file("two.xml", head +
                                "<call template='say'><arg>\"one\"</arg></call>\n"
                                "<call template='say'><arg>\"two\"</arg></call></tasks>");
    const auto ended = run_with_model({"run", "two.xml"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "said two\n");
    scratch.file("bad.xml", head +
                                "<call template='say'><arg>\"one\"</arg></call>\n"
                                "<call template='say'><arg>\"bad\"</arg></call></tasks>");
    const auto failed = run_with_model({"run", "bad.xml"});
    EXPECT_EQ(failed.code, 1);
    EXPECT_THAT(failed.err, HasSubstr("bad.xml:4:1"));
    EXPECT_THAT(failed.err, HasSubstr("<call template='say'>"));
    // The result of a single call is the value, also when it failed.
    scratch.file("one.xml", head + "<call template='say'><arg>\"bad\"</arg></call></tasks>");
    const auto one = run_with_model({"run", "one.xml"});
    EXPECT_EQ(one.code, 1);
    EXPECT_THAT(one.err, HasSubstr("one.xml:3:1"));
}

TEST_F(call_command, runs_templates_workflows_and_tools) {
    scratch.file("tasks/greeting.xml", greeting);
    EXPECT_EQ(run_with_model({"call", "greet", "who=Ada"}).out, "warm words for Ada\n");
    EXPECT_EQ(run_with_model({"call", "atomic:polite", "who=Ada", "tone=cold"}).out,
              "cold words for Ada\n");
    EXPECT_EQ(run({"call", "(+ a b)", "a:=1", "b:=2"}).out, "3\n");
    scratch.file("note.txt", "hello");
    const auto tool = run({"call", "read-file", "path=note.txt", "--json"});
    const json::value answer = json::parse(tool.out);
    EXPECT_EQ(answer.at("content"), json::value("hello"));
    EXPECT_EQ(answer.at("notes").at("execution_path"), json::value("tool"));
}

TEST_F(call_command, failures_are_shown_and_have_an_exit_code) {
    scratch.file("tasks/greeting.xml", greeting);
    const auto unknown = run({"call", "gret"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_EQ(unknown.out, "");
    EXPECT_THAT(unknown.err, HasSubstr("did you mean 'greet'"));
    const auto as_json = run({"call", "gret", "--json"});
    EXPECT_EQ(as_json.code, 1);
    EXPECT_EQ(json::parse(as_json.out).at("notes").at("error").at("reason"),
              json::value("template_not_found"));
    EXPECT_EQ(run({"call", "greet", "who"}).code, 2) << "an input is NAME=TEXT";
    EXPECT_EQ(run({"call"}).code, 2);
    EXPECT_EQ(run({"call", "(error \"no\")"}).code, 1);
    for (const std::string unreadable : {"(foo", "'(foo", "(let)", "(if)"}) {
        const auto ended = run({"call", unreadable});
        EXPECT_EQ(ended.code, 2) << unreadable << " cannot be run";
        EXPECT_EQ(ended.out, "");
        const auto reported = run({"call", unreadable, "--json"});
        EXPECT_EQ(reported.code, 2) << unreadable;
        EXPECT_EQ(json::parse(reported.out).at("status"), json::value("FAILED"));
    }
}

TEST_F(task_files, that_share_a_subtype_are_no_reason_to_warn) {
    for (const std::string name : {"a", "b"}) {
        scratch.file("tasks/" + name + ".xml",
                     "<template name='" + name +
                         "' params='who,tone'><task type='atomic' subtype='polite'>"
                         "<description>Greet {{who}} in a {{tone}} tone.</description></task>"
                         "</template>");
    }
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"tasks", "list"},
             {"call", "a", "who=Ada", "tone=cold", "--model", "scripted:rules.json"}}) {
        const auto ended = run(each);
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.err, "");
    }
}

} // namespace
} // namespace heddle::cli_test
