// Limits of tasks, budgets of `with`, calls inside prompts.
#include "tasks/run/task_session.hpp"
#include "tasks_testing.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

namespace heddle::tasks {
namespace {

using ::testing::ElementsAre;
using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

task_template plain(std::string name = "t") {
    task_template declared;
    declared.name = std::move(name);
    declared.instructions = "go {{x}}";
    task_input x;
    x.name = "x";
    x.optional = true;
    declared.inputs.push_back(x);
    declared.history.use_session_history = false; // what a call costs does not grow
    return declared;
}

std::string error_of(const std::string& call) {
    return "(let ((e (get-in " + call +
           " '(\"notes\" \"error\")))) (list (get e \"type\") (get e \"resource\") "
           "(get-in e '(\"metrics\" \"used\")) (get-in e '(\"metrics\" \"limit\"))))";
}

TEST(task_limits, turns) {
    task_template t = plain();
    t.output = {true, "number"};
    t.retries = 9;
    t.limits.max_turns = 2;
    harness w({t});
    w.llm.say("no number");
    EXPECT_EQ(w.json(error_of("(t)")), R"(["RESOURCE_EXHAUSTION","turns",2.0,2.0])");
    EXPECT_EQ(w.llm.asked.size(), 2U);
    EXPECT_THAT(w.observer.reasons, ElementsAre("RESOURCE_EXHAUSTION"));
}

TEST(task_limits, context_before_anything_is_sent) {
    task_template t = plain();
    t.limits.max_context = 0.5;
    harness w({t}, [] {
        task_system_parts parts;
        parts.model_window = 100;
        return parts;
    }());
    w.llm.say("ok");
    EXPECT_THAT(w.json(error_of("(t (string-append \"" + std::string(400, 'x') + "\"))")),
                StartsWith(R"(["RESOURCE_EXHAUSTION","context",)"));
    EXPECT_TRUE(w.llm.asked.empty());
    // Four fifths: done, with a warning.
    EXPECT_THAT(w.json("(get-in (t \"" + std::string(150, 'x') + "\") '(\"notes\" \"warnings\"))"),
                HasSubstr("context: "));
}

TEST(task_limits, output_over_all_turns) {
    task_template t = plain();
    t.output = {true, "number"};
    t.retries = 9;
    t.limits.max_output = 8;
    harness w({t});
    w.llm.say("no number"); // 5 tokens
    EXPECT_EQ(w.json(error_of("(t)")), R"(["RESOURCE_EXHAUSTION","output",10.0,8.0])");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.llm.asked[0].max_output_tokens, 8);
    EXPECT_EQ(w.llm.asked[1].max_output_tokens, 3);
}

TEST(task_limits, a_response_that_its_limit_cuts_has_failed) {
    task_template t = plain();
    t.limits.max_output = 5;
    harness w({t});
    w.llm.say("half an ans", ports::finish_reason::length);
    EXPECT_EQ(w.json(error_of("(t)")), R"(["RESOURCE_EXHAUSTION","output",5.0,5.0])");
    EXPECT_EQ(w.json("(get-field (t) \"content\")"), "\"half an ans\"");
}

TEST(task_limits, tokens_and_time) {
    task_template t = plain();
    t.limits.max_tokens_total = 1;
    harness w({t});
    w.llm.say("x");
    EXPECT_THAT(w.json(error_of("(t \"" + std::string(100, 'x') + "\")")),
                StartsWith(R"(["RESOURCE_EXHAUSTION","tokens",)"));
    harness slow({plain()});
    slow.llm.say("x");
    slow.llm.delay = std::chrono::seconds(60);
    EXPECT_THAT(slow.json(error_of("(t (timeout 0.02))")),
                StartsWith(R"(["RESOURCE_EXHAUSTION","time",)"));
    EXPECT_EQ(slow.json("(get-in (t (timeout 0.02)) '(\"notes\" \"error\" \"reason\"))"),
              "\"execution_timeout\"");
}

using testing::with_prices;

TEST(task_limits, cost_is_known_and_bounded) {
    task_template t = plain();
    t.output = {true, "number"};
    t.retries = 9;
    t.limits.max_cost_usd = 0.12;
    harness w({t, plain("u")}, with_prices());
    w.llm.say("no number"); // 15 tokens: 0.015
    EXPECT_THAT(w.json(error_of("(t)")), StartsWith(R"(["RESOURCE_EXHAUSTION","cost",)"));
    EXPECT_LT(w.llm.asked.size(), 10U) << "an estimate of the input is part of it";
    EXPECT_EQ(w.json("(get-in (u) '(\"notes\" \"usage\" \"cost_usd\"))"), "0.015");
}

std::string warnings_of(const std::string& call) {
    return "(get-in " + call + " '(\"notes\" \"warnings\"))";
}

TEST(task_limits, totals_bind_the_output_of_the_only_request) {
    task_template tokens = plain();
    tokens.limits.max_tokens_total = 100;
    harness w({tokens}, with_prices());
    w.llm.say("x");
    EXPECT_EQ(w.json("(get (t) \"status\")"), "\"COMPLETE\"");
    ASSERT_TRUE(w.llm.asked[0].max_output_tokens);
    EXPECT_GT(*w.llm.asked[0].max_output_tokens, 80);
    EXPECT_LT(*w.llm.asked[0].max_output_tokens, 100) << "the input counts";
    task_template cost = plain();
    cost.limits.max_cost_usd = 0.1; // a hundred tokens
    harness dear({cost}, with_prices());
    dear.llm.say("x");
    EXPECT_EQ(dear.json("(get (t (max-tokens 5000)) \"status\")"), "\"COMPLETE\"");
    ASSERT_TRUE(dear.llm.asked[0].max_output_tokens);
    EXPECT_GT(*dear.llm.asked[0].max_output_tokens, 80);
    EXPECT_LT(*dear.llm.asked[0].max_output_tokens, 100);
    EXPECT_EQ(dear.json("(get (t (max-tokens 7)) \"status\")"), "\"COMPLETE\"");
    EXPECT_EQ(dear.llm.asked[1].max_output_tokens, 7) << "a smaller one stays";
    // The input alone is too much: nothing is sent.
    EXPECT_THAT(dear.json(error_of("(t \"" + std::string(1000, 'x') + "\")")),
                StartsWith(R"(["RESOURCE_EXHAUSTION","cost",)"));
    EXPECT_EQ(dear.llm.asked.size(), 2U);
}

TEST(task_limits, a_response_beyond_a_total_is_a_warning_and_the_last) {
    task_template t = plain();
    t.limits.max_tokens_total = 300;
    t.limits.max_cost_usd = 0.3;
    t.output = {true, "number"};
    t.retries = 5;
    harness w({t}, with_prices());
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "no number";
        response.usage = ports::token_usage{50, 5000, 0, 0};
        return response;
    });
    EXPECT_THAT(w.json(error_of("(t)")), StartsWith(R"(["RESOURCE_EXHAUSTION","tokens",)"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
    EXPECT_THAT(w.json(warnings_of("(t)")),
                ::testing::AllOf(HasSubstr("max_tokens_total allows: 5050 of 300"),
                                 HasSubstr("max_cost_usd allows: 5.05 of 0.3")));
    EXPECT_EQ(w.json("(get (t) \"content\")"), "\"no number\"") << "what was paid for is kept";
}

TEST(task_limits, four_fifths_of_a_total_are_a_warning_after_the_last_response_too) {
    task_template t = plain();
    t.limits.max_tokens_total = 100;
    t.limits.max_cost_usd = 0.1;
    harness w({t}, with_prices());
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "done";
        response.usage = ports::token_usage{40, 50, 0, 0};
        return response;
    });
    EXPECT_EQ(w.json(warnings_of("(t)")), R"(["tokens: 90 of 100 used","cost: 0.09 of 0.1 used"])");
}

