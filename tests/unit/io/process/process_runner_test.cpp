#include <heddle/process/child_processes.hpp>

#include "process/child_watch.hpp"

#include <heddle/coro/wait_point.hpp>

#include <loopback_runner.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heddle::process {
namespace {

namespace stdfs = std::filesystem;
using namespace std::chrono_literals;
using loopback::runner;
using ports::process_errc;
using ports::process_request;
using ports::process_result;

class process_runner : public ::testing::Test {
protected:
    process_runner() {
        static std::atomic<int> count{0};
        base = stdfs::temp_directory_path() /
               ("heddle-process-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
        root = base / "root";
        stdfs::create_directories(root / "sub");
        stdfs::create_directories(base / "outside");
        open();
    }
    ~process_runner() override {
        children.reset();
        stdfs::remove_all(base);
    }

    void open(std::vector<std::string> withheld = {}) {
        process_options options;
        options.workspace = root.string();
        options.withheld = std::move(withheld);
        auto made = make_process_port(test.loop, std::move(options));
        ASSERT_TRUE(made) << made.error().message();
        children = *std::move(made);
    }
    static process_request shell(std::string line) {
        process_request made;
        made.arguments = {std::move(line)};
        made.through_shell = true;
        return made;
    }
    static process_request program(std::vector<std::string> arguments) {
        process_request made;
        made.arguments = std::move(arguments);
        return made;
    }
    [[nodiscard]] result<process_result> run(process_request request,
                                             coro::cancel_source* cancel = nullptr,
                                             coro::deadline until = {}) {
        return test.run(children->run(std::move(request), test.context(cancel, until)));
    }
    void expect_error(process_request request, process_errc code) {
        const auto ended = run(std::move(request));
        ASSERT_FALSE(ended);
        EXPECT_EQ(ended.error().code(), make_error_code(code)) << ended.error().message();
    }
    void put(const std::string& name, const std::string& text, mode_t mode = 0755) const {
        std::ofstream(root / name, std::ios::binary) << text;
        ASSERT_EQ(::chmod((root / name).c_str(), mode), 0);
    }
    [[nodiscard]] std::string get(const std::string& name) const {
        std::ifstream in(root / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// The number in a file that a child writes.
    [[nodiscard]] pid_t number_in(const std::string& name) const {
        for (int i = 0; i < 2000; ++i) {
            const std::string text = get(name);
            if (text.find('\n') != std::string::npos) return std::stoi(text);
            std::this_thread::sleep_for(5ms);
        }
        return -1;
    }
    [[nodiscard]] bool exists(const std::string& name) const { return stdfs::exists(root / name); }
    /// Calls `what` from the loop once the file is there.
    void once_there(const std::string& name, std::function<void()> what) {
        test.later([this, name, what = std::move(what)]() mutable {
            if (exists(name)) return what();
            std::this_thread::sleep_for(1ms);
            once_there(name, std::move(what));
        });
    }

    static bool alive(pid_t pid) {
        std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
        std::string text((std::istreambuf_iterator<char>(in)), {});
        const std::size_t state = text.rfind(") ");
        return state != std::string::npos && text[state + 2] != 'Z' && text[state + 2] != 'X';
    }
    /// A process that was killed may need a moment to be gone.
    static bool gone(pid_t pid) {
        for (int i = 0; i < 1000 && alive(pid); ++i) std::this_thread::sleep_for(5ms);
        return !alive(pid);
    }
    static std::size_t open_descriptors() {
        const auto all = stdfs::directory_iterator("/proc/self/fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    static bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

    stdfs::path base;
    stdfs::path root;
    runner test;
    std::unique_ptr<ports::process_port> children;
};

TEST_F(process_runner, run_gives_output_and_exit_code) {
    const auto ended = run(shell("echo to out; echo to err >&2; exit 3"));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "to out\n");
    EXPECT_EQ(ended->err, "to err\n");
    EXPECT_EQ(ended->exit_code, 3);
    EXPECT_EQ(ended->signal, 0);
    EXPECT_GT(ended->elapsed.count(), 0);
    EXPECT_FALSE(has_children());
}

TEST_F(process_runner, run_list_without_shell_expands_nothing) {
    const auto ended = run(program({"printf", "%s|", "$HOME", "a b", "*", ""}));
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "$HOME|a b|*||");
}

TEST_F(process_runner, run_input_and_output_bigger_than_pipes) {
    std::string big;
    for (int i = 0; big.size() < 8'000'000; ++i) big += "line " + std::to_string(i) + "\n";
    process_request request = program({"cat"});
    request.input = big;
    request.max_output = big.size();
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_TRUE(ended->out == big);
    EXPECT_EQ(ended->out_dropped, 0U);
}

TEST_F(process_runner, run_input_nobody_reads_does_no_harm) {
    for (const char* line : {"exec 0<&-; echo closed", "head -c 1 >/dev/null; echo closed"}) {
        process_request request = shell(line);
        request.input = std::string(2'000'000, 'x');
        const auto ended = run(std::move(request));
        ASSERT_TRUE(ended) << ended.error().message();
        EXPECT_EQ(ended->out, "closed\n");
        EXPECT_EQ(ended->exit_code, 0);
    }
}

TEST_F(process_runner, run_without_input_reads_nothing) {
    const auto ended = run(shell("cat; echo end"));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "end\n");
}

TEST_F(process_runner, run_output_beyond_the_limit_is_counted_and_dropped) {
    process_request request = shell("head -c 3000000 /dev/zero; head -c 500 /dev/zero >&2");
    request.max_output = 1000;
    const auto ended = run(std::move(request));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out.size(), 1000U);
    EXPECT_EQ(ended->out_dropped, 2'999'000U);
    EXPECT_EQ(ended->err.size(), 500U);
    EXPECT_EQ(ended->err_dropped, 0U);
    EXPECT_EQ(ended->exit_code, 0);
}

TEST_F(process_runner, run_what_cannot_be_started_says_why) {
    put("no-permission", "#!/bin/sh\n", 0644);
    put("no-interpreter", "#!/nonexistent/interpreter\n");
    put("no-program", "\x01\x02 nothing that runs");
    expect_error(program({"heddle-has-no-such-program"}), process_errc::not_found);
    expect_error(program({"./missing"}), process_errc::not_found);
    expect_error(program({"./no-interpreter"}), process_errc::not_found);
    expect_error(program({"./no-permission"}), process_errc::not_permitted);
    expect_error(program({"./no-program"}), process_errc::not_permitted);
    expect_error(program({"./sub"}), process_errc::not_permitted);
    expect_error(program({}), process_errc::invalid_argument);
    expect_error(program({""}), process_errc::invalid_argument);
    expect_error(program({"echo", std::string("a\0b", 3)}), process_errc::invalid_argument);
    expect_error(program({"true", std::string(10'000'000, 'x')}), process_errc::too_long);
    process_request two = shell("true");
    two.arguments.emplace_back("more");
    expect_error(two, process_errc::invalid_argument);
    EXPECT_FALSE(has_children());
}

TEST_F(process_runner, run_program_on_path_without_permission_is_not_permitted) {
    put("sub/heddle-locked", "#!/bin/sh\n", 0644);
    process_request request = program({"heddle-locked"});
    request.environment = {{"PATH", (root / "sub").string()}};
    expect_error(request, process_errc::not_permitted);
}

TEST_F(process_runner, run_path_of_the_environment_is_searched_but_not_the_workspace) {
    put("sub/heddle-probe", "#!/bin/sh\necho found\n");
    process_request request = program({"heddle-probe"});
    request.environment = {{"PATH", (root / "sub").string()}};
    const auto ended = run(request);
    ASSERT_TRUE(ended) << ended.error().message();
    EXPECT_EQ(ended->out, "found\n");
    request.environment = {{"PATH", ".::sub"}};
    request.directory = "sub";
    expect_error(request, process_errc::not_found);
}

TEST_F(process_runner, run_directory_is_inside_the_workspace) {
    process_request request = shell("pwd -P");
    auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, stdfs::canonical(root).string() + "\n");
    request.directory = "sub/../sub";
    ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, stdfs::canonical(root / "sub").string() + "\n");
    stdfs::create_symlink(base / "outside", root / "link");
    put("file", "");
    for (const char* path : {"..", "../outside", "/", "link", "file", "missing", "sub/../.."}) {
        SCOPED_TRACE(path);
        request.directory = path;
        expect_error(request, process_errc::bad_directory);
    }
}

