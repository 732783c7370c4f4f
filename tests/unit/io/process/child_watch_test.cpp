#include "process_testing.hpp"

#include "process/child_watch.hpp"

#include <heddle/coro/wait_point.hpp>

#include <csignal>

namespace heddle::process::testing {
namespace {

class watch : public process_test {};

coro::task<coro::wake> wait_for(coro::wait_point* point, coro::call_context context) {
    const coro::wake woken = co_await point->wait(context);
    co_return woken;
}

TEST_F(watch, watch_without_pidfd_hears_of_the_end) {
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

TEST_F(watch, watch_that_keeps_going_continues_a_stopped_child) {
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

} // namespace
} // namespace heddle::process::testing
