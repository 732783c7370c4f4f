// A reader of standard output that pauses, or never reads: nothing but the output waits for it.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"
#include "terminal_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>

namespace heddle::cli_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// More than a pipe and the queue hold: 3 MB.
constexpr const char* long_print =
    "(loop 60000 (print \"a line that fills what a pipe can hold, and "
    "then\"))";
constexpr const char* endless_print =
    "(while true (print \"a line that fills what a pipe can hold, and then\"))";
constexpr std::size_t printed_lines = 60'000;

child_options unread() {
    child_options options;
    options.out_unread = true;
    return options;
}

bool appears(const std::string& file) {
    return hang_guard::comes_true([&] { return std::filesystem::exists(file); });
}

std::ptrdiff_t lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

TEST(unread_output, lets_a_response_that_was_paid_for_arrive_and_prints_it_when_it_is_read) {
    scratch_directory scratch;
    model_thread model(R"({"rules": [{"match": ".*", "text": "paid answer", "delay_ms": 300}]})");
    const std::string program = std::string(
                                    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                    "(parallel (timeout 60 (let ((a (content (ask \"x\")))) "
                                    "(log-message \"answered\") a) 'late)\n"
                                    "          (progn ") +
                                long_print + " 'printed))";
    child_process child(
        heddle_command({"run", scratch.file("w.heddle", program), "--base-url", model.url(), "-v"}),
        unread());
    ASSERT_TRUE(child.wait_for_err("answered")) << child.err();
    child.read_out();
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, EndsWith("(\"paid answer\" printed)\n"));
    EXPECT_EQ(lines_of(ended.out), static_cast<std::ptrdiff_t>(printed_lines + 1));
}

TEST(unread_output, lets_the_timeout_of_a_branch_end_it) {
    const std::string program =
        std::string(
            "(parallel (let ((v (timeout 0.3 (sleep 600) 'late))) (log-message \"over\") v) "
            "(progn ") +
        long_print + " 'printed))";
    child_process child(heddle_command({"eval", program, "-v"}), unread());
    ASSERT_TRUE(child.wait_for_err("over")) << child.err();
    child.read_out();
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, EndsWith("(late printed)\n"));
}

TEST(unread_output, lets_a_timeout_end_the_branch_that_prints) {
    const std::string program =
        std::string("(progn (timeout 1 ") + endless_print + " 'late) (log-message \"over\") 'done)";
    child_process child(heddle_command({"eval", program, "-v"}), unread());
    ASSERT_TRUE(child.wait_for_err("over")) << child.err();
    child.read_out();
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, EndsWith("done\n"));
}

TEST(unread_output, lets_the_time_of_the_run_end_it) {
    child_process child(heddle_command({"eval", endless_print, "--timeout", "0.5"}), unread());
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 1) << ended.err;
    EXPECT_FALSE(ended.signalled);
    EXPECT_NE(ended.err, "");
}

/// Reports once nothing that is printed is read any more.
std::string endless_program() {
    return std::string("(parallel (progn (sleep 0.5) (log-message \"begun\")) ") + endless_print +
           ")";
}

TEST(unread_output, lets_the_first_signal_end_the_run) {
    for (const int signal : {SIGINT, SIGTERM}) {
        SCOPED_TRACE(signal);
        child_process child(heddle_command({"eval", endless_program(), "-v"}), unread());
        ASSERT_TRUE(child.wait_for_err("begun")) << child.err();
        child.send_signal(signal);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130) << ended.err;
        EXPECT_FALSE(ended.signalled);
        EXPECT_THAT(ended.err, HasSubstr("interrupted"));
    }
}

/// Runs a program that writes begun.txt, with both streams in one pipe that nobody reads, and
/// interrupts it then.
void expect_interruption_in_one_pipe(const std::string& program) {
    scratch_directory scratch;
    std::vector<std::string> command{"/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1"};
    for (const std::string& each :
         heddle_command({"eval", program, "--workspace", scratch.path()})) {
        command.push_back(each);
    }
    child_process child(command, unread());
    ASSERT_TRUE(appears(scratch.path() + "/begun.txt"));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130);
    EXPECT_FALSE(ended.signalled);
}

TEST(unread_output, of_both_streams_in_one_pipe_lets_the_first_signal_end_the_run) {
    expect_interruption_in_one_pipe(
        "(parallel (progn (sleep 0.5) (write-file \"begun.txt\" \"x\")) " +
        std::string(endless_print) + ")");
}

TEST(unread_output, of_both_streams_in_one_pipe_lets_a_signal_end_the_wait_at_the_end) {
    // What is printed and the result are more than the pipe holds.
    expect_interruption_in_one_pipe(
        "(progn (loop 5000 (print \"a line that fills what a pipe can "
        "hold\")) (write-file \"begun.txt\" \"x\") 1)");
}

TEST(unread_output, is_whole_when_the_reader_comes_late) {
    const std::string program =
        std::string("(let ((n 0)) (log-message \"begun\") ") +
        "(loop 30000 (progn (set! n (+ n 1)) "
        "(print (format \"row {} of many, each with some text\" n)))) 'end)";
    child_process child(heddle_command({"eval", program, "-v"}), unread());
    ASSERT_TRUE(child.wait_for_err("begun")) << child.err();
    child.read_out();
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::string expected;
    for (int i = 1; i <= 30'000; ++i)
        expected += "row " + std::to_string(i) + " of many, each with some text\n";
    EXPECT_TRUE(ended.out == expected + "end\n") << ended.out.size();
}

TEST(unread_output, whose_reader_goes_ends_the_run) {
    child_process child({"/bin/sh", "-c",
                         "{ \"$0\" eval \"$1\"; echo \"code $?\" >&2; } | head -c 10 >/dev/null",
                         heddle_command({}).front(), endless_print});
    const auto ended = child.wait();
    EXPECT_THAT(ended.err, HasSubstr("standard output cannot be written"));
    EXPECT_THAT(ended.err, HasSubstr("code 1\n"));
}

TEST(unread_output, on_a_stopped_terminal_lets_a_signal_end_the_run) {
    const std::string program = std::string("(progn (print \"begun\") ") + endless_print + ")";
    terminal_child child(heddle_command({"eval", program}), {{"TERM", "xterm"}});
    ASSERT_TRUE(child.expect("begun"));
    child.type("\x13");
    child.send_signal(SIGTERM);
    EXPECT_EQ(child.wait(), 130);
}

} // namespace
} // namespace heddle::cli_test