TEST_F(process_runner, run_environment_is_inherited_without_secrets) {
    ::setenv("HEDDLE_TEST_API_KEY", "hidden", 1);
    ::setenv("HEDDLE_TEST_PLAIN", "seen", 1);
    open({"*_API_KEY"});
    process_request request =
        shell("echo \"${HEDDLE_TEST_API_KEY-none} ${HEDDLE_TEST_PLAIN-none} ${GIVEN-none}\"");
    auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "none seen none\n");
    request.secrets = {"HEDDLE_TEST_API_KEY"};
    request.environment = {{"GIVEN", "first"}, {"GIVEN", "x=y"}, {"HEDDLE_TEST_PLAIN", "other"}};
    ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "hidden other x=y\n");
    ::unsetenv("HEDDLE_TEST_API_KEY");
    ::unsetenv("HEDDLE_TEST_PLAIN");
    for (const std::string& name : {std::string(), std::string("A=B"), std::string("A\0B", 3)}) {
        request.environment = {{name, "x"}};
        expect_error(request, process_errc::invalid_argument);
    }
}

TEST_F(process_runner, usual_secrets_cover_the_names_of_keys) {
    ::setenv("HEDDLE_TEST_Secret_thing", "hidden", 1);
    ::setenv("HEDDLE_TEST_GH_TOKEN", "hidden", 1);
    open(usual_secrets());
    const auto ended = run(shell("env"));
    ::unsetenv("HEDDLE_TEST_Secret_thing");
    ::unsetenv("HEDDLE_TEST_GH_TOKEN");
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out.find("hidden"), std::string::npos);
    EXPECT_NE(ended->out.find("PATH="), std::string::npos);
}

