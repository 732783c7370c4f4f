// What calls may cost together, and how many there may be: budget-usd, max-calls.
#include "tasks/call/spending.hpp"
#include "tasks_testing.hpp"

#include <heddle/ports/http_port.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using testing::harness;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::with_prices;

task_template plain(std::string name = "t", std::size_t prompt_bytes = 0) {
    task_template declared;
    declared.name = std::move(name);
    declared.instructions = std::string(prompt_bytes, 'p') + "go {{x}}";
    task_input x;
    x.name = "x";
    x.optional = true;
    declared.inputs.push_back(x);
    return declared;
}

/// At most a tenth of a dollar of output.
task_template bounded(task_template declared) {
    declared.max_tokens = 100;
    return declared;
}

/// More branches at once than the usual 64.
host::run_options many_at_once() {
    host::run_options options;
    options.concurrency = 1000;
    return options;
}

/// Maps a task over 1 ... n, and shows the states.
std::string states(int n, const std::string& call = "(t i)") {
    return "(map (lambda (i) (get " + call + " 'status)) (range " + std::to_string(n) + "))";
}

/// A response without usage. At four bytes a token, 4,000 bytes cost a dollar.
testing::scripted_llm::reply silent(std::size_t bytes) {
    return [=](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text.assign(bytes, 'x');
        return response;
    };
}

testing::scripted_llm::reply reporting(std::size_t bytes, ports::token_usage usage) {
    return [=](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text.assign(bytes, 'x');
        response.usage = usage;
        return response;
    };
}

testing::scripted_llm::reply failing(error failure) {
    return [=](const ports::chat_request&) -> result<ports::chat_response> { return failure; };
}

TEST(budgets, calls_beyond_have_failed_results_and_the_others_are_kept) {
    harness w({plain()});
    w.llm.say("x");
    EXPECT_EQ(w.json("(with ((max-calls 2)) (map (lambda (r) (if (ok? r) (content r) (get-in r "
                     "'(notes error resource)))) (list (t) (t) (t) (t))))"),
              R"(["x","x","calls","calls"])");
    EXPECT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(
        w.json("(with ((max-calls 1)) (t) (let ((e (get-in (t) '(notes error)))) (list (get e "
               "'type) (get e 'message) (get-in e '(metrics used)) (get-in e '(metrics "
               "limit)))))"),
        R"(["RESOURCE_EXHAUSTION","max-calls: all 1 calls are used",1.0,1.0])");
    // Inner ones are bound by outer ones, and side by side they count together.
    w.llm.asked.clear();
    EXPECT_EQ(w.json("(with ((max-calls 1)) (with ((max-calls 5)) (t) (get (t) 'status)))"),
              "\"FAILED\"");
    EXPECT_EQ(w.llm.asked.size(), 1U);
    w.llm.asked.clear();
    w.llm.delay = std::chrono::milliseconds(2);
    w.json("(with ((max-calls 3)) " + states(9) + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U);
    EXPECT_EQ(w.json("(with ((max-calls 0)) (get (t) 'status))"), "\"FAILED\"");
}

TEST(budgets, raise_where_failures_raise) {
    harness w({plain()});
    w.llm.say("x");
    EXPECT_THAT(w.json("(with ((max-calls 1) (on-failure 'raise)) (t) (t))"),
                AllOf(StartsWith("TaskError: "), HasSubstr("all 1 calls are used")));
    EXPECT_EQ(w.json("(with ((max-calls 1)) (t) (try (content (t)) (catch (e) (get e 'reason))))"),
              "\"RESOURCE_EXHAUSTION\"");
}

TEST(budgets, never_change_the_request) {
    harness w({plain()}, with_prices());
    w.llm.say("x");
    EXPECT_EQ(w.json("(t) (with ((budget-usd 100) (max-calls 5)) (t)) 1"), "1");
    ASSERT_EQ(w.llm.asked.size(), 2U);
    EXPECT_FALSE(w.llm.asked[0].max_output_tokens);
    EXPECT_FALSE(w.llm.asked[1].max_output_tokens);
}

