// Parts of one durable step that run side by side, or that the time of a task around them ends: the
// step is performed again, and each part comes to what it came to before.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <algorithm>
#include <csignal>

namespace heddle::cli_test {
namespace {

class kept_parts : public batch_fixture {
protected:
    /// Runs `main` without a stop, and once more until the service has got `requests` and the
    /// program is killed; then that run goes on. Both are replayed.
    void run_both(const std::string& rules, const std::string& workflow, std::uint64_t requests) {
        scratch.file("m.heddle", workflow);
        model_thread undisturbed(rules);
        whole = run_heddle(command(undisturbed, "whole"));
        ASSERT_EQ(whole.code, 0) << whole.err;
        all_requests = undisturbed.counters().requests;
        whole_replayed = run_heddle({"runs", "replay", path("whole")});
        model_thread model(rules);
        child_process child(heddle_command(command(model, "kept")), at_home());
        ASSERT_TRUE(model.wait_until([&](const auto& seen) { return seen.requests == requests; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
        ended = run_heddle(command(model, "kept"));
        replayed = run_heddle({"runs", "replay", path("kept")});
        sent = model.counters().requests;
    }
    std::vector<std::string> command(model_thread& model, const std::string& folder) {
        std::vector<std::string> words{
            "run",      path("m.heddle"), "--run",     path(folder), "--model",
            model_name, "--base-url",     model.url(), "-i",         "n:=1"};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    }
    /// `value`: of both, unless it depends on chance. The last request is sent again.
    void expect_to_fit(const std::string& value = {}) const {
        for (const child_result* each : {&whole, &whole_replayed, &ended, &replayed})
            EXPECT_EQ(each->code, 0) << each->out << each->err;
        if (!value.empty()) {
            EXPECT_EQ(whole.out, value + "\n");
            EXPECT_EQ(ended.out, value + "\n");
        }
        EXPECT_EQ(in_replay(whole.out), value_in(whole_replayed.out));
        EXPECT_EQ(in_replay(ended.out), value_in(replayed.out));
        EXPECT_EQ(sent, all_requests + 1) << "the last one only";
    }

    /// The value that a replay prints, and the printed one as that.
    static std::string value_in(const std::string& replay) {
        const std::size_t at = replay.find("value: ");
        return at == std::string::npos ? replay
                                       : replay.substr(at + 7, replay.find('\n', at) - at - 7);
    }
    static std::string in_replay(std::string printed) {
        std::replace(printed.begin(), printed.end(), ' ', ',');
        return printed.size() < 3 ? printed : "[" + printed.substr(1, printed.size() - 3) + "]";
    }

    std::vector<std::string> options; ///< of the runs, besides
    std::string model_name = "openai:gpt-4o";
    child_result whole;
    child_result whole_replayed;
    child_result ended;
    child_result replayed;
    std::uint64_t all_requests = 0;
    std::uint64_t sent = 0;
};

// The functions had numbers by the order in which they began: with the responses at hand that was
// another order, and each had the random number of the other.
constexpr const char* two_subtasks = R"json({"rules": [
    {"match": {"user": "^subtask a", "tool": "^$"}, "delay_ms": 200,
     "tool_calls": [{"name": "tidy", "arguments": {"what": "a"}}]},
    {"match": {"user": "^subtask b", "tool": "^$"},
     "tool_calls": [{"name": "tidy", "arguments": {"what": "b"}}]},
    {"match": {"user": "^subtask (\\w)"}, "template": "did {{1}}"},
    {"match": {"user": "^use", "tool": "^$"},
     "tool_calls": [{"name": "sub", "arguments": {"what": "a"}},
                    {"name": "sub", "arguments": {"what": "b"}}]},
    {"match": {"user": "^use|^hello"}, "text": "done"},
    {"match": "last", "text": "end", "delay_ms": 1000}]})json";
constexpr const char* tidying = R"(
    (define drawn (dict))
    (deftool tidy (params (what string)) (description "tidies")
      (progn (set! drawn (put drawn what (random 1000000))) (sleep 0.01) "tidy"))
    (defatom sub (params what) (instructions "subtask {{what}}") (tools (tidy)))
)";

TEST_F(kept_parts, of_one_turn_have_functions_of_their_own) {
    run_both(two_subtasks, std::string(tidying) + R"(
        (defatom tell (params q) (instructions "{{q}}") (tools (sub)))
        (define (main n)
          (let* ((said (content (tell "use them"))) (end (content (tell "last"))))
            (list said end (get drawn "a") (get drawn "b")))))",
             7);
    expect_to_fit();
    EXPECT_EQ(all_requests, 7U);
}

