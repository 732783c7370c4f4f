// `heddle run --run DIR`: a single workflow that goes on where it was stopped.
#include "kept_run_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <csignal>
#include <filesystem>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* mapping_workflow =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
    "(define (main n)\n"
    "  (print \"begins\")\n"
    "  (let ((all (map (lambda (i) (get (ask (string-append \"q\" (number->string i)))\n"
    "                                   'content)) (range n))))\n"
    "    (print \"ends\")\n"
    "    (string-join all \",\")))\n";

class kept_runs : public kept_run_fixture {
protected:
    [[nodiscard]] static std::string answers(int count) {
        std::string text = "x";
        for (int i = 1; i < count; ++i) text += ",x";
        return "begins\nends\n" + text + "\n";
    }
    std::string mapping = scratch.file("m.heddle", mapping_workflow);
};

TEST_F(kept_runs, that_are_killed_repeat_no_finished_call) {
    constexpr int count = 40;
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": [1, 20]}]})");
    const auto command = running(model.url(), {"-i", "n:=" + std::to_string(count), "-c", "1"});
    int kills = 0;
    for (; kills < 6; ++kills) {
        child_process child(heddle_command(command), at_home());
        const auto before = model.counters().requests;
        ASSERT_TRUE(
            model.wait_until([&](const auto& seen) { return seen.requests >= before + 5; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, answers(count)) << "what was printed before the kills is there again";
    EXPECT_THAT(ended.err, HasSubstr("continues the run in "));
    // Each kill loses the one call in flight at most.
    EXPECT_LE(model.counters().requests, static_cast<unsigned>(count + kills));
    EXPECT_GE(model.counters().requests, static_cast<unsigned>(count));
}

TEST_F(kept_runs, that_are_done_print_their_result_again) {
    std::string first_out;
    std::vector<std::string> command;
    {
        model_thread model(always_answering("x"));
        command = running(model.url(), {"-i", "n:=5"});
        const auto first = run_heddle(command);
        ASSERT_EQ(first.code, 0) << first.err;
        EXPECT_EQ(first.out, answers(5));
        EXPECT_EQ(model.counters().requests, 5U);
        const auto again = run_heddle(command);
        EXPECT_EQ(again.code, 0) << again.err;
        EXPECT_EQ(again.out, first.out);
        EXPECT_THAT(again.err, AllOf(HasSubstr("is done (7 steps recorded"),
                                     HasSubstr("no service is called")));
        EXPECT_EQ(model.counters().requests, 5U);
    }
    // Nor is a server needed.
    command.emplace_back("--json");
    const auto json = run_heddle(command);
    EXPECT_EQ(json.code, 0) << json.err;
    EXPECT_EQ(json.out, "begins\nends\n\"x,x,x,x,x\"\n");
    EXPECT_EQ(json.err, "");
    const auto shown = run_heddle({"runs", "show", path("kept")});
    EXPECT_THAT(shown.out,
                AllOf(HasSubstr("1 done"), HasSubstr("m.heddle, done"), HasSubstr("5 req")));
}

TEST_F(kept_runs, begin_anew_after_an_edit_with_the_responses_that_they_have) {
    model_thread model(always_answering("x"));
    ASSERT_EQ(run_heddle(running(model.url(), {"-i", "n:=3"})).code, 0);
    const auto more = run_heddle(running(model.url(), {"-i", "n:=5"}));
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(more.out, answers(5));
    EXPECT_THAT(more.err,
                HasSubstr("these have changed: the inputs: it runs again; unchanged requests"));
    EXPECT_EQ(model.counters().requests, 5U) << "q3 and q4 are new";
    std::string edited = mapping_workflow;
    edited.replace(edited.find("\"q\" (number"), 3, "(if (= i 1) \"p\" \"q\")");
    scratch.file("m.heddle", edited);
    const auto changed = run_heddle(running(model.url(), {"-i", "n:=5"}));
    EXPECT_EQ(changed.code, 0) << changed.err;
    EXPECT_THAT(changed.err, HasSubstr("have changed: the workflow "));
    EXPECT_EQ(model.counters().requests, 6U) << "p1 is new";
    scratch.file("m.heddle", mapping_workflow);
    EXPECT_EQ(run_heddle(running(model.url(), {"-i", "n:=5"})).out, answers(5));
    EXPECT_EQ(run_heddle(running(model.url(), {"-i", "n:=5", "-c", "3"})).out, answers(5));
    EXPECT_EQ(model.counters().requests, 6U) << "what was answered before the edits is there";
}

TEST_F(kept_runs, killed_after_an_edit_repeat_no_finished_call) {
    model_thread model(
        R"({"rules": [{"match": "^q[0-3]$", "text": "x"},
                      {"match": ".*", "text": "x", "delay_ms": 600000}]})");
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define top (get (ask \"q0\") 'content))\n"
                 "(define (main n) (list top (get (ask \"q0\") 'content)\n"
                 "  (map (lambda (i) (get (ask (string-append \"q\" (number->string i)))\n"
                 "                        'content)) (range n))))\n");
    ASSERT_EQ(run_heddle(running(model.url(), {"-i", "n:=3"})).code, 0);
    ASSERT_EQ(model.counters().requests, 5U) << "q0 three times";
    {
        child_process child(heddle_command(running(model.url(), {"-i", "n:=6", "-c", "1"})),
                            at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 7; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    // Which of the equal responses was used by the top level, and which by main, is not forgotten.
    const auto timed = run_heddle(running(model.url(), {"-i", "n:=6", "-c", "1", "-t", "1"}));
    EXPECT_EQ(timed.code, 1) << timed.out;
    EXPECT_EQ(model.counters().requests, 8U) << "q4 again, which was under way";
}

TEST_F(kept_runs, see_that_an_import_has_changed) {
    scratch.file("lib.heddle", "(define (twice n) (* 2 n))\n");
    scratch.file("m.heddle", "(import \"lib.heddle\")\n(define (main) (twice 4))\n");
    const std::vector<std::string> command{"run", path("m.heddle"), "--run", path("kept")};
    const auto first = run_heddle(command);
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_EQ(run_heddle(command).out, "8\n");
    scratch.file("lib.heddle", "(define (twice n) (+ n n 1))\n");
    const auto changed = run_heddle(command);
    EXPECT_EQ(changed.out, "9\n") << changed.err;
    EXPECT_THAT(changed.err, HasSubstr("lib.heddle"));
    // What is imported no longer may change.
    scratch.file("m.heddle", "(define (main) 5)\n");
    EXPECT_EQ(run_heddle(command).out, "5\n");
    scratch.file("lib.heddle", "(define (twice n) 0)\n");
    EXPECT_THAT(run_heddle(command).err, HasSubstr("is done"));
}

TEST_F(kept_runs, and_batches_do_not_mix) {
    rows_file(2);
    ASSERT_EQ(batch().code, 0);
    scratch.file("m.heddle", "(define (main) 1)");
    const auto single = run_heddle({"run", path("m.heddle"), "--run", path("out.jsonl.run")});
    EXPECT_EQ(single.code, 2);
    EXPECT_THAT(single.err, HasSubstr("is a batch"));
    ASSERT_EQ(run_heddle({"run", path("m.heddle"), "--run", path("kept")}).code, 0);
    const auto rows = run_heddle(command({"--run", path("kept"), "--force"}));
    EXPECT_EQ(rows.code, 2);
    EXPECT_THAT(rows.err, HasSubstr("is one of 'heddle run'"));
    const auto other = run_heddle({"run", path("m.heddle"), "--run", scratch.path()});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("is not the folder of a run"));
}

TEST_F(kept_runs, belong_to_one_process_and_go_on_after_ctrl_c) {
    model_thread model(R"({"rules": [{"match": "q0", "text": "x"},
                                     {"match": ".*", "text": "x", "delay_ms": 600000}]})");
    const auto command = running(model.url(), {"-i", "n:=3", "-c", "1"});
    child_process child(heddle_command(command), at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 2; }));
    const auto second = run_heddle(command);
    EXPECT_EQ(second.code, 2) << second.err;
    EXPECT_THAT(second.err, HasSubstr("is open in another process"));
    EXPECT_THAT(run_heddle({"runs", "show", path("kept")}).out, HasSubstr(", going"));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("the same command continues the run in "),
                                 Not(HasSubstr("--cache"))));
    const auto timed = run_heddle(running(model.url(), {"-i", "n:=3", "-c", "1", "-t", "0.5"}));
    EXPECT_EQ(timed.code, 1);
    EXPECT_THAT(timed.err, HasSubstr("the same command continues"));
    EXPECT_EQ(model.counters().requests, 3U) << "q0 once, q1 twice";
}

