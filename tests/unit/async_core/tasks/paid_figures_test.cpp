// What a call has cost is reported three times: in the notes of its result, to the observer (who
// makes the summary), and by its budget. Whatever becomes of a call, the three are the same.
#include "tasks_testing.hpp"

#include <heddle/ports/http_port.hpp>
#include <heddle/ports/send_gate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <cstdio>
#include <numeric>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using ::testing::Not;
using reply = testing::scripted_llm::reply;
using ports::chat_request;
using ports::chat_response;
using ports::llm_errc;
using ports::make_error_code;

/// A dollar for a thousand tokens of input, three for those of output; elsewhere twice that. One
/// call of "gold" is dearer than any budget.
class test_prices final : public ports::price_port {
public:
    std::optional<double> cost_usd(std::string_view provider, std::string_view model,
                                   const ports::token_usage& usage) const override {
        if (model == "unknown") return std::nullopt;
        const double factor = model == "gold" ? 1e9 : provider == "elsewhere" ? 2 : 1;
        return factor * static_cast<double>(usage.input + 3 * usage.output) / 1000;
    }
};

task_system_parts priced() {
    static const test_prices prices;
    task_system_parts parts;
    parts.prices = &prices;
    return parts;
}

chat_response response_with(std::string text, std::optional<ports::token_usage> usage) {
    chat_response response;
    response.text = std::move(text);
    response.model = "scripted-1";
    response.usage = usage;
    return response;
}

reply giving(chat_response response) {
    return [=](const chat_request&) -> result<chat_response> { return response; };
}
reply failing(error failure) {
    return [=](const chat_request&) -> result<chat_response> { return failure; };
}
error server_error() { return error(make_error_code(llm_errc::server), "broken"); }

chat_response calling(std::string arguments) {
    chat_response response = response_with("looking", ports::token_usage{100, 20});
    response.finish = ports::finish_reason::tool_calls;
    response.tool_calls = {{"c", "look", std::move(arguments)}, {"c", "look", R"({"n":1})"}};
    return response;
}

chat_response with_lost(chat_response response, std::vector<ports::lost_request> lost) {
    response.attempts = 1 + static_cast<std::uint32_t>(lost.size());
    response.lost = std::move(lost);
    return response;
}

error with_part(error failure, chat_response part) {
    part.finish = ports::finish_reason::unfinished;
    return std::move(failure).with_payload(std::make_shared<ports::partial_response>(part));
}

constexpr const char* definitions = R"(
(deftool look (params (n integer)) (description "d") n)
(defatom t (params) (instructions "a prompt of some forty bytes, or a few more"))
(defatom j (params) (instructions "a number") (output_format ((type "json") (schema "number")))
  (retries 2))
(defatom l (params) (instructions "look") (tools (look)))
(defatom late (params) (instructions "slow") (timeout 0.01))
(defatom gold (params) (instructions "x") (model "gold"))
)";

/// One outcome of a call.
struct outcome {
    std::string name;
    std::vector<reply> replies;
    std::string call = "(t)";
    double cost = -1; ///< where the test knows it; below zero: it does not
    std::chrono::milliseconds delay{0};
};

