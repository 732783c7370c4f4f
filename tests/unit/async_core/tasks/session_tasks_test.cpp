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

constexpr auto greet =
    "(defatom greet (params who (style optional)) "
    "(instructions \"Greet {{who}}{{style}}\") (system \"Be kind\"))";

std::string with_greet(const std::string& rest) { return std::string(greet) + rest; }

TEST(task_calls, by_clause_by_position_and_by_value) {
    harness w;
    w.llm.say("hello");
    EXPECT_EQ(w.json(with_greet("(get-field (greet (who \"Ann\")) \"content\")")), "\"hello\"");
    EXPECT_EQ(w.json("(get-field (greet \"Bob\" \"!\") \"status\")"), "\"COMPLETE\"");
    EXPECT_EQ(w.json("(get-field (call-atomic-task 'greet (who 3)) \"content\")"), "\"hello\"");
    ASSERT_EQ(w.llm.asked.size(), 3U);
    EXPECT_EQ(w.llm.asked[0].model, "test-model");
    ASSERT_EQ(w.llm.asked[0].messages.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].messages[0].text, "Be kind");
    EXPECT_EQ(w.llm.asked[0].messages[1].text, "Greet Ann");
    EXPECT_EQ(w.llm.asked[1].messages.back().text, "Greet Bob!");
    EXPECT_EQ(w.llm.asked[2].messages.back().text, "Greet 3");
    EXPECT_EQ(w.observer.started, 3);
    EXPECT_EQ(w.observer.finished, 3);
    EXPECT_EQ(w.observer.input_tokens, 30);
}

TEST(task_calls, the_result_reports_how_it_came_about) {
    harness w;
    w.llm.say("hello");
    auto ended = w.run(with_greet("(greet \"Ann\")"));
    ASSERT_TRUE(ended);
    const lang::value notes = *lang::map_find(*ended, "notes");
    const auto note = [&](std::string_view key) {
        return lang::value_to_json(*lang::map_find(notes, key)).value();
    };
    EXPECT_EQ(note("template_used"), "\"greet\"");
    EXPECT_EQ(note("model"), "\"scripted-1\"");
    EXPECT_EQ(note("provider"), "\"fake\"");
    EXPECT_EQ(note("finish_reason"), "\"stop\"");
    EXPECT_THAT(note("usage"), StartsWith("{\"input_tokens\":10,\"output_tokens\":5,"
                                          "\"cached_tokens\":2,\"cost_usd\":null,\"requests\":1,"
                                          "\"latency_ms\":"));
}

TEST(task_calls, wrong_inputs_raise_before_any_request) {
    harness w;
    EXPECT_THAT(w.json(with_greet("(greet)")),
                StartsWith("TaskError: task greet: missing input: who"));
    EXPECT_THAT(w.json("(greet 1 2 3)"), HasSubstr("takes 2 inputs, given 3"));
    EXPECT_THAT(w.json("(call-atomic-task 'greet (who 1) (whom 2))"),
                HasSubstr("no such input: whom"));
    EXPECT_THAT(w.json("(greet (who 1) (who 2))"), HasSubstr("twice"));
    EXPECT_THAT(w.json("(greet (who 1) (files \"x\"))"),
                StartsWith("SexpEvaluationError: task greet: files must be a list of strings"));
    EXPECT_THAT(w.json("(greet (who 1) (context 5))"), HasSubstr("context"));
    EXPECT_THAT(w.json("(greet (who 1) (context '((inheritContext \"full\") "
                       "(freshContext \"enabled\"))))"),
                StartsWith("TaskError"));
    EXPECT_THAT(w.json("(greet (who car-that-is-not))"), StartsWith("UnboundSymbolError"));
    EXPECT_TRUE(w.llm.asked.empty());
    EXPECT_EQ(w.observer.started, 0);
}