TEST(task_limits, a_total_that_cuts_a_response_has_ended_the_task) {
    task_template t = plain();
    t.limits.max_tokens_total = 15;
    harness w({t});
    w.llm.say("half an ans", ports::finish_reason::length);
    EXPECT_EQ(w.json(error_of("(t)")), R"(["RESOURCE_EXHAUSTION","tokens",15.0,15.0])");
    EXPECT_EQ(w.json("(get (t) \"content\")"), "\"half an ans\"");
}

/// Calls a task twenty times in one turn. Its service counts the input as heddle guesses it, and
/// each response is as long as it may be, up to 80 tokens.
struct many_subtasks {
    explicit many_subtasks(const resource_limits& limits,
                           std::optional<std::int64_t> max_tokens = {})
        : w(templates(limits, max_tokens), with_prices()) {
        w.llm.delay = std::chrono::milliseconds(5);
        w.llm.replies.push_back(
            [this](const ports::chat_request& asked) -> result<ports::chat_response> {
                ports::chat_response response;
                response.usage = ports::token_usage{20, 20, 0, 0};
                if (!asked.tools.empty()) {
                    response.finish = ports::finish_reason::tool_calls;
                    for (int i = 0; i < 20; ++i) {
                        const std::string number = std::to_string(i);
                        response.tool_calls.push_back(
                            {"id" + number, "sub", R"({"x":")" + number + R"("})"});
                    }
                } else {
                    const auto bytes =
                        static_cast<std::int64_t>(asked.messages.back().text.size()) + 16;
                    response.text = "done";
                    response.usage->input = bytes / 4;
                    response.usage->output =
                        std::min<std::int64_t>(80, asked.max_output_tokens.value_or(80));
                }
                used += response.usage->input + response.usage->output;
                if (w.llm.requests_at_once == 2 && !asked.scheduling.one_at_a_time) hedge(response);
                return response;
            });
    }
    /// A second request was sent, and is charged for like the first.
    void hedge(ports::chat_response& response) {
        ++hedged;
        ++response.attempts;
        response.lost.emplace_back().usage = response.usage;
        used += response.usage->input + response.usage->output;
    }
    static std::vector<task_template> templates(const resource_limits& limits,
                                                std::optional<std::int64_t> max_tokens) {
        task_template outer = plain("ask");
        outer.tools.push_back("sub");
        outer.limits = limits;
        task_template sub = plain("sub");
        sub.description = "one of many";
        sub.max_tokens = max_tokens;
        return {outer, sub};
    }

