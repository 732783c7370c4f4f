// Sessions with tools and tasks, one after the other for very long: memory stays flat.
#include "tasks_testing.hpp"

#include <cstdlib>

#include <malloc.h>

namespace heddle::tasks {
namespace {

using testing::harness;

/// Bytes that the process has allocated and not freed.
std::size_t bytes_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

/// `HEDDLE_SOAK` in the environment: so many sessions in place of the usual.
std::size_t session_count(std::size_t usual) {
    const char* asked = std::getenv("HEDDLE_SOAK");
    return asked ? static_cast<std::size_t>(std::strtoull(asked, nullptr, 10)) : usual;
}

/// A model that calls the tool `keep` first, then fails, then responds.
void play_script(testing::scripted_llm& llm) {
    llm.asked.clear();
    llm.replies.clear();
    llm.replies.push_back([](const ports::chat_request&) -> result<ports::chat_response> {
        ports::chat_response response;
        response.finish = ports::finish_reason::tool_calls;
        response.tool_calls.push_back({"id", "keep", R"({"n": 2})"});
        response.usage = ports::token_usage{10, 5, 2, 0};
        return response;
    });
    llm.say("first");
    llm.break_with(ports::llm_errc::invalid_request, "no");
    llm.say("last");
}

/// A tool whose closure holds itself and a future; tasks that call it, fail and are cancelled.
constexpr const char* request =
    "(let ((held nil))"
    " (deftool keep (params (n integer)) (description \"Keeps\")"
    "   (if (= n 0) (begin (set! held keep) held) (begin (keep (n (- n 1))) n)))"
    " (defatom ask (instructions \"Ask\") (params) (tools (keep)))"
    " (let ((f nil)) (set! f (spawn (list keep (lambda () f)))) (await f))"
    " (try (keep (n \"wrong\")) (catch (e) nil))"
    " (try (timeout 0.001 (begin (keep (n 1)) (sleep 5))) (catch (e) nil))"
    " (list (get (ask) \"content\") (get (ask) \"status\") (get (ask) \"content\")))";

TEST(long_life_of_tasks, of_many_sessions_needs_no_more_than_of_a_few) {
    harness w;
    const std::size_t count = session_count(300);
    std::size_t before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::unique_ptr<host::session> one = *w.engine->new_session();
        play_script(w.llm);
        const auto ended = w.runner.run(one->evaluate("request", request));
        ASSERT_TRUE(ended) << ended.error().message();
        ASSERT_EQ(lang::value_to_json(*ended).value(), R"(["first","FAILED","last"])");
        w.observer.outcomes.clear();
        w.observer.reasons.clear();
        w.observer.costs.clear();
        w.log.lines.clear();
        if (i == count / 10) before = bytes_in_use();
    }
    EXPECT_LT(bytes_in_use(), before + 256 * 1024);
}

} // namespace
} // namespace heddle::tasks
