// Retries of steps whose parts run side by side: what failed is asked for again, and only that.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

namespace heddle::cli_test {
namespace {

class retried_parts : public batch_fixture {
protected:
    child_result run(model_thread& model, bool again) {
        std::vector<std::string> words{"run",         path("m.heddle"), "--run",      path("kept"),
                                       "--model",     "openai:gpt-4o",  "--base-url", model.url(),
                                       "--workspace", scratch.path()};
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

constexpr const char* calling_f = R"json({"rules": [
    {"match": {"user": "^use", "tool": "^$"},
     "tool_calls": [{"name": "f", "arguments": {"x": "y"}}]},
    {"match": {"user": "^use"}, "text": "done"}]})json";

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

// It was cut again at once, by the record of its cut.
TEST_F(retried_parts, whose_function_was_cut_have_their_time_again) {
    scratch.file("m.heddle", R"(
        (deftool f (params (x string)) (description "f")
          (progn (if (file-exists? "go.txt") 1 (sleep 30)) x))
        (defatom p (params x) (instructions "use {{x}}") (tools (f)) (timeout 0.4))
        (define (main) (content (p "q"))))");
    model_thread model(calling_f);
    EXPECT_EQ(run(model, false).code, 1);
    EXPECT_EQ(run(model, true).code, 1);
    scratch.file("go.txt", "");
    const child_result ended = run(model, true);
    EXPECT_EQ(ended.out, "done\n") << ended.err;
    EXPECT_EQ(model.counters().requests, 2U);
}

// The task was not cut by its own time, and ended as cancelled.
TEST_F(retried_parts, whose_function_met_the_time_of_the_branch_have_it_again) {
    scratch.file("m.heddle", R"(
        (deftool f (params (x string)) (description "f") (progn (sleep 30) x))
        (defatom p (params x) (instructions "use {{x}}") (tools (f)))
        (define (main) (timeout 0.4 (content (p "q")))))");
    model_thread model(calling_f);
    for (const bool again : {false, true, true}) {
        const child_result ended = run(model, again);
        EXPECT_EQ(ended.code, 1);
        EXPECT_NE(ended.err.find("TimeoutError"), std::string::npos) << ended.err;
    }
    EXPECT_EQ(model.counters().requests, 1U);
}

// The end of the wait was replayed, and ended each retry at once.
TEST_F(retried_parts, that_the_time_of_a_form_cut_have_it_again) {
    const std::string late_at_first = R"json({"rules": [
        {"match": "^slow", "text": "done",
         "error": {"status": 429, "message": "later", "retry_after": 20, "times": 1}}]})json";
    const std::string task = "(defatom s (params x) (instructions \"slow {{x}}\"))\n";
    EXPECT_EQ(retried(task + "(define (main) (let ((u (spawn (content (s \"a\"))))) "
                             "(timeout 0.4 (await u))))",
                      late_at_first, "done"),
              1U);
}
TEST_F(retried_parts, that_waited_for_a_permit_have_their_time_again) {
    EXPECT_EQ(retried(R"(
        (defatom s (params x) (instructions "{{x}}"))
        (define (main) (let ((permits (semaphore 1)))
          (second (parallel (with-permit permits (content (s "slow")))
                            (timeout 0.4 (with-permit permits (content (s "quick")))))))))",
                      R"json({"rules": [
        {"match": "^slow", "text": "1",
         "error": {"status": 429, "message": "later", "retry_after": 20, "times": 1}},
        {"match": "^quick", "text": "done"}]})json",
                      "done"),
              2U);
}

// A step that had ended in time was asked for again, each time that the form around it had not.
TEST_F(retried_parts, of_a_form_that_ended_too_late_are_all_used) {
    EXPECT_EQ(retried(R"(
        (defatom s (params x) (instructions "slow {{x}}"))
        (define (main) (timeout 0.5 (list (content (s "a")) (content (s "b"))))))",
                      R"json({"rules": [
        {"match": "a$", "text": "1", "delay_ms": 350},
        {"match": "b$", "text": "2", "delay_ms": 350}]})json",
                      "(\"1\" \"2\")"),
              1U);
}

} // namespace
} // namespace heddle::cli_test