    std::int64_t used = 0;
    int hedged = 0;
    harness w;
};

TEST(task_limits, are_not_passed_by_hedges) {
    for (const bool in_dollars : {false, true}) {
        for (const std::int64_t limit : {300, 500, 900}) {
            resource_limits limits;
            if (in_dollars) limits.max_cost_usd = static_cast<double>(limit) / 1000;
            else limits.max_tokens_total = limit;
            many_subtasks asked(limits, 80);
            asked.w.llm.requests_at_once = 2;
            EXPECT_THAT(asked.w.json(error_of("(ask)")),
                        StartsWith(in_dollars ? R"(["RESOURCE_EXHAUSTION","cost",)"
                                              : R"(["RESOURCE_EXHAUSTION","tokens",)"));
            EXPECT_LE(asked.used, limit) << in_dollars;
            EXPECT_GT(asked.hedged, 0) << "where both requests fit: " << limit;
            EXPECT_LT(asked.hedged, static_cast<int>(asked.w.llm.asked.size()));
        }
    }
    many_subtasks free({}, 80);
    free.w.llm.requests_at_once = 2;
    (void)free.w.json("(ask)");
    EXPECT_EQ(static_cast<std::size_t>(free.hedged), free.w.llm.asked.size()) << "no limit";
}

TEST(task_limits, of_tokens_are_shared_by_subtasks_that_run_at_once) {
    resource_limits limits;
    limits.max_tokens_total = 500;
    many_subtasks asked(limits);
    EXPECT_THAT(asked.w.json(error_of("(ask)")), StartsWith(R"(["RESOURCE_EXHAUSTION","tokens",)"));
    EXPECT_LE(asked.used, 500);
    EXPECT_GT(asked.used, 480) << "what is left is used";
    EXPECT_EQ(asked.w.observer.waits_begun, asked.w.observer.waits_ended);
    EXPECT_GT(asked.w.observer.waits_begun, 0);
}

TEST(task_limits, of_cost_are_shared_by_subtasks_that_run_at_once) {
    resource_limits limits;
    limits.max_cost_usd = 0.5;
    many_subtasks asked(limits);
    EXPECT_THAT(asked.w.json(error_of("(ask)")), StartsWith(R"(["RESOURCE_EXHAUSTION","cost",)"));
    EXPECT_LE(asked.used, 500);
    EXPECT_GT(asked.used, 480);
}

