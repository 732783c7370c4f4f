#include <heddle/http/pool_fsm.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <vector>

namespace heddle::http {
namespace {

using namespace std::chrono_literals;

struct item final : pool_item {};
struct waiter final : pool_waiter {
    explicit waiter(int number = 0) : id(number) {}
    int id;
};

const pool_fsm::time_point start{};

pool_limits limits(std::size_t connections, std::size_t idle = 100) {
    return {connections, idle, 10s};
}

TEST(pool_fsm, acquire_opens_until_the_limit_and_then_queues) {
    pool_fsm pool(limits(2));
    waiter a;
    waiter b;
    waiter c;
    EXPECT_EQ(pool.acquire(a).answer, pool_answer::open);
    EXPECT_EQ(pool.acquire(b).answer, pool_answer::open);
    EXPECT_EQ(pool.acquire(c).answer, pool_answer::queued);
    EXPECT_TRUE(c.queued());
    EXPECT_EQ(pool.places(), 2U);
    EXPECT_EQ(pool.waiting(), 1U);
    EXPECT_FALSE(pool.next_grant());
    pool.leave(c);
}

TEST(pool_fsm, the_last_returned_connection_is_reused_first) {
    pool_fsm pool(limits(3));
    waiter call;
    item one;
    item two;
    (void)pool.acquire(call);
    (void)pool.acquire(call);
    EXPECT_TRUE(pool.released(one, true, start));
    EXPECT_TRUE(pool.released(two, true, start + 1s));
    EXPECT_EQ(pool.idle(), 2U);
    const pool_grant grant = pool.acquire(call);
    EXPECT_EQ(grant.answer, pool_answer::reuse);
    EXPECT_EQ(grant.item, &two);
    EXPECT_FALSE(two.idle());
    EXPECT_EQ(pool.places(), 2U);
}

TEST(pool_fsm, a_returned_connection_goes_to_the_first_in_line) {
    pool_fsm pool(limits(1));
    waiter first;
    waiter second;
    waiter third;
    item connection;
    (void)pool.acquire(first);
    (void)pool.acquire(second);
    (void)pool.acquire(third);
    EXPECT_TRUE(pool.released(connection, true, start));
    auto grant = pool.next_grant();
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->waiter, &second);
    EXPECT_EQ(grant->item, &connection);
    EXPECT_FALSE(pool.next_grant());
    pool.leave(third);
}

TEST(pool_fsm, nobody_overtakes_the_line) {
    pool_fsm pool(limits(1));
    waiter first;
    waiter second;
    waiter late;
    item connection;
    (void)pool.acquire(first);
    (void)pool.acquire(second);
    EXPECT_TRUE(pool.released(connection, true, start));
    EXPECT_EQ(pool.acquire(late).answer, pool_answer::queued); // though one is idle at this moment
    EXPECT_EQ(pool.next_grant()->waiter, &second);
    pool.leave(late);
}

TEST(pool_fsm, a_lost_connection_frees_its_place_for_the_line) {
    pool_fsm pool(limits(1));
    waiter first;
    waiter second;
    item connection;
    (void)pool.acquire(first);
    (void)pool.acquire(second);
    EXPECT_FALSE(pool.released(connection, false, start));
    EXPECT_FALSE(pool.next_grant());
    pool.gone(connection);
    auto grant = pool.next_grant();
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->answer, pool_answer::open);
    EXPECT_EQ(grant->waiter, &second);
    EXPECT_EQ(pool.places(), 1U);
}

TEST(pool_fsm, leaving_keeps_the_order_of_the_others) {
    pool_fsm pool(limits(1));
    item connection;
    std::deque<waiter> line;
    for (int i = 0; i < 6; ++i) line.emplace_back(i);
    for (waiter& one : line) (void)pool.acquire(one);
    pool.leave(line[1]); // first
    pool.leave(line[3]); // middle
    pool.leave(line[5]); // last
    pool.leave(line[5]); // twice does nothing
    EXPECT_EQ(pool.waiting(), 2U);
    std::vector<int> served;
    for (int i = 0; i < 3; ++i) {
        (void)pool.released(connection, true, start);
        if (auto grant = pool.next_grant())
            served.push_back(static_cast<waiter*>(grant->waiter)->id);
    }
    EXPECT_EQ(served, (std::vector<int>{2, 4}));
}

TEST(pool_fsm, no_more_than_max_idle_are_kept) {
    pool_fsm pool(limits(4, 1));
    waiter call;
    item one;
    item two;
    (void)pool.acquire(call);
    (void)pool.acquire(call);
    EXPECT_TRUE(pool.released(one, true, start));
    EXPECT_FALSE(pool.released(two, true, start));
    pool.gone(two);
    EXPECT_EQ(pool.places(), 1U);
    pool_fsm none(limits(1, 0));
    waiter next;
    (void)none.acquire(call);
    (void)none.acquire(next);
    EXPECT_TRUE(none.released(one, true, start)); // for the one who waits
    EXPECT_EQ(none.next_grant()->waiter, &next);
    EXPECT_FALSE(none.released(one, true, start));
}

