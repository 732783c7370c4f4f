// Tools that a model calls while it does a task.
#include "tasks_testing.hpp"

#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Answers with calls of tools: {name, arguments} each.
void call_tools(harness& w, std::vector<std::pair<std::string, std::string>> wanted) {
    w.llm.replies.push_back([=](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::tool_calls;
        response.usage = ports::token_usage{10, 5, 0, 0};
        int next = 0;
        for (const auto& [name, arguments] : wanted) {
            response.tool_calls.push_back({"id" + std::to_string(next++), name, arguments});
        }
        return response;
    });
}

/// Waits, then returns what it was given; counts how many run at a time.
tool slow_echo(harness& w, int* most) {
    tool created;
    created.name = "test:echo";
    created.description = "returns its input";
    created.input_schema =
        R"({"type":"object","properties":{"x":{"type":"string"},"ms":{"type":"integer"}},
            "required":["x"],"additionalProperties":false})";
    static int running = 0;
    running = 0;
    (void)w;
    created.run = [most](tool_call call) -> coro::task<result<lang::value>> {
        lang::value inputs = call.inputs;
        if (most) *most = std::max(*most, ++running);
        const lang::value* ms = lang::map_find(inputs, "ms");
        const auto wait = std::chrono::milliseconds(ms ? ms->as_integer() : 0);
        const result<void> slept =
            co_await coro::sleep_until(call.context, call.context.loop->now() + wait);
        --running;
        if (!slept) co_return slept.error();
        co_return *lang::map_find(inputs, "x");
    };
    return created;
}

void add_echo(harness& w, int* most = nullptr) {
    auto* tasks = static_cast<session_tasks*>(w.session->operators());
    ASSERT_TRUE(tasks->add(slow_echo(w, most)));
}

constexpr auto asks = "(defatom ask (params q) (instructions \"{{q}}\") (tools (test:echo))) ";

TEST(model_tools, are_offered_called_side_by_side_and_answered_in_order) {
    harness w;
    int most = 0;
    add_echo(w, &most);
    call_tools(w, {{"test_echo", R"({"x":"one","ms":30})"}, {"test_echo", R"({"x":"two"})"}});
    w.llm.say("done");
    EXPECT_EQ(w.json(std::string(asks) + "(let ((r (ask \"go\"))) (list (content r) "
                                         "(map (lambda (c) (list (get c \"name\") (get c \"ok\"))) "
                                         "(get-in r '(\"notes\" \"tool_calls\"))) "
                                         "(get-in r '(\"notes\" \"usage\" \"requests\"))))"),
              R"(["done",[["test:echo",true],["test:echo",true]],2])");
    EXPECT_EQ(most, 2);
    ASSERT_EQ(w.llm.asked.size(), 2U);
    ASSERT_EQ(w.llm.asked[0].tools.size(), 1U);
    EXPECT_EQ(w.llm.asked[0].tools[0].name, "test_echo");
    EXPECT_THAT(w.llm.asked[0].tools[0].parameters_json, HasSubstr("\"required\":[\"x\"]"));
    const auto& reported = w.llm.asked[1].messages;
    ASSERT_EQ(reported.size(), 4U);
    EXPECT_EQ(reported[1].tool_calls.size(), 2U);
    EXPECT_EQ(reported[2].role, ports::chat_role::tool);
    EXPECT_EQ(reported[2].text, "one");
    EXPECT_EQ(reported[2].tool_call_id, "id0");
    EXPECT_EQ(reported[3].text, "two");
}

TEST(model_tools, what_is_wrong_with_a_call_goes_back_to_the_model) {
    harness w;
    add_echo(w);
    call_tools(w, {{"nobody", "{}"},
                   {"test_echo", "{\"x\": 1}"},
                   {"test_echo", "not json"},
                   {"test_echo", "[1]"},
                   {"test_echo", "{\"y\": \"a\"}"}});
    w.llm.say("sorry");
    EXPECT_EQ(w.json(std::string(asks) + "(content (ask 1))"), "\"sorry\"");
    const auto& reported = w.llm.asked[1].messages;
    ASSERT_EQ(reported.size(), 7U);
    for (std::size_t i = 2; i < 7; ++i) EXPECT_TRUE(reported[i].tool_failed) << reported[i].text;
    EXPECT_THAT(reported[2].text, HasSubstr("there is no tool 'nobody' (the tools: test_echo)"));
    EXPECT_THAT(reported[3].text, HasSubstr("'x' must be"));
    EXPECT_THAT(reported[4].text, HasSubstr("not JSON"));
    EXPECT_THAT(reported[5].text, HasSubstr("JSON object"));
    EXPECT_THAT(reported[6].text, HasSubstr("no clause 'y'"));
}

