// Templates out of XML: everything that is refused, with its place and a reason.
#include "template_loading.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::lines;
using testing::load;
using testing::problems;
using testing::problems_of;
using testing::reading;
using testing::task;

TEST(template_loader, a_setting_in_the_wrong_place_is_reported_with_its_place) {
    EXPECT_THAT(load(task("<max_turns>3</max_turns>")).report->text(),
                HasSubstr("hint: write <max_turns> inside <resource_limits>"));
    EXPECT_THAT(load(task("<history_config><system>a</system></history_config>")).report->text(),
                HasSubstr("hint: write <system> inside <task>"));
    EXPECT_THAT(load(task("<colour/>")).report->text(),
                HasSubstr("hint: allowed elements: inputs,"));
}

TEST(template_loader, reports_all_violations_of_all_files_at_once) {
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
        element_refusal{"<output_format type='json'>{&quot;properties&quot;: {&quot;n&quot;: {}},\n"
                        "&quot;required&quot;: [&quot;m&quot;]}</output_format>",
                        "3:24 undescribed-property 't': output_format requires 'm', which is not "
                        "in the properties of its schema"},
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

} // namespace
} // namespace heddle::tasks
