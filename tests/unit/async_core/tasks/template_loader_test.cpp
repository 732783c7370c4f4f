// Templates out of XML: what is read.
#include "template_loading.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::lines;
using testing::load;
using testing::load_file;
using testing::problems;
using testing::problems_of;
using testing::reading;
using testing::task;

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
    EXPECT_EQ(t.subtype, "standard") << "as the template sets it";
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

TEST(template_loader, calls_in_texts_name_templates_and_fit_them) {
    const auto loaded = load(
        "<tasks><template name='a' params='x'><task><description>{{x}}</description></task>"
        "</template>\n<template name='b' params='q'><task><description>{{nope(q)}} {{a(q)}} "
        "{{a(x=q, model='m')}}</description></task></template></tasks>");
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    // A workflow may define it, so this is not an error.
    EXPECT_EQ(problems_of(loaded), (lines{"2:50 unknown-template 'b': {{nope(q)}}: there is no "
                                          "template 'nope' here"}));
}

TEST(template_loader, names_that_mean_something_else_are_reported) {
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

TEST(template_loader, a_byte_order_mark_of_utf8_is_fine) {
    EXPECT_EQ(problems("\xEF\xBB\xBF" + task("")), lines{});
    EXPECT_EQ(problems("\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?>" + task("")), lines{});
}

} // namespace
} // namespace heddle::tasks
