// Ctrl-C and SIGTERM at several moments: exit code 130, no connection left, a second one at once.
#include "child_process.hpp"
#include "model_thread.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <hang_guard.hpp>

#include <sys/wait.h>

#include <csignal>
#include <thread>

namespace heddle::cli_test {
namespace {

constexpr const char* many_calls =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
    "(define (main) (map (lambda (i) (ask (number->string i))) (range 1000)))\n";
constexpr const char* slow_rules =
    R"({"rules": [{"match": "^[0-9]$", "text": "quick"},
                  {"match": ".*", "text": "slow", "delay_ms": 600000}]})";

class interrupt : public testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> command(std::vector<std::string> more = {}) {
        std::vector<std::string> strings{"run", scratch.file("w.heddle", many_calls), "--base-url",
                                         model.url()};
        strings.insert(strings.end(), more.begin(), more.end());
        return heddle_command(strings);
    }
    void expect_clean_end(child_process& child) {
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130) << ended.err;
        EXPECT_EQ(ended.out, "");
        EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.open_connections == 0; }));
    }
    /// Interrupts it for the second time. Its last words show that it stopped at once: an orderly
    /// end reports the calls.
    static void expect_stop_at_once(child_process& child) {
        child.send_signal(SIGINT);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130);
        EXPECT_FALSE(ended.signalled);
        EXPECT_TRUE(ended.err.ends_with("interrupted\n")) << ended.err;
    }

    scratch_directory scratch;
    model_thread model{slow_rules};
};

TEST_F(interrupt, with_calls_in_flight_ends_them_and_reports_what_was_done) {
    child_process child(command());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 64; }));
    child.send_signal(SIGINT);
    expect_clean_end(child);
    EXPECT_NE(child.err().find("interrupted: 10 calls done, 64 cancelled"), std::string::npos)
        << child.err();
    EXPECT_NE(child.err().find("tokens in"), std::string::npos) << child.err();
}

TEST_F(interrupt, by_every_signal_that_asks_for_an_end_is_the_same) {
    for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
        SCOPED_TRACE(signal);
        child_process child(command());
        ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 64; }));
        child.send_signal(signal);
        expect_clean_end(child);
        EXPECT_NE(child.err().find("interrupted: 10 calls done"), std::string::npos) << child.err();
    }
}

TEST_F(interrupt, does_not_come_with_a_hangup_that_was_ignored_from_the_start) {
    std::vector<std::string> ignoring{"/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"};
    for (const std::string& each : command()) ignoring.push_back(each);
    child_process child(ignoring);
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 64; }));
    child.send_signal(SIGHUP);
    std::this_thread::sleep_for(milliseconds(300));
    EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 64; }));
    child.send_signal(SIGINT);
    expect_clean_end(child);
}

TEST_F(interrupt, with_a_thousand_in_flight_closes_every_socket) {
    child_process child(command({"--concurrency", "1000"}));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 990; }));
    child.send_signal(SIGINT);
    expect_clean_end(child);
    EXPECT_NE(child.err().find("10 calls done, 990 cancelled"), std::string::npos) << child.err();
}

TEST_F(interrupt, at_any_moment_leaves_nothing_open) {
    for (const int delay : {0, 2, 5, 10, 15, 20, 30, 50}) {
        child_process child(command());
        std::this_thread::sleep_for(milliseconds(delay));
        child.send_signal(SIGINT);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130) << "after " << delay << " ms\n" << ended.err;
        EXPECT_TRUE(model.wait_until([](const auto& seen) { return seen.open_connections == 0; }))
            << "after " << delay << " ms";
    }
}

TEST_F(interrupt, is_reported_as_json) {
    child_process child(command({"--json"}));
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.in_flight == 64; }));
    child.send_signal(SIGINT);
    expect_clean_end(child);
    const auto reported = boost::json::parse(child.err()).as_object();
    EXPECT_EQ(reported.at("exit_code"), 130);
    EXPECT_EQ(reported.at("error").at("cancelled_because"), "user");
    EXPECT_EQ(reported.at("calls").at("cancelled"), 64);
}