TEST_F(kept_parts, of_one_prompt_have_functions_of_their_own) {
    run_both(two_subtasks, std::string(tidying) + R"(
        (defatom tell (params q) (instructions "{{q}} {{sub(\"a\")}} {{sub(\"b\")}}"))
        (defatom last (params) (instructions "last"))
        (define (main n)
          (let* ((said (content (tell "hello"))) (end (content (last))))
            (list said end (get drawn "a") (get drawn "b")))))",
             6);
    expect_to_fit();
    EXPECT_EQ(all_requests, 6U);
}

// The inner task ended the step where its request had no record: the function after it was not
// reached.
TEST_F(kept_parts, that_the_time_of_an_outer_task_ended_end_with_it) {
    run_both(R"({"rules": [
        {"match": {"user": "^inner"}, "text": "late", "delay_ms": 600000},
        {"match": {"user": "^outer"},
         "tool_calls": [{"name": "inner", "arguments": {"what": "x"}}]},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "outer", "arguments": {"what": "x"}}]},
        {"match": {"user": "^use", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "^use"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})",
             R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom inner (params what) (timeout 60) (instructions "inner {{what}}"))
        (defatom outer (params what) (timeout 0.3) (instructions "outer {{what}}")
          (tools (inner)))
        (defatom tell (params q) (instructions "{{q}}") (tools (outer tidy)))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
             6);
    expect_to_fit("(\"done\" \"end\")");
}

// The function waited for ever: nothing said that it had been cut.
TEST_F(kept_parts, that_wait_in_a_function_are_cut_by_the_time_of_their_task) {
    run_both(R"({"rules": [
        {"match": {"user": "^outer"},
         "tool_calls": [{"name": "wait", "arguments": {"what": "x"}}]},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "outer", "arguments": {"what": "x"}}]},
        {"match": {"user": "^use", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "^use"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})",
             R"(
        (define slow nil)
        (deftool wait (params (what string)) (description "waits") (progn (await slow) "waited"))
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom outer (params what) (timeout 0.3) (instructions "outer {{what}}") (tools (wait)))
        (defatom tell (params q) (instructions "{{q}}") (tools (outer tidy)))
        (define (main n) (set! slow (spawn (sleep 600))) (list (content (tell "use it")) (content (tell "last")))))",
             5);
    expect_to_fit("(\"done\" \"end\")");
}

// What the failed request had used was not counted again, so the next one was another.
TEST_F(kept_parts, that_failed_count_in_the_limits_of_their_task_again) {
    run_both(R"({"rules": [
        {"match": {"user": "^subtask"}, "text": "x", "error": {"status": 500, "message": "no", "retry_after": 0.001}},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"what": "x"}}]},
        {"match": {"user": "^use", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "^use"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})",
             R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom sub (params what) (instructions "subtask {{what}}"))
        (defatom tell (params q) (instructions "{{q}}") (tools (sub tidy))
          (resource_limits ((max_tokens_total 9000))))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
             9);
    expect_to_fit("(\"done\" \"end\")");
}

// The failure was there at once, and ended the other call before its functions.
TEST_F(kept_parts, of_one_prompt_fail_in_their_turn) {
    run_both(R"json({"rules": [
        {"match": "bad", "delay_ms": 400, "error": {"status": 400, "message": "no"}},
        {"match": {"user": "^sub", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "1"}}]},
        {"match": {"user": "^sub", "tool": "^1-"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "2"}}]},
        {"match": "^sub", "delay_ms": 60000, "text": "never"},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             R"(
        (deftool tidy (params (what string)) (description "tidies")
          (format "{}-{}" what (random 1000)))
        (defatom bad (params) (instructions "bad"))
        (defatom sub (params what) (instructions "sub {{what}}") (tools (tidy)))
        (defatom tell (params) (instructions "use {{bad()}} {{sub(\"p\")}}"))
        (defatom last (params) (instructions "last"))
        (define (main n)
          (let* ((said (try (content (tell)) (catch (e) "failed"))) (end (content (last))))
            (list said end))))",
             5);
    expect_to_fit("(\"failed\" \"end\")");
}

