// Settings of requests from wherever they can be written, and what responses make of a loop of
// tools.
#include "tasks_testing.hpp"

#include <heddle/tasks/definition/request_parameters.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <gmock/gmock.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::HasSubstr;

constexpr const char* all_clauses = R"(
    (max-tokens 100) (temperature 0.25) (top-p 0.5) (seed -7) (stop ("END" "STOP"))
    (tool-choice required) (parallel-tool-calls false) (reasoning-effort "low")
    (reasoning-tokens 2000) (prompt_cache false) (park true)
    (extra-parameters ((top_k 40) (user "me") (nested ((a (1 2)))))))";

void expect_all(const ports::chat_request& request) {
    EXPECT_EQ(request.max_output_tokens, 100);
    EXPECT_EQ(request.temperature, 0.25);
    EXPECT_EQ(request.top_p, 0.5);
    EXPECT_EQ(request.seed, -7);
    EXPECT_THAT(request.stop, ElementsAre("END", "STOP"));
    EXPECT_EQ(request.tool_choice, "required");
    EXPECT_EQ(request.parallel_tool_calls, false);
    EXPECT_EQ(request.reasoning_effort, "low");
    EXPECT_EQ(request.reasoning_tokens, 2000);
    EXPECT_EQ(request.cache_prompt, false);
    EXPECT_EQ(request.scheduling.park, true);
    ASSERT_EQ(request.extra.size(), 3U);
    EXPECT_EQ(request.extra[0].name, "top_k");
    EXPECT_EQ(request.extra[0].value_json, "40");
    EXPECT_EQ(request.extra[1].value_json, "\"me\"");
    EXPECT_EQ(request.extra[2].value_json, R"({"a":[1,2]})");
}

const std::string with_tool = "(deftool look (params city) (description \"Looks.\") city) ";

TEST(request_parameters, every_one_is_a_clause_of_defatom) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json(with_tool + "(defatom t (params) (instructions \"q\") (tools (look))" +
                     all_clauses + ") (t) 1"),
              "1");
    expect_all(w.llm.asked.at(0));
}

TEST(request_parameters, every_one_is_a_setting_of_with_and_goes_before_the_task) {
    harness w;
    w.llm.say("x");
    const std::string settings = R"(
        (max-tokens 100) (temperature 0.25) (top-p 0.5) (seed -7) (stop '("END" "STOP"))
        (tool-choice "required") (parallel-tool-calls false) (reasoning-effort "low")
        (reasoning-tokens 2000) (prompt-cache false) (park true)
        (extra-parameters (dict "top_k" 40 "user" "me" "nested" (dict "a" (list 1 2)))))";
    EXPECT_EQ(w.json(with_tool +
                     "(defatom t (params) (instructions \"q\") (tools (look)) (top-p 0.9) (seed 1) "
                     "(max-tokens 5) (temperature 1) (stop \"x\"))"
                     "(with (" +
                     settings + ") (t)) 1"),
              "1");
    expect_all(w.llm.asked.at(0));
}

TEST(request_parameters, every_one_is_an_element_of_a_template) {
    template_loader loader(template_load_options{});
    loader.add("t.xml", R"(<task name="t" type="atomic"><description>d</description>
        <instructions>q</instructions><max_tokens>100</max_tokens>
        <temperature>0.25</temperature><top_p>0.5</top_p><seed>-7</seed>
        <stop>["END", "STOP"]</stop><tool_choice>required</tool_choice>
        <parallel_tool_calls>false</parallel_tool_calls>
        <reasoning_effort>low</reasoning_effort><reasoning_tokens>2000</reasoning_tokens>
        <prompt_cache>false</prompt_cache><park>true</park><extra_parameters>
            {"top_k": 40, "user": "me", "nested": {"a": [1, 2]}}</extra_parameters>
        </task>)");
    const auto loaded = std::move(loader).finish();
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    const task_template& declared = loaded.templates.at(0);
    ports::chat_request request;
    request.temperature = declared.temperature;
    request.max_output_tokens = declared.max_tokens;
    apply(declared.parameters, request);
    expect_all(request);
    EXPECT_EQ(parameters_json(declared.parameters),
              R"({"top_p":5E-1,"seed":-7,"stop":["END","STOP"],"tool_choice":"required",)"
              R"("parallel_tool_calls":false,"reasoning_effort":"low","reasoning_tokens":2000,)"
              R"("prompt_cache":false,"park":true,"extra_parameters":{"top_k":40,"user":"me",)"
              R"("nested":{"a":[1,2]}}})");
}

