#include "host/turn_queue.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>

namespace heddle::host {
namespace {

/// Runs many coroutines that compute, and counts how many turns they take between two looks of the
/// loop at its timers and sockets.
class turn_queue_test : public ::testing::Test {
protected:
    coro::task<result<void>> compute(int turns, coro::clock::duration length) {
        coro::wait_point woken;
        turn_queue::place place(turns_, woken);
        for (int k = 0; k < turns; ++k) {
            const bool at_once = turns_.ask(place, turn_queue::rank::computing);
            if (!at_once && place.has_turn()) co_await coro::yield_now(loop_);
            while (!place.has_turn()) {
                const coro::wake heard =
                    co_await woken.wait(coro::call_context{&loop_, nullptr, {}});
                (void)heard;
            }
            ++taken_;
            const auto began = loop_.now();
            loop_.pass(length);
            turns_.end(place, began);
        }
        co_return result<void>();
    }

    coro::task<void> compute_all(int coroutines, int turns, coro::clock::duration length) {
        coro::nursery all(coro::call_context{&loop_, nullptr, {}});
        for (int k = 0; k < coroutines; ++k) all.start(compute(turns, length));
        const result<void> joined = co_await all.join();
        EXPECT_TRUE(joined);
        ended_ = true;
    }

    /// Comes once in each round of the loop's queue, as its look at timers does.
    void count_round() {
        max_in_round_ = std::max(max_in_round_, taken_ - taken_before_);
        taken_before_ = taken_;
        ++rounds_;
        if (!ended_) boost::asio::post(context_, [this] { count_round(); });
    }

    void run(int coroutines, int turns, coro::clock::duration length) {
        coro::spawn(loop_, compute_all(coroutines, turns, length),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        count_round();
        loop_.run();
        EXPECT_TRUE(ended_);
        EXPECT_EQ(taken_, coroutines * turns);
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_, coro::event_loop::time::virtual_};
    turn_queue turns_{loop_};
    int taken_ = 0;
    int taken_before_ = 0;
    int max_in_round_ = 0;
    int rounds_ = 0;
    bool ended_ = false;
};

TEST_F(turn_queue_test, few_long_turns_are_taken_between_two_looks_at_timers) {
    run(1000, 3, turn_queue::turn);
    EXPECT_LE(max_in_round_, 9); // a batch, and one who found nobody there
}

TEST_F(turn_queue_test, one_that_computes_alone_lets_the_loop_go_on) {
    run(1, 100, turn_queue::turn);
    EXPECT_LE(max_in_round_, 2);
}

TEST_F(turn_queue_test, short_turns_need_not_queue) {
    run(1000, 1, turn_queue::turn / 2000);
    EXPECT_LE(rounds_, 10);
}

TEST_F(turn_queue_test, share_divides_a_turn_among_a_batch) {
    EXPECT_EQ(turns_.share(), turn_queue::turn);
    coro::wait_point woken;
    turn_queue::place first(turns_, woken);
    EXPECT_TRUE(turns_.ask(first, turn_queue::rank::computing));
    EXPECT_TRUE(first.has_turn());
    EXPECT_EQ(turns_.share(), turn_queue::turn);
    const auto began = loop_.now();
    loop_.pass(turn_queue::turn);
    turns_.end(first, began);
    // The loop has had no chance since: who asks now queues.
    EXPECT_FALSE(turns_.ask(first, turn_queue::rank::computing));
    turn_queue::place second(turns_, woken);
    turn_queue::place third(turns_, woken);
    EXPECT_FALSE(turns_.ask(second, turn_queue::rank::computing));
    EXPECT_FALSE(turns_.ask(third, turn_queue::rank::woken));
    EXPECT_TRUE(first.has_turn());
    EXPECT_FALSE(second.has_turn());
    turns_.end(first, loop_.now());
    EXPECT_TRUE(second.has_turn());
    EXPECT_TRUE(third.has_turn());
    EXPECT_EQ(turns_.share(), turn_queue::turn / 2);
}

TEST_F(turn_queue_test, who_leaves_holds_nobody_up) {
    coro::wait_point woken;
    auto holder = std::make_unique<turn_queue::place>(turns_, woken);
    auto queued = std::make_unique<turn_queue::place>(turns_, woken);
    turn_queue::place last(turns_, woken);
    EXPECT_FALSE(turns_.ask(*holder, turn_queue::rank::idle)); // a batch of its own
    EXPECT_FALSE(turns_.ask(*queued, turn_queue::rank::computing));
    EXPECT_FALSE(turns_.ask(last, turn_queue::rank::computing));
    queued.reset();
    EXPECT_FALSE(last.has_turn());
    holder.reset();
    EXPECT_TRUE(last.has_turn());
    turn_queue::place hasty(turns_, woken);
    EXPECT_FALSE(turns_.ask(hasty, turn_queue::rank::woken));
    EXPECT_FALSE(hasty.has_turn());
    turns_.seize(hasty);
    EXPECT_TRUE(hasty.has_turn());
}

} // namespace
} // namespace heddle::host
