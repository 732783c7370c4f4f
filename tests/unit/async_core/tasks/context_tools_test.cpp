#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using testing::harness;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Returns one prepared response and keeps what it was asked.
class prepared_memory final : public ports::memory_port {
public:
    coro::task<result<ports::memory_response>> relevant_files(ports::memory_request request,
                                                              coro::call_context) override {
        asked.push_back(std::move(request));
        co_return response;
    }
    std::vector<ports::memory_request> asked;
    result<ports::memory_response> response = ports::memory_response();
};

struct context_harness {
    context_harness() : w({}, parts()) {
        ports::memory_response two;
        two.context_summary = "2 of 7 files";
        two.matches.push_back({"1", "/a.py", std::nullopt, 0.75, "text/x-python", "a module"});
        two.matches.push_back({"2", "/b.py", "text", 0.25, "text/x-python", ""});
        memory.response = std::move(two);
    }
    task_system_parts parts() {
        task_system_parts task;
        task.memory = &memory;
        return task;
    }
    prepared_memory memory;
    harness w;
};

TEST(get_context, returns_paths_best_first) {
    context_harness c;
    EXPECT_EQ(c.w.json("(get_context (query \"parsers\"))"), R"(["/a.py","/b.py"])");
    EXPECT_EQ(c.w.json("(get-context (query \"parsers\"))"), R"(["/a.py","/b.py"])");
    EXPECT_EQ(c.w.json("(system:get_context (query \"parsers\"))"), R"(["/a.py","/b.py"])");
    ASSERT_EQ(c.memory.asked.size(), 3U);
    const ports::memory_request& plain = c.memory.asked[0];
    EXPECT_EQ(plain.query, "parsers");
    EXPECT_FALSE(plain.inputs || plain.strategy || plain.history || plain.limit);
}

TEST(get_context, passes_every_clause) {
    context_harness c;
    EXPECT_THAT(c.w.json("(get_context (query \"q\") (inputs '((file \"/x\") (n 3) (l (1 2))))"
                         " (matching_strategy 'metadata) (history (list 1 \"h\"))"
                         " (inherited_context \"ic\") (previous_outputs (dict \"p\" 1))"
                         " (template_description \"td\") (limit 5))"),
                StartsWith("["));
    ASSERT_EQ(c.memory.asked.size(), 1U);
    const ports::memory_request& asked = c.memory.asked[0];
    ASSERT_TRUE(asked.inputs);
    ASSERT_EQ(asked.inputs->size(), 3U);
    EXPECT_EQ((*asked.inputs)[0].name, "file");
    EXPECT_EQ((*asked.inputs)[0].text, "/x");
    EXPECT_EQ((*asked.inputs)[1].text, "3");
    EXPECT_EQ((*asked.inputs)[2].text, "[1,2]");
    EXPECT_EQ(asked.strategy, ports::matching_strategy::metadata);
    EXPECT_EQ(asked.history, "[1,\"h\"]");
    EXPECT_EQ(asked.inherited_context, "ic");
    EXPECT_EQ(asked.previous_outputs, "{\"p\":1}");
    EXPECT_EQ(asked.template_description, "td");
    EXPECT_EQ(asked.limit, 5U);
}

TEST(get_context, inputs_may_be_a_map_and_nil_is_not_given) {
    context_harness c;
    EXPECT_THAT(c.w.json("(get_context (query \"q\") (inputs (dict \"a\" \"b\")) (history nil)"
                         " (matching_strategy \"content\"))"),
                StartsWith("["));
    ASSERT_EQ(c.memory.asked.size(), 1U);
    EXPECT_EQ(c.memory.asked[0].inputs->at(0).text, "b");
    EXPECT_FALSE(c.memory.asked[0].history);
    EXPECT_EQ(c.memory.asked[0].strategy, ports::matching_strategy::content);
}

TEST(get_context, wrong_values_are_named_before_anything_is_asked) {
    context_harness c;
    const auto refusal = [&](const std::string& clauses) {
        return c.w.json("(get_context " + clauses + ")");
    };
    EXPECT_EQ(refusal("(query 7)"),
              "SexpEvaluationError: get_context: query must be a string, not 7");
    EXPECT_EQ(refusal("(query \"q\") (matching_strategy 'fuzzy)"),
              "SexpEvaluationError: get_context: matching_strategy must be 'content or 'metadata, "
              "not fuzzy");
    EXPECT_THAT(refusal("(query \"q\") (matching_strategy 12)"), HasSubstr("12"));
    for (const char* limit : {"0", "-1", "\"5\"", "1.5", "10001"}) {
        EXPECT_THAT(refusal("(query \"q\") (limit " + std::string(limit) + ")"),
                    HasSubstr("limit must be"));
    }
    for (const char* inputs : {"7", "'(a)", "'((a))", "'((1 2))", "'((a 1 2))"}) {
        EXPECT_THAT(refusal("(query \"q\") (inputs " + std::string(inputs) + ")"),
                    HasSubstr("inputs must be a map or a list of (name value)"));
    }
    EXPECT_THAT(refusal("(query \"q\") (history car-is-not-there)"), HasSubstr("Unbound"));
    EXPECT_THAT(refusal("(query \"q\") (history (lambda () 1))"), HasSubstr("history must be"));
    EXPECT_THAT(refusal("(query \"q\") (inputs (dict \"f\" (lambda () 1)))"),
                HasSubstr("inputs: f must be"));
    EXPECT_THAT(refusal("(quary \"q\")"), HasSubstr("there is no clause 'quary'"));
    EXPECT_TRUE(c.memory.asked.empty());
}

TEST(get_context, failures_of_the_memory_are_reported) {
    context_harness c;
    ports::memory_response broken;
    broken.error = "no disk";
    c.memory.response = broken;
    EXPECT_EQ(c.w.json("(get_context (query \"q\"))"),
              "SexpEvaluationError: get_context: the context cannot be looked up: no disk");
    EXPECT_EQ(c.w.json("(get-field (get-context-result (query \"q\")) \"error\")"), "\"no disk\"");
    c.memory.response = error(heddle::errc::io_error, "the disk is gone").with_hint("mount it");
    const auto ended = c.w.run("(get-context-result (query \"q\"))");
    ASSERT_FALSE(ended);
    EXPECT_THAT(ended.error().message(),
                HasSubstr("context cannot be looked up: the disk is gone"));
    EXPECT_EQ(ended.error().info().hint, "mount it");
}

TEST(get_context_result, is_the_whole_response) {
    context_harness c;
    EXPECT_EQ(c.w.json("(get-context-result (query \"q\"))"),
              R"({"context_summary":"2 of 7 files","matches":[)"
              R"({"id":"1","path":"/a.py","relevance_score":0.75,)"
              R"("content_type":"text/x-python","metadata":"a module"},)"
              R"({"id":"2","path":"/b.py","content":"text","relevance_score":0.25,)"
              R"("content_type":"text/x-python","metadata":""}]})");
}

TEST(get_context, without_a_memory_is_refused) {
    harness w;
    const auto ended = w.run("(get_context (query \"q\"))");
    ASSERT_FALSE(ended);
    EXPECT_EQ(lang::error_kind_name(ended.error()), "PermissionError");
    EXPECT_THAT(ended.error().message(), HasSubstr("no index of files"));
    EXPECT_THAT(ended.error().info().hint, HasSubstr("memory"));
}

} // namespace
} // namespace heddle::tasks