TEST_F(interrupt, ends_a_computation_that_never_waits) {
    child_process child(
        heddle_command({"eval", "(progn (log-message \"on\") (while true 1))", "-v"}));
    ASSERT_TRUE(child.wait_for_err("on"));
    child.send_signal(SIGINT);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 130) << ended.err;
}

TEST_F(interrupt, runs_finally_and_a_second_one_stops_at_once) {
    const char* stubborn =
        "(try (progn (log-message \"begun\") (sleep 600))\n"
        "  (finally (progn (log-message \"tidying\") (sleep 4))))";
    child_process child(heddle_command({"eval", stubborn, "-v"}));
    ASSERT_TRUE(child.wait_for_err("begun"));
    child.send_signal(SIGINT);
    ASSERT_TRUE(child.wait_for_err("tidying"));
    expect_stop_at_once(child);
}

TEST_F(interrupt, that_stops_at_once_is_reported_too) {
    for (const bool json : {false, true}) {
        std::vector<std::string> asked{"eval", "(try (sleep 600) (finally (sleep 600)))"};
        if (json) asked.emplace_back("--json");
        child_process child(heddle_command(asked));
        // Nothing shows when it sleeps; whenever the signals come, its last words are the same.
        std::this_thread::sleep_for(milliseconds(500));
        child.send_signal(SIGINT);
        std::this_thread::sleep_for(milliseconds(200));
        child.send_signal(SIGINT);
        const auto ended = child.wait();
        EXPECT_EQ(ended.code, 130);
        EXPECT_FALSE(ended.signalled);
        if (!json) {
            EXPECT_EQ(ended.err, "interrupted\n");
            continue;
        }
        const auto reported = boost::json::parse(ended.err).as_object();
        EXPECT_EQ(reported.at("exit_code").as_int64(), 130);
        EXPECT_EQ(reported.at("error").as_object().at("cancelled_because").as_string(), "user");
    }
}

TEST_F(interrupt, twice_stops_a_loop_that_never_looks) {
    // Nobody reads what it prints: after the first one its end waits for a reader.
    child_process child(heddle_command({"eval",
                                        "(progn (log-message \"begun\") (while true (print "
                                        "\"a line that fills what a pipe can hold\")))",
                                        "-v"}));
    ASSERT_TRUE(child.wait_for_err("begun"));
    std::this_thread::sleep_for(milliseconds(500));
    child.send_signal(SIGINT);
    std::this_thread::sleep_for(milliseconds(100));
    child.send_signal(SIGINT);
    ASSERT_TRUE(hang_guard::comes_true([&] { return child.has_ended(); }));
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(ended.si_code, CLD_EXITED);
    EXPECT_EQ(ended.si_status, 130);
}

TEST_F(interrupt, twice_stops_builtins_that_take_long) {
    // The first one is for the sleep: what tidies up is not cancelled.
    const char* stubborn =
        "(try (progn (log-message \"begun\") (sleep 600))\n"
        "  (finally (progn (log-message \"tidying\")\n"
        "    (while true (sort (reverse (range 1000000)))))))";
    child_process child(heddle_command({"eval", stubborn, "-v"}));
    ASSERT_TRUE(child.wait_for_err("begun"));
    child.send_signal(SIGINT);
    ASSERT_TRUE(child.wait_for_err("tidying"));
    std::this_thread::sleep_for(milliseconds(300));
    expect_stop_at_once(child);
}

TEST_F(interrupt, once_stops_a_builtin_that_takes_long) {
    const auto sorting = [](const std::string& count) {
        return heddle_command(
            {"eval",
             "(progn (log-message \"begun\") (length (sort (reverse (range " + count + ")))))",
             "-v", "--memory-limit", "2GiB"});
    };
    child_process fewer(sorting("6000000")); // beside it, on the same machine
    child_process child(sorting("8000000"));
    ASSERT_TRUE(fewer.wait_for_err("begun"));
    ASSERT_TRUE(child.wait_for_err("begun"));
    std::this_thread::sleep_for(milliseconds(100));
    child.send_signal(SIGINT);
    EXPECT_EQ(child.wait().code, 130) << child.err();
    EXPECT_FALSE(fewer.has_ended()) << "it sorted to the end";
    EXPECT_EQ(fewer.wait().out, "6000000\n");
}

} // namespace
} // namespace heddle::cli_test