TEST(task_calls, reserved_clauses_settings_and_template_in_this_order) {
    harness w;
    testing::scripted_llm other;
    other.name = "other";
    w.models.add(other);
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (model \"m1\") (temperature 0.1)) "
                     "(t) (with ((model \"m2\") (temperature 1)) (t) (t (model \"other:m3\") "
                     "(temperature 0.5) (max-tokens 7))) (+ 1 1)"),
              "2");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].model, "m1");
    EXPECT_EQ(w.llm.asked[0].temperature, 0.1);
    EXPECT_EQ(w.llm.asked[1].model, "m2");
    EXPECT_EQ(w.llm.asked[1].temperature, 1.0);
    ASSERT_EQ(other.asked.size(), 1U);
    EXPECT_EQ(other.asked[0].model, "m3");
    EXPECT_EQ(other.asked[0].temperature, 0.5);
    EXPECT_EQ(other.asked[0].max_output_tokens, 7);
    EXPECT_THAT(w.json("(t (provider \"nobody\"))"), StartsWith("TaskError: there is no model"));
}

TEST(task_calls, a_provider_that_is_named_keeps_its_models) {
    harness w;
    testing::scripted_llm other;
    other.name = "other";
    w.models.add(other);
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (provider \"fake\") "
                     "(model \"other:7b\")) (t) "
                     "(defatom own (params) (instructions \"i\") (provider \"fake\") "
                     "(model \"fake:7b\")) (own) (+ 1 1)"),
              "2");
    EXPECT_TRUE(other.asked.empty());
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].model, "other:7b");
    EXPECT_EQ(w.llm.asked[1].model, "7b");
}

TEST(task_calls, a_model_chosen_further_in_replaces_the_provider) {
    harness w;
    testing::scripted_llm other;
    other.name = "other";
    w.models.add(other);
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (provider \"fake\") "
                     "(model \"7b\")) (t (model \"other:m1\")) "
                     "(with ((model \"other:m2\")) (t) (t (model \"mine\") (provider \"fake\"))) "
                     "(t (model \"tag:8b\")) (+ 1 1)"),
              "2");
    ASSERT_EQ(other.asked.size(), 2U);
    EXPECT_EQ(other.asked[0].model, "m1");
    EXPECT_EQ(other.asked[1].model, "m2");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].model, "mine");
    EXPECT_EQ(w.llm.asked[1].model, "tag:8b");
}

TEST(task_calls, a_reserved_key_that_is_a_parameter_is_the_parameter) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params files model) (instructions \"{{files}}-{{model}}\")) "
                     "(get-field (t (files 1) (model 2)) \"content\")"),
              "\"x\"");
    EXPECT_EQ(w.llm.asked[0].messages[0].text, "1-2");
    EXPECT_EQ(w.llm.asked[0].model, "test-model");
}

TEST(task_calls, defaults_fill_what_is_left_out) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params (n (default 3)) (l (default '(1 \"a\")))) "
                     "(instructions \"{{n}} {{l[1]}}\")) (t) (t (n nil)) nil"),
              "null");
    EXPECT_EQ(w.llm.asked[0].messages[0].text, "3 a");
    EXPECT_EQ(w.llm.asked[1].messages.back().text, "null a");
}

TEST(task_calls, what_goes_wrong_at_the_model_is_data) {
    harness w;
    w.llm.break_with(ports::llm_errc::rate_limit, "slow down");
    w.llm.break_with(ports::llm_errc::connection, "refused");
    w.llm.break_with(ports::llm_errc::protocol, "html");
    w.llm.say("fine");
    EXPECT_EQ(w.json(with_greet("(list (get-field (greet 1) \"status\")"
                                " (get-in (greet 1) '(\"notes\" \"error\" \"reason\"))"
                                " (get-in (greet 1) '(\"notes\" \"error\" \"reason\"))"
                                " (get-field (greet 1) \"status\"))")),
              R"(["FAILED","connection_error","protocol_error","COMPLETE"])");
    EXPECT_THAT(w.observer.reasons,
                ElementsAre("llm_error", "connection_error", "protocol_error", ""));
}

