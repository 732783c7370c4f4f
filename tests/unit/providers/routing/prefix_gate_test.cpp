#include <heddle/providers/routing/prefix_gate.hpp>
#include <heddle/providers/routing/prefix_hash.hpp>

#include "../gate_caller.hpp"
#include "../provider_testing.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
using providers::call_demand;
using providers::call_gate;
using providers::call_outcome;
using providers::call_permit;
using providers::call_ticket;
using providers::prefix_gate;
using providers::prefix_hash;

/// Lets everything pass, or makes it wait, and counts.
class open_gate final : public call_gate {
public:
    call_permit try_acquire(const call_demand&) override {
        if (slow) return {};
        ++out;
        return {*this, call_ticket{}};
    }
    coro::task<result<call_permit>> acquire(call_demand, coro::call_context context) override {
        if (slow) {
            coro::wait_point nobody;
            const coro::wake outcome = co_await nobody.wait(
                context.with_deadline(coro::deadline(context.loop->now() + 1s)));
            if (outcome == coro::wake::cancelled) {
                co_return error::cancelled(context.cancel->reason());
            }
        }
        if (refuses) co_return error(ports::llm_errc::rate_limit, "full");
        ++out;
        co_return call_permit(*this, call_ticket{});
    }
    int out = 0;
    int answered = 0;
    int reported_sent = 0;
    bool slow = false;
    bool refuses = false;

private:
    void sent(const call_ticket&) noexcept override { ++reported_sent; }
    void answering(const call_ticket&) noexcept override { ++answered; }
    void end(const call_ticket&, const call_outcome&) noexcept override { --out; }
};