TEST(model_tools, a_loop_that_does_not_end_is_ended) {
    harness w;
    add_echo(w);
    call_tools(w, {{"test_echo", R"({"x":"again"})"}});
    EXPECT_EQ(w.json(std::string(asks) +
                     "(let ((e (get-in (ask 1) '(\"notes\" \"error\")))) (list (get e \"type\") "
                     "(get e \"resource\") (get-in e '(\"metrics\" \"limit\"))))"),
              R"(["RESOURCE_EXHAUSTION","turns",10.0])");
    EXPECT_EQ(w.llm.asked.size(), 10U);
}

TEST(model_tools, tasks_are_tools_too) {
    harness w;
    call_tools(w, {{"helper", R"({"text":"abc"})"}, {"helper", R"({"txt":"abc"})"}});
    w.llm.say("inner replies hi");
    w.llm.say("outer done");
    EXPECT_EQ(w.json("(defatom helper (params (text string \"what\")) (description \"helps\") "
                     "(instructions \"help {{text}}\")) "
                     "(defatom outer (params) (instructions \"o\") (tools (helper))) "
                     "(content (outer))"),
              "\"outer done\"");
    EXPECT_THAT(w.llm.asked[0].tools[0].parameters_json,
                HasSubstr(R"("text":{"type":"string","description":"what"})"));
    ASSERT_EQ(w.llm.asked.size(), 3U);
    const auto& reported = w.llm.asked[2].messages;
    EXPECT_EQ(reported[2].text, "inner replies hi");
    EXPECT_THAT(reported[3].text, HasSubstr("no such input: txt"));
}

TEST(model_tools, a_name_that_is_no_tool_is_the_workflows_fault) {
    harness w;
    w.llm.say("x");
    EXPECT_THAT(w.json("(defatom ask (params) (instructions \"i\") (tools (read-fil))) (ask)"),
                StartsWith("TaskError: task ask: there is no tool or task 'read-fil'"));
    EXPECT_TRUE(w.llm.asked.empty());
}

TEST(model_tools, long_results_are_cut) {
    harness w({}, [] {
        task_system_parts parts;
        parts.tool_result_limit = 10;
        return parts;
    }());
    add_echo(w);
    call_tools(w, {{"test_echo", R"({"x":"0123456789ABCDEF"})"}});
    w.llm.say("done");
    EXPECT_EQ(w.json(std::string(asks) + "(content (ask 1))"), "\"done\"");
    EXPECT_EQ(w.llm.asked[1].messages[2].text, "0123456789\n[cut here: 6 bytes were left out]");
}

TEST(model_tools, end_with_the_time_of_the_task) {
    harness w;
    int most = 0;
    add_echo(w, &most);
    call_tools(w, {{"test_echo", R"({"x":"a","ms":100000})"}});
    EXPECT_EQ(w.json(std::string(asks) + "(get-in (ask (q 1) (timeout 0.05)) "
                                         "'(\"notes\" \"error\" \"resource\"))"),
              "\"time\"");
    EXPECT_EQ(w.observer.finished, 1);
}

TEST(model_tools, a_sandbox_refuses_them_to_the_model_and_the_run_goes_on) {
    harness w;
    add_echo(w);
    call_tools(w, {{"test_echo", R"({"x":"a"})"}});
    w.llm.say("done");
    EXPECT_EQ(w.json(std::string(asks) + "(sandbox ((allow (ask))) (content (ask 1)))"),
              "\"done\"");
    EXPECT_THAT(w.llm.asked.back().messages.back().text,
                HasSubstr("the sandbox does not allow 'test:echo'"));
    EXPECT_TRUE(w.llm.asked.back().messages.back().tool_failed);
    w.llm.replies.clear();
    call_tools(w, {{"test_echo", R"({"x":"a"})"}});
    w.llm.say("done");
    EXPECT_EQ(w.json("(sandbox ((allow (ask test:echo))) (content (ask 1)))"), "\"done\"");
    EXPECT_FALSE(w.llm.asked.back().messages.back().tool_failed);
}

