// Tasks and tools in sessions that share a loaded program.
#include "tasks_testing.hpp"

#include <heddle/host/session_image.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heddle::tasks::testing {
namespace {

class shared_tasks : public ::testing::Test {
protected:
    void set_up(task_system_parts parts = {}) { on.emplace(std::vector<task_template>(), parts); }
    /// The session of the harness loads the program and becomes the image.
    void load(const std::string& program) {
        const auto ended = on->run(program);
        ASSERT_TRUE(ended) << shown(ended.error());
        image = host::session_image::make(std::move(on->session));
        ASSERT_TRUE(image->is_shareable()) << image->obstacle();
    }
    std::string run(host::session& in, std::string text) {
        return json_of(on->runner.run(in.evaluate("test", std::move(text))));
    }
    std::unique_ptr<host::session> fresh() { return image->new_session().value(); }
    [[nodiscard]] std::string last_prompt() const {
        return on->llm.asked.back().messages.back().text;
    }

    std::optional<harness> on;
    std::shared_ptr<host::session_image> image;
};

TEST_F(shared_tasks, are_called_by_each_session) {
    set_up();
    on->llm.say("a response");
    load(
        "(defatom greet (params name) (instructions \"Greet {{name}}.\"))"
        "(defatom special (params) (instructions \"As a kind.\") (subtype \"odd\"))"
        "(define (main name) (content (greet (name name))))");
    for (const char* name : {"Ann", "Bob"}) {
        const auto one = fresh();
        EXPECT_EQ(run(*one, std::string("(main \"") + name + "\")"), "\"a response\"");
        EXPECT_NE(last_prompt().find(std::string("Greet ") + name), std::string::npos);
        EXPECT_EQ(run(*one, "(content (greet \"Eve\"))"), "\"a response\"");
        EXPECT_EQ(run(*one, "(content (call-atomic-task 'atomic:odd))"), "\"a response\"");
        EXPECT_EQ(run(*one, "(greet (nane 1))").substr(0, 9), "TaskError");
        EXPECT_EQ(run(*one, "(grete)"), "UnboundSymbolError: unbound symbol 'grete'");
    }
    EXPECT_EQ(on->observer.finished, 6);
}

TEST_F(shared_tasks, are_hidden_by_those_that_a_session_defines) {
    set_up();
    on->llm.say("a response");
    load(
        "(defatom greet (params name) (instructions \"Greet {{name}}.\") (description \"greets\"))"
        "(define (main) (greet (name \"Ann\")))"
        "(define (of-later) (later (name \"Ann\")))");
    const auto one = fresh();
    const auto other = fresh();
    EXPECT_EQ(run(*one,
                  "(defatom greet (params name) (instructions \"Leave {{name}}.\"))"
                  "(defatom later (params name) (instructions \"Later {{name}}.\"))"
                  "(main) 1"),
              "1");
    EXPECT_NE(last_prompt().find("Leave Ann"), std::string::npos) << last_prompt();
    EXPECT_EQ(run(*one, "(content (of-later))"), "\"a response\"");
    EXPECT_NE(last_prompt().find("Later Ann"), std::string::npos) << last_prompt();
    EXPECT_EQ(run(*other, "(main) 1"), "1");
    EXPECT_NE(last_prompt().find("Greet Ann"), std::string::npos) << last_prompt();
    EXPECT_EQ(run(*other, "(of-later)").substr(0, 18), "UnboundSymbolError");
}

TEST_F(shared_tasks, are_found_by_description_with_those_of_the_session) {
    set_up();
    load("(defatom sort-mail (params) (instructions \"x\") (description \"sorts letters\"))");
    const auto one = fresh();
    EXPECT_EQ(run(*one,
                  "(defatom write-mail (params) (instructions \"x\")"
                  " (description \"writes letters\"))"
                  "(map (lambda (m) (get m \"name\")) (match-tasks (text \"letters\")))"),
              R"(["sort-mail","write-mail"])");
    EXPECT_EQ(run(*fresh(), "(map (lambda (m) (get m \"name\")) (match-tasks (text \"letters\")))"),
              R"(["sort-mail"])");
}

TEST_F(shared_tasks, come_with_tools_of_the_language) {
    set_up();
    load(
        "(define factor 10)"
        "(deftool scale (params (n integer \"a number\")) (description \"Scales.\") (* factor n))"
        "(define (main n) (scale (n n)))");
    const auto one = fresh();
    EXPECT_EQ(run(*one, "(list (main 2) (scale (n 3)))"), "[20,30]");
    EXPECT_EQ(run(*one, "(set! factor 100) (main 2)"), "200");
    EXPECT_EQ(run(*fresh(), "(main 2)"), "20");
    EXPECT_EQ(run(*one,
                  "(deftool scale (params (n integer \"a number\")) (description \"No.\") n)"
                  "(main 2)"),
              "2");
    EXPECT_EQ(run(*fresh(), "(main 2)"), "20");
    EXPECT_EQ(run(*one, "(match-tasks)").substr(0, 19), "SexpEvaluationError");
}

TEST_F(shared_tasks, are_limited_apart_from_sessions_that_have_ended) {
    set_up();
    on->llm.say("a response");
    load("(defatom greet (params name) (instructions \"Greet {{name}}.\"))");
    std::set<std::uint64_t> flows;
    constexpr int sessions = 3; // one after the other, so that each may have the place of the last
    for (int i = 0; i < sessions; ++i) {
        EXPECT_EQ(run(*fresh(), "(content (greet (name \"Ann\")))"), "\"a response\"");
        flows.insert(on->llm.asked.back().scheduling.flow);
    }
    EXPECT_EQ(flows.size(), sessions);
}

TEST_F(shared_tasks, have_results_that_outlive_session_and_image) {
    set_up();
    on->llm.say("a response");
    load("(defatom greet (params name) (instructions \"Greet {{name}}.\"))");
    auto one = fresh();
    const auto ended = on->runner.run(one->evaluate("test", "(greet (name \"Ann\"))"));
    EXPECT_EQ(run(*one, "(keys (greet (name \"Bob\")))"), R"(["status","content","notes"])");
    one.reset();
    image.reset();
    ASSERT_TRUE(ended);
    const std::string text = json_of(ended);
    EXPECT_EQ(text.find(R"({"status":"COMPLETE","content":"a response","notes":{"template_used")"),
              0U)
        << text;
    EXPECT_NE(text.find(R"("usage":{"input_tokens":10,"output_tokens":5,"cached_tokens":2,)"),
              std::string::npos)
        << text;
}

TEST_F(shared_tasks, may_be_offered_to_a_model) {
    set_up();
    on->llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::tool_calls;
        response.tool_calls.push_back({"1", "scale", R"({"n": 4})"});
        return response;
    });
    on->llm.say("forty");
    load(
        "(deftool scale (params (n integer \"a number\")) (description \"Scales.\") (* 10 n))"
        "(defatom ask (params) (instructions \"Scale four.\") (tools (scale)))");
    EXPECT_EQ(run(*fresh(), "(content (ask))"), "\"forty\"");
    EXPECT_EQ(on->llm.asked.back().messages.back().text, "40");
}

