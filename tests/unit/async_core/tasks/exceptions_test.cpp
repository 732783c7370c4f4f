// Providers that throw: the failure of the branch that asked, and nothing stays taken.
#include "tasks_testing.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace heddle::tasks {
namespace {

using testing::harness;

/// Calls of a model in each of the ways there are. Five of them, in branches of one run.
constexpr const char* program =
    "(defatom tell (params q) (instructions \"{{q}}\"))"
    "(defatom frame (params q) (instructions \"{{tell(q)}}\"))"
    "(deftool ask (params (q string)) (description \"Asks.\") (content (tell q)))"
    "(define (kept f) (try (f) (catch (e) (get e 'kind))))"
    "(with ((concurrency 2) (max-calls 1000))"
    " (parallel"
    "  (kept (lambda () (content (tell \"a\"))))"
    "  (kept (lambda () (content (stream (tell \"b\") (lambda (p) p)))))"
    "  (kept (lambda () (content (frame \"c\"))))"
    "  (kept (lambda () (ask (q \"d\"))))))";

TEST(exceptions, of_a_provider_end_nothing_but_the_branch_that_asked) {
    for (const bool no_memory : {false, true}) {
        for (std::size_t turn = 0; turn < 5; ++turn) {
            harness w;
            std::size_t calls = 0;
            std::size_t throws_at = turn;
            w.llm.replies.push_back(
                [&](const ports::chat_request&) -> result<ports::chat_response> {
                    if (calls++ == throws_at) {
                        if (no_memory) throw std::bad_alloc();
                        throw std::runtime_error("the provider's bug");
                    }
                    ports::chat_response response;
                    response.text = "said";
                    response.usage = ports::token_usage{10, 5, 2, 0};
                    return response;
                });
            const std::string ended = w.json(program);
            const std::string kind = no_memory ? "\"LimitError\"" : "\"InternalError\"";
            // Of a stream that has begun it is the failure of the task.
            const bool reported = ended.find(kind) != std::string::npos ||
                                  ended.find("\"TaskError\"") != std::string::npos;
            EXPECT_TRUE(reported) << ended;
            EXPECT_EQ(w.session->counters().fibers, 0U);
            throws_at = SIZE_MAX;
            EXPECT_EQ(w.json(program), R"(["said","said","said","said"])") << turn;
            EXPECT_EQ(w.observer.started, w.observer.finished);
        }
    }
}

} // namespace
} // namespace heddle::tasks