TEST(budgets, are_held_and_used_up) {
    harness w({plain()}, with_prices());
    w.llm.say("x"); // 0.015 each
    w.llm.delay = std::chrono::milliseconds(1);
    const std::string text = w.json("(with ((budget-usd 0.2)) " + states(100) + ")");
    EXPECT_EQ(w.llm.asked.size(), 13U) << "0.195, and no more fit";
    EXPECT_THAT(text, AllOf(HasSubstr("COMPLETE"), HasSubstr("FAILED")));
    EXPECT_THAT(w.json("(with ((budget-usd 0.02)) (t) (get-in (t) '(notes error)))"),
                AllOf(HasSubstr(R"("resource":"cost")"),
                      HasSubstr("$0.015 of $0.02 are spent, and this call costs about $0.015")));
    EXPECT_THAT(w.json("(with ((budget-usd 1)) (t (model \"unknown\")))"),
                AllOf(StartsWith("TaskError: "), HasSubstr("a budget in dollars cannot be held")));
    EXPECT_EQ(w.json("(with ((budget-usd 0)) (get (t) 'status))"), "\"FAILED\"");
}

TEST(budgets, do_not_slow_calls_down_once_their_cost_is_known) {
    harness w({plain()}, with_prices());
    w.llm.say("x");
    w.llm.delay = std::chrono::milliseconds(50);
    // The first estimate of a call is some four dollars: nothing runs beside it.
    EXPECT_EQ(w.json("(with ((budget-usd 4.2)) (t) (length " + states(200) + "))", many_at_once()),
              "200");
    EXPECT_GE(w.llm.max_at_once, 100);
    EXPECT_THAT(w.observer.outcomes, Each(task_outcome::complete));
}

TEST(budgets, hold_when_the_first_calls_are_cheap) {
    task_template t = plain();
    t.max_tokens = 2000;
    harness w({t}, with_prices());
    // Two in three cost a thousandth of what the others do.
    for (int i = 0; i < 400; ++i) w.llm.replies.push_back(reporting(4, {1, i % 3 == 2 ? 2000 : 1}));
    w.llm.delay = std::chrono::milliseconds(2);
    w.json("(with ((budget-usd 40)) (t) " + states(300) + ")", many_at_once());
    double spent = 0;
    for (const auto& cost : w.observer.costs) spent += cost.value_or(0);
    EXPECT_LT(spent, 60) << "and not 200";
    EXPECT_GT(spent, 36);
    EXPECT_GE(w.llm.max_at_once, 15) << "forty dollars hold twenty of the dear ones";
}

TEST(budgets, hold_when_a_service_reports_no_usage) {
    harness w({plain()}, with_prices());
    w.llm.replies.push_back(silent(4000));
    w.json("(with ((budget-usd 2.5)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.observer.estimated, 2);
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"),
                AllOf(HasSubstr(R"("output_tokens":1000)"), HasSubstr(R"("estimated":true)"),
                      HasSubstr(R"("cached_tokens":null)"), HasSubstr(R"("cost_usd":1.0)")));
    w.llm.replies.clear();
    w.llm.say("x");
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"), ::testing::Not(HasSubstr("estimated")));
}

TEST(budgets, hold_when_a_service_reports_what_cannot_be) {
    harness w({plain("t", 4000)}, with_prices()); // a dollar of input
    w.llm.replies.push_back(reporting(4000, {0, 0}));
    w.json("(with ((budget-usd 6.5)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U) << "two dollars each";
    EXPECT_EQ(w.observer.estimated, 3);
    w.llm.replies = {reporting(4000, {0, 7})};
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"),
                AllOf(HasSubstr(R"("input_tokens":10)"), HasSubstr(R"("output_tokens":7)"),
                      HasSubstr(R"("estimated":true)")));
    w.llm.replies = {reporting(4000, {12, 7, 1000, 0})};
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"),
                AllOf(HasSubstr(R"("input_tokens":12)"), HasSubstr(R"("cached_tokens":0)")));
    w.llm.replies = {reporting(0, {12, 0})}; // nothing was said, and nothing charged for it
    EXPECT_THAT(w.json("(get-in (t) '(notes usage))"),
                AllOf(HasSubstr(R"("output_tokens":0)"), Not(HasSubstr("estimated"))));
}

