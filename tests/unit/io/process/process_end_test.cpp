#include "process_testing.hpp"

#include <csignal>
#include <optional>

#include <sched.h>
#include <sys/mount.h>

namespace heddle::process::testing {
namespace {

class process_end : public process_test {};

/// With this variable the test's own program is one that goes over to its parent's group and waits.
constexpr const char* leave_group = "HEDDLE_TEST_LEAVE_GROUP";

[[gnu::constructor]] void leave_group_if_asked() {
    if (std::getenv(leave_group) == nullptr) return;
    if (::setpgid(0, ::getpgid(::getppid())) != 0) ::_exit(1);
    static_cast<void>(!::write(STDOUT_FILENO, "left\n", 5));
    ::sleep(600);
    ::_exit(0);
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

coro::task<void> keep_result(coro::task<result<process_result>> what,
                             std::optional<result<process_result>>* into) {
    result<process_result> ended = co_await std::move(what);
    into->emplace(std::move(ended));
}

constexpr int no_namespace = 30;

/// Where /proc is hidden. Returns 0 when the start is refused.
int start_without_proc(const stdfs::path& root) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
        return no_namespace;
    }
    runner test;
    process_options options;
    options.workspace = root.string();
    const auto port = *make_process_port(test.loop, options);
    process_request request;
    request.arguments = {"touch", "started"};
    const auto ended = test.run(port->run(std::move(request), test.context()));
    if (ended) return 31;
    return ended.error().code() == make_error_code(process_errc::start_failed) ? 0 : 32;
}

TEST_F(process_end, run_timeout_is_a_result_with_what_was_written) {
    process_request request = shell(
        "echo began; trap 'echo asked; exit 7' TERM; "
        "touch ready; while :; do sleep 0.01; done");
    request.timeout = 300ms;
    request.grace = 8s;
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->timed_out);
    // The group is asked: a shell that forks at that moment may run the trap in both processes.
    if (exists("ready")) {
        EXPECT_EQ(ended->out.substr(0, 12), "began\nasked\n");
    }
    EXPECT_FALSE(heddle::testing::programs_are_running());
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
    EXPECT_FALSE(heddle::testing::programs_are_running());
    if (exists("grandchild")) {
        EXPECT_TRUE(gone(number_in("grandchild")));
    }
}

TEST_F(process_end, cancel_ends_the_whole_group_before_the_call_returns) {
    coro::cancel_source cancel;
    once_there("ready", [&] { cancel.request(cancel_reason::user); });
    const auto ended =
        run(shell("sleep 600 & echo $! >grandchild; echo $$ >child; touch ready; wait"), &cancel);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::user);
    EXPECT_FALSE(heddle::testing::programs_are_running());
    EXPECT_FALSE(alive(number_in("child")));
    EXPECT_TRUE(gone(number_in("grandchild")));
}

TEST_F(process_end, cancel_reaches_a_stopped_child) {
    coro::cancel_source cancel;
    once_there("ready", [&] { cancel.request(cancel_reason::user); });
    process_request request = shell("touch ready; kill -STOP $$; sleep 600");
    request.grace = 9s;
    const auto ended = run(request, &cancel);
    ASSERT_FALSE(ended);
    EXPECT_FALSE(heddle::testing::programs_are_running());
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
    ASSERT_TRUE(run(program({"true"}))); // the keeper is held for the next program
    const std::size_t before = open_descriptors();
    for (int turns = 0; turns < 60; ++turns) {
        coro::cancel_source cancel;
        test.later([&] { cancel.request(cancel_reason::user); }, turns);
        process_request request = shell("cat; echo out; echo err >&2; sleep 30");
        request.input = std::string(600'000, 'x'); // several turns before the start
        const auto ended = run(std::move(request), &cancel);
        ASSERT_FALSE(ended);
        EXPECT_TRUE(ended.error().is_cancelled());
        ASSERT_FALSE(heddle::testing::programs_are_running()) << turns;
    }
    test.turn();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(process_end, deadline_of_the_context_is_a_cancellation) {
    const auto ended = run(shell("sleep 600"), nullptr, runner::in(100ms));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::deadline);
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(process_end, run_background_job_ends_with_the_program) {
    process_request request = shell("sleep 600 & echo $! >job; echo done");
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "done\n");
    EXPECT_EQ(ended->exit_code, 0);
    EXPECT_FALSE(ended->timed_out);
    EXPECT_TRUE(gone(number_in("job")));
}

TEST_F(process_end, run_background_job_without_our_pipes_ends_too) {
    const auto ended = run(shell("sleep 600 >/dev/null 2>&1 & echo $! >job"));
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
        "setsid sh -c 'echo $$ >daemon; exec sleep 600' & "
        "while [ ! -s daemon ]; do sleep 0.01; done; echo done");
    request.grace = 50ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "done\n");
    const pid_t daemon = number_in("daemon");
    ASSERT_GT(daemon, 1);
    EXPECT_FALSE(alive(daemon)); // also what has left the group ends with the program
}

TEST_F(process_end, run_daemon_of_any_kind_ends_with_the_program) {
    // A session of its own, no pipe of ours, and a parent that is gone.
    const auto ended =
        run(shell("(setsid sh -c 'sh -c \"echo \\$\\$ >daemon; exec sleep 600\" >/dev/null 2>&1 &' "
                  ">/dev/null 2>&1 &); while [ ! -s daemon ]; do sleep 0.01; done; echo done"));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "done\n");
    const pid_t daemon = number_in("daemon");
    ASSERT_GT(daemon, 1);
    EXPECT_FALSE(alive(daemon));
}

