#include "tasks_testing.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

coro::task<result<lang::value>> echo(tool_call call) { co_return call.inputs; }

coro::task<result<lang::value>> pause_then_echo(tool_call call) {
    const auto slept = co_await coro::sleep_until(
        call.context, call.context.loop->now() + std::chrono::milliseconds(5));
    if (!slept) co_return slept.error();
    co_return call.inputs;
}

coro::task<result<lang::value>> fail(tool_call) {
    co_return error(lang::errc::evaluation, "the tool broke");
}

constexpr auto weight_schema = R"({"type": "object",
    "properties": {"thing": {"type": "string"}, "grams": {"type": "integer", "minimum": 1}},
    "required": ["thing"]})";

tool make(std::string name, std::string schema,
          coro::task<result<lang::value>> (*run)(tool_call) = echo) {
    tool created;
    created.name = std::move(name);
    created.input_schema = std::move(schema);
    created.run = run;
    return created;
}

task_system_parts with_tools(std::vector<tool> tools) {
    task_system_parts parts;
    parts.tools = std::move(tools);
    return parts;
}

tool weigh() {
    tool result = make("weigh", weight_schema);
    result.aliases = {"system:weigh"};
    return result;
}

TEST(tools, are_called_by_name_alias_and_value) {
    harness w({}, with_tools({weigh()}));
    EXPECT_EQ(w.json("(weigh (thing \"ink\") (grams 3))"), R"({"thing":"ink","grams":3})");
    EXPECT_EQ(w.json("(system:weigh (thing \"ink\"))"), R"({"thing":"ink"})");
    EXPECT_EQ(w.json("(call-atomic-task weigh (thing 'ink))"), R"({"thing":"ink"})");
    EXPECT_EQ(w.json("(type-of weigh)"), "\"tool\"");
}

TEST(tools, clauses_are_checked_by_the_schema) {
    harness w({}, with_tools({weigh()}));
    const auto hint = [&](const std::string& text) {
        const auto ended = w.run(text);
        return ended ? std::string("no error") : ended.error().info().hint;
    };
    EXPECT_EQ(w.json("(weigh (thin \"ink\"))"),
              "SexpEvaluationError: weigh: there is no clause 'thin'");
    EXPECT_THAT(hint("(weigh (thin \"ink\"))"), HasSubstr("thing"));
    EXPECT_EQ(hint("(weigh (xyzzy \"ink\"))"), "its clauses: thing, grams");
    EXPECT_EQ(w.json("(weigh)"), "SexpEvaluationError: weigh: needs the clause thing");
    EXPECT_EQ(w.json("(weigh (thing \"a\") (thing \"b\"))"),
              "SexpEvaluationError: weigh: the clause 'thing' is given twice");
    EXPECT_THAT(w.json("(weigh (thing \"ink\") (grams 0))"), HasSubstr("grams"));
    EXPECT_THAT(w.json("(weigh (thing 7))"), HasSubstr("thing"));
    EXPECT_THAT(w.json("(weigh (thing (lambda () 1)))"), HasSubstr("weigh"));
    EXPECT_EQ(w.json("(apply weigh (list \"ink\"))"), R"({"thing":"ink"})");
    EXPECT_THAT(w.json("(apply weigh (list \"ink\" 1 2))"), HasSubstr("takes 2 inputs, not 3"));
}

TEST(tools, without_a_schema_any_clause_goes) {
    harness w({}, with_tools({make("note", "")}));
    EXPECT_EQ(w.json("(note (a 1) (b '(2 3)))"), R"({"a":1,"b":[2,3]})");
    EXPECT_EQ(w.json("(note)"), "{}");
}

TEST(tools, a_task_hides_a_tool_of_its_name) {
    harness w({}, with_tools({weigh()}));
    w.llm.say("a model said it");
    EXPECT_EQ(w.json("(defatom weigh (params thing) (instructions \"{{thing}}\"))"
                     "(content (weigh (thing \"ink\")))"),
              "\"a model said it\"");
}

TEST(tools, a_later_tool_takes_the_name) {
    harness w({}, with_tools({weigh(), make("get_context", "")}));
    EXPECT_EQ(w.json("(get_context (anything 1))"), R"({"anything":1})");
}

TEST(tools, that_fail_raise_with_their_place) {
    harness w({}, with_tools({make("broken", "", fail)}));
    const auto ended = w.run("(list 1\n (broken))");
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().message(), "the tool broke");
    EXPECT_THAT(w.session->render(ended.error()), HasSubstr(":2:"));
    EXPECT_EQ(w.json("(try (broken) (catch (e) (get-field e \"message\")))"), "\"the tool broke\"");
}

TEST(tools, run_side_by_side_and_are_cancelled) {
    harness w({}, with_tools({make("slow", "", pause_then_echo)}));
    EXPECT_EQ(w.json("(map (lambda (n) (get-field (slow (n n)) \"n\")) '(1 2 3))"), "[1,2,3]");
    EXPECT_THAT(w.json("(with ((timeout 0.001)) (slow))"), HasSubstr("TimeoutError"));
}

TEST(tools, are_listed_and_suggested) {
    harness w({}, with_tools({weigh()}));
    std::vector<std::string> names;
    w.session->operators()->collect_names(names);
    EXPECT_THAT(names, IsSupersetOf({"weigh", "system:weigh", "get_context", "get-context",
                                     "system:get_context", "get-context-result"}));
    const auto ended = w.run("(wiegh (thing \"ink\"))");
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().info().hint, HasSubstr("weigh"));
}

/// The property "a" holds a number within so many objects.
std::string deep_schema(int levels) {
    std::string schema = R"({"type": "number"})";
    for (int i = 0; i < levels; ++i)
        schema = R"({"type": "object", "properties": {"a": )" + schema + "}}";
    return schema;
}

// Boost.JSON reads 32 levels, and the message was that the schema must describe an object.
TEST(tools, may_have_deep_schemas) {
    harness w({}, with_tools({make("dig", deep_schema(30))}));
    EXPECT_THAT(w.json("(dig (b 1))"), HasSubstr("there is no clause 'b'"));
    EXPECT_THAT(w.json("(dig (a 1))"), HasSubstr("a"));
    tool_registry registry;
    const lang::heap_owner memory(lang::heap::create());
    const auto added = registry.add(*memory, make("x", deep_schema(80)));
    ASSERT_FALSE(added);
    EXPECT_THAT(added.error().message(), HasSubstr("nested more than 128 levels deep"));
}

TEST(tools, that_are_none_are_refused) {
    tool_registry registry;
    const lang::heap_owner memory(lang::heap::create());
    const auto refusal = [&](tool one) {
        const auto added = registry.add(*memory, std::move(one));
        return added ? std::string() : added.error().message();
    };
    EXPECT_EQ(refusal(make("", "")), "a tool has no name");
    EXPECT_THAT(refusal(make("x", "", nullptr)), HasSubstr("no coroutine"));
    EXPECT_THAT(refusal(make("x", "{")), HasSubstr("schema"));
    EXPECT_THAT(refusal(make("x", "string")), HasSubstr("schema"));
    EXPECT_THAT(refusal(make("x", R"({"type": "array"})")), HasSubstr("object"));
    EXPECT_THAT(refusal(make("x", R"({"type": "object", "properties": 3})")), HasSubstr("schema"));
    EXPECT_THAT(refusal(make("x", R"({"type": "object", "required": [3]})")), HasSubstr("schema"));
    EXPECT_EQ(registry.size(), 0U);
}

} // namespace
} // namespace heddle::tasks