TEST(pool_fsm, unused_connections_age_oldest_first) {
    pool_fsm pool(limits(3));
    waiter call;
    item one;
    item two;
    (void)pool.acquire(call);
    (void)pool.acquire(call);
    EXPECT_EQ(pool.next_expiry(), pool_fsm::time_point::max());
    (void)pool.released(one, true, start);
    (void)pool.released(two, true, start + 4s);
    EXPECT_EQ(pool.next_expiry(), start + 10s);
    EXPECT_EQ(pool.expired(start + 9s), nullptr);
    EXPECT_EQ(pool.expired(start + 10s), &one);
    pool.gone(one);
    EXPECT_EQ(pool.expired(start + 10s), nullptr);
    EXPECT_EQ(pool.next_expiry(), start + 14s);
    pool.gone(two);
    EXPECT_EQ(pool.places(), 0U);
}

TEST(pool_fsm, a_connection_lost_while_idle_is_not_given_out) {
    pool_fsm pool(limits(3));
    waiter call;
    item connections[3];
    for (item& one : connections) {
        (void)one;
        (void)pool.acquire(call);
    }
    for (item& one : connections) (void)pool.released(one, true, start);
    pool.gone(connections[1]);
    EXPECT_EQ(pool.acquire(call).item, &connections[2]);
    EXPECT_EQ(pool.acquire(call).item, &connections[0]);
    EXPECT_EQ(pool.acquire(call).answer, pool_answer::open);
}

TEST(pool_fsm, close_refuses_everybody_and_keeps_nothing) {
    pool_fsm pool(limits(2));
    waiter call;
    waiter queued;
    item used;
    item idle;
    (void)pool.acquire(call);
    (void)pool.acquire(call);
    (void)pool.released(idle, true, start);
    (void)pool.acquire(call);
    (void)pool.acquire(queued);
    EXPECT_EQ(pool.next_refused(), nullptr);
    pool.close();
    EXPECT_EQ(pool.next_refused(), &queued);
    EXPECT_EQ(pool.next_refused(), nullptr);
    EXPECT_FALSE(pool.next_grant());
    EXPECT_EQ(pool.acquire(call).answer, pool_answer::closed);
    EXPECT_FALSE(pool.released(used, true, start));
    pool.gone(used);
    pool.gone(idle);
    EXPECT_EQ(pool.places(), 0U);
}

// Random events against a slow model: places, idle ones and the line never disagree.
TEST(pool_fsm, random_events_keep_the_books) {
    std::mt19937 random(11);
    for (int round = 0; round < 50; ++round) {
        pool_fsm pool(limits(4, 3));
        std::deque<item> connections(4);
        std::vector<pool_item*> unborn;
        for (item& one : connections) unborn.push_back(&one);
        std::vector<pool_item*> used;
        std::set<pool_item*> idle;
        std::deque<waiter> callers(8);
        std::deque<pool_waiter*> line;
        const auto give = [&](const pool_grant& grant) {
            if (grant.answer == pool_answer::open) {
                ASSERT_FALSE(unborn.empty());
                used.push_back(unborn.back());
                unborn.pop_back();
            } else {
                ASSERT_EQ(idle.erase(grant.item), 1U);
                used.push_back(grant.item);
            }
        };
        const auto serve = [&] {
            for (auto grant = pool.next_grant(); grant; grant = pool.next_grant()) {
                ASSERT_FALSE(line.empty());
                ASSERT_EQ(grant->waiter, line.front());
                line.pop_front();
                give(*grant);
            }
        };
        for (int step = 0; step < 300; ++step) {
            const auto now = start + std::chrono::seconds(step);
            waiter& caller = callers[random() % callers.size()];
            const auto what = random() % 5;
            if (what < 2 && !caller.queued()) {
                const pool_grant grant = pool.acquire(caller);
                if (grant.answer == pool_answer::queued) line.push_back(&caller);
                else give(grant);
            } else if (what == 2 && !used.empty()) {
                const std::size_t at = random() % used.size();
                pool_item* connection = used[at];
                used.erase(used.begin() + static_cast<std::ptrdiff_t>(at));
                if (pool.released(*connection, random() % 4 != 0, now)) {
                    idle.insert(connection);
                } else {
                    pool.gone(*connection);
                    unborn.push_back(connection);
                }
                serve();
            } else if (what == 3 && caller.queued()) {
                pool.leave(caller);
                std::erase(line, &caller);
            } else if (what == 4) {
                if (pool_item* old = pool.expired(now)) {
                    ASSERT_EQ(idle.erase(old), 1U);
                    pool.gone(*old);
                    unborn.push_back(old);
                    serve();
                }
            }
            ASSERT_EQ(pool.idle(), idle.size());
            ASSERT_EQ(pool.waiting(), line.size());
            ASSERT_EQ(pool.places(), used.size() + idle.size());
            ASSERT_TRUE(line.empty() ||
                        (idle.empty() && pool.places() == 4)); // nobody waits in vain
        }
        for (waiter& caller : callers) pool.leave(caller);
    }
}

} // namespace
} // namespace heddle::http