TEST_F(process_end, run_program_that_leaves_its_group_is_ended_in_time) {
    process_request request = program({"/proc/self/exe"}); // as a keeper's child sees it: this one
    request.environment = {{leave_group, "1"}};
    request.timeout = 400ms;
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "left\n");
    EXPECT_TRUE(ended->timed_out);
    EXPECT_EQ(ended->signal, SIGTERM);
    EXPECT_FALSE(heddle::testing::programs_are_running());
}

TEST_F(process_end, run_program_that_stops_its_keeper_is_ended_all_the_same) {
    process_request request = shell("kill -STOP $PPID; echo $$ >child; exec sleep 600");
    request.timeout = 300ms;
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->timed_out);
    EXPECT_FALSE(alive(number_in("child")));
}

TEST_F(process_end, run_program_that_kills_its_keeper_dies_and_that_is_reported) {
    const auto ended = run(shell("echo $$ >child; kill -KILL $PPID; sleep 600"));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code(), make_error_code(process_errc::status_lost));
    EXPECT_TRUE(gone(number_in("child")));
    // Others do as ever; so they do when the starter is killed too.
    ASSERT_TRUE(run(program({"true"})));
    for (const pid_t starter : heddle::testing::children_of(::getpid())) {
        ::kill(starter, SIGKILL);
        EXPECT_TRUE(gone(starter));
    }
    const auto again = run(program({"true"}));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->exit_code, 0);
}

TEST_F(process_end, run_daemon_of_a_program_that_kills_its_keeper_ends_too) {
    process_request slow = shell("sleep 1; echo done"); // somebody else's, and not disturbed
    std::optional<result<process_result>> other;
    coro::spawn(test.loop, keep_result(children->run(std::move(slow), test.context()), &other),
                [](std::exception_ptr) {});
    const auto ended =
        run(shell("(setsid sh -c 'trap \"\" TERM HUP; sleep 61 & echo $! >job; echo $$ >daemon; "
                  "exec sleep 61') >/dev/null 2>&1 & "
                  "while [ ! -s daemon ]; do sleep 0.01; done; kill -KILL $PPID; sleep 600"));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code(), make_error_code(process_errc::status_lost));
    EXPECT_TRUE(gone(number_in("daemon")));
    EXPECT_TRUE(gone(number_in("job")));
    for (int i = 0; i < 2000 && !other; ++i) test.turn(5ms);
    ASSERT_TRUE(other && *other);
    EXPECT_EQ((*other)->out, "done\n");
}

TEST_F(process_end, nothing_is_started_where_nothing_could_be_ended) {
    const pid_t other = ::fork();
    ASSERT_GE(other, 0);
    if (other == 0) ::_exit(start_without_proc(root));
    int status = 0;
    ::waitpid(other, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == no_namespace) GTEST_SKIP() << "no file system can be hidden here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(exists("started"));
}

/// Runs what leaves children and daemons behind, and dies by `signal` while they live.
[[noreturn]] void die_with_children(const stdfs::path& root, int signal) {
    runner test;
    process_options options;
    options.workspace = root.string();
    const auto port = *make_process_port(test.loop, options);
    process_request request;
    request.arguments = {
        "sleep 77 & echo $! >job; setsid sh -c 'echo $$ >daemon; exec sleep 77' & "
        "echo $$ >child; exec sleep 77"};
    request.through_shell = true;
    std::string out;
    coro::spawn(test.loop,
                drop_result(run_one(port.get(), std::move(request), test.context(), &out)),
                [](std::exception_ptr) {});
    const auto there = [&](const char* name) {
        std::ifstream in(root / name);
        pid_t number = 0;
        return static_cast<bool>(in >> number);
    };
    while (!there("job") || !there("daemon") || !there("child")) test.turn(5ms);
    std::signal(signal, SIG_DFL); // a sanitizer would tell of a crash
    std::raise(signal);
    ::_exit(0);
}

TEST_F(process_end, no_program_outlives_us_whatever_ends_us) {
    for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGHUP, SIGQUIT, SIGPIPE, SIGTERM}) {
        SCOPED_TRACE(signal);
        for (const char* name : {"job", "daemon", "child"}) stdfs::remove(root / name);
        const pid_t other = ::fork();
        ASSERT_GE(other, 0);
        if (other == 0) die_with_children(root, signal);
        int status = 0;
        ::waitpid(other, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        EXPECT_EQ(WTERMSIG(status), signal);
        for (const char* name : {"job", "daemon", "child"}) {
            EXPECT_TRUE(gone(number_in(name))) << name;
        }
    }
}

/// Destroys the port while a child runs. Returns 0 when nothing is left of that.
int leave_early(const stdfs::path& root) {
    runner test;
    process_options options;
    options.workspace = root.string();
    auto port = *make_process_port(test.loop, options);
    process_request request;
    request.arguments = {"echo $$ >child; exec sleep 600"};
    request.through_shell = true;
    std::string out;
    bool ended = false;
    coro::spawn(test.loop,
                drop_result(run_one(port.get(), std::move(request), test.context(), &out)),
                [&](std::exception_ptr) { ended = true; });
    for (int i = 0; i < 2000 && !stdfs::exists(root / "child"); ++i) test.turn(5ms);
    port.reset();
    if (ended) return 20;
    return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 21; // the starter too
}

TEST_F(process_end, port_destroyed_while_a_child_runs_kills_it) {
    const pid_t other = ::fork(); // where the coroutine that is never resumed is not a leak
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
