// Budgets of calls that a route may send to several models.
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using testing::with_prices;

/// At most a tenth of a dollar of output.
task_template bounded() {
    task_template declared;
    declared.name = "t";
    declared.instructions = "go {{x}}";
    task_input x;
    x.name = "x";
    x.optional = true;
    declared.inputs.push_back(x);
    declared.max_tokens = 100;
    return declared;
}

/// Maps a task over 1 ... n, and shows the states.
std::string states(int n) {
    return "(map (lambda (i) (get (t i) 'status)) (range " + std::to_string(n) + "))";
}

TEST(route_budgets, hold_what_hedges_may_cost_or_send_none) {
    harness w({bounded()}, with_prices());
    w.llm.requests_at_once = 2;
    w.llm.say("x");
    EXPECT_EQ(w.json("(with ((budget-usd 0.15)) (get (t) 'status))"), "\"COMPLETE\"");
    EXPECT_TRUE(w.llm.asked.back().scheduling.one_at_a_time) << "a tenth of a dollar each";
    harness rich({bounded()}, with_prices());
    rich.llm.requests_at_once = 2;
    rich.llm.say("x");
    EXPECT_EQ(rich.json("(with ((budget-usd 0.5)) (get (t) 'status))"), "\"COMPLETE\"");
    EXPECT_FALSE(rich.llm.asked.back().scheduling.one_at_a_time);
    // What was set aside for the hedge is there again.
    EXPECT_EQ(rich.json("(with ((budget-usd 0.5) (max-calls 3)) " + states(3) + ")"),
              R"(["COMPLETE","COMPLETE","COMPLETE"])");
    rich.llm.asked.clear();
    EXPECT_EQ(rich.json("(with ((max-calls 1)) (get (t) 'status))"), "\"COMPLETE\"");
    EXPECT_FALSE(rich.llm.asked.back().scheduling.one_at_a_time) << "no money is bounded";
}

/// A dollar for a thousand tokens, of the model "dear" ten of them; none for "unknown".
class prices_of_two final : public ports::price_port {
public:
    std::optional<double> cost_usd(std::string_view, std::string_view model,
                                   const ports::token_usage& usage) const override {
        if (model == "unknown") return std::nullopt;
        const double tokens = static_cast<double>(usage.input + usage.output);
        return tokens / (model == "dear" ? 100 : 1000);
    }
};

TEST(route_budgets, set_aside_what_the_dearest_model_costs) {
    static const prices_of_two prices;
    task_system_parts parts;
    parts.prices = &prices;
    task_template declared = bounded();
    declared.instructions = std::string(800, 'p'); // some hundred tokens
    harness w({declared}, std::move(parts));
    testing::scripted_llm route;
    route.name = "route";
    route.say("x");
    w.models.add_route("cheap", route, {{"llm", "low"}, {"llm", "unknown"}});
    w.models.add_route("mixed", route, {{"llm", "low"}, {"llm", "dear"}});
    // The input alone costs more than this budget at the dear model.
    const std::string call = "(with ((budget-usd 0.9)) (get (t (model \"";
    EXPECT_EQ(w.json(call + "mixed\")) 'status))"), "\"FAILED\"");
    EXPECT_EQ(route.asked.size(), 0U) << "nothing was sent";
    EXPECT_EQ(w.json(call + "cheap\")) 'status))"), "\"COMPLETE\"");
    EXPECT_EQ(route.asked.size(), 1U);
}

/// The limits of a task bind before a request is sent, wherever the route sends it.
TEST(route_budgets, of_tasks_bound_the_output_of_the_dearest_model) {
    static const prices_of_two prices;
    task_system_parts parts;
    parts.prices = &prices;
    task_template declared = bounded();
    declared.max_tokens.reset();
    declared.limits.max_cost_usd = 5;
    harness w({declared}, std::move(parts));
    testing::scripted_llm route;
    route.name = "route";
    route.say("x");
    w.models.add_route("cheap", route, {{"llm", "low"}, {"llm", "unknown"}});
    w.models.add_route("mixed", route, {{"llm", "low"}, {"llm", "dear"}});
    EXPECT_EQ(w.json("(get (t (model \"mixed\")) 'status)"), "\"COMPLETE\"");
    ASSERT_EQ(route.asked.size(), 1U);
    ASSERT_TRUE(route.asked.back().max_output_tokens);
    EXPECT_LE(*route.asked.back().max_output_tokens, 500) << "a cent each at the dear model";
    EXPECT_GT(*route.asked.back().max_output_tokens, 400);
    EXPECT_EQ(w.json("(get (t (model \"cheap\")) 'status)"), "\"COMPLETE\"");
    ASSERT_TRUE(route.asked.back().max_output_tokens);
    EXPECT_GT(*route.asked.back().max_output_tokens, 4000);
}

/// A service refuses a limit that its model does not have.
TEST(route_budgets, of_tasks_fit_the_output_of_every_model) {
    task_template declared = bounded();
    declared.max_tokens.reset();
    declared.limits.max_tokens_total = 20000;
    harness w({declared});
    testing::scripted_llm route;
    route.name = "route";
    route.say("x");
    w.models.add_route("two", route, {{"llm", "gpt-4.1"}, {"llm", "gpt-4o"}});
    EXPECT_EQ(w.json("(get (t (model \"two\")) 'status)"), "\"COMPLETE\"");
    ASSERT_EQ(route.asked.size(), 1U);
    EXPECT_LE(route.asked.back().max_output_tokens.value_or(0), 16384);
}

} // namespace
} // namespace heddle::tasks