TEST_F(kept_runs, that_failed_ask_again_for_what_failed_only_with_retry_failed) {
    model_thread model(R"({"rules": [
        {"match": "q2", "text": "x", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": ".*", "text": "x"}]})");
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n)\n"
                 "  (let ((first (ask \"q1\")) (second (ask \"q2\")) (third (ask \"q3\")))\n"
                 "    (string-append (get first 'content) (get second 'content)\n"
                 "                   (get (ask \"q4\") 'content)\n"
                 "                   (get (if (equal? (get second 'status) \"FAILED\")\n"
                 "                          (error \"it failed\") third) 'content))))\n");
    const auto command = running(model.url(), {"-i", "n:=1"});
    const auto first = run_heddle(command);
    EXPECT_EQ(first.code, 1) << first.out;
    const auto requests = model.counters().requests;
    const auto again = run_heddle(command);
    EXPECT_EQ(again.code, 1) << again.out;
    EXPECT_THAT(again.err, HasSubstr("has failed (4 steps recorded"));
    EXPECT_THAT(again.err, HasSubstr("--retry-failed continues it"));
    EXPECT_EQ(model.counters().requests, requests);
    auto retrying = command;
    retrying.emplace_back("--retry-failed");
    const auto retried = run_heddle(retrying);
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(retried.out, "xxxx\n");
    EXPECT_EQ(model.counters().requests, requests + 1) << "only q2 was asked again";
    EXPECT_EQ(run_heddle(command).out, "xxxx\n");
}