TEST(budgets, learn_nothing_from_a_response_that_was_cut_off) {
    harness w({plain()}, with_prices());
    const error broken(ports::make_error_code(ports::llm_errc::server), "broken");
    auto part = std::make_shared<ports::partial_response>(ports::chat_response());
    part->so_far.text = "hi";
    part->so_far.finish = ports::finish_reason::unfinished;
    w.llm.replies = {failing(error(broken).with_payload(part)), failing(broken)};
    // Each counts as the first estimate: some four dollars.
    w.json("(with ((budget-usd 10)) " + states(30) + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U);
    // What such calls cost is known now, and what arrived is what a part counts.
    w.llm.replies = {reporting(4, {10, 5}), failing(error(broken).with_payload(part))};
    w.llm.asked.clear();
    w.json("(with ((budget-usd 10)) (t)) (with ((budget-usd 1)) " + states(30) + ")");
    EXPECT_EQ(w.llm.asked.size(), 31U);
}

// Such calls counted with what had arrived, so that hundreds of them used up no budget.
TEST(budgets, count_the_estimate_where_a_body_was_cut_off_before_it_could_be_read) {
    harness w({plain()}, with_prices());
    const error broken(ports::make_error_code(ports::llm_errc::connection), "broken");
    w.llm.replies = {failing(ports::with_received(broken, 40))};
    w.json("(with ((budget-usd 10)) " + states(30) + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U); // some four dollars each
    EXPECT_EQ(w.observer.estimated, 3);
    w.llm.replies = {reporting(4, {10, 5}), failing(ports::with_received(broken, 4000))};
    w.llm.asked.clear();
    w.json("(with ((budget-usd 10)) (t)) (with ((budget-usd 2.5)) " + states(30) + ")");
    EXPECT_EQ(w.llm.asked.size(), 4U) << "a dollar each, once such calls are known";
}