std::vector<outcome> outcomes() {
    const ports::token_usage used{1000, 100};
    ports::token_usage half{1000, 0};
    half.output_reported = false;
    const chat_response plain = response_with("plain", used);
    const ports::lost_request unknown{};
    const ports::lost_request elsewhere{"elsewhere", "m", used, 0};
    chat_response cached = response_with("kept", ports::token_usage{});
    cached.attempts = 0;
    cached.usage->of_cache = true;
    chat_response refused = plain;
    refused.refusal = "no";
    chat_response of_route = plain;
    of_route.provider = "elsewhere";
    chat_response of_gateway = of_route; // which reports a name of its own
    of_gateway.asked_model = "m";
    of_gateway.model = "unknown";
    ports::lost_request lost_there{"elsewhere", "unknown", used, 0, "m"};
    error twice_broken = ports::with_lost(server_error().with_attempts(3), {unknown, elsewhere});
    error then_busy = ports::with_lost(
        error(make_error_code(llm_errc::rate_limit), "busy").with_attempts(2), {elsewhere});
    return {
        {"plain", {giving(plain)}, "(t)", 1.3},
        {"no usage", {giving(response_with(std::string(400, 'x'), {}))}},
        {"half a usage", {giving(response_with(std::string(400, 'x'), half))}, "(t)", 1.3},
        {"impossible",
         {giving(response_with(std::string(400, 'x'), ports::token_usage{1000, -7}))},
         "(t)",
         1.3},
        {"retried", {giving(with_lost(plain, {unknown, unknown}))}},
        {"hedged", {giving(with_lost(plain, {elsewhere}))}, "(t)", 1.3 + 2.6},
        {"of a route", {giving(of_route)}, "(t)", 2.6},
        {"of a gateway", {giving(of_gateway)}, "(t)", 2.6},
        {"hedged by a gateway", {giving(with_lost(plain, {lost_there}))}, "(t)", 1.3 + 2.6},
        {"kept", {giving(cached)}, "(t)", 0},
        {"kept after a failure", {giving(with_lost(cached, {elsewhere}))}, "(t)", 2.6},
        {"refused", {giving(refused)}, "(t)", 1.3},
        {"broken", {failing(server_error())}},
        {"broken three times", {failing(twice_broken)}},
        {"busy after that", {failing(then_busy)}, "(t)", 2.6},
        {"turned away", {failing(error(make_error_code(llm_errc::quota), "q"))}, "(t)", 0},
        {"filtered", {failing(error(make_error_code(llm_errc::content_refused), "f"))}, "(t)", 0},
        {"in part", {failing(with_part(server_error(), response_with("part", half)))}},
        {"in part, paid", {failing(with_part(server_error(), plain))}, "(t)", 1.3},
        {"asked again",
         {giving(plain), giving(plain), giving(response_with("7", used))},
         "(j)",
         3.9},
        {"asked in vain", {giving(plain)}, "(j)", 3.9},
        {"with tools", {giving(calling(R"({"n":1})")), giving(plain)}, "(l)", 0.16 + 1.3},
        {"with bad arguments", {giving(calling("{not json")), giving(plain)}, "(l)", 0.16 + 1.3},
        {"not offered", {giving(calling("{}"))}, "(t)", 0.16},
        {"too late", {giving(plain)}, "(late)", -1, std::chrono::milliseconds(500)},
        {"streamed", {giving(plain)}, "(stream (t) (lambda (s) s))", 1.3},
        {"streamed in part",
         {failing(with_part(server_error(), response_with("part", half)))},
         "(stream (t) (lambda (s) s))"},
    };
}

/// What a budget reports as spent, after `call`. The next call does not fit.
struct reported {
    std::optional<double> notes;
    double budget = -1;
    std::string text;
};

reported run(harness& w, const std::string& call) {
    reported result;
    result.text = w.json("(with ((budget-usd 1000)) (let ((r " + call +
                         ")) (list (get-in r '(notes usage cost_usd)) (get-in (gold) '(notes error "
                         "message)))))");
    boost::system::error_code wrong;
    const auto read = boost::json::parse(result.text, wrong);
    if (wrong || !read.is_array() || !read.as_array()[1].is_string()) return result;
    if (read.as_array()[0].is_number()) result.notes = read.as_array()[0].to_number<double>();
    const std::string message(read.as_array()[1].as_string());
    (void)std::sscanf(message.c_str(), "budget-usd: $%lf of", &result.budget);
    return result;
}

TEST(paid_figures, are_the_same_wherever_they_are_reported) {
    for (const outcome& each : outcomes()) {
        SCOPED_TRACE(each.name);
        harness w({}, priced());
        ASSERT_EQ(w.json(std::string(definitions) + "1"), "1");
        w.llm.replies.assign(each.replies.begin(), each.replies.end());
        w.llm.delay = each.delay;
        const reported got = run(w, each.call);
        ASSERT_TRUE(got.notes) << got.text;
        ASSERT_FALSE(w.observer.costs.empty());
        ASSERT_TRUE(w.observer.costs.front());
        // The message has four digits.
        const double near = 1e-3 * *got.notes + 1e-9;
        EXPECT_NEAR(got.budget, *got.notes, near) << got.text;
        EXPECT_NEAR(*w.observer.costs.front(), *got.notes, near);
        if (each.cost >= 0) {
            EXPECT_NEAR(*got.notes, each.cost, 1e-9);
        } else {
            EXPECT_GT(*got.notes, 0);
            EXPECT_EQ(w.observer.estimated, 1);
        }
    }
}

