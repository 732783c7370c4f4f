#include "tasks_testing.hpp"

#include <heddle/lang/map.hpp>
#include <heddle/tasks/session/dispatch.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

task_template declared_as(std::string name, std::string subtype, std::string description,
                          std::initializer_list<const char*> inputs) {
    task_template declared;
    declared.name = std::move(name);
    declared.subtype = std::move(subtype);
    declared.description = std::move(description);
    for (const char* input : inputs) declared.inputs.emplace_back().name = input;
    return declared;
}

task_template greeting() {
    task_template declared = declared_as("greet", "polite", "Greets somebody", {"who", "tone"});
    declared.inputs[1].optional = true;
    declared.instructions = "Greet {{who}}";
    return declared;
}

class dispatching : public ::testing::Test {
protected:
    dispatching() : all({greeting()}, with_tool()) { all.llm.say("Good day"); }

    static task_system_parts with_tool() {
        task_system_parts parts;
        tool echo;
        echo.name = "echo";
        echo.input_schema = R"({"type":"object","properties":{"text":{}},
                                "additionalProperties":false})";
        echo.run = [](tool_call call) -> coro::task<result<lang::value>> {
            const lang::value* text = lang::map_find(call.inputs, "text");
            return answer(text ? *text : lang::value());
        };
        parts.tools.push_back(std::move(echo));
        return parts;
    }
    static coro::task<result<lang::value>> answer(lang::value text) { co_return text; }

    result<lang::value> run(std::string identifier, const char* params = "{}",
                            host::run_options options = {}) {
        dispatch_request request;
        request.identifier = std::move(identifier);
        request.params = lang::json_to_value(all.session->memory(), params).value();
        request.options = options;
        return all.runner.run(dispatch(*all.session, std::move(request)));
    }
    std::string json(std::string identifier, const char* params = "{}") {
        const auto ended = run(std::move(identifier), params);
        return ended ? lang::value_to_json(*ended).value() : ended.error().message();
    }

    testing::harness all;
};

TEST_F(dispatching, runs_a_text_in_brackets_as_a_workflow) {
    const char* five = R"({"status":"COMPLETE","content":"5","notes":{"execution_path":)"
                       R"("workflow"},"parsedContent":5})";
    EXPECT_EQ(json("(+ 2 3)"), five);
    EXPECT_EQ(json("'(+ 2 3)"), five);
    EXPECT_EQ(json("  \n(+ a b)  ", R"({"a":2,"b":3})"), five) << "parameters are bindings";
    EXPECT_EQ(json("(string-append \"a\" \"b\")"),
              R"({"status":"COMPLETE","content":"ab","notes":{"execution_path":"workflow"}})");
    EXPECT_EQ(json("(lambda (x) x)").find("{\"status\":\"COMPLETE\",\"content\":\"#<"), 0U);
    EXPECT_THAT(json("(nth file_context 1)", R"({"file_context":"[\"a\",\"b\"]"})"),
                HasSubstr("\"content\":\"b\""));
}

TEST_F(dispatching, a_task_result_of_a_workflow_is_the_answer) {
    const std::string given = json("(greet \"Ada\")");
    EXPECT_THAT(given, HasSubstr("\"content\":\"Good day\""));
    EXPECT_THAT(given, HasSubstr("\"template_used\":\"greet\""));
    EXPECT_THAT(given, HasSubstr("\"execution_path\":\"workflow\""));
}

TEST_F(dispatching, calls_a_template_by_name_or_kind) {
    for (const char* id : {"greet", "atomic:polite"}) {
        const std::string given = json(id, R"({"who":"Ada"})");
        EXPECT_THAT(given, HasSubstr("\"content\":\"Good day\"")) << id;
        EXPECT_THAT(given, HasSubstr("\"execution_path\":\"template\""));
        EXPECT_THAT(given, HasSubstr("\"template_used\":\"greet\""));
    }
    EXPECT_EQ(all.llm.asked.back().messages.back().text, "Greet Ada");
}

TEST_F(dispatching, reserved_keys_are_settings_of_the_call) {
    (void)json("greet", R"({"who":"Ada","temperature":0.5,"file_context":["a.txt"]})");
    EXPECT_EQ(all.llm.asked.back().temperature, 0.5);
    EXPECT_THAT(json("greet", R"({"who":"Ada","file_context":"a.txt"})"),
                HasSubstr("file_context must be a list of paths"));
    EXPECT_THAT(json("greet", R"({"who":"Ada","file_context":[1]})"),
                HasSubstr("\"reason\":\"input_validation_failure\""));
}

TEST_F(dispatching, calls_a_tool) {
    EXPECT_EQ(json("echo", R"({"text":[1,2]})"),
              R"({"status":"COMPLETE","content":"[1,2]","notes":{"execution_path":"tool"},)"
              R"("parsedContent":[1,2]})");
    EXPECT_THAT(json("echo", R"({"txt":1})"), HasSubstr("has no input txt; its inputs are text"));
}

TEST_F(dispatching, unknown_identifiers_are_reported_with_near_names) {
    const std::string given = json("gret");
    EXPECT_THAT(given, HasSubstr("\"status\":\"FAILED\""));
    EXPECT_THAT(given, HasSubstr("\"reason\":\"template_not_found\""));
    EXPECT_THAT(given, HasSubstr("did you mean 'greet'"));
    EXPECT_THAT(json(" "), HasSubstr("input_validation_failure"));
}