TEST(task_calls, a_failed_result_raises_where_it_is_used_or_asked_to) {
    harness w;
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_THAT(w.json(with_greet("(greet (who (greet 1)))")),
                StartsWith("TaskError: task 'greet' failed: broken"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
    EXPECT_THAT(w.json("(with ((on-failure 'raise)) (greet 1))"), StartsWith("TaskError"));
    EXPECT_EQ(w.json("(try (with ((on-failure 'raise)) (greet 1)) "
                     "(catch (e 'TaskError) (list (get-field e \"reason\") "
                     "(get-field (get-field e \"result\") \"status\"))))"),
              R"(["llm_error","FAILED"])");
}

TEST(task_calls, configuration_is_the_workflows_fault) {
    harness w;
    w.llm.break_with(ports::llm_errc::configuration, "no key");
    EXPECT_THAT(w.json(with_greet("(greet 1)")), StartsWith("TaskError: no key"));
    EXPECT_EQ(w.observer.finished, 1);
}

TEST(task_calls, a_failure_names_its_causes_and_counts_the_requests) {
    harness w;
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        return error(make_error_code(ports::llm_errc::overloaded), "c: overloaded: so it is")
            .with_attempts(7)
            .with_cause(
                error(make_error_code(ports::llm_errc::overloaded), "so it is")
                    .with_cause(error(make_error_code(ports::llm_errc::server), "b: boom")
                                    .with_cause(error(make_error_code(ports::llm_errc::connection),
                                                      "a: gone"))));
    });
    EXPECT_EQ(w.json(with_greet("(let ((n (get-field (greet 1) \"notes\"))) (list "
                                "(get-in n '(\"usage\" \"requests\")) "
                                "(get-in n '(\"error\" \"details\" \"causes\"))))")),
              R"([7,["b: boom","a: gone"]])");
    const auto raised = w.run(with_greet("(with ((on-failure \"raise\")) (greet 1))"));
    ASSERT_FALSE(raised);
    std::string causes;
    for (const error* each = raised.error().info().cause.get(); each;
         each = each->info().cause.get()) {
        causes += each->message() + "; ";
    }
    EXPECT_EQ(causes, "b: boom; a: gone; ");
}

TEST(task_calls, a_refusal_without_words_reads_well) {
    const auto message = [](ports::finish_reason finish, std::string refusal) {
        harness w;
        w.llm.replies.push_back([=](const ports::chat_request&) -> result<ports::chat_response> {
            ports::chat_response response;
            response.finish = finish;
            response.refusal = refusal;
            return response;
        });
        return w.json(with_greet("(get-in (greet 1) '(\"notes\" \"error\" \"message\"))"));
    };
    using ports::finish_reason;
    EXPECT_EQ(message(finish_reason::refusal, ""),
              "\"the model refused to answer without a reason\"");
    EXPECT_EQ(message(finish_reason::refusal, "I must not"),
              "\"the model refused to answer: I must not\"");
    EXPECT_EQ(message(finish_reason::refusal, "the model refused to answer (bio)"),
              "\"the model refused to answer (bio)\"");
    EXPECT_EQ(message(finish_reason::content_filter, ""),
              "\"a content filter of the service withheld the response\"");
    EXPECT_EQ(message(finish_reason::content_filter, "SAFETY"),
              "\"a content filter of the service withheld the response: SAFETY\"");
}

TEST(task_calls, json_is_parsed_and_asked_for_again) {
    harness w;
    w.llm.say("Sorry: [1, \"a\"]");
    w.llm.say("```json\n[1, 2]\n```");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (retries 1) "
                     "(output_format ((type \"json\") (schema \"number[]\")))) "
                     "(let ((r (t))) (list (get-field r \"parsedContent\") "
                     "(get-in r '(\"notes\" \"usage\" \"requests\"))))"),
              "[[1,2],2]");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    const auto& again = w.llm.asked[1].messages;
    ASSERT_EQ(again.size(), 4U);
    EXPECT_EQ(again[2].role, ports::chat_role::assistant);
    EXPECT_EQ(again[2].text, "Sorry: [1, \"a\"]");
    EXPECT_THAT(again[3].text, HasSubstr("at /1: expected a number, not a string"));
    EXPECT_THAT(again[0].text, HasSubstr("a JSON array of numbers"));
    EXPECT_EQ(w.observer.started, 1);
    EXPECT_EQ(w.observer.input_tokens, 20);
}

