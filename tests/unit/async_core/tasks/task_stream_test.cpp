// (stream task function), and what the host receives.
#include "memory_log.hpp"
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr auto report = "(defatom tell (params q) (instructions \"{{q}}\")) (define seen \"\") ";

TEST(stream_form, pieces_come_in_order_and_the_value_is_the_result) {
    harness w;
    w.llm.say("one two three four");
    EXPECT_EQ(w.json(std::string(report) +
                     "(let ((r (stream (tell \"x\") (lambda (p) (set! seen (string-append seen "
                     "\"<\" p \">\")))))) (list (content r) seen))"),
              R"(["one two three four","<one ><two ><thre><e fo><ur>"])");
    EXPECT_EQ(w.json("(set! seen \"\") (stream (tell (q \"x\")) (lambda (p) (sleep 0.5) "
                     "(set! seen (string-append seen \"<\" p \">\")))) seen"),
              "\"<one ><two three four>\"");
}

TEST(stream_form, a_slow_function_holds_the_stream_back) {
    harness w;
    w.llm.say(std::string(1'000'000, 'x'));
    w.llm.piece_bytes = 10'000;
    w.llm.piece_delay = std::chrono::milliseconds(0);
    EXPECT_EQ(w.json(std::string(report) +
                     "(define most 0) (stream (tell \"x\") (lambda (p) (sleep 0.005) (set! most "
                     "(max most (string-length p))))) (list (< most 80000) (> most 10000))"),
              "[true,true]");
    EXPECT_GT(w.llm.held_back, 5);
}

TEST(stream_form, a_function_that_asks_a_model_lets_its_stream_go_on) {
    harness w;
    const std::string big(1'000'000, 'x');
    w.llm.replies.push_back([&](const ports::chat_request& asked) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = asked.messages.back().text == "x" ? big : "small";
        return response;
    });
    w.llm.piece_bytes = 10'000;
    w.llm.piece_delay = std::chrono::milliseconds(0);
    EXPECT_EQ(w.json(std::string(report) +
                     "(define most 0) (define all 0) (define asked #f) "
                     "(stream (tell \"x\") (lambda (p) (progn "
                     "(when (not asked) (progn (set! asked #t) (tell \"y\"))) (sleep 0.2) "
                     "(set! all (+ all (string-length p))) "
                     "(set! most (max most (string-length p)))))) (list (> most 900000) all)"),
              "[true,1000000]");
    // While the function begins, and once more until it asks; about fifteen times if it went on so.
    EXPECT_LE(w.llm.held_back, 2);
}

TEST(stream_form, characters_are_not_split) {
    harness w;
    w.llm.say("äöü€😀");
    w.llm.piece_bytes = 1;
    EXPECT_EQ(
        w.json(std::string(report) +
               "(define all '()) (stream (tell \"x\") (lambda (p) (set! all (append all (list "
               "p))))) all"),
        R"(["ä","ö","ü","€","😀"])");
}