TEST(task_limits, let_subtasks_with_an_output_limit_run_side_by_side) {
    resource_limits limits;
    limits.max_tokens_total = 500;
    many_subtasks asked(limits, 80);
    EXPECT_THAT(asked.w.json(error_of("(ask)")), StartsWith(R"(["RESOURCE_EXHAUSTION","tokens",)"));
    EXPECT_LE(asked.used, 500);
    EXPECT_EQ(asked.w.llm.max_at_once, 5) << "as many as fit next to each other";
    // All have room beside each other.
    limits.max_tokens_total = 5'000'000;
    many_subtasks free(limits);
    EXPECT_THAT(free.w.json(error_of("(ask)")), StartsWith(R"(["RESOURCE_EXHAUSTION","turns",)"));
    EXPECT_EQ(free.w.llm.max_at_once, 20);
    ASSERT_GT(free.w.llm.asked.size(), 1U);
    EXPECT_FALSE(free.w.llm.asked[1].max_output_tokens) << "a service refuses what it cannot give";
}

TEST(task_limits, send_no_output_limit_above_what_the_model_can_give) {
    const auto sent = [](const std::string& model, const resource_limits& limits) {
        task_template t = plain();
        t.limits = limits;
        harness w({t});
        w.llm.say("x");
        EXPECT_THAT(w.json("(get (t (model \"" + model + "\")) 'status)"), "\"COMPLETE\"");
        return w.llm.asked.front().max_output_tokens;
    };
    resource_limits limits;
    limits.max_tokens_total = 30'000;
    EXPECT_FALSE(sent("gpt-4o", limits)) << "16,384 at most";
    const auto of_unknown = sent("unknown", limits);
    ASSERT_TRUE(of_unknown);
    EXPECT_LT(*of_unknown, 30'000);
    EXPECT_GT(*of_unknown, 29'000);
    limits.max_tokens_total = 1'000;
    EXPECT_LT(sent("gpt-4o", limits).value_or(1'000), 1'000);
    limits.max_tokens_total = 5'000'000;
    EXPECT_FALSE(sent("unknown", limits));
    limits = {};
    limits.max_output = 100'000;
    EXPECT_EQ(sent("unknown", limits), 100'000) << "as asked for";
    EXPECT_FALSE(sent("gpt-4o", limits));
}

TEST(task_limits, subtasks_that_wait_for_a_limit_end_with_the_time_of_the_task) {
    resource_limits limits;
    limits.max_tokens_total = 500;
    many_subtasks asked(limits);
    asked.w.llm.delay = std::chrono::milliseconds(0);
    asked.w.llm.replies.front() =
        [&, first = asked.w.llm.replies.front()](const ports::chat_request& request) {
            asked.w.llm.delay = std::chrono::hours(1); // of the subtasks
            return first(request);
        };
    EXPECT_THAT(asked.w.json(error_of("(ask (timeout 0.2))")),
                StartsWith(R"(["RESOURCE_EXHAUSTION","time",)"));
    EXPECT_LE(asked.w.llm.asked.size(), 2U) << "the first subtask holds all that is left";
    EXPECT_EQ(asked.w.observer.waits_begun, asked.w.observer.waits_ended);
}

ports::chat_request request_of(std::int64_t output) {
    ports::chat_request request;
    request.max_output_tokens = output;
    request.messages.emplace_back().text = "about ten tokens";
    return request;
}

void end_request(task_session& of) {
    ports::chat_response response;
    response.usage = ports::token_usage{10, 5};
    of.count(response, of.use_of(response), std::nullopt);
}

/// One request of a subtask below `outer`; counts how often it had to wait.
coro::task<result<void>> ask_once(task_session* outer, int* waits, coro::call_context context) {
    task_session session;
    session.begin({}, 0, std::nullopt, {}, outer);
    ports::chat_request request = request_of(90);
    for (;;) {
        if (session.check(request)) co_return error(errc::internal, "a limit is reached");
        if (!session.must_wait()) break;
        // If they go in circles, they do it for ever.
        if (++*waits > 1000) co_return error(errc::internal, "they wait in circles");
        co_await session.room_freed(context);
    }
    end_request(session);
    co_return result<void>();
}

/// Two that wait while the inner limit is full, two more that wait while both are, and then room in
/// both.
coro::task<result<void>> ask_while_full(task_session* outer, task_session* inner, int* waits,
                                        coro::call_context context) {
    task_session within;
    within.begin({}, 0, std::nullopt, {}, inner);
    task_session beside;
    beside.begin({}, 0, std::nullopt, {}, outer);
    coro::nursery all(context);
    ports::chat_request fills_inner = request_of(405);
    EXPECT_FALSE(within.check(fills_inner) || within.must_wait());
    for (int i = 0; i < 2; ++i) all.start([&] { return ask_once(inner, waits, all.context()); });
    (void)co_await coro::sleep_until(context, context.loop->now() + std::chrono::milliseconds(1));
    ports::chat_request fills_outer = request_of(500);
    EXPECT_FALSE(beside.check(fills_outer) || beside.must_wait());
    for (int i = 0; i < 2; ++i) all.start([&] { return ask_once(inner, waits, all.context()); });
    (void)co_await coro::sleep_until(context, context.loop->now() + std::chrono::milliseconds(1));
    EXPECT_EQ(*waits, 4);
    end_request(within);
    end_request(beside);
    result<void> ended = co_await all.join();
    co_return ended;
}

TEST(task_limits, nested_ones_do_not_send_requests_back_and_forth) {
    loopback::runner on;
    resource_limits limits;
    task_session outer;
    limits.max_tokens_total = 1000;
    outer.begin(limits, 0, std::nullopt, {}, nullptr);
    task_session inner;
    limits.max_tokens_total = 500;
    inner.begin(limits, 0, std::nullopt, {}, &outer);
    int waits = 0;
    const result<void> ended = on.run(ask_while_full(&outer, &inner, &waits, on.context()));
    EXPECT_TRUE(ended) << ended.error().message();
    EXPECT_LT(waits, 20);
}

TEST(task_limits, a_limit_on_cost_without_a_price_is_a_warning) {
    task_template t = plain();
    t.limits.max_cost_usd = 0.1;
    harness w({t}, with_prices());
    w.llm.say("x");
    EXPECT_THAT(w.json(warnings_of("(t (model \"unknown\"))")),
                HasSubstr("max_cost_usd: the price of the model 'unknown' is not known"));
}

TEST(task_limits, cost_is_that_of_who_answered_and_is_reported) {
    harness w({plain()}, with_prices());
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response; // as of a route that had to continue with another service
        response.text = "x";
        response.provider = "other";
        response.model = "unknown";
        response.usage = ports::token_usage{10, 5, 0, 0};
        return response;
    });
    EXPECT_EQ(w.json("(let ((n (get (t) \"notes\"))) (list (get n \"provider\") "
                     "(get-in n '(\"usage\" \"cost_usd\"))))"),
              R"(["other",null])");
    w.llm.replies.clear();
    w.llm.say("x");
    EXPECT_EQ(w.json("(get-in (t) '(\"notes\" \"provider\"))"), "\"fake\"");
    ASSERT_EQ(w.observer.costs.size(), 2U);
    EXPECT_FALSE(w.observer.costs[0]);
    EXPECT_EQ(w.observer.costs[1], 0.015);
}

TEST(scheduling, settings_reach_the_provider) {
    harness w({plain()}, [] {
        task_system_parts parts;
        parts.priority = ports::call_priority::batch;
        return parts;
    }());
    w.llm.say("x");
    EXPECT_EQ(w.json("(t) (with ((cache false)) (t)) 1"), "1");
    EXPECT_EQ(w.llm.asked[0].scheduling.cache, ports::cache_use::shared);
    EXPECT_EQ(w.llm.asked[1].scheduling.cache, ports::cache_use::none);
    EXPECT_EQ(w.llm.asked[0].scheduling.priority, ports::call_priority::batch);
    EXPECT_NE(w.llm.asked[0].scheduling.flow, 0U);
}

// ---------------------------------------------------------------- calls inside prompts

constexpr auto short_and_outer =
    "(defatom short (params text (words (default 3))) (instructions \"{{text}} in {{words}}\")) ";

TEST(prompt_calls, run_first_side_by_side_and_their_content_goes_in) {
    harness w;
    w.llm.replies.push_back([](const ports::chat_request& asked) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "<" + asked.messages.back().text + ">";
        return response;
    });
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.json(std::string(short_and_outer) +
                     "(defatom outer (params a) (system \"s {{short(a)}}\") (instructions "
                     "\"{{short('lit', words=7)}} {{short({{a}}, 5)}} {{a}}\")) "
                     "(content (outer \"A\"))"),
              "\"<<lit in 7> <A in 5> A>\"");
    ASSERT_EQ(w.llm.asked.size(), 4U);
    EXPECT_EQ(w.llm.asked[3].messages[0].text, "s <A in 3>");
}

