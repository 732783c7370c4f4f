#include "process_testing.hpp"

#include <csignal>

namespace heddle::process::testing {
namespace {

class process_end : public process_test {};

TEST_F(process_end, run_timeout_is_a_result_with_what_was_written) {
    process_request request = shell(
        "echo began; trap 'echo asked; exit 7' TERM; "
        "touch ready; while :; do sleep 0.01; done");
    request.timeout = 300ms;
    request.grace = 8s;
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->timed_out);
    EXPECT_EQ(ended->out, exists("ready") ? "began\nasked\n" : ended->out);
    EXPECT_FALSE(has_children());
}

TEST_F(process_end, run_group_that_ignores_the_request_is_killed) {
    process_request request = shell(
        "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >grandchild; "
        "while :; do sleep 0.05; done' & echo $$ >child; while :; do sleep 0.05; done");
    request.timeout = 400ms;
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->timed_out);
    EXPECT_EQ(ended->signal, SIGKILL);
    EXPECT_FALSE(has_children());
    if (exists("grandchild")) {
        EXPECT_TRUE(gone(number_in("grandchild")));
    }
}

TEST_F(process_end, cancel_ends_the_whole_group_before_the_call_returns) {
    coro::cancel_source cancel;
    once_there("ready", [&] { cancel.request(cancel_reason::user); });
    const auto ended =
        run(shell("sleep 60 & echo $! >grandchild; echo $$ >child; touch ready; wait"), &cancel);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    EXPECT_FALSE(has_children());
    EXPECT_FALSE(alive(number_in("child")));
    EXPECT_TRUE(gone(number_in("grandchild")));
}

TEST_F(process_end, cancel_reaches_a_stopped_child) {
    coro::cancel_source cancel;
    once_there("ready", [&] { cancel.request(cancel_reason::user); });
    process_request request = shell("touch ready; kill -STOP $$; sleep 60");
    request.grace = 9s;
    const auto ended = run(request, &cancel);
    ASSERT_FALSE(ended);
    EXPECT_FALSE(has_children());
}

TEST_F(process_end, cancel_before_the_start_starts_nothing) {
    coro::cancel_source cancel;
    cancel.request(cancel_reason::sibling);
    const auto ended = run(shell("touch started"), &cancel);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::sibling);
    EXPECT_FALSE(exists("started"));
}

TEST_F(process_end, cancel_at_every_turn_leaves_nothing) {
    const std::size_t before = open_descriptors();
    for (int turns = 0; turns < 60; ++turns) {
        coro::cancel_source cancel;
        test.later([&] { cancel.request(cancel_reason::user); }, turns);
        process_request request = shell("cat; echo out; echo err >&2; sleep 30");
        request.input = std::string(600'000, 'x'); // several turns before the start
        const auto ended = run(std::move(request), &cancel);
        ASSERT_FALSE(ended);
        EXPECT_TRUE(ended.error().is_cancelled());
        ASSERT_FALSE(has_children()) << turns;
    }
    test.turn();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(process_end, deadline_of_the_context_is_a_cancellation) {
    const auto ended = run(shell("sleep 60"), nullptr, runner::in(100ms));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::deadline);
    EXPECT_FALSE(has_children());
}

TEST_F(process_end, run_background_job_ends_with_the_program) {
    process_request request = shell("sleep 60 & echo $! >job; echo done");
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "done\n");
    EXPECT_EQ(ended->exit_code, 0);
    EXPECT_FALSE(ended->timed_out);
    EXPECT_TRUE(gone(number_in("job")));
}

TEST_F(process_end, run_background_job_without_our_pipes_ends_too) {
    const auto ended = run(shell("sleep 60 >/dev/null 2>&1 & echo $! >job"));
    ASSERT_TRUE(ended);
    EXPECT_TRUE(gone(number_in("job")));
}

TEST_F(process_end, run_late_output_of_a_job_is_waited_for) {
    process_request request = shell("(sleep 0.05; echo late) & echo early");
    request.grace = 8s;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "early\nlate\n");
}

TEST_F(process_end, run_daemon_that_keeps_the_pipe_is_not_waited_for) {
    process_request request = shell(
        "setsid sh -c 'echo $$ >daemon; exec sleep 60' & "
        "while [ ! -s daemon ]; do sleep 0.01; done; echo done");
    request.grace = 50ms;
    const auto ended = run(request);
    const pid_t daemon = number_in("daemon");
    ASSERT_GT(daemon, 1);
    EXPECT_TRUE(alive(daemon)); // it left the group: what it does is its own affair
    ::kill(daemon, SIGKILL);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "done\n");
}

coro::task<result<void>> run_one(ports::process_port* children, process_request request,
                                 coro::call_context context, std::string* out) {
    result<process_result> ended = co_await children->run(std::move(request), context);
    if (!ended) co_return std::move(ended).error();
    *out = std::move(ended->out);
    co_return result<void>();
}

coro::task<void> drop_result(coro::task<result<void>> work) {
    const result<void> ended = co_await std::move(work);
    static_cast<void>(ended);
}

/// Destroys the port while a child runs. Gives 0 when nothing is left of that.
int leave_early(const stdfs::path& root) {
    runner test;
    process_options options;
    options.workspace = root.string();
    auto port = *make_process_port(test.loop, options);
    process_request request;
    request.arguments = {"echo $$ >child; exec sleep 60"};
    request.through_shell = true;
    std::string out;
    bool ended = false;
    coro::spawn(test.loop,
                drop_result(run_one(port.get(), std::move(request), test.context(), &out)),
                [&](std::exception_ptr) { ended = true; });
    for (int i = 0; i < 2000 && !stdfs::exists(root / "child"); ++i) test.turn(5ms);
    port.reset();
    if (ended) return 20;
    return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 21;
}

TEST_F(process_end, port_destroyed_while_a_child_runs_kills_it) {
    const pid_t other = ::fork(); // where the coroutine that is never resumed is no leak
    ASSERT_GE(other, 0);
    if (other == 0) ::_exit(leave_early(root));
    int status = 0;
    ::waitpid(other, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(alive(number_in("child")));
}

} // namespace
} // namespace heddle::process::testing
