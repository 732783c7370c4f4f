// What (help …) prints about tasks and tools.
#include "tasks_testing.hpp"

#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto greet =
    "(defatom greet (params (who string \"whom to greet\") (style optional))\n"
    "  (instructions \"Greet {{who}}{{style}}\") (description \"Greets a person.\"))\n";

std::string text_of(harness& w, const std::string& program) {
    const auto ended = w.run(program);
    return ended ? std::string(lang::string_bytes(*ended)) : ended.error().message();
}

TEST(task_help, shows_parameters_and_place) {
    harness w;
    const std::string text = text_of(w, std::string(greet) + "(help 'greet)");
    EXPECT_THAT(text, StartsWith("(greet (who …) [(style …)])\nGreets a person.\n"
                                 "- who (string): whom to greet\n"));
    EXPECT_THAT(text, HasSubstr("task defined at "));
    EXPECT_EQ(text_of(w, "(help greet)"), text);
    EXPECT_THAT(text_of(w, "(help)"),
                ::testing::ContainsRegex("Tasks and tools\n[^(]* greet[ \n]"));
}

coro::task<result<lang::value>> echo(tool_call call) { co_return call.inputs; }

TEST(task_help, shows_the_clauses_of_a_tool) {
    tool weigh;
    weigh.name = "weigh";
    weigh.description = "Weighs a thing.";
    weigh.input_schema = R"({"type": "object", "properties": {"thing": {"type": "string"},
                             "grams": {"type": "integer"}}, "required": ["thing"]})";
    weigh.run = echo;
    task_system_parts parts;
    parts.tools = {weigh};
    harness w({}, std::move(parts));
    EXPECT_EQ(text_of(w, "(help 'weigh)"), "(weigh (thing …) [(grams …)])\nWeighs a thing.\n");
    EXPECT_EQ(text_of(w, "(help 'weihg)"), "help: there is no entry for 'weihg'");
}

} // namespace
} // namespace heddle::tasks