TEST_F(process_runner, run_child_has_usual_signals_and_no_descriptors) {
    const int open_here = ::open("/dev/null", O_RDONLY); // not close-on-exec
    ASSERT_GE(open_here, 3);
    std::signal(SIGPIPE, SIG_IGN);
    const auto ended =
        run(shell("[ -e /proc/self/fd/" + std::to_string(open_here) +
                  " ] && echo leaked; sh -c 'kill -PIPE $$; echo ignored'; echo $?"));
    std::signal(SIGPIPE, SIG_DFL);
    ::close(open_here);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, std::to_string(128 + SIGPIPE) + "\n");
}

TEST_F(process_runner, run_signal_is_reported) {
    const auto ended = run(shell("kill -KILL $$"));
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->signal, SIGKILL);
    EXPECT_EQ(ended->exit_code, 128 + SIGKILL);
}

TEST_F(process_runner, run_timeout_is_a_result_with_what_was_written) {
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

TEST_F(process_runner, run_group_that_ignores_the_request_is_killed) {
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

TEST_F(process_runner, cancel_ends_the_whole_group_before_the_call_returns) {
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

TEST_F(process_runner, cancel_reaches_a_stopped_child) {
    coro::cancel_source cancel;
    once_there("ready", [&] { cancel.request(cancel_reason::user); });
    process_request request = shell("touch ready; kill -STOP $$; sleep 60");
    request.grace = 9s;
    const auto ended = run(request, &cancel);
    ASSERT_FALSE(ended);
    EXPECT_FALSE(has_children());
}

TEST_F(process_runner, cancel_before_the_start_starts_nothing) {
    coro::cancel_source cancel;
    cancel.request(cancel_reason::sibling);
    const auto ended = run(shell("touch started"), &cancel);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::sibling);
    EXPECT_FALSE(exists("started"));
}

TEST_F(process_runner, cancel_at_every_turn_leaves_nothing) {
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

TEST_F(process_runner, deadline_of_the_context_is_a_cancellation) {
    const auto ended = run(shell("sleep 60"), nullptr, runner::in(100ms));
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().cancelled_because(), cancel_reason::deadline);
    EXPECT_FALSE(has_children());
}

TEST_F(process_runner, run_background_job_ends_with_the_program) {
    process_request request = shell("sleep 60 & echo $! >job; echo done");
    request.grace = 100ms;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "done\n");
    EXPECT_EQ(ended->exit_code, 0);
    EXPECT_FALSE(ended->timed_out);
    EXPECT_TRUE(gone(number_in("job")));
}

TEST_F(process_runner, run_background_job_without_our_pipes_ends_too) {
    const auto ended = run(shell("sleep 60 >/dev/null 2>&1 & echo $! >job"));
    ASSERT_TRUE(ended);
    EXPECT_TRUE(gone(number_in("job")));
}

TEST_F(process_runner, run_late_output_of_a_job_is_waited_for) {
    process_request request = shell("(sleep 0.05; echo late) & echo early");
    request.grace = 8s;
    const auto ended = run(request);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->out, "early\nlate\n");
}