TEST_F(kept_runs, take_what_comes_by_standard_input) {
    const std::vector<std::string> command{"run", "-", "--run", path("kept")};
    ASSERT_EQ(run_heddle(command, with_input("(print 1) 2")).out, "1\n2\n");
    EXPECT_EQ(run_heddle(command, with_input("(print 1) 2")).out, "1\n2\n");
    const auto replayed = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("value: 2"));
}

// The mended program asked again for the last response that it had paid for.
TEST_F(kept_runs, that_failed_have_all_their_responses_after_an_edit) {
    model_thread model(always_answering("x"));
    const auto program = [&](const std::string& rest) {
        scratch.file("m.heddle",
                     "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                     "(define (main n) (let ((a (get (ask \"q1\") 'content))) " +
                         rest + "))\n");
    };
    const auto command = running(model.url(), {"-i", "n:=1"});
    program("(first 5)");
    ASSERT_EQ(run_heddle(command).code, 1);
    program("a");
    const auto mended = run_heddle(command);
    EXPECT_EQ(mended.code, 0) << mended.err;
    EXPECT_EQ(mended.out, "x\n");
    EXPECT_EQ(model.counters().requests, 1U);
}

// It had the last response that was paid for again, and used what had failed.
TEST_F(kept_runs, that_failed_ask_again_for_what_failed_also_after_an_edit) {
    model_thread model(R"({"rules": [
        {"match": "q2", "text": "x", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": ".*", "text": "x"}]})");
    const std::string program =
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main n)\n"
        "  (let ((first (ask \"q1\")) (second (ask \"q2\")) (third (ask \"q3\")))\n"
        "    (if (equal? (get second 'status) \"FAILED\") (error \"it failed\") \"whole\")))\n";
    scratch.file("m.heddle", program);
    auto command = running(model.url(), {"-i", "n:=1"});
    ASSERT_EQ(run_heddle(command).code, 1);
    const auto requests = model.counters().requests;
    scratch.file("m.heddle", program + "(define unused 1)\n");
    command.emplace_back("--retry-failed");
    const auto retried = run_heddle(command);
    EXPECT_EQ(retried.code, 0) << retried.err;
    EXPECT_EQ(retried.out, "whole\n");
    EXPECT_EQ(model.counters().requests, requests + 1) << "only q2 was asked again";
}

TEST_F(kept_runs, that_are_tried_again_use_no_answer_that_followed_from_the_failure) {
    model_thread model(R"({"rules": [
        {"match": "q1", "text": "good", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": ".*", "text": "x"}]})");
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n)\n"
                 "  (let ((first (ask \"q1\")))\n"
                 "    (write-file \"kept.txt\" (string-append \"of \" (get first 'status)))\n"
                 "    (if (equal? (get first 'status) \"FAILED\") (error \"it failed\") nil)\n"
                 "    (get first 'content)))\n");
    const auto command =
        running(model.url(), {"-i", "n:=1", "--retry-failed", "--workspace", scratch.path()});
    EXPECT_EQ(run_heddle(command).code, 1);
    EXPECT_EQ(scratch.text_of("kept.txt"), "of FAILED");
    const auto retried = run_heddle(command);
    EXPECT_EQ(retried.out, "good\n") << retried.err;
    EXPECT_EQ(scratch.text_of("kept.txt"), "of COMPLETE");
}

TEST_F(kept_runs, perform_once_what_a_model_has_called) {
    model_thread model(R"({"rules": [
        {"match": {"user": "do it", "tool": "^$"}, "tool_calls": [
            {"name": "system_run_script", "arguments": {"command": "echo x >> ran.txt"}}]},
        {"match": {"user": "do it"}, "text": "done", "delay_ms": 1000},
        {"match": ".*", "text": "x"}]})");
    // A conversation, whose tasks are performed again for what they leave in it.
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\")\n"
                 "  (tools (system:run_script)))\n"
                 "(define (main n) (with ((conversation true))\n"
                 "  (list (get (ask \"do it\") 'content) (get (ask \"then\") 'content))))\n");
    const auto command =
        running(model.url(), {"-i", "n:=1", "--allow-shell", "--workspace", scratch.path()});
    {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(command);
    EXPECT_THAT(ended.out, HasSubstr("done")) << ended.err;
    EXPECT_EQ(scratch.text_of("ran.txt"), "x\n") << "the program did not run again";
    EXPECT_EQ(model.counters().requests, 4U) << "the response under way was lost";
    const auto replayed = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("value: [\"done\",\"x\"]"));
    EXPECT_EQ(scratch.text_of("ran.txt"), "x\n");
    EXPECT_EQ(model.counters().requests, 4U);
}

TEST_F(kept_runs, that_a_limit_has_ended_go_on_where_they_were) {
    model_thread model(always_answering("x"));
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n) (ask \"q1\") (ask \"q2\")\n"
                 "  (length (map (lambda (i) (+ i 1)) (range 100000))))\n");
    const auto first = run_heddle(running(model.url(), {"-i", "n:=1", "--step-limit", "20000"}));
    EXPECT_EQ(first.code, 1) << first.out;
    const auto more = run_heddle(
        running(model.url(), {"-i", "n:=1", "--step-limit", "100000000", "--retry-failed"}));
    EXPECT_EQ(more.out, "100000\n") << more.err;
    EXPECT_EQ(model.counters().requests, 2U);
}

TEST_F(kept_runs, continue_conversations) {
    model_thread model(R"({"rules": [{"match": "second", "text": "b"},
                                     {"match": ".*", "text": "a"}]})");
    scratch.file("m.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main n) (with ((conversation true))\n"
                 "  (ask \"first\") (sleep 0.5)\n"
                 "  (get (ask \"second\") 'content)))\n");
    const auto command = running(model.url(), {"-i", "n:=1", "-v"});
    {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 1; }));
        std::this_thread::sleep_for(milliseconds(200)); // its response is kept meanwhile
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("1 earlier turn")) << "the second call saw the first one";
    EXPECT_EQ(model.counters().requests, 2U);
}