std::string long_text(char first = 'x') { return std::string(1, first) + std::string(5'000, 'y'); }

struct fan_out {
    using caller = gate_caller;

    caller& call(std::string text = long_text(), coro::deadline until = {}) {
        caller& result = callers.emplace_back();
        result.request = user_request(std::move(text));
        result.until = until;
        result.start(loop, gate);
        return result;
    }
    void turn() {
        io.restart();
        io.poll();
    }
    static void end(caller& of, int status) {
        const error failure(ports::llm_errc::server, "x");
        call_outcome outcome;
        outcome.status = status;
        if (status >= 300) outcome.failure = &failure;
        of.permit.settle(outcome);
    }

    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    std::shared_ptr<open_gate> behind = std::make_shared<open_gate>();
    prefix_gate gate{loop, behind};
    std::deque<caller> callers;
};

TEST(prefix_gate, the_first_leads_and_its_first_byte_lets_the_others_go) {
    fan_out at;
    for (int i = 0; i < 50; ++i) at.call();
    at.turn();
    EXPECT_EQ(at.behind->out, 1);
    EXPECT_EQ(at.gate.waiting(), 49U);
    at.callers[0].permit.sent();
    EXPECT_EQ(at.behind->reported_sent, 1);
    at.callers[0].permit.answering();
    at.turn();
    EXPECT_EQ(at.behind->out, 50);
    EXPECT_EQ(at.behind->answered, 1);
    EXPECT_EQ(at.gate.waiting(), 0U);
    at.call(); // warm now
    at.turn();
    EXPECT_EQ(at.behind->out, 51);
}

TEST(prefix_gate, a_whole_response_lets_them_go_too) {
    fan_out at;
    for (int i = 0; i < 3; ++i) at.call();
    at.turn();
    fan_out::end(at.callers[0], 200);
    at.turn();
    EXPECT_EQ(at.behind->out, 2);
}

TEST(prefix_gate, when_the_leader_fails_the_next_one_leads) {
    fan_out at;
    for (int i = 0; i < 4; ++i) at.call();
    at.turn();
    fan_out::end(at.callers[0], 500);
    at.turn();
    EXPECT_TRUE(at.callers[1].permit);
    EXPECT_EQ(at.behind->out, 1);
    at.callers[1].permit = {}; // never sent
    at.turn();
    EXPECT_TRUE(at.callers[2].permit);
    EXPECT_EQ(at.behind->out, 1);
    fan_out::end(at.callers[2], 200);
    at.turn();
    EXPECT_TRUE(at.callers[3].permit);
}

TEST(prefix_gate, short_prompts_other_prompts_and_a_gate_that_is_off_never_wait) {
    fan_out at;
    at.call();
    at.call("short");
    at.call("short");
    at.call(long_text('z'));
    at.turn();
    EXPECT_EQ(at.behind->out, 4);
    at.gate.enable(false);
    at.call();
    at.turn();
    EXPECT_EQ(at.behind->out, 5);
}

TEST(prefix_gate, nobody_waits_longer_than_is_patient) {
    fan_out at;
    at.call();
    auto& second = at.call();
    const auto began = at.loop.now();
    at.loop.run();
    EXPECT_TRUE(second.permit);
    EXPECT_EQ(second.ended, began + 10s);
    EXPECT_EQ(at.gate.waiting(), 0U);
    fan_out::end(at.callers[0], 500); // nobody is left to lead
    at.call();
    at.turn();
    EXPECT_EQ(at.behind->out, 2);
}

TEST(prefix_gate, cancellation_and_deadline_end_the_wait) {
    fan_out at;
    at.call();
    auto& cancelled = at.call();
    auto& late = at.call(long_text(), coro::deadline(at.loop.now() + 2s));
    at.turn();
    cancelled.cancel.request(cancel_reason::user);
    at.loop.run();
    ASSERT_TRUE(cancelled.failure);
    EXPECT_EQ(cancelled.failure->cancelled_because(), cancel_reason::user);
    ASSERT_TRUE(late.failure);
    EXPECT_EQ(late.failure->cancelled_because(), cancel_reason::deadline);
    EXPECT_EQ(at.gate.waiting(), 0U);
    EXPECT_EQ(at.behind->out, 1);
}

TEST(prefix_gate, a_leader_that_is_cancelled_in_its_turn_hands_on) {
    for (const bool reported_first : {false, true}) {
        fan_out at;
        at.call();
        auto& second = at.call();
        auto& third = at.call();
        at.turn();
        if (!reported_first) second.cancel.request(cancel_reason::user);
        fan_out::end(at.callers[0], 500);
        if (reported_first) second.cancel.request(cancel_reason::user);
        at.turn();
        EXPECT_TRUE(second.failure);
        EXPECT_TRUE(third.permit);
    }
}

TEST(prefix_gate, a_leader_that_does_not_get_through_behind_hands_on) {
    fan_out at;
    at.behind->slow = true;
    auto& first = at.call();
    at.call();
    at.call();
    at.turn();
    first.cancel.request(cancel_reason::user); // while it waits behind
    at.behind->refuses = true;
    at.loop.run();
    EXPECT_EQ(first.failure->cancelled_because(), cancel_reason::user);
    for (std::size_t i = 1; i < 3; ++i) {
        ASSERT_TRUE(at.callers[i].failure);
        EXPECT_EQ(at.callers[i].failure->code(), ports::llm_errc::rate_limit);
    }
    EXPECT_EQ(at.gate.waiting(), 0U);
}

TEST(prefix_gate, a_prefix_grows_cold) {
    fan_out at;
    at.call();
    at.turn();
    at.callers[0].permit.answering(); // its stream goes on for long
    at.loop.pass(10min);
    at.call();
    at.call();
    at.turn();
    EXPECT_EQ(at.behind->out, 2);
    fan_out::end(at.callers[0], 200); // leads no more
    at.turn();
    EXPECT_EQ(at.behind->out, 1);
    at.callers[1].permit.answering();
    at.turn();
    EXPECT_EQ(at.behind->out, 2);
}

TEST(prefix_gate, many_prefixes_are_forgotten) {
    fan_out at;
    for (int i = 0; i < 5'000; ++i) {
        auto& one = at.call(std::to_string(i) + long_text());
        at.turn();
        ASSERT_TRUE(one.permit);
        fan_out::end(one, 500);
    }
    EXPECT_EQ(at.behind->out, 0);
}

TEST(prefix_gate, a_call_costs_the_same_among_many_warm_prefixes) {
    const auto time_among = [](int others) { // of the processor
        fan_out at;
        int called = 0;
        const auto call = [&](int count) {
            const std::clock_t began = std::clock();
            for (int i = 0; i < count; ++i) {
                const ports::chat_request request =
                    user_request(std::to_string(called++) + long_text());
                call_demand demand;
                demand.request = &request;
                call_permit permit = at.gate.try_acquire(demand);
                EXPECT_TRUE(permit);
                call_outcome answered;
                answered.status = 200;
                permit.settle(answered);
            }
            return std::clock() - began;
        };
        (void)call(others);
        return call(5'000);
    };
    // Once of three times, because of caches. With a look at all of them in each call it took ten
    // times as long, every time.
    bool is_the_same = false;
    for (int tries = 0; tries < 3 && !is_the_same; ++tries)
        is_the_same = time_among(40'000) < 4 * time_among(100);
    EXPECT_TRUE(is_the_same);
}

TEST(prefix_hash, is_of_the_beginning_only) {
    const std::size_t bytes = 4'096;
    const std::string same(5'000, 'a');
    const auto first = prefix_hash(user_request(same + "one"), bytes);
    ASSERT_TRUE(first);
    EXPECT_EQ(first, prefix_hash(user_request(same + "two"), bytes));
    EXPECT_NE(first, prefix_hash(user_request("b" + same), bytes));
    EXPECT_NE(first, prefix_hash(user_request(same, "other-model"), bytes));
    EXPECT_FALSE(prefix_hash(user_request(same.substr(0, 4'000)), bytes));
    auto with_tool = user_request(same + "one");
    with_tool.tools.push_back({"t", "d", "{}", true});
    EXPECT_NE(first, prefix_hash(with_tool, bytes));
}

TEST(prefix_hash, goes_up_to_the_mark_where_there_is_one) {
    const std::size_t bytes = 4'096;
    const auto marked = [&](std::string context, std::string question) {
        auto request = user_request(std::move(context));
        request.messages[0].cache_up_to_here = true;
        request.messages.push_back({ports::chat_role::user, std::move(question), {}, {}, {}});
        return prefix_hash(request, bytes);
    };
    const std::string same(5'000, 'a');
    EXPECT_EQ(marked(same, "one"), marked(same, "two"));
    EXPECT_NE(marked(same + "x", "one"), marked(same + "y", "one"));
    EXPECT_FALSE(marked("short", same));
}

} // namespace
} // namespace heddle::testing
