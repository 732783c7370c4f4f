#include <heddle/ports/flow_gate.hpp>

#include <door.hpp>
#include <loopback_runner.hpp>

#include <gtest/gtest.h>

namespace heddle::ports {
namespace {

using heddle::testing::door;
using namespace std::chrono_literals;

/// Counts, and may listen again or send another away from inside.
class visitor final : public flow_gate::listener {
public:
    int reported = 0;
    flow_gate* again = nullptr;
    visitor* sends_away = nullptr;

private:
    void on_open() noexcept override {
        ++reported;
        if (again != nullptr) again->listen(*this);
        if (sends_away != nullptr) sends_away->unlisten();
    }
};

TEST(flow_gate, notifies_each_listener_once) {
    door gate;
    visitor first;
    visitor second;
    gate.close();
    gate.listen(first);
    gate.listen(first); // twice is once
    gate.listen(second);
    EXPECT_TRUE(first.listening());
    gate.reopen();
    gate.reopen();
    EXPECT_EQ(first.reported, 1);
    EXPECT_EQ(second.reported, 1);
    EXPECT_FALSE(first.listening());
}

TEST(flow_gate, a_listener_may_go_or_stay_or_send_another_away) {
    door gate;
    visitor stays;
    stays.again = &gate;
    gate.listen(stays);
    {
        visitor goes;
        gate.listen(goes);
    }
    gate.reopen();
    EXPECT_EQ(stays.reported, 1);
    EXPECT_TRUE(stays.listening());
    visitor jealous;
    jealous.sends_away = &stays;
    gate.listen(jealous); // notified before the one that has waited for longer
    gate.reopen();
    EXPECT_EQ(jealous.reported, 1);
    EXPECT_EQ(stays.reported, 1);
    EXPECT_FALSE(stays.listening());
}

TEST(flow_gate, a_listener_may_stay_for_longer_than_the_gate) {
    visitor left;
    {
        door gate;
        gate.listen(left);
    }
    EXPECT_FALSE(left.listening());
}

TEST(flow_gate, a_coroutine_waits_until_it_opens) {
    loopback::runner test;
    door gate;
    EXPECT_TRUE(test.run(gate.opened(test.context()))); // is open
    gate.close();
    bool was_opened = false;
    test.later([&] {
        was_opened = true;
        gate.reopen();
    });
    EXPECT_TRUE(test.run(gate.opened(test.context())));
    EXPECT_TRUE(was_opened);
}

TEST(flow_gate, an_opening_that_is_over_again_is_waited_out) {
    loopback::runner test;
    door gate;
    gate.close();
    test.later([&] {
        gate.reopen();
        gate.close();
        test.later([&] { gate.reopen(); });
    });
    EXPECT_TRUE(test.run(gate.opened(test.context())));
    EXPECT_TRUE(gate.open());
}

TEST(flow_gate, cancellation_and_deadline_end_the_waiting) {
    loopback::runner test;
    door gate;
    gate.close();
    coro::cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); });
    const auto cancelled = test.run(gate.opened(test.context(&cancel)));
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().cancelled_because(), cancel_reason::user);
    const auto late = test.run(gate.opened(test.context(nullptr, test.in(5ms))));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().cancelled_because(), cancel_reason::deadline);
}

} // namespace
} // namespace heddle::ports
