#include <heddle/coro/thread_without_signals.hpp>

#include <gtest/gtest.h>

#include <csignal>

namespace heddle::coro {
namespace {

[[nodiscard]] sigset_t signals_blocked_here() {
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return blocked;
}

TEST(thread_without_signals, blocks_them_in_the_thread_and_not_in_the_caller) {
    sigset_t own{};
    thread_without_signals([&own] { own = signals_blocked_here(); }).join();
    const sigset_t here = signals_blocked_here();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGPIPE}) {
        EXPECT_EQ(sigismember(&own, signal), 1) << signal;
        EXPECT_EQ(sigismember(&here, signal), 0) << signal;
    }
}

TEST(thread_without_signals, leaves_what_the_caller_has_blocked) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    sigset_t before;
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &one, &before), 0);
    thread_without_signals([] {}).join();
    const sigset_t here = signals_blocked_here();
    EXPECT_EQ(sigismember(&here, SIGUSR2), 1);
    EXPECT_EQ(sigismember(&here, SIGINT), 0);
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

} // namespace
} // namespace heddle::coro