TEST(paid_figures, of_calls_that_are_cancelled_reach_the_observer_and_the_budget) {
    harness w({}, priced());
    ASSERT_EQ(w.json(std::string(definitions) + "1"), "1");
    w.llm.replies.push_back(giving(response_with("x", ports::token_usage{1000, 100})));
    w.llm.delay = std::chrono::milliseconds(500);
    const std::string said = w.json(
        "(with ((budget-usd 1000)) (race (t) (t) (sleep 0.02)) "
        "(get-in (gold) '(notes error message)))");
    double budget = -1;
    (void)std::sscanf(said.c_str(), "\"budget-usd: $%lf of", &budget);
    ASSERT_GE(w.observer.costs.size(), 2U) << said;
    const double reported = w.observer.costs[0].value_or(-1) + w.observer.costs[1].value_or(-1);
    EXPECT_GT(reported, 0);
    EXPECT_NEAR(budget, reported, 1e-3 * reported) << said;
}

TEST(paid_figures, that_are_not_known_are_reported_as_unknown) {
    harness w({}, priced());
    ASSERT_EQ(w.json(std::string(definitions) + "1"), "1");
    chat_response lost = with_lost(response_with("x", ports::token_usage{1000, 100}),
                                   {{"elsewhere", "unknown", ports::token_usage{1, 1}, 0}});
    w.llm.replies.push_back(giving(lost));
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"), HasSubstr(R"("cost_usd":null)"));
    EXPECT_FALSE(w.observer.costs.back());
}

TEST(paid_figures, mark_what_is_estimated) {
    const auto usage = [](std::optional<ports::token_usage> reported) {
        harness w({}, priced());
        EXPECT_EQ(w.json(std::string(definitions) + "1"), "1");
        w.llm.replies.push_back(giving(response_with(std::string(4000, 'x'), reported)));
        return w.json("(get-in (t) '(notes usage))");
    };
    ports::token_usage half{5, 0};
    half.output_reported = false;
    EXPECT_THAT(usage(half), HasSubstr(R"("estimated":true)"));
    EXPECT_THAT(usage(half), HasSubstr(R"("input_tokens":5,"output_tokens":1000)"));
    EXPECT_THAT(usage(ports::token_usage{INT64_MAX, 3}), HasSubstr(R"("output_tokens":3)"));
    EXPECT_THAT(usage(ports::token_usage{INT64_MAX, 3}), HasSubstr(R"("estimated":true)"));
    EXPECT_THAT(usage(ports::token_usage{5, 0}), HasSubstr(R"("output_tokens":1000)"));
    EXPECT_THAT(usage(ports::token_usage{5, 3}), Not(HasSubstr("estimated")));
}

TEST(paid_figures, of_a_short_text_are_one_token_at_least_and_none_where_a_filter_wrote_it) {
    harness w({}, priced());
    ASSERT_EQ(w.json(std::string(definitions) + "1"), "1");
    w.llm.replies.push_back(giving(response_with("x", {})));
    EXPECT_EQ(w.json("(get-in (t) '(notes usage output_tokens))"), "1");
    w.llm.replies.clear();
    chat_response blocked = response_with("", ports::token_usage{10, 0});
    blocked.finish = ports::finish_reason::content_filter;
    blocked.refusal = "the service blocked the prompt (SAFETY)";
    w.llm.replies.push_back(giving(blocked));
    EXPECT_EQ(w.json("(get-in (t) '(notes usage output_tokens))"), "0");
}

/// A failure of which a route has recorded whom it asked last.
error asked_elsewhere(error failure) {
    chat_response nothing = ports::begun_response();
    nothing.provider = "elsewhere";
    nothing.asked_model = nothing.model = "m";
    return with_part(std::move(failure), nothing);
}

TEST(paid_figures, of_a_target_that_was_under_way_are_the_estimate_at_its_own_price) {
    harness w({}, priced());
    ASSERT_EQ(w.json(std::string(definitions) + "1"), "1");
    w.llm.replies.push_back(failing(asked_elsewhere(server_error())));
    EXPECT_EQ(w.json("(define (kind) (get-in (t) '(notes error type)))"
                     "(with ((budget-usd 60)) (list (kind) (kind) (kind) (kind)))"),
              R"(["TASK_FAILURE","TASK_FAILURE","TASK_FAILURE","RESOURCE_EXHAUSTION"])");
    ASSERT_GE(w.observer.costs.size(), 3U);
    EXPECT_NEAR(w.observer.costs[0].value_or(0), 2 * 3 * 4.096, 0.2) << "4096 tokens of output";
}

