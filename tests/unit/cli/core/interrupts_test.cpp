// Signals at the moments at which nothing looks at them.
#include "interrupts.hpp"

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>

namespace heddle::cli {
namespace {

using interrupts_death = testing::Test;

TEST_F(interrupts_death, one_that_comes_after_the_last_look_still_ends_the_process) {
    const auto interrupted_late = [] {
        end_at_signals("the last words");
        boost::asio::io_context context;
        interrupts signals(context, [] {});
        ::raise(SIGTERM);
        signals.stop();
        ::_exit(0);
    };
    EXPECT_EXIT(interrupted_late(), testing::ExitedWithCode(130), "the last words");
}

TEST_F(interrupts_death, one_that_was_handled_does_not_come_again) {
    const auto interrupted = [] {
        end_at_signals("the last words");
        boost::asio::io_context context;
        bool handled = false;
        interrupts signals(context, [&] { handled = true; });
        ::raise(SIGINT);
        context.run_one();
        signals.stop();
        ::_exit(handled ? 7 : 0);
    };
    EXPECT_EXIT(interrupted(), testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace heddle::cli
