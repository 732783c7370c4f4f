// When rows may start.
#include "batch/progress/start_gate.hpp"

#include <gtest/gtest.h>

namespace heddle::cli {
namespace {

using namespace std::chrono_literals;

constexpr coro::clock::time_point now{};

ports::step_spending spent(double dollars, std::uint32_t requests = 1) {
    ports::step_spending one;
    one.cost_usd = dollars;
    one.requests = requests;
    return one;
}

class a_gate : public testing::Test {
protected:
    start_gate with(const batch_bounds& bounds, const ports::step_spending& before = {}) {
        earlier_rows earlier;
        earlier.spent = before;
        return start_gate(bounds, earlier);
    }
    /// Starts rows until it refuses, and returns how many.
    static std::size_t start_all(start_gate& gate) {
        std::size_t started = 0;
        for (; gate.ask(now) == gate_answer::start; ++started) gate.row_started();
        return started;
    }
    /// A row ends that cost that much.
    void end_row(start_gate& gate, double dollars, std::uint32_t requests = 1) {
        all_ += spent(dollars, requests);
        gate.set_spent(all_);
        gate.row_ended(spent(dollars, requests));
    }

private:
    ports::step_spending all_;
};

// Rows that wait for batches had ended, at no cost: nothing was left of a bound.
TEST_F(a_gate, counts_what_waits_for_batches) {
    batch_bounds bounds;
    bounds.concurrency = 64;
    bounds.max_calls = 10;
    start_gate gate = with(bounds, spent(0.1, 2));
    ports::step_spending parked;
    std::size_t started = 0;
    for (; gate.ask(now) == gate_answer::start; ++started) {
        gate.row_started();
        parked += spent(0.01);
        gate.set_spent({}, parked);
        gate.row_left({});
    }
    EXPECT_EQ(started, 8U);
    EXPECT_EQ(gate.cause(), stop_cause::calls);
}

TEST_F(a_gate, lets_as_many_rows_start_as_it_may) {
    batch_bounds bounds;
    bounds.concurrency = 10;
    start_gate gate = with(bounds);
    EXPECT_EQ(start_all(gate), 10U);
    EXPECT_EQ(gate.ask(now), gate_answer::wait);
    end_row(gate, 0);
    EXPECT_EQ(start_all(gate), 1U);
}

TEST_F(a_gate, lets_few_start_while_the_cost_of_a_row_is_unknown) {
    batch_bounds bounds;
    bounds.budget_usd = 100;
    start_gate gate = with(bounds);
    EXPECT_EQ(start_all(gate), 4U);
    EXPECT_TRUE(gate.waits_for_budget());
    end_row(gate, 0.01);
    EXPECT_EQ(start_all(gate), 61U);
}

TEST_F(a_gate, never_passes_a_budget_with_rows_of_equal_cost) {
    batch_bounds bounds;
    bounds.budget_usd = 0.06;
    start_gate gate = with(bounds);
    std::size_t ended = 0;
    while (true) {
        start_all(gate);
        if (gate.in_progress() == 0) break;
        end_row(gate, 0.0075);
        ++ended;
    }
    EXPECT_EQ(ended, 8U);
    EXPECT_EQ(gate.cause(), stop_cause::budget);
}

TEST_F(a_gate, counts_what_earlier_processes_have_spent) {
    batch_bounds bounds;
    bounds.budget_usd = 0.5;
    start_gate full = with(bounds, spent(0.5));
    EXPECT_EQ(full.ask(now), gate_answer::stop);
    EXPECT_EQ(full.cause(), stop_cause::budget);
    bounds.budget_usd.reset();
    bounds.max_calls = 10;
    start_gate calls = with(bounds, spent(0, 8));
    EXPECT_EQ(start_all(calls), 2U);
    end_row(calls, 0);
    EXPECT_EQ(calls.ask(now), gate_answer::wait);
    end_row(calls, 0);
    EXPECT_EQ(calls.ask(now), gate_answer::stop);
    EXPECT_EQ(calls.cause(), stop_cause::calls);
}

TEST_F(a_gate, knows_the_mean_of_earlier_processes) {
    batch_bounds bounds;
    bounds.budget_usd = 1;
    ports::run_totals totals;
    totals.done = 6;
    totals.failed = 1;
    totals.begun = 2;
    totals.spent = spent(0.9, 90);
    start_gate gate(bounds, earlier_rows(totals));
    EXPECT_DOUBLE_EQ(gate.mean_cost().value(), 0.1);
    EXPECT_EQ(start_all(gate), 1U) << "a second one would cost 0.1 more than is left";
    EXPECT_TRUE(gate.waits_for_budget());

    totals.spent = spent(0.95, 90);
    start_gate full(bounds, earlier_rows(totals));
    EXPECT_EQ(full.ask(now), gate_answer::stop);
    EXPECT_EQ(full.cause(), stop_cause::budget);
}

/// A row whose responses were all known shows nothing about what the others use.
TEST_F(a_gate, reserves_for_rows_that_reuse_what_others_have_used) {
    batch_bounds bounds;
    bounds.budget_usd = 2;
    ports::run_totals totals;
    totals.done = 10;
    totals.spent = spent(1, 30); // over three versions of the program
    start_gate gate(bounds, earlier_rows(totals, {10, spent(0.5, 10)}));
    for (int i = 0; i < 5; ++i) gate.row_started();
    for (int i = 0; i < 5; ++i) end_row(gate, 0, 0);
    EXPECT_EQ(start_all(gate), 20U) << "0.05 each";
    end_row(gate, 0.1);
    EXPECT_EQ(start_all(gate), 0U) << "19 of them take more than is left";

    // Rows that have begun and not ended show nothing, either.
    totals.done = 0;
    totals.begun = 10;
    start_gate unknown(bounds, earlier_rows(totals, {}));
    EXPECT_EQ(start_all(unknown), 4U);
}

// Each process that was killed before a row had ended started four more.
TEST_F(a_gate, holds_back_what_rows_that_have_not_ended_have_used) {
    batch_bounds bounds;
    bounds.budget_usd = 0.5;
    ports::run_totals totals;
    totals.begun = 4;
    totals.spent = spent(0.4, 4);
    start_gate gate(bounds, earlier_rows(totals, {}));
    EXPECT_EQ(start_all(gate), 1U) << "0.1 is left";
    // Rows that began anew after an edit have left a sample without requests.
    start_gate edited(bounds, earlier_rows(totals, {4, {}}));
    EXPECT_EQ(start_all(edited), 1U);
}

// After a kill the first rows to end had paid before it: their mean was 0, and all others started.
TEST_F(a_gate, holds_back_what_rows_have_used_in_earlier_processes) {
    batch_bounds bounds;
    bounds.max_calls = 40;
    bounds.concurrency = 100;
    ports::run_totals totals;
    totals.begun = 4;
    totals.spent = spent(0.2, 20);
    start_gate gate(bounds, earlier_rows(totals, {}));
    EXPECT_EQ(start_all(gate), 4U);
    for (int i = 0; i < 4; ++i) gate.row_ended({}, spent(0.05, 5));
    EXPECT_EQ(start_all(gate), 4U) << "5 requests each";

    // Rows of another program whose responses were known show nothing.
    start_gate edited(bounds, earlier_rows(totals, {}));
    EXPECT_EQ(start_all(edited), 4U);
    for (int i = 0; i < 4; ++i) edited.row_left({});
    EXPECT_EQ(start_all(edited), 4U);
}

TEST_F(a_gate, counts_requests_by_their_mean) {
    batch_bounds bounds;
    bounds.max_calls = 20;
    start_gate gate = with(bounds);
    EXPECT_EQ(start_all(gate), 4U);
    for (int i = 0; i < 4; ++i) end_row(gate, 0, 3);
    EXPECT_EQ(start_all(gate), 2U); // 12 + 2 * 3, and three more do not fit
}

TEST_F(a_gate, stops_where_a_cost_is_unknown) {
    batch_bounds bounds;
    bounds.budget_usd = 1;
    start_gate gate = with(bounds);
    gate.row_started();
    ports::step_spending unknown;
    unknown.requests = 1;
    unknown.unpriced = 1;
    gate.set_spent(unknown);
    EXPECT_EQ(gate.ask(now), gate_answer::stop);
    EXPECT_EQ(gate.cause(), stop_cause::unpriced);
    // Nor does the next process know what it has cost.
    start_gate next = with(bounds, unknown);
    EXPECT_EQ(next.ask(now), gate_answer::stop);
    EXPECT_EQ(next.cause(), stop_cause::unpriced);
}

TEST_F(a_gate, stops_at_its_deadline) {
    batch_bounds bounds;
    bounds.until = coro::deadline(now + 10s);
    start_gate gate = with(bounds);
    EXPECT_EQ(gate.ask(now + 9s), gate_answer::start);
    EXPECT_EQ(gate.ask(now + 10s), gate_answer::stop);
    EXPECT_EQ(gate.cause(), stop_cause::deadline);
}

TEST_F(a_gate, stops_after_failures) {
    batch_bounds bounds;
    bounds.max_failed = 2;
    start_gate gate = with(bounds);
    gate.row_failed();
    EXPECT_EQ(gate.ask(now), gate_answer::start);
    gate.row_failed();
    EXPECT_EQ(gate.ask(now), gate_answer::stop);
}

TEST_F(a_gate, waits_while_it_is_paused_and_keeps_its_first_cause) {
    start_gate gate = with({});
    gate.pause(true);
    EXPECT_EQ(gate.ask(now), gate_answer::wait);
    gate.stop(stop_cause::interrupted);
    gate.stop(stop_cause::budget);
    EXPECT_EQ(gate.ask(now), gate_answer::stop);
    EXPECT_EQ(gate.cause(), stop_cause::interrupted);
}

} // namespace
} // namespace heddle::cli