TEST(model_tools, count_as_calls_of_their_sandbox) {
    harness w;
    add_echo(w);
    call_tools(w, {{"test_echo", R"({"x":"a"})"}});
    w.llm.say("done");
    EXPECT_THAT(w.json(std::string(asks) + "(sandbox ((allow (ask test:echo)) (calls 1)) "
                                           "(try (content (ask 1)) (catch (e) 'caught)))"),
                StartsWith("LimitError: the sandbox allows 1 calls"));
}

TEST(model_tools, a_model_that_calls_what_nobody_offered_has_failed) {
    harness w;
    call_tools(w, {{"rm", "{}"}});
    EXPECT_EQ(w.json("(defatom ask (params) (instructions \"i\")) "
                     "(get-in (ask) '(\"notes\" \"error\" \"reason\"))"),
              "\"llm_error\"");
}

// ---------------------------------------------------------------- subtasks

constexpr auto child =
    "(defatom child (params topic) (description \"writes about a topic\") (subtype \"subtask\") "
    "(instructions \"write on {{topic}}\")) ";

std::string parent(const std::string& more = {}) {
    return std::string(child) +
           "(defatom parent (params) (instructions \"plan\") (output_format ((type \"json\"))) " +
           more + ") ";
}

std::string continuation(const std::string& request) {
    return R"({"status":"CONTINUATION","content":"","notes":{"subtask_request":)" + request + "}}";
}

TEST(subtasks, a_continuation_is_run_and_its_result_returned) {
    harness w;
    w.llm.say(continuation(
        R"({"type":"atomic","description":"writes","inputs":{"topic":"looms"},"name":"child"})"));
    w.llm.say("on looms");
    EXPECT_EQ(w.json(parent() + "(let ((r (parent))) (list (content r) (get-in r '(\"notes\" "
                                "\"template_used\"))))"),
              R"(["on looms","child"])");
    EXPECT_EQ(w.llm.asked[1].messages[0].text, "write on looms");
    EXPECT_EQ(w.observer.started, 2);
    EXPECT_EQ(w.observer.finished, 2);
}

TEST(subtasks, their_result_has_the_warnings_of_the_task_that_it_replaces) {
    harness w;
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = continuation(
            R"({"type":"atomic","description":"d","inputs":{"topic":"x"},"name":"child"})");
        response.usage = ports::token_usage{50, 850, 0, 0};
        response.warnings = {"fake: seed is not sent", "fake: said by both"};
        return response;
    });
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "fine";
        response.warnings = {"fake: said by both", "fake: said by the child"};
        return response;
    });
    EXPECT_THAT(
        w.json(parent("(resource_limits ((max_tokens_total 1000)))") +
               "(let ((r (parent))) (list (content r) (get-in r '(notes warnings))))"),
        ::testing::MatchesRegex(R"(\["fine",\["fake: seed is not sent","fake: said by both",)"
                                R"("tokens: 9.* of 1000 used","fake: said by the child"\]\])"));
}

TEST(subtasks, templates_are_chosen_by_kind_hint_and_description) {
    for (const std::string choice :
         {R"("subtype":"subtask")", R"("template_hints":["child"])", R"("max_depth":2)"}) {
        harness w;
        w.llm.say(continuation(
            R"({"type":"atomic","description":"writes about a topic","inputs":{"topic":"x"},)" +
            choice + "}"));
        w.llm.say("fine");
        EXPECT_EQ(w.json(parent() + "(content (parent))"), "\"fine\"") << choice;
    }
}