std::vector<ports::lost_request> first_target() {
    return {{"elsewhere", "m", ports::token_usage{1000, 1000}, 0, "m"}};
}

/// A route of two targets: the first one fails and is paid for, the second one may be refused.
class failing_over final : public ports::llm_port {
public:
    std::string_view provider_name() const noexcept override { return "over"; }
    coro::task<result<chat_response>> complete(const chat_request& request,
                                               coro::call_context context) override {
        const std::vector<ports::lost_request> before = first_target();
        if (!request.sends) co_return response_with("unbounded", ports::token_usage{1, 1});
        result<ports::send_terms> terms =
            co_await request.sends->before_sending(request, before, context);
        if (!terms) {
            error refused = std::move(terms).error().with_trace("after a failed: broken");
            co_return ports::between_attempts(std::move(refused), before, 1);
        }
        co_return with_lost(response_with("over", ports::token_usage{10, 10}), before);
    }
    coro::task<result<chat_response>> stream(const chat_request& request,
                                             ports::chat_delta_sink /*on_delta*/,
                                             coro::call_context context) override {
        return complete(request, context);
    }
};

TEST(paid_figures, of_a_call_that_a_limit_stops_between_two_targets_are_those_of_the_first) {
    const std::string show =
        "(define (show r) (list (get-in r '(notes error type)) (get-in r '(notes error resource)) "
        "(get-in r '(notes usage requests)) (get-in r '(notes usage cost_usd)) "
        "(get-in r '(notes usage output_tokens))))";
    const auto outcome = [&](const std::string& limits, const std::string& with) {
        harness w({}, priced());
        failing_over over;
        w.models.add(over);
        std::string said =
            w.json(show + "(defatom f (params) (instructions \"x\") (model \"over:m\")" + limits +
                   ")" + with);
        EXPECT_EQ(w.observer.costs.size(), 1U);
        return said;
    };
    const std::string stopped = ",1,8.0,1000]";
    EXPECT_EQ(outcome("", "(with ((budget-usd 7)) (show (f)))"),
              R"(["RESOURCE_EXHAUSTION","cost")" + stopped);
    EXPECT_EQ(outcome("(resource_limits ((max_cost_usd 7)))", "(show (f))"),
              R"(["RESOURCE_EXHAUSTION","cost")" + stopped);
    EXPECT_EQ(outcome("(resource_limits ((max_tokens_total 1900)))", "(show (f))"),
              R"(["RESOURCE_EXHAUSTION","tokens")" + stopped);
    EXPECT_THAT(outcome("", "(with ((budget-usd 7)) (get-in (f) '(notes error message)))"),
                HasSubstr("after a failed: broken"));
    EXPECT_THAT(outcome("", "(with ((budget-usd 70)) (content (f)))"), HasSubstr("over"));
}

// ---------------------------------------------------------------- what was said

std::string content_and_error(const std::string& call) {
    return "(let ((r " + call +
           ")) (list (get r 'status) (get r 'content) (get-in r '(notes error type))))";
}

TEST(what_was_said, stays_when_the_time_ends_in_a_tool) {
    harness w;
    w.llm.replies.push_back(giving(calling(R"({"n":1})")));
    EXPECT_EQ(w.json("(deftool look (params (n integer)) (description \"d\") (progn (sleep 60) n))"
                     "(defatom l (params) (instructions \"look\") (tools (look)) (timeout 0.05))" +
                     content_and_error("(l)")),
              R"(["FAILED","looking","RESOURCE_EXHAUSTION"])");
}

TEST(what_was_said, stays_when_a_later_turn_fails) {
    harness w;
    w.llm.replies.push_back(giving(calling(R"({"n":1})")));
    w.llm.replies.push_back(failing(error(make_error_code(llm_errc::invalid_request), "400")));
    EXPECT_EQ(w.json(std::string(definitions) + content_and_error("(l)")),
              R"(["FAILED","looking","TASK_FAILURE"])");
}