TEST(budgets, count_calls_that_failed_after_they_were_sent) {
    const error server(ports::make_error_code(ports::llm_errc::server), "broken");
    harness w({bounded(plain("t", 4000))}, with_prices()); // a dollar of input
    w.llm.replies.push_back(failing(server));
    w.json("(with ((budget-usd 2.5)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 2U);
    EXPECT_EQ(w.observer.estimated, 2);
    w.llm.asked.clear();
    w.json("(with ((max-calls 3)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U);
    // A part of a response counts with what it holds.
    w.llm.replies.clear();
    ports::chat_response part;
    part.text.assign(4000, 'x');
    w.llm.replies.push_back(
        failing(error(server).with_payload(std::make_shared<ports::partial_response>(part))));
    w.llm.asked.clear();
    w.json("(with ((budget-usd 2.5)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 1U) << "two dollars each";
}

TEST(budgets, do_not_count_what_no_model_has_worked_on) {
    harness w({bounded(plain("t", 4000))}, with_prices());
    const auto sent = [&](error failure, const std::string& bound) {
        w.llm.replies.clear();
        w.llm.replies.push_back(failing(std::move(failure)));
        w.llm.asked.clear();
        w.json("(with (" + bound + ") " + states(6) + ")");
        return w.llm.asked.size();
    };
    const error busy(ports::make_error_code(ports::llm_errc::rate_limit), "429");
    EXPECT_EQ(sent(error(busy), "(budget-usd 2.5)"), 6U);
    EXPECT_EQ(sent(error(busy).with_attempts(0), "(max-calls 1)"), 6U) << "never sent";
    EXPECT_EQ(sent(error(busy), "(max-calls 2)"), 2U) << "sent";
    const error down(ports::make_error_code(ports::llm_errc::connection), "down");
    EXPECT_EQ(sent(error(down).with_cause(
                       error(ports::make_error_code(ports::http_errc::connect_failed), "refused")),
                   "(budget-usd 2.5)"),
              6U);
    EXPECT_EQ(sent(error(down).with_cause(
                       error(ports::make_error_code(ports::http_errc::connection_reset), "reset")),
                   "(budget-usd 2.5)"),
              2U);
}

TEST(budgets, count_calls_that_were_cancelled_after_they_were_sent) {
    harness w({bounded(plain("t", 4000))}, with_prices());
    w.llm.say("x");
    w.llm.delay = std::chrono::seconds(60);
    const std::string cut = " (try (get (timeout 0.01 (t)) 'status) (catch (e) (get e 'kind)))";
    EXPECT_EQ(w.json("(with ((budget-usd 2.5)) (list" + cut + cut + cut + cut + "))"),
              R"(["TimeoutError","TimeoutError","FAILED","FAILED"])");
    EXPECT_EQ(w.llm.asked.size(), 2U);
    w.llm.asked.clear();
    EXPECT_EQ(w.json("(with ((max-calls 1)) (race (t) (sleep 0.01)) (get (t) 'status))"),
              "\"FAILED\"");
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(budgets, are_used_up_by_calls_that_all_end_without_a_response) {
    const error server(ports::make_error_code(ports::llm_errc::server), "broken");
    task_template slow = plain("slow");
    slow.timeout = std::chrono::milliseconds(5);
    task_template small = bounded(slow);
    small.name = "small";
    harness w({slow, small, plain("broken")}, with_prices());
    w.llm.replies.push_back(failing(server));
    w.json("(with ((budget-usd 9)) " + states(8, "(broken i)") + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U) << "4.096 dollars of output each, and a little input";
    w.llm.delay = std::chrono::seconds(60);
    w.llm.asked.clear();
    w.json("(with ((concurrency 1) (budget-usd 9)) " + states(8, "(slow i)") + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U);
    w.llm.asked.clear();
    w.json("(with ((concurrency 1) (budget-usd 0.25)) " + states(8, "(small i)") + ")");
    EXPECT_EQ(w.llm.asked.size(), 3U) << "a tenth of a dollar each";
}

TEST(budgets, admit_the_first_call_by_its_input_and_report_estimates) {
    task_template slow = plain("slow");
    slow.timeout = std::chrono::milliseconds(5);
    harness w({slow}, with_prices());
    w.llm.say("x");
    w.llm.delay = std::chrono::seconds(60);
    EXPECT_THAT(w.json("(with ((concurrency 1) (budget-usd 1)) (slow 1) "
                       "(get-in (slow 2) '(notes error message)))"),
                AllOf(HasSubstr("of $1 are spent ($4."), HasSubstr("by estimate, for calls"),
                      HasSubstr("and the input of this call costs about $0.0")));
    EXPECT_EQ(w.llm.asked.size(), 1U);
}

TEST(budgets, count_a_call_without_a_response_as_what_such_calls_cost_once_that_is_known) {
    task_template t = bounded(plain());
    harness w({t}, with_prices());
    w.llm.say("x"); // 0.015
    const std::string late = "(with ((budget-usd 100)) (t (timeout 0.005)))";
    w.llm.delay = std::chrono::seconds(60);
    w.json(late);
    EXPECT_GT(w.observer.costs.back().value_or(0), 0.1);
    w.llm.delay = std::chrono::milliseconds(0);
    w.json("(with ((budget-usd 100)) (t))");
    w.llm.delay = std::chrono::seconds(60);
    w.json(late);
    EXPECT_NEAR(w.observer.costs.back().value_or(0), 0.015, 1e-9);
}

// A batch counted them with their input, as no budget is around them: the run has it.
TEST(budgets, of_many_sessions_count_such_a_call_by_what_all_of_them_know) {
    task_system_parts parts = with_prices();
    parts.costs = make_cost_history();
    harness w({bounded(plain())}, parts);
    w.llm.say("x"); // 0.015
    const auto lost = [&w] {
        w.session = w.engine->new_session().value();
        w.llm.delay = std::chrono::seconds(60);
        w.json("(race (t) (sleep 0.01))");
        return w.observer.costs.back().value_or(0);
    };
    EXPECT_GT(lost(), 0.1) << "nothing is known of such calls";
    w.session = w.engine->new_session().value();
    w.llm.delay = std::chrono::milliseconds(0);
    w.json("(t)");
    EXPECT_NEAR(lost(), 0.015, 1e-9);
    w.session = w.engine->new_session().value();
    w.llm.delay = std::chrono::milliseconds(0);
    w.json(states(200));
    EXPECT_EQ(w.llm.asked.size(), 203U) << "no call waits, and none is refused";

    task_system_parts unpriced;
    unpriced.costs = make_cost_history();
    harness unknown({plain()}, unpriced);
    unknown.llm.say("x");
    EXPECT_EQ(unknown.json("(get (t) 'status)"), "\"COMPLETE\"");
    unknown.llm.delay = std::chrono::seconds(60);
    unknown.json("(race (t) (sleep 0.01))");
    EXPECT_EQ(unknown.observer.costs.back(), std::nullopt);
}

TEST(budgets, count_further_attempts_with_their_input) {
    harness w({plain("t", 4000)}, with_prices());
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.usage = ports::token_usage{1000, 0, 0, 0};
        response.attempts = 3;
        response.lost.resize(2);
        return response;
    });
    w.json("(with ((budget-usd 6.5)) " + states(6) + ")");
    EXPECT_EQ(w.llm.asked.size(), 2U) << "three dollars each";
}

TEST(budgets, do_not_count_responses_of_a_cache) {
    harness w({plain()}, with_prices());
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.usage = ports::token_usage{1000, 1000, 0, 0};
        response.attempts = 0;
        return response;
    });
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.json("(with ((budget-usd 0.5) (max-calls 1)) " + states(3) + ")"),
              R"(["COMPLETE","COMPLETE","COMPLETE"])");
}

