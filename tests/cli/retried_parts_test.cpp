// Retries of steps whose parts run side by side: what failed is asked for again, and only that.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

namespace heddle::cli_test {
namespace {

class retried_parts : public batch_fixture {
protected:
    child_result run(model_thread& model, bool again) {
        std::vector<std::string> words{"run",     path("m.heddle"), "--run",      path("kept"),
                                       "--model", "openai:gpt-4o",  "--base-url", model.url()};
        if (again) words.emplace_back("--retry-failed");
        return run_heddle(words);
    }
    /// Fails once, then ends with `value`. Result: the requests of the retry.
    std::uint64_t retried(const std::string& workflow, const std::string& rules,
                          const std::string& value) {
        scratch.file("m.heddle", workflow);
        model_thread model(rules);
        EXPECT_EQ(run(model, false).code, 1);
        const std::uint64_t before = model.counters().requests;
        const child_result ended = run(model, true);
        EXPECT_EQ(ended.out, value + "\n") << ended.err;
        EXPECT_EQ(run_heddle({"runs", "replay", path("kept")}).code, 0);
        return model.counters().requests - before;
    }
};

constexpr const char* two_calls = R"(
    (defatom a (params x) (instructions "first {{x}}"))
    (defatom b (params x) (instructions "second {{x}}"))
    (defatom p (params x) (instructions "use {{x}} {{a(x)}} {{b(x)}}"))
    (define (main) (content (p "q"))))";

// The one that was sent last had its response, and was asked for again.
TEST_F(retried_parts, that_were_answered_are_not_asked_again) {
    EXPECT_EQ(retried(two_calls, R"json({"rules": [
        {"match": "^first", "text": "1", "delay_ms": 60,
         "error": {"status": 400, "message": "no", "times": 1}},
        {"match": "^second", "text": "2"},
        {"match": "^use", "text": "done"}]})json",
                      "done"),
              2U);
}

// A step that the failure had cancelled was replayed, and failed the retry again.
TEST_F(retried_parts, that_a_failure_has_cancelled_begin_again) {
    EXPECT_EQ(retried(R"(
        (deftool f (params (x string)) (description "f") (progn (sleep 0.2) x))
        (defatom a (params x) (instructions "first {{x}}") (tools (f)))
        (defatom b (params x) (instructions "second {{x}}"))
        (defatom p (params x) (instructions "use {{x}} {{a(x)}} {{b(x)}}"))
        (define (main) (content (p "q"))))",
                      R"json({"rules": [
        {"match": {"user": "^first", "tool": "^$"},
         "tool_calls": [{"name": "f", "arguments": {"x": "y"}}]},
        {"match": {"user": "^first"}, "text": "1"},
        {"match": "^second", "text": "2", "delay_ms": 60,
         "error": {"status": 400, "message": "no", "times": 1}},
        {"match": "^use", "text": "done"}]})json",
                      "done"),
              3U);
}

// The one that was cancelled made the step look as if it lacked a response.
TEST_F(retried_parts, with_a_bad_response_get_another_one) {
    scratch.file("m.heddle", R"(
        (defatom a (params x) (instructions "first {{x}}")
          (output_format ((type "json") (schema "object"))))
        (defatom b (params x) (instructions "second {{x}}"))
        (defatom p (params x) (instructions "use {{x}} {{a(x)}} {{b(x)}}"))
        (define (main) (content (p "q"))))");
    model_thread model(R"json({"rules": [
        {"match": "^first", "text": "no json", "delay_ms": 20},
        {"match": "^second", "text": "2", "delay_ms": 300},
        {"match": "^use", "text": "done"}]})json");
    EXPECT_EQ(run(model, false).code, 1);
    for (int again = 0; again < 2; ++again) {
        const std::uint64_t before = model.counters().requests;
        EXPECT_EQ(run(model, true).code, 1);
        EXPECT_EQ(model.counters().requests - before, 2U) << "the bad one, and the other";
    }
}

} // namespace
} // namespace heddle::cli_test
