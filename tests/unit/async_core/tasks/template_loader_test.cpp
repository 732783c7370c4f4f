// Templates out of XML: what is read, and everything that is refused.
#include "tasks_testing.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::reading;
using lines = std::vector<std::string>;

std::string data_file(const std::string& name) {
    std::ifstream stream(std::string(HEDDLE_TEST_DATA_DIR) + "/templates/" + name,
                         std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

loaded_templates load(std::string text, template_load_options options = {},
                      std::string name = "t.xml") {
    template_loader loader(std::move(options));
    loader.add(std::move(name), std::move(text));
    return std::move(loader).finish();
}

loaded_templates load_file(const std::string& name) { return load(data_file(name), {}, name); }

/// "line:column code message" of each problem.
lines problems_of(const loaded_templates& loaded) {
    lines result;
    for (const lang::problem& each : loaded.report->problems) {
        const source_location place = loaded.report->sources.locate(each.span);
        result.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                         std::string(each.code) + " " + each.message);
    }
    return result;
}
lines problems(std::string text, template_load_options options = {}) {
    return problems_of(load(std::move(text), std::move(options)));
}

/// A task with these elements, which are on the second line.
std::string task(const std::string& elements, const std::string& attributes = "") {
    return "<task name=\"t\" type=\"atomic\" " + attributes + "><description>d</description>\n" +
           elements + "</task>";
}

TEST(template_loader, reads_every_element) {
    const auto loaded = load_file("every_element.xml");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    ASSERT_EQ(loaded.templates.size(), 1U);
    const task_template& t = loaded.templates[0];
    EXPECT_EQ(t.name, "everything");
    EXPECT_EQ(t.subtype, "director");
    EXPECT_EQ(t.description, "Plan {{goal}}");
    EXPECT_EQ(t.provider, "openai");
    EXPECT_EQ(t.model, "gpt-4o-mini");
    EXPECT_EQ(t.instructions,
              "Plan {{goal}} for {{ who.name }}:\n  - in steps\n"
              "  - <short> & clear");
    EXPECT_EQ(t.system, "Be <brief>.");
    EXPECT_EQ(t.output_slot, "plan");
    EXPECT_EQ(t.input_source, "user");
    EXPECT_TRUE(t.output.json);
    EXPECT_THAT(t.output.schema, HasSubstr("\"required\""));
    EXPECT_EQ(t.context.inherit_context, inherit_mode::none);
    EXPECT_EQ(t.context.accumulate_data, true);
    EXPECT_EQ(t.context.accumulation_format, accumulation::full_output);
    EXPECT_EQ(t.context.fresh_context, true);
    ASSERT_TRUE(t.files);
    EXPECT_THAT(t.files->paths, ElementsAre("src/plan.cpp", "src/plan.hpp"));
    ASSERT_EQ(t.inputs.size(), 3U);
    EXPECT_EQ(t.inputs[0].type, "string");
    EXPECT_EQ(t.inputs[0].description, "What is wanted");
    EXPECT_FALSE(t.inputs[0].optional);
    EXPECT_EQ(t.inputs[1].from, "user");
    EXPECT_EQ(t.inputs[1].default_json, "{\"name\":\"all\"}");
    EXPECT_TRUE(t.inputs[1].optional && t.inputs[2].optional);
    ASSERT_EQ(t.relevance.size(), 2U);
    EXPECT_FALSE(t.relevance[1].include);
    EXPECT_THAT(t.assembly.primary, ElementsAre("src/*.cpp", "goal"));
    EXPECT_THAT(t.assembly.secondary, ElementsAre("docs/*"));
    EXPECT_THAT(t.assembly.excluded, ElementsAre("build/*"));
    EXPECT_EQ(t.manual_xml, true);
    EXPECT_EQ(t.disable_reparsing, true);
    EXPECT_EQ(t.criteria, "has steps");
    EXPECT_EQ(t.temperature, 0.25);
    EXPECT_EQ(t.max_tokens, 1000);
    EXPECT_EQ(t.timeout, std::chrono::milliseconds(2500));
    EXPECT_EQ(t.retries, 2U);
    EXPECT_THAT(t.tools, ElementsAre("read-file", "system:run_script"));
    EXPECT_EQ(t.limits.max_turns, 5);
    EXPECT_EQ(t.limits.max_context, 0.5);
    EXPECT_EQ(t.limits.max_output, 2000);
    EXPECT_EQ(t.limits.max_tokens_total, 9000);
    EXPECT_EQ(t.limits.max_cost_usd, 0.1);
    EXPECT_EQ(t.history.use_session_history, false);
    EXPECT_EQ(t.history.history_turns_to_include, 3);
    EXPECT_EQ(t.history.record_in_session_history, true);
    EXPECT_EQ(t.source, "every_element.xml:2");
    EXPECT_FALSE(t.span.known());
    EXPECT_TRUE(compile_task(t));
}

TEST(template_loader, reads_the_aider_templates_of_the_design) {
    for (const char* name : {"aider_interactive", "aider_automatic"}) {
        const auto loaded = load_file(std::string(name) + ".xml");
        ASSERT_TRUE(loaded.good()) << loaded.report->text();
        const task_template& t = loaded.templates.at(0);
        EXPECT_EQ(t.name, name) << "the file names it";
        EXPECT_EQ(t.subtype, name);
        EXPECT_EQ(t.context.inherit_context, inherit_mode::subset);
        EXPECT_EQ(t.context.fresh_context, true);
        EXPECT_EQ(t.files->from, file_paths_source::kind::context_description);
        EXPECT_EQ(t.files->text, "Files relevant to: {{task_description}}");
        ASSERT_EQ(t.inputs.size(), 2U);
        EXPECT_EQ(t.inputs[0].from, "user_query");
        EXPECT_EQ(t.inputs[1].name, "task_description");
        EXPECT_TRUE(t.inputs[1].optional);
    }
}

TEST(template_loader, reads_the_functions_and_the_call_of_the_design) {
    const auto loaded = load_file("functions.xml");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    ASSERT_EQ(loaded.templates.size(), 2U);
    EXPECT_EQ(loaded.templates[0].name, "analyze_data");
    ASSERT_EQ(loaded.templates[0].inputs.size(), 2U);
    EXPECT_EQ(loaded.templates[0].inputs[1].name, "config");
    EXPECT_EQ(loaded.templates[1].returns, "object");
    ASSERT_EQ(loaded.calls.size(), 1U);
    EXPECT_EQ(loaded.calls[0].template_name, "analyze_data");
    ASSERT_EQ(loaded.calls[0].arguments.size(), 2U);
    EXPECT_EQ(loaded.calls[0].arguments[1].name, "config");
    EXPECT_EQ(loaded.calls[0].arguments[1].text, "standard_config");
    EXPECT_EQ(loaded.calls[0].source, "functions.xml:9");
}

TEST(template_loader, reads_task_bodies_of_the_design_inside_of_templates) {
    const auto loaded = load_file("bodies.xml");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    ASSERT_EQ(loaded.templates.size(), 2U);
    EXPECT_TRUE(loaded.templates[0].declares_inputs);
    EXPECT_EQ(loaded.templates[1].name, "readability");
    EXPECT_EQ(loaded.templates[1].description, "readability") << "the name serves";
    EXPECT_EQ(loaded.templates[1].inputs[0].description, "The code to analyze");
    // Outside of a template they lack what a task must have.
    EXPECT_EQ(problems_of(load_file("incomplete.xml")),
              (lines{"2:1 missing <task> has no type", "2:1 missing <task> has no name",
                     "7:1 missing <task> has no type", "7:1 missing <task> has no <description>",
                     "7:1 missing <task> has no name"}));
}

TEST(template_loader, a_description_is_the_prompt_of_a_task_without_instructions) {
    auto loaded = load_file("functions.xml");
    const auto compiled = compile_task(loaded.templates[0]);
    ASSERT_TRUE(compiled);
    std::string text;
    reading values;
    const std::vector<bound_input> inputs{{"dataset", values.form("\"rain\""), true},
                                          {"config", values.form("\"x\""), true}};
    ASSERT_TRUE((*compiled)->instructions.fill(text, inputs));
    EXPECT_EQ(text, "Analyze rain using x");
}

TEST(template_loader, returns_is_the_output_format_that_is_not_given) {
    auto loaded = load("<template name='a' params='' returns='string[]'><task/></template>");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    EXPECT_TRUE(loaded.templates[0].output.json);
    EXPECT_EQ(loaded.templates[0].output.schema, "string[]");
    loaded = load("<template name='a' params='' returns='string'><task/></template>");
    EXPECT_FALSE(loaded.templates[0].output.json);
    EXPECT_EQ(problems("<template name='a' params='' returns='object'><task>"
                       "<output_format type='text'/></task></template>"),
              (lines{"1:39 bad-value returns is object, but output_format is text"}));
    EXPECT_EQ(problems("<template name='a' params='' returns='object'><task>"
                       "<output_format type='json' schema='number'/></task></template>"),
              (lines{"1:39 bad-value 'a': returns is object, but output_format is number"}));
}

TEST(template_loader, white_space_of_a_block_can_be_kept) {
    const auto loaded = load(task("<instructions xml:space='preserve'>  a\n  b </instructions>"));
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    EXPECT_EQ(loaded.templates[0].instructions, "  a\n  b ");
}

TEST(template_loader, ref_fills_what_is_absent) {
    template_loader loader;
    loader.add("a.xml",
               "<task type='atomic' name='special' ref='base' subtype='standard'>"
               "<instructions>Other {{x}}</instructions><temperature>1</temperature>"
               "</task>");
    loader.add("b.xml",
               "<task type='atomic' name='base' subtype='director' ref='root'>"
               "<description>Base</description><instructions>Say {{x}}</instructions>"
               "<inputs><input name='x'/></inputs><temperature>0</temperature></task>");
    loader.add("c.xml",
               "<task type='atomic' name='root'><description>Root</description>"
               "<system>Be kind</system></task>");
    const auto loaded = std::move(loader).finish();
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    const task_template& t = loaded.templates[0];
    EXPECT_EQ(t.name, "special");
    EXPECT_EQ(t.instructions, "Other {{x}}");
    EXPECT_EQ(t.description, "Base");
    EXPECT_EQ(t.system, "Be kind");
    EXPECT_EQ(t.subtype, "standard") << "as it says itself";
    EXPECT_EQ(t.temperature, 1);
    EXPECT_EQ(t.inputs.size(), 1U);
}

/// The first task of "<task ref='base'>" with its elements, after that of the base.
loaded_templates with_base(const std::string& base, const std::string& elements,
                           const std::string& attributes = {}) {
    return load("<tasks><task type='atomic' name='t' ref='base' " + attributes + ">" + elements +
                "</task><task type='atomic' name='base'><description>d</description>" + base +
                "</task></tasks>");
}

TEST(template_loader, ref_leaves_what_is_written_even_when_it_is_the_default) {
    const auto flags =
        with_base("<disable_reparsing>true</disable_reparsing><manual_xml>true</manual_xml>",
                  "<disable_reparsing>false</disable_reparsing><manual_xml>false</manual_xml>");
    ASSERT_TRUE(flags.good()) << flags.report->text();
    EXPECT_EQ(flags.templates[0].disable_reparsing, false);
    EXPECT_EQ(flags.templates[0].manual_xml, false);
    EXPECT_EQ(flags.templates[1].manual_xml, true);
    const auto text =
        with_base("<output_format type='json' schema='object'/>", "<output_format type='text'/>");
    ASSERT_TRUE(text.good()) << text.report->text();
    EXPECT_FALSE(text.templates[0].output.json);
    EXPECT_EQ(text.templates[0].output.schema, "");
    const auto open = with_base("<output_format type='json' schema='object'/>", "");
    ASSERT_TRUE(open.good()) << open.report->text();
    EXPECT_EQ(open.templates[0].output.schema, "object");
}

TEST(template_loader, ref_takes_output_format_and_returns_from_one_template) {
    const auto loaded = load(
        "<tasks><template name='base' params='x' returns='object'><task><description>{{x}}"
        "</description></task></template>"
        "<task type='atomic' name='t' ref='base'><output_format type='text'/></task>"
        "<template name='n' params='x' returns='number'><task ref='base'/></template></tasks>");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    EXPECT_FALSE(loaded.templates[1].output.json);
    EXPECT_EQ(loaded.templates[1].returns, "");
    EXPECT_EQ(loaded.templates[2].output.schema, "number");
}

TEST(template_loader, a_setting_in_the_wrong_place_is_told_where_it_belongs) {
    EXPECT_THAT(load(task("<max_turns>3</max_turns>")).report->text(),
                HasSubstr("hint: write <max_turns> inside <resource_limits>"));
    EXPECT_THAT(load(task("<history_config><system>a</system></history_config>")).report->text(),
                HasSubstr("hint: write <system> inside <task>"));
    EXPECT_THAT(load(task("<colour/>")).report->text(),
                HasSubstr("hint: allowed elements: inputs,"));
}

TEST(template_loader, ref_and_calls_see_what_was_registered_before) {
    task_template before;
    before.name = "before";
    before.system = "S";
    before.inputs = {task_input{}};
    before.inputs[0].name = "x";
    before.declares_inputs = true;
    template_load_options options;
    options.known = [&](std::string_view name) { return name == "before" ? &before : nullptr; };
    const auto loaded = load(
        "<tasks><task type='atomic' name='t' ref='before'/>"
        "<call template='before'><arg>1</arg></call></tasks>",
        options);
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    EXPECT_EQ(loaded.templates[0].system, "S");
    EXPECT_EQ(loaded.calls[0].arguments[0].name, "x");
}

TEST(template_loader, models_are_asked_of_the_host) {
    template_load_options options;
    options.validation.model_problem = [](std::string_view model, std::string_view provider) {
        return provider.empty() && model == "gpt" ? "" : "nobody offers it";
    };
    EXPECT_EQ(problems(task("<model>gpt</model>"), options), lines{});
    auto loaded = load(task("<model>other</model>"), options);
    EXPECT_TRUE(loaded.good()) << "a warning";
    EXPECT_EQ(problems_of(loaded),
              (lines{"2:8 unknown-model 't': model cannot be asked: nobody offers it"}));
    options.validation.strict_models = true;
    EXPECT_FALSE(load(task("<model>other</model>"), options).good());
}

TEST(template_loader, tells_all_violations_of_all_files_at_once) {
    template_loader loader;
    loader.add("one.xml",
               "<tasks>\n<task type='atomic'><description>a</description></task>\n"
               "<task type='script' name='b'/>\n</tasks>");
    loader.add("two.xml", "<task");
    loader.add("three.xml", task("<temperature>warm</temperature><colour/>"));
    const auto loaded = std::move(loader).finish();
    EXPECT_EQ(problems_of(loaded),
              (lines{"2:1 missing <task> has no name", "3:1 missing <task> has no <description>",
                     "3:13 bad-value 'b': type must be \"atomic\", not \"script\"",
                     "1:6 xml-syntax the tag <task> is not closed",
                     "2:14 bad-value <temperature> must be a number from 0 to 10, not "
                     "\"warm\"",
                     "2:32 unknown-element <task> has no element <colour>"}));
    EXPECT_TRUE(loaded.templates.empty());
    const std::string text = loaded.report->text();
    EXPECT_THAT(text, HasSubstr(" --> three.xml:2:14\n 2 | <temperature>warm</temperature>"));
    EXPECT_THAT(text, HasSubstr("^^^^\n"));
    EXPECT_THAT(text, HasSubstr("6 errors, 0 warnings\n"));
    reading values;
    EXPECT_THAT(loaded.report->json(), HasSubstr(R"({"errors":6,"warnings":0,"problems":[{)"
                                                 R"("file":"one.xml","line":2,"column":1,)"));
    EXPECT_NO_THROW((void)values.json(loaded.report->json()));
}

struct refusal {
    const char* text;
    const char* problem; ///< the only one
};

class template_loader_refuses : public ::testing::TestWithParam<refusal> {};

TEST_P(template_loader_refuses, with_place_and_reason) {
    EXPECT_EQ(problems(GetParam().text), (lines{GetParam().problem}));
}

INSTANTIATE_TEST_SUITE_P(
    xml, template_loader_refuses,
    ::testing::Values(
        refusal{"", "1:1 xml-syntax there is no element"},
        refusal{"  <!-- only this -->", "1:1 xml-syntax there is no element"},
        refusal{"<tasks>", "1:1 xml-syntax <tasks> is never closed"},
        refusal{"<tasks></task>", "1:8 xml-syntax </task> where </tasks> is due"},
        refusal{"</tasks>", "1:1 xml-syntax </tasks> closes nothing"},
        refusal{"<tasks/>\n<tasks/>", "2:1 xml-syntax a second root element"},
        refusal{"x<tasks/>", "1:1 xml-syntax text outside of the root element"},
        refusal{"<tasks/>x", "1:9 xml-syntax text outside of the root element"},
        refusal{"<tasks a='1' a='2'/>", "1:14 xml-syntax the attribute a is given twice"},
        refusal{"<tasks a=1/>", "1:8 xml-syntax the attribute a has no text in quotes"},
        refusal{"<tasks a='<'/>", "1:8 xml-syntax the attribute a has no text in quotes"},
        refusal{"<tasks a/>", "1:8 xml-syntax the attribute a has no text in quotes"},
        refusal{"<tasks>a & b</tasks>", "1:10 xml-syntax & begins no entity"},
        refusal{"<tasks>a < b</tasks>", "1:10 xml-syntax < begins no tag"},
        refusal{"<tasks>]]></tasks>", "1:8 xml-syntax ]]> in text"},
        refusal{"<tasks><!-- a -- b --></tasks>", "1:15 xml-syntax -- inside a comment"},
        refusal{"<tasks><![CDATA[ </tasks>", "1:8 xml-syntax the CDATA section is not closed"},
        refusal{"<tasks>&nbsp;</tasks>",
                "1:8 entity &nbsp; is not one of the five entities of XML"},
        refusal{"<tasks>&#0;</tasks>", "1:8 xml-syntax & begins no entity"},
        refusal{"<tasks>&#xFFFFFFFFF;</tasks>", "1:8 xml-syntax & begins no entity"},
        refusal{"<?xml version='1.0' encoding='latin1'?><tasks/>",
                "1:21 encoding the declared encoding is not UTF-8"},
        refusal{"<tasks>\xFF</tasks>", "1:8 encoding the file is not UTF-8"},
        refusal{"\xFE\xFF<tasks/>",
                "1:1 encoding the file is not UTF-8 (it looks like UTF-16 or UTF-32)"},
        refusal{"<tasks>\x01</tasks>", "1:8 xml-syntax a control character"},
        refusal{"<!DOCTYPE tasks>\n<tasks/>",
                "1:1 dtd document types and entity definitions are refused"},
        refusal{"<tasks><?php echo 1 ?></tasks>",
                "1:8 processing-instruction processing instructions are refused"},
        refusal{" <?xml version='1.0'?><tasks/>",
                "1:2 processing-instruction the XML declaration "
                "must be at the very beginning"},
        refusal{"<html/>", "1:1 unknown-element <html> defines no task"}));

INSTANTIATE_TEST_SUITE_P(
    definitions, template_loader_refuses,
    ::testing::Values(
        refusal{"<tasks><job/></tasks>", "1:8 unknown-element <tasks> has no element <job>"},
        refusal{"<tasks>text</tasks>", "1:1 stray-text <tasks> holds elements, no text"},
        refusal{"<tasks a='1'/>", "1:8 unknown-attribute <tasks> has no attribute a"},
        refusal{"<template params=''><task/></template>", "1:1 missing <template> has no name"},
        refusal{"<template name='a'><task/></template>", "1:1 missing <template> has no params"},
        refusal{"<template name='a' params=''/>", "1:1 missing <template> holds no <task>"},
        refusal{"<template name='a' params=''><task/>\n<task/></template>",
                "2:1 repeated <template> holds a second <task>"},
        refusal{"<template name='a' params=''><name>b</name><task/></template>",
                "1:30 repeated name is given twice"},
        refusal{"<template name='a' params='1x'><task/></template>",
                "1:28 bad-name 'a': inputs contain '1x', which is not an identifier"},
        refusal{"<template name='a' params='x,x'><task/></template>",
                "1:28 repeated 'a': inputs contain 'x' twice"},
        refusal{"<template name='a b' params=''><task/></template>",
                "1:17 bad-name 'a b': name: 'a b' cannot be called"},
        refusal{"<template name='a' params=''><task name='b'/></template>",
                "1:36 unknown-attribute the name belongs to the <template>, not to its <task>"},
        refusal{"<template name='a' params='x'><task><inputs><input name='y'/></inputs></task>"
                "</template>",
                "1:58 unknown-input the input 'y' is not one of the template's params"},
        refusal{"<tasks><template name='a' params=''><task/></template>\n"
                "<template name='a' params=''><task/></template></tasks>",
                "2:17 duplicate-name a second template 'a'"},
        refusal{"<tasks><call template='b'/></tasks>",
                "1:24 unknown-template there is no template 'b'"},
        refusal{"<call/>", "1:1 missing <call> names no template"},
        refusal{"<tasks><template name='a' params='x'><task/></template>\n"
                "<call template='a'/></tasks>",
                "2:1 argument-count the call of 'a' lacks an argument for x"},
        refusal{"<tasks><template name='a' params='x'><task/></template>\n"
                "<call template='a'><arg>1</arg><arg>2</arg></call></tasks>",
                "2:37 argument-count 'a' takes 1 arguments, given 2"},
        refusal{"<tasks><template name='a' params='x'><task/></template>\n"
                "<call template='a'><arg>1</arg><arg name='x'>2</arg></call></tasks>",
                "2:46 argument-count 'x' is given twice"},
        refusal{"<tasks><template name='a' params='x'><task/></template>\n"
                "<call template='a'><arg>1</arg><arg>y=2</arg></call></tasks>",
                "2:37 argument-count 'a' has no parameter 'y'"},
        refusal{"<template name='' params=''><task/></template>",
                "1:1 missing <template> has no name"},
        refusal{"<tasks><template name='a' params='x,y'><task><description>{{x}} {{y}}"
                "</description></task></template>\n<template name='b' params='q'><task>"
                "<description>Ask {{a(q)}}</description></task></template></tasks>",
                "2:54 argument-count 'b': {{a(q)}}: 'a' needs 'y'"},
        refusal{"<tasks><template name='a' params='x'><task><description>{{x}}"
                "</description></task></template>\n<template name='b' params='q'><task>"
                "<description>{{a(q, 1)}}</description></task></template></tasks>",
                "2:50 argument-count 'b': {{a(q, 1)}}: 'a' takes 1 input by position, not 2"},
        refusal{"<tasks><template name='a' params='x'><task><description>{{x}}"
                "</description></task></template>\n<template name='b' params='q'><task>"
                "<description>{{a(q, z=2)}}</description></task></template></tasks>",
                "2:50 argument-count 'b': {{a(q, z=2)}}: 'a' has no input 'z'"},
        refusal{"<task type='atomic' name='a' ref='b'/>", "1:35 bad-ref there is no template 'b'"},
        refusal{"<tasks><task type='atomic' name='a' ref='b'/>\n"
                "<task type='atomic' name='b' ref='a'/></tasks>",
                "1:42 bad-ref 'a' refers back to itself, over 'a'"}));

TEST(template_loader, calls_in_texts_name_templates_and_fit_them) {
    const auto loaded = load(
        "<tasks><template name='a' params='x'><task><description>{{x}}</description></task>"
        "</template>\n<template name='b' params='q'><task><description>{{nope(q)}} {{a(q)}} "
        "{{a(x=q, model='m')}}</description></task></template></tasks>");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    // A workflow may define it, so this is no error.
    EXPECT_EQ(problems_of(loaded), (lines{"2:50 unknown-template 'b': {{nope(q)}}: there is no "
                                          "template 'nope' here"}));
}

TEST(template_loader, names_that_mean_something_else_are_told) {
    const auto loaded = load(
        "<tasks><template name='if' params=''><task><description>d</description></task></template>"
        "\n<template name='list' params=''><task><description>d</description></task></template>"
        "</tasks>");
    ASSERT_TRUE(loaded.good());
    EXPECT_EQ(problems_of(loaded),
              (lines{"1:24 hidden-name 'if' is the name of a special form, which (if …) calls",
                     "2:17 hidden-name 'list' is the name of a builtin, which (list …) calls"}));
}

TEST(template_loader, forms_of_calls_stand_where_the_calls_do) {
    const std::string text =
        "<tasks><template name='a' params='x'><task><description>{{x}}</description></task>"
        "</template>\n<call template='a'><arg>1</arg></call>\n"
        "<call name='r' template='a'><arg>{{r.y}}</arg></call>\n"
        "<call template='a'><arg>r</arg></call></tasks>";
    const auto loaded = load(text);
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    const lang::heap_owner memory(lang::heap::create());
    source_map sources;
    const std::uint32_t position = sources.add("t.xml", text);
    const auto forms = forms_of_calls(*memory, loaded.calls, position);
    ASSERT_TRUE(forms);
    ASSERT_EQ(forms->size(), 1U);
    std::vector<std::size_t> call_lines;
    std::vector<lang::value> left{forms->front().content};
    while (!left.empty()) {
        const lang::value list = left.back();
        left.pop_back();
        const auto items = lang::list_items(list);
        const auto* places = static_cast<const lang::list_object*>(list.target())->places;
        ASSERT_NE(places, nullptr);
        if (items[0].is(lang::kind::symbol) && lang::symbol_name(items[0]) == "call-atomic-task")
            call_lines.push_back(sources.locate(places->whole).line);
        for (const lang::value& each : items) {
            if (each.is(lang::kind::list) && each.length() != 0) left.push_back(each);
        }
    }
    std::sort(call_lines.begin(), call_lines.end());
    EXPECT_EQ(call_lines, (std::vector<std::size_t>{2, 3, 4}));
}

struct element_refusal {
    const char* elements; ///< of a task, on its second line
    const char* problem;
};

class task_element_refuses : public ::testing::TestWithParam<element_refusal> {};

TEST_P(task_element_refuses, with_place_and_reason) {
    EXPECT_EQ(problems(task(GetParam().elements)), (lines{GetParam().problem}));
}

INSTANTIATE_TEST_SUITE_P(
    all, task_element_refuses,
    ::testing::Values(
        element_refusal{"<instructoins>x</instructoins>",
                        "2:1 unknown-element <task> has no element <instructoins>"},
        element_refusal{"<description>x</description>",
                        "2:1 repeated <description> is given twice"},
        element_refusal{"<instructions> </instructions>", "2:1 missing <instructions> is empty"},
        element_refusal{"<instructions a='1'>x</instructions>",
                        "2:15 unknown-attribute <instructions> has no attribute a"},
        element_refusal{"<system>a <b/></system>",
                        "2:11 unknown-element <system> holds text only, no <b>"},
        element_refusal{"<manual_xml>yes</manual_xml>",
                        "2:13 bad-value <manual_xml> must be true or false, not \"yes\""},
        element_refusal{"<disable_reparsing>True</disable_reparsing>",
                        "2:20 bad-value <disable_reparsing> must be true or false, not \"True\""},
        element_refusal{"<extra_parameters>{user}</extra_parameters>",
                        "2:19 bad-value <extra_parameters> must be a JSON object, not \"{user}\""},
        element_refusal{"<extra_parameters>{\"y\": [1e400]}</extra_parameters>",
                        "2:19 bad-value <extra_parameters> must be a JSON object whose numbers a "
                        "float can hold, not \"{\"y\": [1e400]}\""},
        element_refusal{"<stop>[1]</stop>",
                        "2:7 bad-value <stop> must be a non-empty string or a JSON list of them, "
                        "not \"[1]\""},
        element_refusal{"<output_format schema='object'/>",
                        "2:1 missing <output_format> has no type"},
        element_refusal{"<output_format type='xml'/>",
                        "2:22 bad-value type must be text or json, not \"xml\""},
        element_refusal{"<output_format type='json' schema='strings'/>",
                        "2:36 bad-schema 't': output_format: unknown schema 'strings'"},
        element_refusal{"<output_format type='json' schema='{\n \"type\": \"strin\"}'/>",
                        "3:10 bad-schema 't': output_format: the schema has an unknown "
                        "type: \"strin\"; types are array, boolean, integer, null, number, object "
                        "and string"},
        element_refusal{"<output_format type='json'>\n{&quot;type&quot;: &quot;nul&quot;}"
                        "</output_format>",
                        "3:20 bad-schema 't': output_format: the schema has an unknown "
                        "type: \"nul\"; types are array, boolean, integer, null, number, object "
                        "and string"},
        element_refusal{"<file_paths source='command'><command>ls {{x}}</command></file_paths>",
                        "2:42 placeholder-in-command 't': file_paths: {{x}} in a command is not "
                        "replaced"},
        element_refusal{"<output_format type='text' schema='object'/>",
                        "2:36 bad-value 't': output_format has a schema, so its type must be "
                        "\"json\""},
        element_refusal{"<context_management><inherit_context>all</inherit_context>"
                        "</context_management>",
                        "2:38 bad-value <inherit_context> must be full, subset or none, not "
                        "\"all\""},
        element_refusal{"<context_management><inherit_context>full</inherit_context>"
                        "<fresh_context>enabled</fresh_context></context_management>",
                        "2:1 context-conflict 't': context_management: fresh_context \"enabled\" "
                        "excludes inherit_context \"full\""},
        element_refusal{"<context_management><inherit_context>subset</inherit_context>"
                        "<fresh_context>enabled</fresh_context></context_management>",
                        "2:1 context-conflict 't': context_management: fresh_context \"enabled\" "
                        "excludes inherit_context \"subset\""},
        element_refusal{"<context_management/>", "2:1 missing <context_management> is empty"},
        element_refusal{"<file_paths source='web'><path>a</path></file_paths>",
                        "2:21 bad-value source must be literal, command, description or "
                        "context_description, not \"web\""},
        element_refusal{"<file_paths source='command'><path>a</path><command>ls</command>"
                        "</file_paths>",
                        "2:30 unknown-element <path> in <file_paths>, whose source is command"},
        element_refusal{"<file_paths/>", "2:1 missing <file_paths> holds no <path>"},
        element_refusal{"<file_paths><path/></file_paths>", "2:13 missing <path> is empty"},
        element_refusal{"<inputs/>", "2:1 missing <inputs> holds no <input>"},
        element_refusal{"<inputs><input/></inputs>", "2:9 missing <input> has no name"},
        element_refusal{"<inputs><input name='a'/><input name='a'/></inputs>",
                        "2:39 repeated the input 'a' is given twice"},
        element_refusal{"<inputs><input name='a b'/></inputs>",
                        "2:22 bad-name 't': inputs contain 'a b', which is not an identifier"},
        element_refusal{"<inputs><input name='a' from='b'/><input name='b'/></inputs>",
                        "2:22 bad-name 't': inputs take 'a' from 'b', which is an input of its "
                        "own"},
        element_refusal{"<inputs><input name='a' default='x'/></inputs>",
                        "2:34 bad-value the default of 'a' is not JSON: syntax error"},
        element_refusal{"<inputs><input name='a' default='-1e400'/></inputs>",
                        "2:34 bad-value the default of 'a' is not JSON: a number is larger than "
                        "any float"},
        element_refusal{"<inputs><input name='a' optional='1'/></inputs>",
                        "2:35 bad-value optional must be true or false, not \"1\""},
        element_refusal{"<context_relevance><input name='a'/></context_relevance>",
                        "2:20 missing <input> has no include"},
        element_refusal{"<inputs><input name='a'/></inputs><context_relevance>"
                        "<input name='b' include='true'/></context_relevance>",
                        "2:67 unknown-input 't': context_relevance names 'b', which is not one "
                        "of the declared inputs"},
        element_refusal{"<context_assembly><primary_elements>a,,b</primary_elements>"
                        "</context_assembly>",
                        "2:37 bad-value <primary_elements> has an empty name between its commas"},
        element_refusal{"<temperature>11</temperature>",
                        "2:14 bad-value <temperature> must be a number from 0 to 10, not \"11\""},
        element_refusal{"<max_tokens>1.5</max_tokens>",
                        "2:13 bad-value <max_tokens> must be a whole number from 1 to "
                        "1000000000, not \"1.5\""},
        element_refusal{"<max_tokens>0</max_tokens>",
                        "2:13 bad-value <max_tokens> must be a whole number from 1 to "
                        "1000000000, not \"0\""},
        element_refusal{"<timeout>0</timeout>",
                        "2:10 bad-value <timeout> must be a number of seconds above 0, at most "
                        "100000000, not \"0\""},
        element_refusal{"<retries>101</retries>",
                        "2:10 bad-value <retries> must be a whole number from 0 to 100, not "
                        "\"101\""},
        element_refusal{"<tools>a, a</tools>", "2:8 repeated 't': tools contain 'a' twice"},
        element_refusal{"<tools>a b</tools>",
                        "2:8 bad-name 't': tools contain 'a b', which is not a tool name"},
        element_refusal{"<resource_limits><max_context>1.5</max_context></resource_limits>",
                        "2:31 bad-value <max_context> must be a number above 0, at most 1, not "
                        "\"1.5\""},
        element_refusal{"<resource_limits><max_time>1</max_time></resource_limits>",
                        "2:18 unknown-element <resource_limits> has no element <max_time>"},
        element_refusal{"<model>a b</model>",
                        "2:8 bad-value 't': model must be an identifier without white space"},
        element_refusal{
            "<instructions>{{a</instructions>",
            "2:15 bad-placeholder 't': instructions: the placeholder {{a has no closing }}"},
        element_refusal{"<inputs><input name='a'/></inputs><system>\n{{ b.c }}</system>",
                        "3:1 unknown-placeholder 't': system: {{b}}: 'b' is not one of the "
                        "declared inputs"},
        element_refusal{"<inputs><input name='a'/></inputs><file_paths source='description'>"
                        "<description>{{b}}</description></file_paths>",
                        "2:81 unknown-placeholder 't': file_paths: {{b}}: 'b' is not one of the "
                        "declared inputs"}));

TEST(template_loader, a_preset_may_be_written_down_and_no_other_pair) {
    const std::string pair =
        "<context_management><inherit_context>subset</inherit_context>"
        "<fresh_context>enabled</fresh_context></context_management>";
    EXPECT_EQ(problems(task(pair, "subtype='subtask'")), lines{});
    EXPECT_EQ(problems(task(pair, "subtype='director'")).size(), 1U);
}

TEST(template_loader, placeholders_are_free_where_no_inputs_are_declared) {
    EXPECT_EQ(problems(task("<instructions>{{a}} {{b.c[0]}} \\{{</instructions>")), lines{});
    EXPECT_EQ(problems("<template name='t' params=''><task><system>{{a}}</system></task>"
                       "</template>")
                  .size(),
              1U);
}

// What hostile files try.

TEST(template_loader, billion_laughs_expand_nothing) {
    std::string text = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\">";
    for (int i = 1; i < 10; ++i) {
        text += "<!ENTITY lol" + std::to_string(i) + " \"";
        for (int k = 0; k < 10; ++k) text += "&lol" + std::to_string(i - 1) + ";";
        text += "\">";
    }
    text += "]>\n<task type='atomic'><description>&lol9;</description></task>";
    EXPECT_EQ(problems(text), (lines{"2:1 dtd document types and entity definitions are refused"}));
    EXPECT_EQ(problems("<task type='atomic' name='t'><description>&lol9;</description></task>"),
              (lines{"1:43 entity &lol9; is not one of the five entities of XML"}));
}

TEST(template_loader, external_entities_are_refused) {
    EXPECT_EQ(problems("<!DOCTYPE t [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><t>&x;</t>"),
              (lines{"1:1 dtd document types and entity definitions are refused"}));
}

TEST(template_loader, size_depth_and_counts_are_bounded) {
    template_load_options options;
    options.limits.bytes = 1000;
    EXPECT_EQ(problems(std::string(2000, ' '), options),
              (lines{"1:1 too-large the file is larger than 1000 bytes"}));
    options.limits.bytes = 1 << 20;
    options.limits.elements = 10;
    std::string many = "<tasks>";
    for (int i = 0; i < 20; ++i) many += "<task/>";
    EXPECT_EQ(problems(many + "</tasks>", options),
              (lines{"1:71 too-large there are more than 10 elements"}));
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "<a>";
    EXPECT_EQ(problems(deep), (lines{"1:97 too-deep elements are nested deeper than 32"}));
    options = {};
    options.limits.problems = 5;
    std::string wrong = "<tasks>";
    for (int i = 0; i < 20; ++i) wrong += "<job/>";
    const lines told = problems(wrong + "</tasks>", options);
    ASSERT_EQ(told.size(), 6U);
    EXPECT_THAT(told.back(), HasSubstr("too-many 15 more problems"));
    std::string inputs = "<inputs>";
    for (int i = 0; i < 1500; ++i) inputs += "<input name='a" + std::to_string(i) + "'/>";
    EXPECT_EQ(problems(task(inputs + "</inputs>")).size(), 1U);
}

TEST(template_loader, ten_thousand_ampersands_are_told_quickly) {
    const lines told = problems("<tasks>" + std::string(1'000'000, '&') + "</tasks>");
    EXPECT_EQ(told.size(), 100U);
}

TEST(template_loader, messages_stay_utf8_whatever_they_quote) {
    std::string long_name = "a";
    for (int i = 0; i < 300; ++i) long_name += "ü";
    reading values;
    for (const std::string& text :
         {task("<instructions>{{" + long_name + "</instructions>"),
          task("<model>" + long_name + "</model>"), task("<retries>" + long_name + "</retries>"),
          task("<inputs><input name='" + long_name + " x'/></inputs>"),
          "<template name='" + long_name + "' params=''><task/></template>",
          "<template name='t' params='' returns='" + long_name + "'><task/></template>"}) {
        const auto loaded = load(text);
        EXPECT_FALSE(loaded.good());
        EXPECT_TRUE(utf8::is_valid(loaded.report->json())) << text;
        EXPECT_TRUE(utf8::is_valid(loaded.report->text())) << text;
    }
}

TEST(template_loader, large_files_take_linear_time) {
    // Each of these took minutes when places, names or problems were looked for one by one.
    std::string placeholders;
    std::string templates = "<tasks>";
    std::string relevance;
    for (int i = 0; i < 100'000; ++i) placeholders += "{{a" + std::to_string(i) + "}}";
    for (int i = 0; i < 30'000; ++i) {
        templates += "<template name='t" + std::to_string(i) + "' params='x'><task/></template>\n";
        relevance += "<input name='a' include='true'/>";
    }
    EXPECT_TRUE(load(task("<instructions>" + placeholders + "</instructions>")).good());
    EXPECT_EQ(
        problems(task("<inputs><input name='q'/></inputs><system>" + placeholders + "</system>"))
            .size(),
        51U);
    const auto loaded = load(templates + "</tasks>");
    ASSERT_TRUE(loaded.good());
    EXPECT_EQ(loaded.templates.back().source, "t.xml:30000");
    const auto told = load(task("<context_relevance>" + relevance + "</context_relevance>"));
    EXPECT_EQ(told.report->problems.size(), 201U);
    EXPECT_FALSE(told.report->text().empty());
}

TEST(template_loader, a_byte_order_mark_of_utf8_is_fine) {
    EXPECT_EQ(problems("\xEF\xBB\xBF" + task("")), lines{});
    EXPECT_EQ(problems("\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?>" + task("")), lines{});
}

} // namespace
} // namespace heddle::tasks