// With the responses at hand there was room at once, and time.
TEST_F(kept_parts, that_waited_for_room_until_their_time_was_over_end_there) {
    run_both(R"json({"rules": [
        {"match": "^slow", "delay_ms": 700, "text": "slow"},
        {"match": "^brief", "text": "brief"},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "slow", "arguments": {"what": "1"}},
                        {"name": "brief", "arguments": {"what": "1"}}]},
        {"match": {"user": "^use", "tool": "limit|slow|brief"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "1"}}]},
        {"match": "^use", "text": "done"},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             R"(
        (deftool tidy (params (what string)) (description "tidies") what)
        (defatom slow (params what) (instructions "slow {{what}}"))
        (defatom brief (params what) (instructions "brief {{what}}") (timeout 0.3))
        (defatom tell (params) (instructions "use") (tools (slow brief tidy))
          (resource_limits ((max_tokens_total 3000))))
        (defatom last (params) (instructions "last"))
        (define (main n) (let* ((said (content (tell))) (end (content (last)))) (list said end))))",
             5);
    expect_to_fit("(\"done\" \"end\")");
}

// What was left of the limit depended on which part had counted first: kept responses were not
// found, and the row waited for ever.
TEST_F(kept_parts, that_share_a_limit_count_in_their_turn) {
    run_both(R"json({"rules": [
        {"match": {"user": "^sub a", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "a"}}]},
        {"match": {"user": "^sub b", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "b"}}]},
        {"match": "^sub", "delay_ms": 100, "text": "sub"},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"what": "a"}},
                        {"name": "sub", "arguments": {"what": "b"}}]},
        {"match": {"user": "^use", "tool": "sub"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "c"}}]},
        {"match": "^use", "text": "done"},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             R"(
        (deftool tidy (params (what string)) (description "tidies")
          (progn (sleep (if (= what "a") 0.3 0.05)) what))
        (defatom sub (params what) (instructions "sub {{what}}") (tools (tidy)))
        (defatom tell (params) (instructions "use") (tools (sub tidy))
          (resource_limits ((max_tokens_total 3000))))
        (defatom last (params) (instructions "last"))
        (define (main n) (let* ((said (content (tell))) (end (content (last)))) (list said end))))",
             8);
    expect_to_fit("(\"done\" \"end\")");
}

// The time of `timed` ended where nothing of that was recorded; then a function runs.
constexpr const char* naps = R"(
    (define (main n)
      (let* ((said (content (top "top"))) (end (content (last)))) (list said end napped)))
    (define napped 0)
    (deftool nap (params (what string)) (description "waits")
      (progn (set! napped (+ napped 1)) (sleep 0.2) "woke"))
    (defatom last (params) (instructions "last"))
)";