TEST(request_parameters, wrong_values_are_named_wherever_they_are_written) {
    harness w;
    EXPECT_THAT(w.json("(defatom t (params) (instructions \"q\") (top_p 1.5))"),
                HasSubstr("defatom t: top_p must be a number from 0 to 1, not 1.5"));
    EXPECT_THAT(w.json("(defatom t (params) (instructions \"q\") (seed 1) (seed 2))"),
                HasSubstr("seed is given twice"));
    EXPECT_THAT(w.json("(defatom t (params) (instructions \"q\") (stop \"\"))"),
                HasSubstr("stop must be a non-empty string"));
    EXPECT_THAT(w.json("(with ((reasoning-tokens -1)) 1)"),
                HasSubstr("with: reasoning-tokens must be a whole number from 0"));
    EXPECT_THAT(w.json("(with ((extra-parameters 3)) 1)"), HasSubstr("must be a map"));
    EXPECT_THAT(w.json("(with ((stop (lambda () 1))) 1)"), HasSubstr("with: stop must be"));
    EXPECT_THAT(w.json("(with ((tops 1)) 1)"), HasSubstr("unknown setting 'tops'"));
    template_loader loader(template_load_options{});
    loader.add("t.xml",
               "<task name=\"t\" type=\"atomic\"><description>d</description>"
               "<instructions>q</instructions><top_p>much</top_p></task>");
    EXPECT_THAT(std::move(loader).finish().report->text(),
                HasSubstr("<top_p> must be a number from 0 to 1"));
}

TEST(request_parameters, what_is_not_set_is_filled_and_what_is_set_stays) {
    request_parameters said;
    said.top_p = 0.5;
    said.extra_parameters = std::vector<ports::extra_parameter>{{"a", "1"}};
    request_parameters weaker;
    weaker.top_p = 0.9;
    weaker.seed = 3;
    weaker.extra_parameters = std::vector<ports::extra_parameter>{{"a", "2"}, {"b", "3"}};
    fill_absent(said, weaker);
    EXPECT_EQ(parameters_json(said), R"({"top_p":5E-1,"seed":3,"extra_parameters":{"a":1,"b":3}})");
    ports::chat_request request;
    request.reasoning_effort = "high";
    request.seed = 9;
    weaker.reasoning_tokens = 100;
    weaker.reasoning_effort = "low";
    apply_absent(weaker, request);
    EXPECT_EQ(request.reasoning_effort, "high");
    EXPECT_EQ(request.reasoning_tokens, std::nullopt); // the two would contradict each other
    EXPECT_EQ(request.seed, 9);
    EXPECT_EQ(request.top_p, 0.9);
}

ports::chat_response calling(std::string id, std::string text = "") {
    ports::chat_response response;
    response.text = std::move(text);
    response.finish = ports::finish_reason::tool_calls;
    response.tool_calls.push_back({std::move(id), "look", R"({"city":"Paris"})"});
    return response;
}

TEST(request_parameters, a_forced_tool_is_forced_in_the_first_turn_only) {
    for (const char* choice : {"required", "look"}) {
        harness w;
        w.llm.replies.push_back([](const auto&) { return calling("c1"); });
        w.llm.say("done");
        EXPECT_EQ(w.json(with_tool +
                         "(defatom t (params) (instructions \"q\") (tools (look)) "
                         "(tool-choice " +
                         choice + ")) (get-field (t) \"content\")"),
                  "\"done\"");
        ASSERT_EQ(w.llm.asked.size(), 2U);
        EXPECT_EQ(w.llm.asked[0].tool_choice, choice);
        EXPECT_EQ(w.llm.asked[1].tool_choice, "");
    }
}

TEST(request_parameters, a_choice_of_a_tool_that_is_not_offered_is_reported) {
    harness w;
    w.llm.say("done");
    EXPECT_THAT(w.json(with_tool + "(defatom t (params) (instructions \"q\") (tools (look)) "
                                   "(tool-choice \"hear\")) (t)"),
                HasSubstr("tool-choice 'hear' has no effect: the tools: look"));
    EXPECT_EQ(w.llm.asked.at(0).tool_choice, "");
}