TEST(prompt_calls, what_is_wrong_raises_before_any_request) {
    harness w;
    w.llm.say("x");
    const auto outer = [](const std::string& prompt) {
        return std::string(short_and_outer) + "(defatom outer (params a) (instructions \"" +
               prompt + "\")) (outer 1)";
    };
    EXPECT_THAT(w.json(outer("{{shrt(a)}}")), HasSubstr("there is no task 'shrt'"));
    EXPECT_THAT(w.json(outer("{{short()}}")), HasSubstr("missing input: text"));
    EXPECT_THAT(w.json(outer("{{short(1, 2, 3)}}")), HasSubstr("takes 2 inputs by position"));
    EXPECT_THAT(w.json(outer("{{short(1, wrds=2)}}")), HasSubstr("no such input: wrds"));
    EXPECT_THAT(w.json(outer("{{short(1)}} {{a.b}}")), HasSubstr("there is no field 'b'"));
    EXPECT_THAT(w.json(outer("{{outer(a)}}")), HasSubstr("needed for itself"));
    EXPECT_TRUE(w.llm.asked.empty());
}

TEST(prompt_calls, what_is_wrong_is_placed_once) {
    task_template inner = plain("inner");
    inner.inputs[0].optional = false;
    task_template outer = plain("outer");
    outer.instructions = "{{inner()}}";
    harness w({inner, outer});
    const auto ended = w.run("(outer)");
    ASSERT_FALSE(ended);
    std::vector<std::string> trace;
    for (const trace_entry& each : ended.error().info().trace) trace.push_back(each.what);
    EXPECT_THAT(trace, ElementsAre("in task outer"));
}