// How a text is divided depends on time: a replay had other pieces than the run, and did not fit.
class kept_streams : public kept_runs {
protected:
    static constexpr const char* text = "one or two pieces, three or four pieces, five, six pieces";
    [[nodiscard]] static std::string rules() {
        return std::string(R"({"rules": [{"match": "last", "text": "end", "delay_ms": 300},
            {"match": ".*", "piece_ms": 100, "text": ")") +
               text + "\"}]}";
    }
    std::string streaming = scratch.file("m.heddle", R"(
        (defatom tell (params q) (instructions "{{q}}"))
        (define (main n)
          (let ((pieces '()))
            (stream (tell "first")
                    (lambda (piece)
                      (set! pieces (append pieces (list piece)))
                      (write-file (format "{}.txt" (length pieces)) piece)
                      (sleep 0.2)))
            (format "{}: {}{}" (length pieces) (string-join pieces "")
                    (get (tell "last") 'content)))))");
    std::string value = std::string("1: ") + text + "end\n";
    [[nodiscard]] std::vector<std::string> streams(const std::string& url,
                                                   std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"-i", "n:=1", "--workspace", scratch.path()});
        return running(url, more);
    }
};

TEST_F(kept_streams, are_replayed) {
    {
        model_thread model(rules());
        const auto ran = run_heddle(streams(model.url()));
        ASSERT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ(ran.out, value);
    }
    const auto shown = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr(text));
}

TEST_F(kept_streams, that_are_killed_at_any_time_go_on_with_the_same_pieces) {
    // In the first response, in its function, in the second response.
    for (const int wait : {150, 350, 500, 650, 750, 850}) {
        model_thread model(rules());
        {
            child_process child(heddle_command(streams(model.url())), at_home());
            ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 1; }));
            std::this_thread::sleep_for(milliseconds(wait));
            child.send_signal(SIGKILL);
            (void)child.wait();
        }
        const auto replayed = run_heddle({"runs", "replay", path("kept")});
        EXPECT_THAT(replayed.out + replayed.err, Not(HasSubstr("does not fit"))) << wait;
        const auto ended = run_heddle(streams(model.url()));
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.out, value) << wait;
        EXPECT_LE(model.counters().requests, 3U);
        std::filesystem::remove_all(path("kept"));
    }
}

// What was heard of it was taken for a part of the next response.
TEST_F(kept_streams, that_fail_are_heard_from_the_beginning_by_the_next_attempt) {
    model_thread model(std::string(R"({"rules": [
        {"match": "first", "text": "x", "error": {"status": 400, "message": "no", "times": 1}},
        {"match": "last", "text": "end"}, {"match": ".*", "text": ")") +
                       text + "\"}]}");
    scratch.file("m.heddle", R"(
        (defatom tell (params q) (instructions "{{q}}"))
        (define (main n)
          (let ((pieces '()))
            (define (listen piece) (set! pieces (append pieces (list piece))))
            (stream (tell "second") listen)
            (content (stream (tell "first") listen))
            (format "{}: {}{}" (length pieces) (last pieces) (content (tell "last"))))))");
    EXPECT_NE(run_heddle(streams(model.url())).code, 0);
    const auto ended = run_heddle(streams(model.url(), {"--retry-failed"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "2: xend\n");
    EXPECT_EQ(model.counters().requests, 4U);
    EXPECT_EQ(run_heddle({"runs", "replay", path("kept")}).code, 0);
}

// Repeated for its function, the call was cut off at once, because its time had passed long ago; or
// what had been cut off was asked for again.
TEST_F(kept_runs, with_timeouts_around_calls_with_tools_go_on_and_are_replayed) {
    model_thread model(R"({"rules": [
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "tidy", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it again"}, "text": "late", "delay_ms": 600000},
        {"match": {"user": "use it"}, "text": "in time"},
        {"match": "last", "text": "end", "delay_ms": 1000}]})");
    scratch.file("m.heddle", R"(
        (deftool tidy (params (what string)) (description "tidies") (progn (sleep 0.01) "tidy"))
        (defatom tell (params q) (instructions "{{q}}") (tools (tidy)))
        (define (main n)
          (let* ((first (timeout 1 (content (tell "use it")) "cut"))
                 (second (timeout 1.5 (content (tell "use it again")) "cut")))
            (list first second (content (tell "last"))))))");
    const auto command = running(model.url(), {"-i", "n:=1"});
    {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 5; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "(\"in time\" \"cut\" \"end\")\n");
    EXPECT_EQ(model.counters().requests, 6U) << ended.err;
    const auto replayed = run_heddle({"runs", "replay", path("kept")});
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("cut"));
}

// The program that changes files ran once more when the step went on.
TEST_F(kept_runs, start_aider_once_for_a_call_of_a_model) {
    model_thread model(R"({"rules": [
        {"match": {"user": "use it", "tool": "^$"},
         "tool_calls": [{"name": "fix", "arguments": {"what": "x"}}]},
        {"match": {"user": "use it"}, "text": "done", "delay_ms": 700}]})");
    scratch.file("aid.sh", "echo once >>'" + path("log") + "'\necho fixed\n");
    scratch.file("m.heddle", R"(
        (defatom fix (params what) (subtype "aider_automatic") (instructions "{{what}}"))
        (defatom tell (params q) (instructions "{{q}}") (tools (fix)))
        (define (main n) (content (tell "use it"))))");
    const auto command = running(model.url(), {"-i", "n:=1", "--allow-shell", "--workspace",
                                               scratch.path(), "--aider", "sh " + path("aid.sh")});
    {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests == 2; }));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "done\n");
    EXPECT_EQ(scratch.text_of("log"), "once\n");
    EXPECT_EQ(model.counters().requests, 3U);
}