TEST(subtasks, what_is_wrong_with_a_request_is_reported) {
    const std::vector<std::pair<std::string, std::string>> wrong{
        {R"({"type":"atomic","description":"d"})", "'inputs' is missing"},
        {R"({"type":"atomic","description":"d","inputs":{},"depth":1})", "no field 'depth'"},
        {R"({"type":"other","description":"d","inputs":{}})", "'type' must be"},
        {R"({"type":"atomic","description":"d","inputs":[]})", "'inputs' must be an object"},
        {R"({"type":"atomic","description":"d","inputs":{},"name":"chid"})", "no template 'chid'"},
        {R"({"type":"atomic","description":"zzz","inputs":{}})", "no template matches 'zzz'"},
        {R"({"type":"atomic","description":"d","inputs":{},"name":"child"})",
         "missing input: topic"},
        {R"({"type":"atomic","description":"d","inputs":{"topic":1},"name":"child",
             "context_management":{"fresh_context":"enabled","inherit_context":"full"}})",
         "excludes"},
        {"[]", "it must be an object"},
    };
    for (const auto& [request, message] : wrong) {
        harness w;
        w.llm.say(continuation(request));
        EXPECT_THAT(w.json(parent() + "(let ((e (get-in (parent) '(\"notes\" \"error\")))) (list "
                                      "(get e \"reason\") (get e \"message\") "
                                      "(get-in e '(\"details\" \"nestingDepth\"))))"),
                    ::testing::AllOf(StartsWith("[\"subtask_failure\""), HasSubstr(message)))
            << request;
        EXPECT_EQ(w.llm.asked.size(), 1U);
    }
}

/// A description is text of a model, and of any length: neither message nor reason is lost with it.
TEST(subtasks, a_long_description_is_cut_between_characters) {
    for (std::size_t before = 0; before < 3; ++before) {
        std::string description(before, 'z');
        for (int i = 0; i < 200; ++i) description += "日";
        harness w;
        w.llm.say(
            continuation(R"({"type":"atomic","inputs":{},"description":")" + description + "\"}"));
        EXPECT_THAT(w.json(parent() + "(let ((e (get-in (parent) '(\"notes\" \"error\")))) (list "
                                      "(get e \"type\") (get e \"reason\") (get e \"message\")))"),
                    ::testing::AllOf(StartsWith("[\"TASK_FAILURE\",\"subtask_failure\""),
                                     HasSubstr("no template matches '"), HasSubstr("日…'")));
    }
}

TEST(subtasks, a_failure_keeps_request_error_depth_and_output) {
    harness w;
    w.llm.say(continuation(
        R"({"type":"atomic","description":"d","inputs":{"topic":"x"},"name":"child"})"));
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_EQ(
        w.json(parent() + "(let ((d (get-in (parent) '(\"notes\" \"error\" \"details\")))) (list "
                          "(get-in d '(\"subtaskRequest\" \"name\")) (get-in d '(\"subtaskError\" "
                          "\"reason\")) (get d \"nestingDepth\") (get d \"partialOutput\")))"),
        R"(["child","llm_error",1,null])")
        << "the text of an error is not an output";
}

std::string partial_of(const std::string& call) {
    return "(let ((d (get-in " + call +
           " '(notes error details)))) (list (get d 'partialOutput) (get-in d '(subtaskError "
           "details "
           "partialOutput))))";
}

TEST(subtasks, a_failure_keeps_what_there_was_until_then) {
    const auto so_far = [](const std::string& content, const std::string& name) {
        return R"({"status":"CONTINUATION","content":")" + content +
               R"(","notes":{"subtask_request":{"type":"atomic","description":"d","inputs":{"topic":")" +
               content + R"("},"name":")" + name + "\"}}}";
    };
    harness w;
    w.llm.say(so_far("of the parent", "middle"));
    w.llm.say(so_far("of the middle", "child"));
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_EQ(w.json("(defatom middle (params topic) (instructions \"m {{topic}}\") (output_format "
                     "((type \"json\")))) " +
                     parent() + partial_of("(parent)")),
              R"(["of the middle","of the middle"])");
    harness broken;
    broken.llm.say(so_far("of the parent", "child"));
    broken.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_EQ(broken.json(parent() + partial_of("(parent)")), R"(["of the parent",null])");
}

TEST(subtasks, the_same_again_in_one_chain_is_a_cycle) {
    harness w;
    w.llm.say(
        continuation(R"({"type":"atomic","description":"d","inputs":{"n":1},"name":"again"})"));
    EXPECT_THAT(w.json("(defatom again (params n) (instructions \"{{n}}\") (output_format ((type "
                       "\"json\")))) (get-in (again 1) '(\"notes\" \"error\" \"message\"))"),
                HasSubstr("is already in the chain"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(subtasks, depth_counts_down_the_chain) {
    harness w;
    int next = 0;
    w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = continuation(R"({"type":"atomic","description":"d","inputs":{"n":)" +
                                     std::to_string(++next) + R"(},"name":"again"})");
        return response;
    });
    EXPECT_THAT(w.json("(defatom again (params n) (instructions \"{{n}}\") (output_format ((type "
                       "\"json\")))) (get-in (again 0) '(\"notes\" \"error\" \"message\"))"),
                HasSubstr("nested deeper than 5"));
    EXPECT_EQ(w.llm.asked.size(), 6U);
}

TEST(subtasks, a_request_may_ask_for_more_depth_up_to_a_bound) {
    const auto deep = [](const std::string& most) {
        harness w;
        int next = 0;
        w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
            ports::chat_response response;
            response.text = continuation(R"({"type":"atomic","description":"d","inputs":{"n":)" +
                                         std::to_string(++next) +
                                         R"(},"name":"again","max_depth":)" + most + "}");
            return response;
        });
        const std::string said = w.json(
            "(defatom again (params n) (instructions \"{{n}}\") (output_format ((type "
            "\"json\")))) (get-in (again 0) '(\"notes\" \"error\" \"message\"))");
        return std::pair(w.llm.asked.size(), said);
    };
    EXPECT_EQ(deep("9").first, 21U) << "each asks for nine more, and twenty are the most";
    EXPECT_EQ(deep("0").first, 2U);
    EXPECT_THAT(deep("21").second, HasSubstr("'max_depth' must be at most 20"));
}