TEST(budgets, learn_nothing_from_a_cached_response_that_overtook_a_request) {
    harness w({plain()}, with_prices());
    w.llm.say("x"); // 0.015
    w.llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.text = "x";
        response.usage = ports::token_usage{};
        response.usage->of_cache = true;
        response.attempts = 1; // of the other lane of a hedge
        return response;
    });
    EXPECT_THAT(w.json("(with ((budget-usd 1)) (t) (t) (t) (t)) "
                       "(with ((budget-usd 0.01)) (get-in (t) '(notes error message)))"),
                HasSubstr("this call costs about $0.015"));
}

TEST(budgets, keep_the_last_response_of_a_task_that_may_not_ask_again) {
    task_template t = plain();
    t.output = {true, "number"};
    t.retries = 5;
    harness w({t});
    w.llm.say("no number");
    EXPECT_EQ(w.json("(with ((max-calls 1)) (let ((r (t))) (list (get r 'status) (get r 'content) "
                     "(get-in r '(notes error resource)))))"),
              R"(["FAILED","no number","calls"])");
}

TEST(budgets, waiting_is_reported_and_ends_with_the_run) {
    harness w({plain()}, with_prices());
    w.llm.say("x");
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_EQ(w.json("(with ((budget-usd 4.2)) (length " + states(40) + "))"), "40");
    EXPECT_EQ(w.observer.waits_begun, 39) << "each waits once, and not again for each that ends";
    EXPECT_EQ(w.observer.waits_ended, 39);
    harness slow({plain()}, with_prices());
    slow.llm.say("x");
    slow.llm.delay = std::chrono::seconds(60);
    EXPECT_THAT(slow.json("(timeout 0.05 (with ((budget-usd 4.2)) " + states(3) + "))"),
                StartsWith("TimeoutError"));
    EXPECT_EQ(slow.llm.asked.size(), 1U);
    EXPECT_EQ(slow.observer.waits_begun, slow.observer.waits_ended);
    EXPECT_EQ(slow.observer.started, slow.observer.finished);
}

TEST(budgets, a_stream_whose_function_asks_does_not_wait_for_itself) {
    harness w({plain(), plain("u")}, with_prices());
    w.llm.say("long enough");
    EXPECT_EQ(w.json("(with ((budget-usd 4.2)) (let ((r (stream (t \"x\") (lambda (s) (content (u "
                     "s)))))) (get r 'status)))"),
              "\"COMPLETE\"");
    EXPECT_GE(w.llm.asked.size(), 2U);
}

