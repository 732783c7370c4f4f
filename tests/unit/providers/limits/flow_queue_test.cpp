#include <heddle/providers/limits/flow_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace heddle::testing {
namespace {

using ports::call_priority;
using providers::limits::flow_queue;
using providers::limits::queued_call;

struct named : queued_call {
    explicit named(std::string what) : name(std::move(what)) {}
    std::string name;
};

struct line {
    explicit line(unsigned batch_share = 8) : queue(batch_share) {}
    named& add(const std::string& name, std::uint64_t flow,
               call_priority priority = call_priority::interactive, double weight = 1,
               bool first = false) {
        named& result = calls.emplace_back(name);
        queue.push(result, flow, priority, weight, first);
        return result;
    }
    std::string next() {
        auto* const call = static_cast<named*>(queue.front());
        if (!call) return "";
        queue.pop(*call);
        return call->name;
    }
    std::string rest() {
        std::string all;
        while (!queue.empty()) all += next();
        return all;
    }
    flow_queue queue;
    std::deque<named> calls;
};

TEST(flow_queue, one_flow_is_served_in_order) {
    line waiting;
    for (const char* name : {"a", "b", "c"}) waiting.add(name, 1);
    EXPECT_EQ(waiting.queue.before(1, call_priority::interactive), 3U);
    EXPECT_EQ(waiting.rest(), "abc");
    EXPECT_EQ(waiting.queue.front(), nullptr);
}

TEST(flow_queue, a_late_flow_shares_with_one_that_queued_a_thousand) {
    line waiting;
    for (int i = 0; i < 1000; ++i) waiting.add("a", 1);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(waiting.next(), "a");
    for (int i = 0; i < 5; ++i) waiting.add("b", 2);
    std::string seen;
    for (int i = 0; i < 10; ++i) seen += waiting.next();
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 'b'), 5);
}

TEST(flow_queue, flows_share_by_weight_and_not_by_calls) {
    line waiting;
    for (int i = 0; i < 100; ++i) waiting.add("L", 1, call_priority::interactive, 10);
    for (int i = 0; i < 1000; ++i) waiting.add("s", 2, call_priority::interactive, 1);
    std::string seen;
    for (int i = 0; i < 220; ++i) seen += waiting.next();
    EXPECT_NEAR(static_cast<double>(std::count(seen.begin(), seen.end(), 'L')), 20, 1);
}

TEST(flow_queue, an_idle_flow_saves_no_credit) {
    line waiting;
    waiting.add("a", 1);
    EXPECT_EQ(waiting.next(), "a");
    for (int i = 0; i < 50; ++i) waiting.add("b", 2);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(waiting.next(), "b");
    for (int i = 0; i < 10; ++i) waiting.add("a", 1);
    for (int i = 0; i < 10; ++i) waiting.add("b", 2);
    std::string seen;
    for (int i = 0; i < 10; ++i) seen += waiting.next();
    EXPECT_NEAR(static_cast<double>(std::count(seen.begin(), seen.end(), 'a')), 5, 1);
}

TEST(flow_queue, interactive_goes_first_and_batch_does_not_starve) {
    line waiting(4);
    for (int i = 0; i < 8; ++i) waiting.add("b", 1, call_priority::batch);
    for (int i = 0; i < 9; ++i) waiting.add("i", 2);
    EXPECT_EQ(waiting.rest(), "iiibiiibiiibbbbbb");
}

TEST(flow_queue, a_retry_goes_before_its_flow) {
    line waiting;
    waiting.add("a", 1);
    waiting.add("b", 1);
    waiting.add("R", 1, call_priority::interactive, 1, true);
    EXPECT_EQ(waiting.rest(), "Rab");
}

TEST(flow_queue, one_may_leave_at_every_place) {
    for (int leaving = 0; leaving < 4; ++leaving) {
        line waiting;
        std::deque<named*> all;
        for (const char* name : {"a", "b", "c", "d"}) all.push_back(&waiting.add(name, 1));
        named& other = waiting.add("x", 2);
        waiting.queue.remove(*all[static_cast<std::size_t>(leaving)]);
        waiting.queue.remove(other);
        EXPECT_FALSE(other.queued());
        std::string expected = "abcd";
        expected.erase(static_cast<std::size_t>(leaving), 1);
        EXPECT_EQ(waiting.rest(), expected);
    }
}

TEST(flow_queue, a_call_that_is_destroyed_leaves_and_a_queue_may_go_first) {
    named stays("stays");
    {
        flow_queue queue(8);
        {
            named gone("gone");
            queue.push(gone, 1, call_priority::interactive, 1);
            queue.push(stays, 1, call_priority::interactive, 1);
        }
        EXPECT_EQ(queue.size(), 1U);
        EXPECT_EQ(queue.front(), &stays);
    }
    EXPECT_FALSE(stays.queued());
}

TEST(flow_queue, flows_that_come_once_are_forgotten) {
    line waiting;
    for (std::uint64_t flow = 0; flow < 10'000; ++flow) {
        waiting.add("x", flow);
        EXPECT_EQ(waiting.next(), "x");
    }
    EXPECT_LE(waiting.queue.known_flows(), 100U);
}

} // namespace
} // namespace heddle::testing