TEST_F(process_runner, run_daemon_that_keeps_the_pipe_is_not_waited_for) {
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

TEST_F(process_runner, run_thousands_in_a_row_leak_nothing) {
    static_cast<void>(run(program({"true"})));
    const std::size_t before = open_descriptors();
    for (int batch = 0; batch < 20; ++batch) {
        for (int i = 0; i < 100; ++i) {
            const auto ended = run(program({"true"}));
            ASSERT_TRUE(ended) << ended.error().message();
            ASSERT_EQ(ended->exit_code, 0);
        }
    }
    test.turn();
    EXPECT_EQ(open_descriptors(), before);
    EXPECT_FALSE(has_children());
}

coro::task<result<void>> run_one(ports::process_port* children, process_request request,
                                 coro::call_context context, std::string* out) {
    result<process_result> ended = co_await children->run(std::move(request), context);
    if (!ended) co_return std::move(ended).error();
    *out = std::move(ended->out);
    co_return result<void>();
}

coro::task<result<void>> run_many(ports::process_port* children, coro::call_context context,
                                  std::vector<std::string>* outputs) {
    coro::nursery all(context);
    for (std::size_t i = 0; i < outputs->size(); ++i) {
        process_request request;
        request.arguments = {"cat"};
        request.input = "child " + std::to_string(i);
        all.start(run_one(children, std::move(request), all.context(), &(*outputs)[i]));
    }
    result<void> joined = co_await all.join();
    co_return joined;
}

TEST_F(process_runner, run_many_at_once_keep_their_output_apart) {
    std::vector<std::string> outputs(100);
    const auto ended = test.run(run_many(children.get(), test.context(), &outputs));
    ASSERT_TRUE(ended) << ended.error().message();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        EXPECT_EQ(outputs[i], "child " + std::to_string(i));
    }
    EXPECT_FALSE(has_children());
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

TEST_F(process_runner, port_destroyed_while_a_child_runs_kills_it) {
    const pid_t other = ::fork(); // where the coroutine that is never resumed is no leak
    ASSERT_GE(other, 0);
    if (other == 0) ::_exit(leave_early(root));
    int status = 0;
    ::waitpid(other, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_FALSE(alive(number_in("child")));
}

TEST_F(process_runner, status_taken_by_another_is_an_error) {
    std::signal(SIGCHLD, SIG_IGN); // the system reaps
    const auto ended = run(program({"true"}));
    std::signal(SIGCHLD, SIG_DFL);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code(), make_error_code(process_errc::status_lost));
}

TEST_F(process_runner, open_missing_workspace_is_not_found) {
    process_options options;
    options.workspace = (base / "missing").string();
    const auto made = make_process_port(test.loop, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), make_error_code(errc::not_found));
}

