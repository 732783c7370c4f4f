// Requests, tools and programs that failed inside of a durable step whose task went on: the step
// goes on from there when it is performed again.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;

class kept_failures : public batch_fixture {
protected:
    /// Runs `main`, is killed when the service has got `requests`, and goes on.
    void run_and_kill(model_thread& model, const std::string& workflow, std::uint64_t requests,
                      const std::vector<std::string>& more = {}) {
        scratch.file("m.heddle", workflow);
        std::vector<std::string> command{
            "run",           path("m.heddle"), "--run",     path("kept"), "--model",
            "openai:gpt-4o", "--base-url",     model.url(), "-i",         "n:=1"};
        command.insert(command.end(), more.begin(), more.end());
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([&](const auto& seen) { return seen.requests == requests; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
        ended = run_heddle(command);
        replayed = run_heddle({"runs", "replay", path("kept")});
    }

    child_result ended;
    child_result replayed;
};

// The request was sent again, and its response began a function that was not recorded: the row
// waited for a turn that could not come.
TEST_F(kept_failures, of_requests_are_failures_again) {
    model_thread model(R"({"rules": [
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it"}, "error": {"status": 400, "message": "no", "times": 1},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "y"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    run_and_kill(model, R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom tell (params q) (instructions "{{q}}") (tools (tidy)))
        (define (main n)
          (let* ((first (tell "use it")))
            (list (get first 'status) (content (tell "last"))))))",
                 3);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"FAILED\" \"end\")\n");
    EXPECT_EQ(model.counters().requests, 4U) << "the last one only";
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

// The task ended early where the failed subtask was refused, and did not come to its function.
TEST_F(kept_failures, of_subtasks_reach_the_model_again) {
    model_thread model(R"({"rules": [
        {"match": {"user": "subtask"}, "error": {"status": 400, "message": "no"}},
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "use it"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    run_and_kill(model, R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom sub (params what) (instructions "subtask {{what}}"))
        (defatom tell (params q) (instructions "{{q}}") (tools (sub tidy)))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
                 5);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"done\" \"end\")\n");
    EXPECT_EQ(model.counters().requests, 6U);
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

TEST_F(kept_failures, of_subtasks_whose_time_was_over_reach_the_model_again) {
    model_thread model(R"({"rules": [
        {"match": {"user": "subtask"}, "text": "late", "delay_ms": 600000},
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "sub", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "use it"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    run_and_kill(model, R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom sub (params what) (timeout 0.3) (instructions "subtask {{what}}"))
        (defatom tell (params q) (instructions "{{q}}") (tools (sub tidy)))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
                 5);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"done\" \"end\")\n");
    EXPECT_EQ(model.counters().requests, 6U);
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

TEST_F(kept_failures, of_programs_whose_time_was_over_do_not_start_them_again) {
    model_thread model(R"({"rules": [
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "fix", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it", "tool": "^tidy$"}, "text": "done"},
        {"match": {"user": "use it"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    scratch.file("aid.sh", "echo once >>'" + path("log") + "'\nsleep 60\n");
    run_and_kill(
        model, R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom fix (params what) (subtype "aider_automatic") (timeout 1)
          (instructions "{{what}}"))
        (defatom tell (params q) (instructions "{{q}}") (tools (fix tidy)))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
        4, {"--allow-shell", "--workspace", scratch.path(), "--aider", "sh " + path("aid.sh")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"done\" \"end\")\n");
    EXPECT_EQ(scratch.text_of("log"), "once\n");
    EXPECT_EQ(model.counters().requests, 5U);
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
}

// The files were read again, and the request was another one.
TEST_F(kept_failures, no_other_context_takes_the_place_of_the_one_that_a_task_had) {
    model_thread model(R"({"rules": [
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it"}, "text": "done"},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    scratch.file("a.txt", "first");
    // The command is run by the first execution only.
    run_and_kill(model, R"(
        (deftool tidy (params (what string)) (description "tidies") "tidy")
        (defatom tell (params q) (instructions "{{q}}") (tools (tidy))
          (file_paths ((command "echo x >>ran.txt; echo other >>a.txt; echo a.txt"))))
        (define (main n) (list (content (tell "use it")) (content (tell "last")))))",
                 3, {"--allow-shell", "--workspace", scratch.path()});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"done\" \"end\")\n");
    EXPECT_EQ(model.counters().requests, 4U);
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
    EXPECT_EQ(scratch.text_of("ran.txt"), "x\nx\n") << "once for each task";
}

// A further attempt asks again for what failed.
TEST_F(kept_failures, are_forgotten_by_another_attempt) {
    model_thread model(R"({"rules": [
        {"match": ".*", "text": "x", "error": {"status": 400, "message": "no", "times": 1}}]})");
    scratch.file("m.heddle", R"(
        (defatom ask (params q) (instructions "{{q}}"))
        (define (main n) (content (ask n))))");
    scratch.file("rows.jsonl", "{\"n\": \"1\"}\n");
    const auto command =
        std::vector<std::string>{"batch",   path("m.heddle"),  "--rows",       path("rows.jsonl"),
                                 "--out",   path("out.jsonl"), "--retry-rows", "1",
                                 "--model", "openai:gpt-4o",   "--base-url",   model.url()};
    const auto ended_well = run_heddle(command);
    EXPECT_EQ(ended_well.code, 0) << ended_well.err;
    EXPECT_THAT(scratch.text_of("out.jsonl"), HasSubstr("\"value\":\"x\""));
    EXPECT_EQ(model.counters().requests, 2U);
}

} // namespace
} // namespace heddle::cli_test