TEST_F(kept_parts, that_wait_for_their_place_end_with_the_time_of_their_task) {
    options = {"--concurrency", "2"};
    run_both(R"json({"rules": [
        {"match": {"user": "^timed"},
         "tool_calls": [{"name": "nap", "arguments": {"what": "a"}},
                        {"name": "nap", "arguments": {"what": "b"}},
                        {"name": "nap", "arguments": {"what": "c"}},
                        {"name": "nap", "arguments": {"what": "d"}},
                        {"name": "nap", "arguments": {"what": "e"}}]},
        {"match": {"tool": "woke"}, "text": "done"},
        {"match": {"user": "^top", "tool": "^$"},
         "tool_calls": [{"name": "timed", "arguments": {"q": "x"}}]},
        {"match": {"user": "^top"}, "tool_calls": [{"name": "nap", "arguments": {"what": "f"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             std::string(naps) + R"(
        (defatom timed (params q) (instructions "timed {{q}}") (tools (nap)) (timeout 0.3))
        (defatom asked (params q) (instructions "{{q}}") (tools (timed nap)))
        ;; What arrives in the other branch delays the end of functions whose time is over.
        (define (top q)
          (first (parallel (asked q) (loop 200 (sleep 0.001))))))",
             5);
    expect_to_fit();
    EXPECT_EQ(all_requests, 5U);
}

TEST_F(kept_parts, that_begin_after_the_time_of_their_task_end_there) {
    run_both(R"json({"rules": [
        {"match": {"user": "^timed", "tool": "^$"}, "delay_ms": 250,
         "tool_calls": [{"name": "sub", "arguments": {"q": "x"}}]},
        {"match": {"tool": "woke"}, "text": "done"},
        {"match": {"user": "^top", "tool": "^$"},
         "tool_calls": [{"name": "timed", "arguments": {"q": "x"}},
                        {"name": "timed", "arguments": {"q": "y"}}]},
        {"match": {"user": "^top"}, "tool_calls": [{"name": "nap", "arguments": {"what": "d"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             std::string(naps) + R"(
        (defatom sub (params q) (instructions "sub {{q}}"))
        (defatom timed (params q) (instructions "timed {{q}}") (tools (sub)) (timeout 0.4))
        (defatom asked (params q) (instructions "{{q}}") (tools (timed nap)))
        ;; The response comes in time, and takes effect when no branch computes any more.
        (define (top q)
          (first (parallel (asked q)
                   (progn (sleep 0.2)
                          (timeout 0.4 (let loop ((i 0)) (loop (+ i 1))) 'computed))))))",
             6);
    expect_to_fit("(\"done\" \"end\" 1)");
    EXPECT_EQ(all_requests, 6U);
}

// A repetition does not know what was left of the budget, and must not ask.
TEST_F(kept_parts, that_a_budget_refused_end_there_again) {
    run_both(R"json({"rules": [
        {"match": {"user": "^sub", "tool": "^$"},
         "tool_calls": [{"name": "nap", "arguments": {"what": "a"}}]},
        {"match": {"user": "^top", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"q": "x"}},
                        {"name": "nap", "arguments": {"what": "b"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})json",
             R"(
        (defatom sub (params q) (instructions "sub {{q}}") (tools (nap)))
        (defatom asked (params q) (instructions "{{q}}") (tools (sub nap)))
        (define (main n)
          (let* ((said (with ((concurrency 1) (max-calls 2)) (asked "top")))
                 (end (content (last))))
            (list (get said 'status) end napped)))
        (define napped 0)
        (deftool nap (params (what string)) (description "waits")
          (progn (set! napped (+ napped 1)) (sleep 0.05) "woke"))
        (defatom last (params) (instructions "last")))",
             3);
    expect_to_fit("(\"FAILED\" \"end\" 2)");
    EXPECT_EQ(all_requests, 3U);
}

// The failure of `four` was passed on to the model, and a function has run after it.
TEST_F(kept_parts, that_failed_before_a_function_are_not_asked_again_in_a_retry) {
    scratch.file("m.heddle", std::string(naps) + R"(
        (defatom four (params q) (instructions "four {{q}}"))
        (defatom six (params q) (instructions "six {{q}}"))
        (defatom five (params q) (instructions "five {{four(q)}} {{six(q)}}"))
        (defatom asked (params q) (instructions "{{q}}") (tools (five nap)))
        (define (top q) (asked q)))");
    model_thread model(R"json({"rules": [
        {"match": {"user": "^four"}, "text": "4",
         "error": {"status": 400, "message": "no", "times": 1}},
        {"match": {"user": "^six"}, "text": "6"},
        {"match": {"user": "^five"}, "text": "5"},
        {"match": {"user": "^top", "tool": "^$"},
         "tool_calls": [{"name": "five", "arguments": {"q": "x"}}]},
        {"match": {"tool": "woke"}, "text": "done",
         "error": {"status": 400, "message": "no", "times": 1}},
        {"match": {"user": "^top"}, "tool_calls": [{"name": "nap", "arguments": {"what": "d"}}]},
        {"match": "last", "text": "end"}]})json");
    const child_result failed = run_heddle(command(model, "kept"));
    EXPECT_EQ(failed.code, 1) << failed.out;
    const std::uint64_t before = model.counters().requests;
    std::vector<std::string> again = command(model, "kept");
    again.emplace_back("--retry-failed");
    const child_result retried = run_heddle(again);
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(retried.out, "(\"done\" \"end\" 1)\n");
    EXPECT_EQ(model.counters().requests, before + 2) << "the turn that failed, and the last task";
    EXPECT_EQ(run_heddle({"runs", "replay", path("kept")}).code, 0);
}

// The row waited until the request that was repeated had its response, and the time of `timed`
// passed, although its responses were there.
TEST_F(kept_parts, with_their_responses_do_not_wait_for_what_is_asked_again) {
    scratch.file("m.heddle", R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom sub (params what) (instructions "sub {{what}}") (tools (tidy)))
        (defatom timed (params q) (timeout 2) (instructions "{{q}}") (tools (sub)))
        (defatom bad (params) (instructions "bad"))
        (define (main n)
          (let* ((f (spawn (content (bad)))) (t (timed "use them")))
            (list (get t 'status) (await f)))))");
    model_thread model(R"json({"rules": [
        {"match": "^bad", "text": "good", "delay_ms": 3000,
         "error": {"status": 400, "message": "no", "times": 1}},
        {"match": {"user": "^sub", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": {"user": "^sub"}, "text": "did"},
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"what": "a"}},
                        {"name": "sub", "arguments": {"what": "b"}}]},
        {"match": {"user": "^use"}, "text": "done"}]})json");
    EXPECT_EQ(run_heddle(command(model, "kept")).code, 1);
    std::vector<std::string> again = command(model, "kept");
    again.emplace_back("--retry-failed");
    const child_result retried = run_heddle(again);
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(retried.out, "(\"COMPLETE\" \"good\")\n");
}

// That there was nothing in the cache was kept as the failure of the request.
TEST_F(kept_parts, that_a_cache_has_no_response_for_are_asked) {
    scratch.file("m.heddle", R"(
        (define noted 0)
        (deftool note (params (what string)) (description "notes")
          (progn (set! noted (+ noted 1)) "noted"))
        (defatom ask (params q) (instructions "{{q}}") (tools (note)))
        (define (main n)
          (let ((r (with ((budget-usd 0.07))
                     (map (lambda (i) (content (ask (string-append "q" (number->string i)))))
                          (range 4)))))
            (list r noted))))");
    model_thread model(R"json({"rules": [
        {"match": {"user": "^q", "tool": "^$"}, "delay_ms": 300,
         "tool_calls": [{"name": "note", "arguments": {"what": "a"}}],
         "usage": {"input": 1000, "output": 500}},
        {"match": {"user": "^q"}, "text": "fine", "delay_ms": 100,
         "usage": {"input": 1000, "output": 500}}]})json");
    options = {"--cache"};
    const child_result ended = run_heddle(command(model, "kept"));
    EXPECT_EQ(ended.out, "((\"fine\" \"fine\" \"fine\" \"fine\") 4)\n") << ended.err;
    const child_result looked_at = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(looked_at.code, 0) << looked_at.out << looked_at.err;
}

// A retry was given the same response for ever, where a budget had refused something before.
TEST_F(kept_parts, that_a_budget_refused_do_not_keep_a_bad_response) {
    std::string dear;
    for (int n = 0; n < 1600; ++n) dear += " word";
    scratch.file("m.heddle", R"(
        (defatom sub (params what) (instructions "inner {{what}})" +
                                 dear + R"(") (model "gpt-4o"))
        (defatom ask (params q) (instructions "{{q}}") (tools (sub))
          (output_format ((type "json") (schema "object"))))
        (define (main n) (with ((on-failure 'raise))
          (content (with ((budget-usd 0.002)) (ask "top"))))))");
    model_thread model(R"json({"rules": [
        {"match": {"user": "^top", "tool": "^$"}, "usage": {"input": 100, "output": 50},
         "tool_calls": [{"name": "sub", "arguments": {"what": "a"}}]},
        {"match": {"user": "^top"}, "text": "not json", "usage": {"input": 100, "output": 50}},
        {"match": {"user": "^inner"}, "text": "did", "usage": {"input": 100, "output": 50}}]})json");
    model_name = "openai:gpt-4o-mini";
    const child_result failed = run_heddle(command(model, "kept"));
    EXPECT_EQ(failed.code, 1);
    std::uint64_t sent = model.counters().requests;
    EXPECT_EQ(sent, 2U) << failed.err;
    options.emplace_back("--retry-failed");
    for (int again = 0; again < 2; ++again) {
        EXPECT_EQ(run_heddle(command(model, "kept")).code, 1);
        EXPECT_GT(model.counters().requests, sent);
        sent = model.counters().requests;
    }
}

} // namespace
} // namespace heddle::cli_test