TEST(prompt_calls, a_failed_one_raises) {
    harness w;
    w.llm.break_with(ports::llm_errc::server, "broken");
    EXPECT_THAT(w.json(std::string(short_and_outer) +
                       "(defatom outer (params a) (instructions \"{{short(a)}}\")) (outer 1)"),
                StartsWith("TaskError: task 'short' failed: broken"));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(prompt_calls, depth_is_bounded) {
    harness w;
    w.llm.say("x");
    std::string program = "(defatom f0 (params a) (instructions \"{{a}}\")) ";
    for (int i = 1; i < 9; ++i) {
        program += "(defatom f" + std::to_string(i) + " (params a) (instructions \"{{f" +
                   std::to_string(i - 1) + "(a)}}\")) ";
    }
    EXPECT_THAT(w.json(program + "(f8 1)"), HasSubstr("too deep"));
    EXPECT_EQ(w.json("(content (f5 1))"), "\"x\"");
}

TEST(prompts, a_long_value_is_copied_once) {
    constexpr std::size_t size = 8 * 1024 * 1024;
    harness w;
    std::size_t at_request = 0;
    w.llm.replies.push_back([&](const ports::chat_request&) -> result<ports::chat_response> {
        const auto now = ::mallinfo2();
        at_request = now.uordblks + now.hblkhd;
        ports::chat_response response;
        response.text = "short";
        return response;
    });
    w.session->define("long", lang::make_string(w.session->memory(), std::string(size, 'x')));
    const auto began = ::mallinfo2();
    const std::size_t before = began.uordblks + began.hblkhd;
    EXPECT_EQ(w.json("(defatom t (params a) (instructions \"<{{a}}>\")) (content (t long))"),
              "\"short\"");
    // The prompt, and the copy that this test's model keeps.
    EXPECT_LT(at_request - before, size * 2 + size / 2);
}

} // namespace
} // namespace heddle::tasks