TEST(what_was_said, stays_when_a_stream_is_cut_by_the_time) {
    harness w;
    w.llm.replies.push_back([](const chat_request&) -> result<chat_response> {
        return with_part(error::cancelled(cancel_reason::deadline),
                         response_with("first words", ports::token_usage{100, 20}));
    });
    w.llm.delay = std::chrono::milliseconds(30);
    EXPECT_EQ(w.json("(defatom late (params) (instructions \"slow\") (timeout 0.01))" +
                     content_and_error("(late)")),
              R"(["FAILED","the time limit of the task has passed","RESOURCE_EXHAUSTION"])")
        << "it was cut before anything came";
    w.llm.delay = std::chrono::milliseconds(0);
    w.llm.replies.clear();
    w.llm.replies.push_back(giving(response_with("first words", ports::token_usage{100, 20})));
    w.llm.piece_bytes = 100;
    w.llm.piece_delay = std::chrono::milliseconds(0);
    // The function is still at work with what has come when the time is over.
    EXPECT_EQ(w.json("(defatom u (params) (instructions \"slow\") (timeout 0.05))" +
                     content_and_error("(stream (u) (lambda (s) (sleep 60)))")),
              R"(["FAILED","first words","RESOURCE_EXHAUSTION"])");
    EXPECT_EQ(w.json("(get-in (stream (u) (lambda (s) (sleep 60))) '(notes usage output_tokens))"),
              "20");
}

TEST(what_was_said, counts_when_its_receiver_fails) {
    harness w({}, priced());
    w.llm.replies.push_back(giving(response_with("words", ports::token_usage{1000, 100})));
    w.llm.piece_delay = std::chrono::milliseconds(0);
    w.llm.piece_bytes = 100;
    EXPECT_THAT(w.json("(defatom t (params) (instructions \"x\"))"
                       "(stream (t) (lambda (s) (progn (sleep 0.01) (error \"no\"))))"),
                HasSubstr("no"));
    ASSERT_EQ(w.observer.costs.size(), 1U);
    EXPECT_NEAR(w.observer.costs[0].value_or(0), 1.3, 1e-9);
    EXPECT_EQ(w.observer.estimated, 0);
}

// ---------------------------------------------------------------- bad calls of tools

TEST(bad_arguments, are_reported_to_the_model) {
    harness w;
    for (const char* wrong : {"{not json", "[1,2]"}) {
        w.llm.asked.clear();
        w.llm.replies.clear();
        w.llm.replies.push_back(giving(calling(wrong)));
        w.llm.say("done");
        EXPECT_EQ(w.json(std::string(definitions) + "(content (l))"), "\"done\"");
        ASSERT_EQ(w.llm.asked.size(), 2U);
        const auto& messages = w.llm.asked[1].messages;
        const auto& bad = messages[messages.size() - 2];
        const auto& good = messages[messages.size() - 1];
        EXPECT_TRUE(bad.tool_failed);
        EXPECT_THAT(bad.text, HasSubstr("the arguments"));
        EXPECT_FALSE(good.tool_failed);
        EXPECT_EQ(good.text, "1");
        // Both came with the same id.
        EXPECT_EQ(bad.tool_call_id, "c");
        EXPECT_EQ(good.tool_call_id, "c_2");
        const auto& said = messages[messages.size() - 3];
        ASSERT_EQ(said.tool_calls.size(), 2U);
        EXPECT_EQ(said.tool_calls[1].id, "c_2");
    }
}

TEST(bad_arguments, ids_that_are_made_up_are_those_of_no_other_call) {
    harness w;
    chat_response three = calling(R"({"n":1})");
    three.tool_calls.push_back({"c_2", "look", R"({"n":2})"});
    w.llm.replies.push_back(giving(three));
    w.llm.replies.push_back(giving(three));
    w.llm.say("done");
    EXPECT_EQ(w.json(std::string(definitions) + "(content (l))"), "\"done\"");
    std::vector<std::string> ids;
    for (const auto& each : w.llm.asked.back().messages) {
        if (!each.tool_call_id.empty()) ids.push_back(each.tool_call_id);
    }
    ASSERT_EQ(ids.size(), 6U);
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end())
        << ::testing::PrintToString(ids);
}