TEST(budgets, of_the_session_holds_over_all_that_it_runs) {
    task_system_parts parts = with_prices();
    parts.max_calls = 3;
    harness calls({plain()}, parts);
    calls.llm.say("x");
    EXPECT_EQ(calls.json("(t) (get (t) 'status)"), "\"COMPLETE\"");
    EXPECT_EQ(calls.json("(with ((max-calls 5)) (t) (get (t) 'status))"), "\"FAILED\"");
    EXPECT_EQ(calls.llm.asked.size(), 3U);
    parts.max_calls.reset();
    parts.budget_usd = 0.05;
    harness money({plain()}, parts);
    money.llm.say("x");
    EXPECT_THAT(money.json(states(5)), AllOf(HasSubstr("COMPLETE"), HasSubstr("FAILED")));
    EXPECT_EQ(money.llm.asked.size(), 3U);
    EXPECT_THAT(money.json("(get-in (t) '(notes error message))"),
                HasSubstr("$0.045 of $0.05 are spent"));
}

TEST(budgets, nested_ones_do_not_send_calls_back_and_forth) {
    harness w({plain()}, with_prices());
    // Dear and cheap in turns: what is set aside is more than the mean, so that now the inner one
    // is full and now the outer one.
    for (int i = 0; i < 400; ++i) w.llm.replies.push_back(reporting(4, {10, i % 2 == 0 ? 25 : 5}));
    w.llm.delay = std::chrono::milliseconds(1);
    EXPECT_THAT(w.json("(with ((budget-usd 3.02)) (with ((budget-usd 3) (concurrency 16)) " +
                       states(300) + "))"),
                AllOf(HasSubstr("COMPLETE"), HasSubstr("FAILED")));
    EXPECT_NEAR(static_cast<double>(w.llm.asked.size()), 120, 4) << "0.025 dollars each";
    EXPECT_LT(w.observer.waits_begun, 1000);
    EXPECT_EQ(w.observer.waits_begun, w.observer.waits_ended);
}

TEST(budgets, wrong_values_are_refused) {
    harness w({plain()});
    EXPECT_THAT(w.json("(with ((max-calls -1)) 1)"), HasSubstr("a non-negative integer"));
    EXPECT_THAT(w.json("(with ((budget-usd \"a\")) 1)"), HasSubstr("a number"));
}