TEST_F(shared_tasks, begin_without_what_was_said_before) {
    set_up();
    on->llm.say("a response");
    const std::string history =
        " (history_config ((use_session_history true) (record_in_session_history true)))";
    load("(defatom say (params x) (instructions \"Say {{x}}.\")" + history +
         ") (say (x \"loaded\"))");
    const auto one = fresh();
    EXPECT_EQ(run(*one, "(say (x \"first\")) (say (x \"second\")) 1"), "1");
    EXPECT_EQ(on->llm.asked.back().messages.size(), on->llm.asked.front().messages.size() + 2);
    EXPECT_EQ(run(*fresh(), "(say (x \"third\")) 1"), "1");
    EXPECT_EQ(on->llm.asked.back().messages.size(), on->llm.asked.front().messages.size());
}

TEST_F(shared_tasks, begin_with_nothing_spent) {
    task_system_parts parts;
    parts.max_calls = 2;
    set_up(std::move(parts));
    on->llm.say("a response");
    load("(defatom say (params) (instructions \"Hello.\")) (say)");
    for (int i = 0; i < 2; ++i) {
        const auto one = fresh();
        EXPECT_EQ(run(*one, "(map ok? (list (say) (say) (say)))"), "[true,true,false]");
    }
}

TEST_F(shared_tasks, warn_once_for_all_sessions_of_an_image) {
    set_up();
    on->llm.say("a response");
    load(
        "(defatom say (params) (instructions \"Hello.\")"
        " (context_management ((fresh_context \"enabled\"))))");
    for (int i = 0; i < 3; ++i) (void)run(*fresh(), "(say)");
    std::size_t warnings = 0;
    for (const std::string& line : on->log.lines) warnings += line.find("context") != line.npos;
    EXPECT_LE(warnings, 1U);
}

TEST_F(shared_tasks, are_not_shared_when_a_tool_has_state) {
    set_up();
    const auto ended = on->run(
        "(define next (let ((n 0)) (lambda () (set! n (+ n 1)))))"
        "(deftool count (params) (description \"Counts.\") (next))"
        "(set! next nil)");
    ASSERT_TRUE(ended) << shown(ended.error());
    image = host::session_image::make(std::move(on->session));
    EXPECT_TRUE(image->is_shareable()) << "nothing holds the counter any more";

    image.reset();
    set_up();
    const auto again = on->run(
        "(let ((n 0)) (deftool count (params) (description \"Counts.\")"
        " (set! n (+ n 1))))");
    ASSERT_TRUE(again) << shown(again.error());
    image = host::session_image::make(std::move(on->session));
    EXPECT_FALSE(image->is_shareable());
}

/// Operators of the host that know nothing of images.
class plain_operators final : public host::operator_source {
public:
    std::optional<lang::operator_info> find(lang::heap&, std::string_view) const override {
        return std::nullopt;
    }
    std::optional<lang::operator_info> describe(const lang::host_object&) const override {
        return std::nullopt;
    }
    bool is_reserved_key(std::string_view) const override { return false; }
    void collect_names(std::vector<std::string>&) const override {}
    coro::task<result<lang::value>> call(host::effect_call) override { co_return lang::value(); }
    coro::task<result<lang::value>> define_task(host::session&, lang::value, source_span,
                                                coro::call_context) override {
        co_return lang::value();
    }
};

TEST_F(shared_tasks, are_not_shared_by_operators_that_cannot) {
    loopback::runner runner;
    host::engine_parts parts;
    parts.operators = [](host::session&) { return std::make_unique<plain_operators>(); };
    host::engine engine(runner.loop, std::move(parts));
    const auto of_others = host::session_image::make(engine.new_session().value());
    EXPECT_FALSE(of_others->is_shareable());
    EXPECT_FALSE(of_others->new_session());
}

} // namespace
} // namespace heddle::tasks::testing
