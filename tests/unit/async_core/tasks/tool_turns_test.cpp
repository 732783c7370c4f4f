// Several tools that a model asks for in one turn, and the bound of `concurrency`.
#include "memory_log.hpp"
#include "tools_testing.hpp"

#include <heddle/host/row_history.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using testing::memory_log;
using testing::scripted_llm;

/// Asks for these tools, all in one turn, if it is offered any; then it is done.
scripted_llm::reply asking_for(std::vector<std::string> names) {
    return [names = std::move(names)](const ports::chat_request& request) {
        ports::chat_response response;
        if (request.tools.empty() || request.messages.size() > 1) {
            response.text = "done";
            return result<ports::chat_response>(response);
        }
        response.finish = ports::finish_reason::tool_calls;
        for (std::size_t i = 0; i < names.size(); ++i)
            response.tool_calls.push_back({std::to_string(i), names[i], "{}"});
        return result<ports::chat_response>(response);
    };
}

std::string bounded(int bound, const std::string& body) {
    return "(with ((concurrency " + std::to_string(bound) + ")) " + body + ")";
}

constexpr auto ask = "(defatom ask (params) (instructions \"i\"))";
constexpr auto plan = "(defatom plan (params) (instructions \"p\") (tools (ask)))";

// All of them ran with the permit of the branch that called the task.
TEST(tool_turns, tasks_that_a_model_calls_are_bounded) {
    for (const int bound : {1, 2, 4}) {
        harness w;
        w.llm.delay = std::chrono::milliseconds(2);
        w.llm.replies.push_back(asking_for({"ask", "ask", "ask", "ask", "ask"}));
        const std::string defined = std::string(ask) + plan;
        EXPECT_EQ(w.json(defined + bounded(bound, "(content (plan))")), R"("done")");
        EXPECT_EQ(w.llm.max_at_once, bound);
        w.llm.max_at_once = 0;
        EXPECT_EQ(w.json(defined + bounded(bound, "(map (lambda (i) (content (plan))) (range 6))")),
                  R"(["done","done","done","done","done","done"])");
        EXPECT_EQ(w.llm.max_at_once, bound);
        EXPECT_EQ(w.llm.asked.size(), 7U * 7U);
    }
}

TEST(tool_turns, unbounded_calls_run_side_by_side) {
    harness w;
    w.llm.delay = std::chrono::milliseconds(2);
    w.llm.replies.push_back(asking_for(std::vector<std::string>(10, "ask")));
    EXPECT_EQ(w.json(std::string(ask) + plan + "(content (plan))"), R"("done")");
    EXPECT_EQ(w.llm.max_at_once, 10);
}

// In a durable row all of them ran at once, in the first execution and after a resume.
TEST(tool_turns, of_durable_rows_are_bounded_in_each_execution) {
    const std::string defined = std::string(ask) +
                                "(deftool work (params) (description \"d\") (content (ask)))"
                                "(defatom plan (params) (instructions \"p\") (tools (ask work)))";
    for (const int bound : {1, 2, 3}) {
        const std::string program = defined + bounded(bound, "(content (plan))");
        const auto execute = [&](std::vector<ports::step_record> earlier, std::size_t* asked) {
            harness w;
            w.llm.delay = std::chrono::milliseconds(2);
            w.llm.replies.push_back(asking_for({"ask", "work", "ask", "work", "ask", "work"}));
            memory_log log(
                host::read_history(std::move(earlier),
                                   [](const ports::step_record&) -> std::optional<std::string> {
                                       return std::nullopt;
                                   })
                    .replayed);
            host::run_options options;
            options.steps = &log;
            options.until = loopback::runner::in(std::chrono::seconds(60));
            EXPECT_EQ(w.json(program, options), R"("done")");
            EXPECT_LE(w.llm.max_at_once, bound);
            *asked = w.llm.asked.size();
            return std::move(log.all);
        };
        std::size_t asked = 0;
        const std::vector<ports::step_record> all = execute({}, &asked);
        EXPECT_EQ(asked, 8U);
        for (std::size_t kept = 1; kept <= all.size(); ++kept) {
            SCOPED_TRACE(kept);
            const std::vector<ports::step_record> earlier(all.begin(), all.begin() + kept);
            const auto responses = static_cast<std::size_t>(std::count_if(
                earlier.begin(), earlier.end(),
                [](const auto& each) { return each.kind == ports::step_kind::request; }));
            (void)execute(earlier, &asked);
            EXPECT_LE(asked, 8U - responses);
        }
    }
}