// The outcome of one call was taken for another one of the same task.
TEST_F(kept_runs, keep_the_outcomes_of_aider_by_what_it_was_given) {
    model_thread model(always_answering("ok"));
    scratch.file("aid.sh", "case \"$*\" in *AAA*) echo begins >>'" + path("begun") +
                               "'; sleep 2;; esac\n"
                               "case \"$*\" in *AAA*) echo AAA;; *) echo BBB;; esac >>'" +
                               path("log") + "'\n");
    scratch.file("tpl/edit.xml",
                 "<task type=\"atomic\" subtype=\"aider_automatic\" name=\"edit\">"
                 "<description>edits</description>"
                 "<inputs><input name=\"prompt\">what</input></inputs></task>");
    scratch.file("m.heddle", R"(
        (defatom both (params a b) (instructions "First {{edit(a)}} then {{edit(b)}} end"))
        (define (main n) (content (both "do AAA" "do BBB"))))");
    const auto command =
        running(model.url(), {"-i", "n:=1", "--allow-shell", "--workspace", scratch.path(),
                              "--tasks", path("tpl"), "--aider", "sh " + path("aid.sh")});
    {
        child_process child(heddle_command(command), at_home());
        ASSERT_TRUE(hang_guard::comes_true([&] {
            return std::filesystem::exists(path("log")) && std::filesystem::exists(path("begun"));
        }));
        std::this_thread::sleep_for(milliseconds(300)); // its outcome is kept meanwhile
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    ASSERT_EQ(scratch.text_of("log"), "BBB\n");
    const auto ended = run_heddle(command);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(scratch.text_of("log"), HasSubstr("AAA\n"));
    EXPECT_EQ(scratch.text_of("log").find("BBB", 3), std::string::npos);
}

} // namespace
} // namespace heddle::cli_test