TEST_F(dispatching, failures_are_results_too) {
    const std::string missing = json("greet");
    EXPECT_THAT(missing, HasSubstr("\"status\":\"FAILED\""));
    EXPECT_THAT(missing, HasSubstr("\"reason\":\"input_validation_failure\""));
    EXPECT_THAT(missing, HasSubstr("who"));
    EXPECT_THAT(missing, HasSubstr("\"execution_path\":\"template\""));
    EXPECT_THAT(json("greet", R"({"who":"Ada","whom":"x"})"),
                HasSubstr("template 'greet' has no input whom; its inputs are who, tone"));
    EXPECT_THAT(json("(+ 1"), HasSubstr("\"reason\":\"input_validation_failure\""));
    EXPECT_THAT(json("(nobody 1)"), HasSubstr("\"reason\":\"unexpected_error\""));
    EXPECT_THAT(json("greet", "[1]"), HasSubstr("must be a map"));
    all.llm.replies.clear();
    all.llm.break_with(ports::llm_errc::protocol, "no sense");
    const std::string broken = json("greet", R"({"who":"Ada"})");
    EXPECT_THAT(broken, HasSubstr("\"reason\":\"protocol_error\""));
    EXPECT_THAT(broken, HasSubstr("\"execution_path\":\"template\""));
}

TEST_F(dispatching, a_deadline_is_a_failure_and_other_cancellation_is_none) {
    all.llm.delay = std::chrono::hours(1);
    host::run_options options;
    options.until = coro::deadline(all.runner.loop.now() + std::chrono::milliseconds(20));
    const auto late = run("greet", R"({"who":"Ada"})", options);
    ASSERT_TRUE(late);
    EXPECT_THAT(lang::value_to_json(*late).value(), HasSubstr("\"reason\":\"execution_timeout\""));
    coro::cancel_source cancel;
    cancel.request(cancel_reason::user);
    options = {};
    options.cancel = &cancel;
    const auto stopped = run("greet", R"({"who":"Ada"})", options);
    ASSERT_FALSE(stopped);
    EXPECT_TRUE(stopped.error().is_cancelled());
}

TEST(match_tasks, returns_the_tasks_that_match) {
    testing::harness all({greeting(), declared_as("sum", "director", "Sums up a text", {})});
    EXPECT_EQ(all.json("(map (lambda (m) (get-field m 'name)) (match-tasks (text \"greets\")))"),
              "[\"greet\"]");
    EXPECT_EQ(all.json("(match-tasks (text \"greets somebody\") (limit 1))"),
              R"([{"name":"greet","score":1.0,"kind":"atomic:polite",)"
              R"("description":"Greets somebody"}])");
    EXPECT_EQ(all.json("(length (match-tasks (text \"greets\") (hints '(\"sum\"))))"), "2");
    EXPECT_EQ(all.json("(match-tasks (text \"greets\") (threshold 0.9))"), "[]");
    EXPECT_THAT(all.json("(match-tasks (text 5))"), HasSubstr("match-tasks"));
}

TEST(session_tasks, a_ref_names_a_registered_template) {
    testing::harness all({greeting()});
    auto& tasks = dynamic_cast<session_tasks&>(*all.session->operators());
    task_template other;
    other.name = "salute";
    other.ref = "greet";
    other.instructions = "Salute {{who}}";
    ASSERT_TRUE(tasks.add(other));
    EXPECT_EQ(tasks.registry().find("salute")->task->declared.description, "Greets somebody");
    EXPECT_EQ(tasks.registry().find("atomic:polite")->task->declared.name, "salute");
    EXPECT_TRUE(all.log.said("task salute replaces an earlier one as atomic:polite"));
    other.name = "third";
    other.ref = "gret";
    const auto refused = tasks.add(other);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("there is no template 'gret'"));
    EXPECT_THAT(refused.error().info().hint, HasSubstr("greet"));
}

TEST(session_tasks, inputs_can_be_given_under_the_name_they_come_from) {
    task_template declared = greeting();
    declared.inputs[0].from = "user_query";
    testing::harness all({declared});
    all.llm.say("hi");
    EXPECT_THAT(all.json("(content (greet (user_query \"Eve\")))"), HasSubstr("hi"));
    EXPECT_EQ(all.llm.asked.back().messages.back().text, "Greet Eve");
    EXPECT_THAT(all.json("(greet (user_query \"Eve\") (who \"Ada\"))"), HasSubstr("given twice"));
}

TEST(session_tasks, an_aider_task_is_described_by_its_first_input) {
    testing::harness all(
        {declared_as("edit", "aider_automatic", "Edit for {{task_description}}", {"prompt"})});
    all.llm.say("done");
    (void)all.json("(edit (prompt \"less code\"))");
    EXPECT_EQ(all.llm.asked.back().messages.back().text, "Edit for less code");
    (void)all.json("(edit (prompt \"less code\") (task_description \"the goal\"))");
    EXPECT_EQ(all.llm.asked.back().messages.back().text, "Edit for the goal");
}

} // namespace
} // namespace heddle::tasks