TEST(task_calls, a_response_of_the_wrong_form) {
    harness w;
    w.llm.say("no json");
    EXPECT_EQ(
        w.json("(defatom loose (params) (instructions \"i\") "
               "(output_format ((type \"json\")))) "
               "(let ((r (loose))) (list (get-field r \"status\") (get-field r \"content\") "
               "(string? (get-in r '(\"notes\" \"parseError\"))) (has-key? r \"parsedContent\")))"),
        R"(["COMPLETE","no json",true,false])");
    EXPECT_EQ(w.json("(defatom held (params) (instructions \"i\") "
                     "(output_format ((type \"json\") (schema \"object\")))) "
                     "(let ((r (held))) (list (get-field r \"status\") "
                     "(get-in r '(\"notes\" \"error\" \"reason\")) "
                     "(get-in r '(\"notes\" \"error\" \"details\" \"error_type\"))))"),
              R"(["FAILED","output_format_failure","JSONDecodeError"])");
}

TEST(task_calls, a_cut_response_is_completed_and_reported) {
    harness w;
    w.llm.say("{\"a\": [1, 2", ports::finish_reason::length);
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") "
                     "(output_format ((type \"json\")))) "
                     "(let ((r (t))) (list (get-field r \"parsedContent\") "
                     "(length (get-in r '(\"notes\" \"warnings\")))))"),
              R"([{"a":[1]},2])");
}

TEST(task_calls, refusals_fail) {
    harness w;
    w.llm.say("I will not", ports::finish_reason::content_filter);
    EXPECT_EQ(w.json(with_greet("(get-in (greet 1) '(\"notes\" \"error\" \"reason\"))")),
              "\"llm_error\"");
}

TEST(task_calls, the_tasks_own_time_fails_it_the_runs_time_raises) {
    harness w;
    w.llm.say("late");
    w.llm.delay = std::chrono::seconds(5);
    EXPECT_EQ(w.json(with_greet("(get-in (greet (who 1) (timeout 0.01)) "
                                "'(\"notes\" \"error\" \"reason\"))")),
              "\"execution_timeout\"");
    EXPECT_THAT(w.json("(with ((timeout 0.01)) (greet 1))"), StartsWith("TimeoutError"));
    EXPECT_THAT(w.observer.outcomes, ElementsAre(task_outcome::failed, task_outcome::cancelled));
}

TEST(task_calls, cancellation_goes_through) {
    harness w;
    w.llm.say("never");
    w.llm.delay = std::chrono::hours(1);
    coro::cancel_source cancel;
    w.runner.later([&] { cancel.request(cancel_reason::user); }, 8);
    host::run_options options;
    options.cancel = &cancel;
    const auto ended = w.run(with_greet("(map (lambda (i) (greet i)) (list 1 2 3))"), options);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    EXPECT_EQ(w.observer.started, w.observer.finished);
    EXPECT_EQ(w.observer.outcomes.front(), task_outcome::cancelled);
}

TEST(task_calls, branches_run_at_the_same_time) {
    harness w;
    w.llm.say("x");
    w.llm.delay = std::chrono::milliseconds(30);
    EXPECT_EQ(w.json(with_greet("(length (map greet (list 1 2 3 4 5 6 7 8)))")), "8");
    EXPECT_EQ(w.llm.max_at_once, 8);
}

TEST(task_definitions, local_names_register_for_the_run) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json("(let ((y 1)) (defatom inner (params a) (instructions \"<{{a}}>\")) "
                     "(inner \"1\")) (get-field (call-atomic-task 'inner (a 2)) \"content\")"),
              "\"x\"");
    EXPECT_EQ(w.json("(get-field (call-atomic-task \"atomic:standard\" (a 2)) \"content\")"),
              "\"x\"");
    EXPECT_EQ(w.json("(defatom inner (params) (instructions \"other\"))"), "\"inner\"");
    EXPECT_TRUE(w.log.said("task inner replaces an earlier one"));
    EXPECT_THAT(w.json("(call-atomic-task 'iner)"), StartsWith("UnboundSymbolError"));
}