coro::task<coro::wake> wait_for(coro::wait_point* point, coro::call_context context) {
    const coro::wake woken = co_await point->wait(context);
    co_return woken;
}

TEST_F(process_runner, watch_without_pidfd_hears_of_the_end) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        ::usleep(30'000);
        ::_exit(5);
    }
    coro::wait_point ended;
    const auto watch =
        std::make_shared<child_watch>(test.loop, child, [&ended] { ended.notify(); });
    watch->start(false, false);
    EXPECT_EQ(test.run(wait_for(&ended, test.context(nullptr, runner::in(9s)))),
              coro::wake::notified);
    EXPECT_TRUE(watch->ended());
    int status = 0;
    EXPECT_TRUE(watch->reap(status));
    EXPECT_EQ(WEXITSTATUS(status), 5);
    EXPECT_FALSE(watch->reap(status));
}

TEST_F(process_runner, watch_that_keeps_going_continues_a_stopped_child) {
    for (const bool pidfd : {true, false}) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::setpgid(0, 0);
            ::raise(SIGSTOP);
            ::_exit(0);
        }
        ::setpgid(child, child);
        coro::wait_point ended;
        const auto watch =
            std::make_shared<child_watch>(test.loop, child, [&ended] { ended.notify(); });
        watch->start(true, pidfd);
        EXPECT_EQ(test.run(wait_for(&ended, test.context(nullptr, runner::in(9s)))),
                  coro::wake::notified);
        int status = 0;
        EXPECT_TRUE(watch->reap(status));
    }
}

/// What the program does that has the terminal: lends it to a child and looks at what is left of it.
int lend_terminal(const stdfs::path& root) {
    runner test;
    std::vector<bool> told;
    process_options options;
    options.workspace = root.string();
    options.on_terminal = [&](bool taken) { told.push_back(taken); };
    auto port = make_process_port(test.loop, options);
    if (!port) return 10;
    process_request request;
    request.arguments = {"read line; echo \"child read $line\"; stty -echo; exit 4"};
    request.through_shell = true;
    request.io = ports::process_io::terminal;
    const auto ended = test.run((*port)->run(std::move(request), test.context()));
    if (!ended) return 11;
    if (ended->exit_code != 4) return 12;
    if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return 13;
    termios modes{};
    if (::tcgetattr(STDIN_FILENO, &modes) != 0 || (modes.c_lflag & ECHO) == 0) return 14;
    if (told != std::vector<bool>{true, false}) return 15;
    return 0;
}

TEST_F(process_runner, terminal_is_lent_and_taken_back) {
    int master = -1;
    const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
    ASSERT_GE(child, 0);
    if (child == 0) ::_exit(lend_terminal(root));
    ASSERT_EQ(::write(master, "hello\n", 6), 6);
    std::string seen;
    std::array<char, 1000> piece{};
    for (;;) {
        pollfd waits{master, POLLIN, 0};
        if (::poll(&waits, 1, 10'000) <= 0) break;
        const ssize_t count = ::read(master, piece.data(), piece.size());
        if (count <= 0) break; // EIO once the last user has closed it
        seen.append(piece.data(), static_cast<std::size_t>(count));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ::close(master);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << seen;
    EXPECT_NE(seen.find("child read hello"), std::string::npos) << seen;
}

} // namespace
} // namespace heddle::process