// A task that a model calls has tools itself, which take its place.
TEST(tool_turns, nested_turns_share_the_bound_without_deadlock) {
    for (const int bound : {1, 2, 5}) {
        harness w;
        w.llm.delay = std::chrono::milliseconds(1);
        w.llm.replies.push_back([](const ports::chat_request& request) {
            const bool outer = request.tools.size() == 2;
            return asking_for(outer ? std::vector<std::string>{"plan", "work", "plan", "work"}
                                    : std::vector<std::string>{"ask", "ask", "ask"})(request);
        });
        EXPECT_EQ(w.json(std::string(ask) + plan +
                         "(deftool work (params) (description \"d\")"
                         "  (length (map (lambda (i) (content (plan))) (range 3))))"
                         "(defatom whole (params) (instructions \"w\") (tools (plan work)))" +
                         bounded(bound, "(map (lambda (i) (content (whole))) (range 3))")),
                  R"(["done","done","done"])");
        EXPECT_LE(w.llm.max_at_once, bound);
    }
}

TEST(tool_turns, programs_that_a_model_runs_are_bounded) {
    testing::tool_harness w;
    w.llm.replies.push_back([](const ports::chat_request& request) {
        auto response = asking_for(std::vector<std::string>(6, "system_run_script"))(request);
        // The number of programs that run, as a name in a list: it grows with each that runs.
        for (auto& each : response->tool_calls) {
            each.arguments_json =
                R"({"command":"touch sub/$$; ls sub | wc -l >> counts; sleep 0.05; rm sub/$$"})";
        }
        return response;
    });
    EXPECT_EQ(w.json("(defatom t (params) (instructions \"i\") (tools (system:run_script)))" +
                     bounded(2, "(content (t))")),
              R"("done")");
    const std::string counts = w.get("counts");
    EXPECT_EQ(std::count(counts.begin(), counts.end(), '\n'), 6);
    EXPECT_EQ(counts.find_first_not_of("12 \n"), std::string::npos) << counts;
}

// A body whose end finds it without a permit, because it has waited, left the task without one.
TEST(tool_turns, what_a_body_fails_with_waits_for_the_place_of_the_task) {
    for (const std::string body : {"(await (spawn (progn (sleep 0.002) (error \"no\"))))",
                                   "(await (spawn (progn (sleep 0.002) 1)))",
                                   "(parallel (ask) (progn (ask) (error \"no\")))"}) {
        for (const std::string beside : {"work", "ask"}) {
            harness w;
            w.llm.delay = std::chrono::milliseconds(1);
            w.llm.replies.push_back(asking_for({"work", beside}));
            EXPECT_EQ(
                w.json(std::string(ask) + "(deftool work (params) (description \"d\") " + body +
                       ")(defatom t (params) (instructions \"w\") (tools (work ask)))" +
                       bounded(2, "(length (map (lambda (i) (t)) (range 12)))")),
                "12");
            EXPECT_LE(w.llm.max_at_once, 2) << body;
        }
    }
}

TEST(tool_turns, waiting_calls_end_with_their_time_and_their_branch) {
    for (const std::string& around : {std::string("(timeout 0.03 (t) 'late)"),
                                      std::string("(race (t) (progn (sleep 0.03) 'late))")}) {
        harness w;
        w.llm.replies.push_back(asking_for(std::vector<std::string>(5, "slow")));
        EXPECT_EQ(w.json(std::string("(deftool slow (params) (description \"d\") (sleep 60))") +
                         "(defatom t (params) (instructions \"w\") (tools (slow)))" +
                         bounded(1, around + ")(with ((concurrency 1)) (map (lambda (i) (+ i 1)) "
                                             "(list 1 2))")),
                  "[2,3]");
        EXPECT_EQ(w.json(bounded(2, "(list " + around +
                                        " (length (map (lambda (i) (sleep "
                                        "0.001)) (range 9))))")),
                  R"(["late",9])");
    }
}

// The call that waits for the budget had the permit that the function of the stream waited for.
TEST(tool_turns, function_of_a_stream_has_permits_of_its_own) {
    harness w({}, testing::with_prices());
    w.llm.say(std::string(800, 'x'));
    w.llm.piece_bytes = 8;
    w.llm.piece_delay = std::chrono::milliseconds(0);
    host::run_options options;
    options.until = loopback::runner::in(std::chrono::seconds(20));
    const std::string branches =
        "(progn (stream (ask) (lambda (p) (map (lambda (k) (sleep 0.001)) (range 2)))) 1)";
    EXPECT_EQ(w.json(std::string(ask) +
                         "(deftool unused (params) (description \"d\") 1)"
                         "(with ((concurrency 1) (budget-usd 0.02)) (length (map (lambda (i) " +
                         branches + ") (range 3))))",
                     options),
              "3");
}

} // namespace
} // namespace heddle::tasks