// ---------------------------------------------------------------- kept responses

/// Keeps the responses to some prompts, as a cache in front of a service does.
class keeping_llm final : public ports::llm_port {
public:
    explicit keeping_llm(ports::llm_port& inner) : inner_(inner) {}
    std::string_view provider_name() const noexcept override { return "keeping"; }
    bool keeps_responses() const noexcept override { return true; }
    coro::task<result<chat_response>> complete(const chat_request& request,
                                               coro::call_context context) override {
        if (request.messages.back().text.find("kept") != std::string::npos) {
            chat_response response = response_with("kept", ports::token_usage{});
            response.attempts = 0;
            co_return response;
        }
        if (request.scheduling.cache == ports::cache_use::kept) {
            co_return error(make_error_code(llm_errc::not_found), "none").with_attempts(0);
        }
        result<chat_response> outcome = co_await inner_.complete(request, context);
        co_return outcome;
    }
    coro::task<result<chat_response>> stream(const chat_request& request,
                                             ports::chat_delta_sink on_delta,
                                             coro::call_context context) override {
        result<chat_response> outcome = co_await complete(request, context);
        if (outcome) {
            const result<void> taken = on_delta(outcome->text);
            if (!taken) co_return taken.error();
        }
        co_return outcome;
    }

private:
    ports::llm_port& inner_;
};

TEST(kept_responses, need_no_budget) {
    harness w({}, priced());
    keeping_llm keeping(w.llm);
    w.models.add(keeping);
    w.llm.replies.push_back(giving(response_with("paid", ports::token_usage{1000, 100})));
    const std::string ask =
        "(defatom ask (params q) (instructions \"{{q}}\") (model \"keeping:m\"))"
        "(define (state q) (get (ask q) 'status))";
    EXPECT_EQ(w.json(ask + "(with ((max-calls 0)) (list (state \"kept\") (state \"new\")))"),
              R"(["COMPLETE","FAILED"])");
    EXPECT_TRUE(w.llm.asked.empty());
    EXPECT_EQ(w.json("(with ((max-calls 1)) (list (state \"a\") (state \"kept\") (state \"b\")))"),
              R"(["COMPLETE","COMPLETE","FAILED"])");
    EXPECT_EQ(w.llm.asked.size(), 1U);
    EXPECT_EQ(w.observer.of_cache, 2) << "of five calls, of which two were refused";
    EXPECT_EQ(w.json("(with ((budget-usd 1.3)) (list (state \"a\") (state \"kept\") (state \"b\") "
                     "(stream (state \"kept\") (lambda (s) s))))"),
              R"(["COMPLETE","COMPLETE","FAILED","COMPLETE"])");
    // Whoever wants no kept responses gets none.
    EXPECT_EQ(w.json("(with ((max-calls 0) (cache false)) (state \"kept\"))"), "\"FAILED\"");
    EXPECT_EQ(w.llm.asked.size(), 2U);
}

TEST(kept_responses, are_never_sought_where_that_would_send) {
    harness w({}, priced());
    w.llm.say("x");
    EXPECT_EQ(w.json(std::string(definitions) + "(with ((max-calls 0)) (get (t) 'status))"),
              "\"FAILED\"");
    EXPECT_TRUE(w.llm.asked.empty());
}

// ---------------------------------------------------------------- conversations

TEST(conversations, record_the_result_of_a_subtask_as_the_response) {
    harness w;
    w.llm.say(R"({"status":"CONTINUATION","content":"","notes":{"subtask_request":)"
              R"({"type":"atomic","description":"d","inputs":{},"template_hints":["sub"]}}})");
    w.llm.say("the result of the subtask");
    w.llm.say("second");
    ASSERT_EQ(w.json("(defatom sub (params) (instructions \"sub\") (description \"d\"))"
                     "(defatom main-task (params) (instructions \"main\") "
                     "(output_format ((type \"json\"))))"
                     "(with ((conversation true)) (main-task) (content (main-task)))"),
              "\"second\"");
    std::string turns;
    for (const auto& each : w.llm.asked.back().messages) turns += each.text + "|";
    EXPECT_THAT(turns, HasSubstr("the result of the subtask|"));
    EXPECT_THAT(turns, Not(HasSubstr("CONTINUATION")));
}

} // namespace
} // namespace heddle::tasks
