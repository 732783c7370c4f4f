// What a row has found of its services.
#include "batch/rows/row_meter.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

class silent_observer final : public tasks::task_observer {
public:
    void on_task_started(const tasks::task_started&) noexcept override {}
    void on_task_finished(const tasks::task_finished&) noexcept override {}
};

TEST(row_meter, remembers_that_a_service_answered_before_it_was_down) {
    silent_observer all;
    row_meter meter(all);
    const auto call = [&](bool service_down) {
        tasks::task_finished event;
        event.provider = "a";
        event.requests = 1;
        event.service_down = service_down;
        meter.on_task_finished(event);
    };
    call(true);
    call(true);
    auto seen = meter.take_contacts();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_FALSE(seen[0].answered || seen[0].answered_before);
    call(false);
    call(true);
    call(true);
    seen = meter.take_contacts();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_FALSE(seen[0].answered);
    EXPECT_TRUE(seen[0].answered_before);
}

} // namespace
} // namespace heddle::cli