TEST(subtasks, share_limits_and_time_of_the_chain) {
    task_template limited;
    limited.name = "parent";
    limited.instructions = "plan";
    limited.output.json = true;
    limited.limits.max_tokens_total = 20;
    task_template below;
    below.name = "child";
    below.description = "d";
    below.instructions = "a long prompt that takes some tokens of its own";
    harness w({limited, below});
    w.llm.say(continuation(R"({"type":"atomic","description":"d","inputs":{},"name":"child"})"));
    w.llm.say("never");
    EXPECT_EQ(w.json("(let ((d (get-in (parent) '(\"notes\" \"error\" \"details\")))) (get-in d "
                     "'(\"subtaskError\" \"resource\")))"),
              "\"tokens\"");
    EXPECT_EQ(w.llm.asked.size(), 1U);

    harness late;
    late.llm.say(continuation(
        R"({"type":"atomic","description":"d","inputs":{"topic":"x"},"name":"child"})"));
    late.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
        return ports::chat_response{};
    });
    late.llm.delay = std::chrono::milliseconds(40);
    EXPECT_EQ(late.json(parent() + "(get-in (parent (timeout 0.06)) "
                                   "'(\"notes\" \"error\" \"resource\"))"),
              "\"time\"");
}

TEST(subtasks, a_model_spawns_them_by_tool) {
    harness w;
    call_tools(w, {{"spawn_subtask",
                    R"({"type":"atomic","description":"d","inputs":{"topic":"a"},"name":"child"})"},
                   {"subtask_child", R"({"description":"d","inputs":{"topic":"b"}})"},
                   {"spawn_subtask", R"({"type":"atomic"})"}});
    w.llm.say("one");
    w.llm.say("two");
    w.llm.say("done");
    EXPECT_EQ(w.json(std::string(child) + "(defatom parent (params) (instructions \"plan\") "
                                          "(tools (spawn_subtask subtask:child))) "
                                          "(content (parent))"),
              "\"done\"");
    ASSERT_EQ(w.llm.asked.size(), 4U);
    const auto& reported = w.llm.asked[3].messages;
    EXPECT_THAT((std::vector<std::string>{reported[2].text, reported[3].text}),
                ElementsAre("one", "two"));
    EXPECT_THAT(reported[4].text, HasSubstr("is missing"));
}

TEST(subtasks, a_tool_of_the_workflow_may_ask_for_one) {
    harness w;
    tool asks_for_more;
    asks_for_more.name = "more";
    asks_for_more.run = [](tool_call call) -> coro::task<result<lang::value>> {
        co_return lang::json_to_value(
            call.session.memory(),
            continuation(
                R"({"type":"atomic","description":"d","inputs":{"topic":"t"},"name":"child"})"));
    };
    ASSERT_TRUE(static_cast<session_tasks*>(w.session->operators())->add(asks_for_more));
    w.llm.say("from the child");
    EXPECT_EQ(w.json(std::string(child) + "(content (more))"), "\"from the child\"");
}

} // namespace
} // namespace heddle::tasks