TEST(task_definitions, what_a_host_cannot_do_is_reported) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (file_paths (\"a\"))) "
                     "(get-in (t (files (list \"b\"))) '(\"notes\" \"warnings\"))"),
              R"(["files has no effect: this host prepares no context",)"
              R"("file_paths has no effect: this host prepares no context"])");
    EXPECT_TRUE(w.log.said("task t: files has no effect"));
}

TEST(task_definitions, templates_of_the_host) {
    task_template open;
    open.name = "open";
    open.instructions = "{{x}}";
    harness w({open});
    w.llm.say("x");
    EXPECT_EQ(w.json("(get-field (open (x 1) (y 2)) \"content\")"), "\"x\"");
    EXPECT_THAT(w.json("(open (y 2))"), HasSubstr("there is no input 'x'"));
    EXPECT_THAT(w.json("(open 1)"), StartsWith("SexpEvaluationError"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(task_definitions, a_task_is_a_value) {
    harness w;
    w.llm.say("x");
    EXPECT_EQ(w.json(with_greet("(list (type-of greet) (procedure? greet))")), R"(["task",true])");
}

// ---------------------------------------------------------------- results as inputs

constexpr auto two_steps =
    "(defatom one (params x) (instructions \"one {{x}}\")) "
    "(defatom two (params input) (instructions \"two {{input}}\")) ";

TEST(results_as_inputs, stand_for_their_value) {
    testing::harness w;
    w.llm.say("first text");
    EXPECT_EQ(w.json(std::string(two_steps) + "(two (one 1)) 1"), "1");
    EXPECT_EQ(w.llm.asked[1].messages.back().text, "two first text");
    EXPECT_EQ(w.json("(call-atomic-task 'two (input (one 1))) 1"), "1");
    EXPECT_EQ(w.llm.asked[3].messages.back().text, "two first text");
    // Inside of lists and maps, too.
    EXPECT_EQ(w.json("(two (list (one 1) 5 (list (one 2)))) (two (dict 'a (one 1) 'b 2)) 1"), "1");
    EXPECT_EQ(w.llm.asked[6].messages.back().text, R"(two ["first text",5,["first text"]])");
    EXPECT_EQ(w.llm.asked[8].messages.back().text, R"(two {"a":"first text","b":2})");
    // What looks like one but has fields of its own is a row.
    EXPECT_EQ(w.json("(two (dict 'status \"COMPLETE\" 'content \"c\" 'id 7)) 1"), "1");
    EXPECT_EQ(w.llm.asked[9].messages.back().text,
              R"(two {"status":"COMPLETE","content":"c","id":7})");
}

TEST(results_as_inputs, of_json_are_the_json) {
    testing::harness w;
    w.llm.say(R"({"n": 1, "deep": [2]})");
    EXPECT_EQ(
        w.json("(defatom one (params) (instructions \"one\") (output_format ((type \"json\")))) "
               "(defatom two (params input) (instructions \"two {{input}}\")) "
               "(defatom parts (params r) (instructions \"{{r.deep[0]}} {{r.status}} "
               "{{r.notes.template_used}}\")) (two (one)) (parts (one)) 1"),
        "1");
    EXPECT_EQ(w.llm.asked[1].messages.back().text, R"(two {"n":1,"deep":[2]})");
    EXPECT_EQ(w.llm.asked[3].messages.back().text, "2 COMPLETE one");
}

TEST(results_as_inputs, are_the_same_from_run_to_run) {
    std::vector<std::string> prompts;
    for (const int wait : {0, 3}) {
        testing::harness w;
        w.llm.say("first");
        w.llm.delay = std::chrono::milliseconds(wait);
        w.json(std::string(two_steps) + "(two (list (one 1)))");
        prompts.push_back(w.llm.asked.back().messages.back().text);
    }
    EXPECT_EQ(prompts[0], prompts[1]);
}

TEST(results_as_inputs, raise_when_they_have_failed) {
    testing::harness w;
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_THAT(w.json(std::string(two_steps) + "(two (list 1 (one 1)))"),
                StartsWith("TaskError: task 'one' failed: broken"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

} // namespace
} // namespace heddle::tasks