TEST(stream_form, an_error_in_the_function_cancels_the_call) {
    harness w;
    w.llm.say("one two three four");
    w.llm.piece_delay = std::chrono::milliseconds(10'000);
    EXPECT_THAT(
        w.json(std::string(report) + "(stream (tell \"x\") (lambda (p) (error \"enough\" p)))"),
        HasSubstr("UserError: enough"));
    EXPECT_EQ(w.llm.cut, 1);
    EXPECT_EQ(w.llm.handed_out, 1);
    EXPECT_EQ(w.observer.finished, 1);
    EXPECT_EQ(w.json("(try (stream (tell \"x\") (lambda (p) (error \"enough\"))) (catch (e) "
                     "(get e \"message\")))"),
              "\"enough\"");
}

TEST(stream_form, ends_with_its_time_and_with_its_run) {
    harness w;
    w.llm.say("one two three four");
    w.llm.piece_delay = std::chrono::milliseconds(100'000);
    EXPECT_THAT(w.json(std::string(report) + "(timeout 0.05 (stream (tell \"x\") (lambda (p) p)))"),
                StartsWith("TimeoutError"));
    EXPECT_THAT(w.json("(timeout 0.05 (stream (tell \"x\") (lambda (p) (sleep 1000))))"),
                StartsWith("TimeoutError"));
    EXPECT_EQ(w.json("(get-in (stream (tell (q \"x\") (timeout 0.05)) (lambda (p) p)) '(\"notes\" "
                     "\"error\" \"resource\"))"),
              "\"time\"");
    EXPECT_EQ(w.llm.cut, 3);
    EXPECT_EQ(w.observer.finished, 3);
}

TEST(stream_form, what_is_complete_counts_although_its_time_passes_at_the_end) {
    harness w;
    w.llm.open_after_end = std::chrono::milliseconds(200);
    w.llm.say("one two");
    EXPECT_EQ(w.json(std::string(report) +
                     "(let ((r (stream (tell (q \"x\") (timeout 0.05)) (lambda (p) (set! seen "
                     "(string-append seen p)))))) (list (content r) (get r 'status) seen))"),
              R"(["one two","COMPLETE","one two"])");
    EXPECT_EQ(w.llm.cut_at_end, 1);
    // The function has not heard the last of it: what has come is in the error.
    w.llm.say("one two");
    EXPECT_EQ(w.json("(let ((r (stream (tell (q \"x\") (timeout 0.05)) (lambda (p) (sleep 1))))) "
                     "(list (get r 'content) (get r 'status) (get-in r '(\"notes\" \"error\" "
                     "\"resource\"))))"),
              R"(["one two","FAILED","time"])");
    EXPECT_EQ(w.llm.cut_at_end, 2);
}

// The function of a durable row gets all of a response at its end.
TEST(stream_form, of_a_durable_row_what_is_complete_counts_too) {
    for (const char* function :
         {"(lambda (p) (set! seen p))", "(lambda (p) (progn (sleep 0.2) (set! seen p)))"}) {
        harness w;
        testing::memory_log log({});
        host::run_options options;
        options.steps = &log;
        w.llm.open_after_end = std::chrono::milliseconds(200);
        w.llm.say("one two");
        EXPECT_EQ(w.json(std::string(report) + "(let ((r (stream (tell (q \"x\") (timeout 0.05)) " +
                             function + "))) (list (get r 'content) (get r 'status) seen))",
                         options),
                  R"(["one two","COMPLETE","one two"])")
            << function;
        EXPECT_EQ(w.llm.cut_at_end, 1);
    }
}

TEST(stream_form, what_fails_at_the_model_is_data) {
    harness w;
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_EQ(w.json(std::string(report) +
                     "(get-in (stream (tell \"x\") (lambda (p) p)) '(\"notes\" \"error\" "
                     "\"reason\"))"),
              "\"llm_error\"");
}

TEST(stream_form, tasks_in_its_arguments_and_in_its_function_are_not_streamed) {
    harness w;
    w.llm.say("aaaa");
    w.llm.say("bbbb");
    w.llm.say("cccc");
    EXPECT_EQ(w.json(std::string(report) +
                     "(stream (tell (q (content (tell \"x\")))) (lambda (p) (set! seen "
                     "(string-append seen p (content (tell \"y\")))))) seen"),
              "\"bbbbcccc\"");
}

TEST(stream_form, a_sandbox_holds_in_its_function) {
    harness w;
    w.llm.say("aaaa");
    EXPECT_THAT(w.json(std::string(report) + "(define f 1) (sandbox ((allow (tell))) (stream (tell "
                                             "\"x\") (lambda (p) (system:execute_shell_command "
                                             "(command \"true\")))))"),
                HasSubstr("does not allow"));
}

TEST(stream_form, needs_a_call_and_a_function) {
    harness w;
    EXPECT_THAT(w.json("(stream 1 (lambda (p) p))"), HasSubstr("expects a call of a task"));
    EXPECT_THAT(w.json("(stream (f))"), HasSubstr("expects a call of a task and a function"));
}

TEST(stream_host, receives_every_piece_and_can_stop_the_call) {
    class listener final : public delta_receiver {
    public:
        result<void> take(const task_delta& piece) override {
            if (piece.text == "stop") return error(heddle::errc::invalid_argument, "stop it");
            heard += std::string(piece.task) + ":" + std::string(piece.text) + ";";
            return {};
        }
        std::string heard;
    };
    listener host;
    task_system_parts parts;
    parts.deltas = &host;
    harness w({}, parts);
    w.llm.say("one two");
    w.llm.say("one stop three");
    EXPECT_EQ(w.json(std::string(report) + "(content (tell \"x\"))"), "\"one two\"");
    EXPECT_EQ(host.heard, "tell:one ;tell:two;");
    EXPECT_THAT(w.json("(tell \"x\")"), HasSubstr("stop it"));
}

} // namespace
} // namespace heddle::tasks