TEST(budgets, set_aside_what_is_known_by_now_for_calls_in_flight) {
    harness w({plain()}, with_prices());
    w.llm.replies.push_back(silent(40'000 * 4)); // 40 dollars; the first estimate is about 4
    w.llm.delay = std::chrono::milliseconds(5);
    const std::string text = w.json("(with ((budget-usd 200)) " + states(70) + ")");
    EXPECT_THAT(text, AllOf(HasSubstr("COMPLETE"), HasSubstr("FAILED")));
    EXPECT_LE(w.llm.asked.size(), 5U) << "200 dollars";
    EXPECT_GE(w.llm.asked.size(), 4U);
}

TEST(budgets, few_calls_go_first_while_their_cost_is_a_guess) {
    const std::string some = "(with ((budget-usd 1000)) (length " + states(40) + "))";
    harness guessing({plain()}, with_prices());
    guessing.llm.say("x");
    guessing.llm.delay = std::chrono::seconds(60);
    EXPECT_THAT(guessing.json("(timeout 0.5 " + some + ")"), StartsWith("TimeoutError"));
    EXPECT_EQ(guessing.llm.asked.size(), 4U);
    // What a call may cost is not a guess where the request bounds it.
    task_template bounded = plain();
    bounded.max_tokens = 100;
    harness knowing({bounded}, with_prices());
    knowing.llm.say("x");
    knowing.llm.delay = std::chrono::seconds(60);
    EXPECT_THAT(knowing.json("(timeout 0.5 " + some + ")"), StartsWith("TimeoutError"));
    EXPECT_EQ(knowing.llm.asked.size(), 40U);
    // Nor does it matter where only calls are counted.
    harness counting({plain()}, with_prices());
    counting.llm.say("x");
    counting.llm.delay = std::chrono::milliseconds(5);
    EXPECT_EQ(counting.json("(with ((max-calls 100)) (length " + states(40) + "))"), "40");
    EXPECT_EQ(counting.llm.max_at_once, 40);
    EXPECT_EQ(counting.observer.waits_begun, 0);
}

TEST(spending_ledger, lets_nobody_overtake) {
    using verdict = spending_ledger::verdict;
    spending_ledger ledger({10.0, std::nullopt});
    const expected_cost running{nullptr, "running", {8, 8}};
    const expected_cost dear{nullptr, "dear", {5, 5}};
    const expected_cost cheap{nullptr, "cheap", {1, 1}};
    ledger.prepare(running);
    ledger.take(running);
    EXPECT_EQ(ledger.ask(dear, false), verdict::later);
    EXPECT_EQ(ledger.ask(cheap, false), verdict::granted);
    {
        spending_ledger::place first(ledger, dear);
        EXPECT_EQ(ledger.ask(cheap, false), verdict::later) << "somebody waits";
        ledger.settle(running, 1, true);
        EXPECT_EQ(ledger.ask(cheap, false), verdict::later) << "it is the turn of the first";
        EXPECT_EQ(ledger.ask(dear, true), verdict::granted);
    }
    EXPECT_EQ(ledger.ask(cheap, false), verdict::granted) << "the place was given up";
}

TEST(spending_ledger, reckons_calls_in_flight_at_what_is_known_by_now) {
    using verdict = spending_ledger::verdict;
    cost_history known;
    spending_ledger ledger({100.0, std::nullopt});
    const expected_cost wanted{&known, "kind", {1, 1}};
    for (int i = 0; i < 60; ++i) {
        ASSERT_EQ(ledger.ask(wanted, false), verdict::granted);
        ledger.prepare(wanted);
        ledger.take(wanted);
    }
    for (int i = 0; i < 3; ++i) known.add("kind", 7.5);
    EXPECT_EQ(ledger.ask(wanted, false), verdict::later) << "60 calls of 7.5 dollars";
    for (int i = 0; i < 60; ++i) ledger.settle(wanted, 0, true);
    EXPECT_EQ(ledger.ask(wanted, false), verdict::granted);
    for (int i = 0; i < 13; ++i) {
        ASSERT_EQ(ledger.ask(wanted, false), verdict::granted);
        ledger.prepare(wanted);
        ledger.take(wanted);
    }
    EXPECT_EQ(ledger.ask(wanted, false), verdict::later) << "13 of them are 97.5 dollars";
    // It has got cheaper: the calls in flight hold less, too.
    for (int i = 0; i < 100'000; ++i) known.add("kind", 0.01);
    EXPECT_EQ(ledger.ask(wanted, false), verdict::granted);
}

TEST(spending_share, counts_what_is_known_when_it_is_settled) {
    loopback::runner on;
    cost_history known;
    spending_ledger ledger({10.0, std::nullopt});
    const expected_cost wanted{&known, "kind", {1, 5, true}};
    const auto reserve = [&](spending_share& share) {
        const auto reserved = on.run(share.reserve({}, &ledger, wanted, on.context(), nullptr));
        ASSERT_TRUE(reserved && !*reserved);
    };
    spending_share share;
    reserve(share);
    EXPECT_EQ(share.expected(), 5);
    share.settle(share.expected(), true);
    known.add("kind", 2);
    EXPECT_EQ(share.expected(), 5) << "as it was counted";
    {
        spending_share dropped;
        reserve(dropped);
        known.add("kind", 4);
        EXPECT_EQ(dropped.expected(), 3);
    }
    EXPECT_THAT(ledger.refusal(wanted.now()).message, HasSubstr("$8 of $10 are spent"));
}

TEST(cost_history, is_the_mean_and_what_one_hardly_exceeds) {
    cost_history known;
    const cost_estimate first{1, 2};
    EXPECT_EQ(known.estimate("a", first).ceiling, 2);
    EXPECT_EQ(known.estimate("a", first).if_unreported(), 2);
    known.add("a", 4);
    EXPECT_EQ(known.estimate("a", first).if_unreported(), 4);
    EXPECT_DOUBLE_EQ(known.estimate("a", first).usd, 4);
    EXPECT_DOUBLE_EQ(known.estimate("a", first).ceiling, 8);
    for (int i = 0; i < 100; ++i) known.add("a", 4);
    EXPECT_NEAR(known.estimate("a", first).ceiling, 4, 1e-9);
    known.add("b", 1);
    known.add("b", 3);
    EXPECT_NEAR(known.estimate("b", first).ceiling, 2 + 2 * 1.4142, 1e-3);
}

} // namespace
} // namespace heddle::tasks