TEST(tool_loop, a_call_that_the_length_limit_cut_ends_the_task_and_is_reported) {
    harness w;
    w.llm.replies.push_back([](const auto&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::length;
        response.cut_tool_call = "look";
        response.usage = ports::token_usage{10, 87, 0, 0};
        return response;
    });
    const std::string reported = w.json(
        with_tool + "(defatom t (params) (instructions \"q\") (tools (look)) (max-tokens 87)) (t)");
    EXPECT_THAT(reported, HasSubstr("RESOURCE_EXHAUSTION"));
    EXPECT_THAT(reported, HasSubstr("inside a call of the tool 'look'; raise max-tokens"));
    EXPECT_THAT(reported, HasSubstr("\"output_tokens\":87"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(tool_loop, a_call_that_was_not_offered_fails_with_text_and_without) {
    for (const char* text : {"", "Let me look that up."}) {
        harness w;
        w.llm.replies.push_back([text](const auto&) { return calling("c1", text); });
        const std::string reported = w.json("(defatom t (params) (instructions \"q\")) (t)");
        EXPECT_THAT(reported, HasSubstr("FAILED"));
        EXPECT_THAT(reported, HasSubstr("which it was not offered"));
        EXPECT_THAT(reported, HasSubstr(text));
    }
}

TEST(tool_loop, ids_that_come_again_are_distinguished) {
    harness w;
    for (int i = 0; i < 3; ++i) {
        w.llm.replies.push_back([](const auto&) { return calling("heddle_call_1"); });
    }
    w.llm.say("done");
    (void)w.json(with_tool + "(defatom t (params) (instructions \"q\") (tools (look))) (t)");
    ASSERT_EQ(w.llm.asked.size(), 4U);
    std::vector<std::string> ids;
    for (const ports::chat_message& each : w.llm.asked[3].messages) {
        for (const auto& call : each.tool_calls) ids.push_back(call.id);
        if (each.role == ports::chat_role::tool) ids.push_back(each.tool_call_id);
    }
    EXPECT_THAT(ids, ElementsAre("heddle_call_1", "heddle_call_1", "heddle_call_1_2",
                                 "heddle_call_1_2", "heddle_call_1_3", "heddle_call_1_3"));
}

TEST(tool_loop, what_the_provider_left_out_is_a_warning_once) {
    harness w;
    w.llm.replies.push_back([](const auto&) -> result<ports::chat_response> {
        auto outcome = calling("c1");
        outcome.warnings = {"fake: seed is not sent: the service has no such setting"};
        return outcome;
    });
    w.llm.replies.push_back([](const auto&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "done";
        response.warnings = {"fake: seed is not sent: the service has no such setting"};
        return response;
    });
    EXPECT_EQ(w.json(with_tool + "(defatom t (params) (instructions \"q\") (tools (look))) "
                                 "(get-field (get-field (t) \"notes\") \"warnings\")"),
              R"(["fake: seed is not sent: the service has no such setting"])");
}

TEST(repeated_calls, are_not_answered_by_what_they_repeat) {
    harness w;
    w.llm.break_with(ports::llm_errc::server, "down");
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"q\")) "
                     "(retry ((attempts 2) (backoff 0)) (t)) 1"),
              "1");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].scheduling.cache, ports::cache_use::shared);
    EXPECT_EQ(w.llm.asked[1].scheduling.cache, ports::cache_use::renewed);

    harness slow;
    slow.llm.say("x");
    slow.llm.delay = std::chrono::milliseconds(200);
    EXPECT_EQ(slow.json("(defatom t (params) (instructions \"q\")) (hedge 0.02 (t)) 1"), "1");
    ASSERT_EQ(slow.llm.asked.size(), 2U);
    EXPECT_EQ(slow.llm.asked[0].scheduling.cache, ports::cache_use::shared);
    EXPECT_EQ(slow.llm.asked[1].scheduling.cache, ports::cache_use::apart);
    EXPECT_EQ(slow.json("(with ((cache false)) (retry ((attempts 2) (backoff 0)) "
                        "(progn (t) (error \"no\"))))")
                      .find("no") != std::string::npos,
              true);
    EXPECT_EQ(slow.llm.asked.back().scheduling.cache, ports::cache_use::none);
    EXPECT_THAT(slow.json("(with ((%repeats 'retry)) 1)"), HasSubstr("unknown setting"));
}

} // namespace
} // namespace heddle::tasks
