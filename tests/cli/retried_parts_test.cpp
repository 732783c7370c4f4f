// Retries of steps whose parts run side by side: what failed is asked for again, and only that.
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli_test {
namespace {

class retried_parts : public batch_fixture {
protected:
    child_result run(model_thread& model, bool again) {
        std::vector<std::string> words{"run",          path("m.heddle"), "--run",
                                       path("kept"),   "--model",        "openai:gpt-4o",
                                       "--base-url",   model.url(),      "--workspace",
                                       scratch.path(), "--allow-shell"};
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

// Tasks and a function whose requests wait for long, but not when they are sent again.
constexpr const char* late_tasks = R"(
    (defatom s (params x) (instructions "slow {{x}}"))
    (defatom n (params x) (instructions "never {{x}}"))
    (defatom a (params x) (instructions "quick {{x}}"))
    (deftool f (params (x string)) (description "f") (content (s x)))
    (defatom t (params x) (instructions "use {{x}}") (tools (f)))
)";
std::string rules_with_delay(int milliseconds) {
    return R"json({"rules": [
        {"match": {"user": "^use", "tool": "^$"},
         "tool_calls": [{"name": "f", "arguments": {"x": "y"}}]},
        {"match": {"user": "^use"}, "text": "used"},
        {"match": "^never", "text": "never", "delay_ms": 20000},
        {"match": "^quick", "text": "1"},
        {"match": "^slow", "text": "late", "delay_ms": )json" +
           std::to_string(milliseconds) + "}]}";
}

class late_parts : public retried_parts {
protected:
    /// As retried(), with the tasks above.
    std::uint64_t retried_in_time(const std::string& main, const std::string& value) {
        return retried_with(main, {rules_with_delay(20'000), rules_with_delay(0)}, value);
    }
    /// The rules before and after.
    std::uint64_t retried_with(const std::string& main, const std::array<std::string, 2>& rules,
                               const std::string& value) {
        scratch.file("m.heddle", late_tasks + main);
        std::optional<model_thread> model(std::in_place, rules[0]);
        const std::uint16_t port = model->port();
        EXPECT_EQ(run(*model, false).code, 1);
        model.reset();
        model.emplace(rules[1], "", port);
        const child_result ended = run(*model, true);
        EXPECT_EQ(ended.out, value + "\n") << ended.err;
        EXPECT_EQ(run_heddle({"runs", "replay", path("kept")}).code, 0);
        return model->counters().requests;
    }
};

// Only the last of what the end of the time had cut began again. The function was cut again by its
// record, which left nil where the value of its branch was to be.
TEST_F(late_parts, begin_again_in_every_branch_that_was_cut) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main) (timeout 0.6 (with ((concurrency 1))
          (parallel (content (t "m")) (content (a "x")))))))",
                              "(\"used\" \"1\")"),
              3U);
}
TEST_F(late_parts, begin_again_where_a_future_was_cut_with_its_await) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main) (timeout 0.6 (let ((u (spawn (content (t "m")))))
          (list (content (a "x")) (await u))))))",
                              "(\"1\" \"used\")"),
              2U);
}

// What a later time had cut began again, and not what had ended the run.
TEST_F(late_parts, begin_again_where_the_time_that_ended_the_run_began) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main) (let ((u (spawn (content (s "m")))) (v (spawn (content (n "m")))))
          (try (timeout 0.5 (await u)) (finally (timeout 0.1 (await v) "none"))))))",
                              "late"),
              2U);
}

// The time of a computation that was cut before had not passed in the retry: it went further, and
// the row did not fit its records.
TEST_F(late_parts, pass_the_time_of_what_was_cut_before) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main)
          (let ((k 0))
            (timeout 0.3 (let loop () (set! k (+ k 1)) (loop)) "cut")
            (let ((p (content (a (number->string k)))))
              (list p (timeout 0.5 (content (s "m"))))))))",
                              "(\"1\" \"late\")"),
              1U);
}

// A program that had run before the time began ran again.
TEST_F(late_parts, of_a_form_do_not_repeat_what_came_before_it) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main) (let ((u (spawn (content (n "m")))))
          (timeout 0.3 (await u) "cut")
          (system:run_script (command "echo ran >> runs.txt"))
          (timeout 0.5 (content (s "m"))))))",
                              "late"),
              2U);
    EXPECT_EQ(scratch.text_of("runs.txt"), "ran\n");
}

// Where the program turned the end of a time into an error of its own, each retry replayed it.
TEST_F(late_parts, of_a_time_that_became_another_error_begin_again) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main) (let ((u (spawn (content (t "m")))))
          (try (timeout 0.6 (await u)) (catch (x) (error "too late"))))))",
                              "used"),
              2U);
}

TEST_F(late_parts, of_a_hedge_whose_time_became_another_error_begin_again) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main)
          (try (timeout 0.6 (hedge 5 (content (t "m")))) (catch (x) (error "too late")))))",
                              "used"),
              2U);
}

// What was cancelled beside it had ended last, and the response was kept for ever.
TEST_F(late_parts, are_asked_again_whose_response_the_program_refused) {
    const auto rules = [](const std::string& text) {
        return R"json({"rules": [{"match": "^quick", "text": ")json" + text +
               R"json("}, {"match": "^slow", "text": "2", "delay_ms": )json" +
               (text == "bad" ? "20000" : "0") + "}]}";
    };
    EXPECT_EQ(retried_with(R"(
        (define (main) (parallel (content (s "m"))
          (let ((v (content (a "1")))) (if (equal? v "bad") (error "bad answer") v)))))",
                           {rules("bad"), rules("good")}, "(\"2\" \"good\")"),
              2U);
}

// The last response was asked for again each time, and the one that was bad never.
TEST_F(late_parts, come_to_a_response_before_the_last_one_that_the_program_refuses) {
    const auto rules = [](const std::string& text) {
        return R"json({"rules": [{"match": "^quick", "text": ")json" + text +
               R"json("}, {"match": "^slow", "text": "2"}]})json";
    };
    scratch.file("m.heddle", late_tasks + std::string(R"(
        (define (main) (let* ((v (content (a "1"))) (w (content (s "m"))))
          (if (equal? v "bad") (error "bad answer") (list v w)))))"));
    std::optional<model_thread> model(std::in_place, rules("bad"));
    const std::uint16_t port = model->port();
    EXPECT_EQ(run(*model, false).code, 1);
    model.reset();
    model.emplace(rules("good"), "", port);
    EXPECT_EQ(run(*model, true).code, 1);
    EXPECT_EQ(model->counters().requests, 1U);
    EXPECT_EQ(run(*model, true).out, "(\"good\" \"2\")\n");
    EXPECT_EQ(model->counters().requests, 3U);
}

// The same error of another step counted as the same refusal, and what was good was paid for again.
TEST_F(late_parts, have_only_the_last_response_asked_again_once_the_program_has_moved_on) {
    scratch.file("m.heddle", late_tasks + std::string(R"(
        (define (checked x) (if (equal? x "bad") (error "bad answer") x))
        (define (main) (let* ((v (checked (content (a "1")))) (w (checked (content (s "m")))))
          (list v w))))"));
    const auto rules = [](const std::string& quick, const std::string& slow) {
        return R"json({"rules": [{"match": "^quick", "text": ")json" + quick +
               R"json("}, {"match": "^slow", "text": ")json" + slow + R"json("}]})json";
    };
    std::optional<model_thread> model(std::in_place, rules("bad", "bad"));
    const std::uint16_t port = model->port();
    EXPECT_EQ(run(*model, false).code, 1);
    model.reset();
    model.emplace(rules("good", "bad"), "", port);
    EXPECT_EQ(run(*model, true).code, 1);
    EXPECT_EQ(model->counters().requests, 2U);
    model.reset();
    model.emplace(rules("good", "fine"), "", port);
    EXPECT_EQ(run(*model, true).out, "(\"good\" \"fine\")\n");
    EXPECT_EQ(model->counters().requests, 1U);
}

// Each retry started over, with what had run before the form.
TEST_F(late_parts, do_not_repeat_programs_while_the_server_is_slow) {
    scratch.file("m.heddle", late_tasks + std::string(R"(
        (define (main)
          (system:run_script (command "echo ran >> runs.txt"))
          (let ((u (spawn (content (s "m")))))
            (try (timeout 0.3 (await u)) (catch (x) (error "too late"))))))"));
    model_thread model(rules_with_delay(20'000));
    EXPECT_EQ(run(model, false).code, 1);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(run(model, true).code, 1);
    EXPECT_EQ(scratch.text_of("runs.txt"), "ran\n");
}

// The time of what the row computed before counted as that of the form.
TEST_F(late_parts, compute_before_the_time_of_a_form_begins) {
    EXPECT_EQ(retried_in_time(R"(
        (define (main)
          (let loop ((i 0)) (if (< i 40000000) (loop (+ i 1)) i))
          (timeout 0.6 (content (s "m")))))",
                              "late"),
              1U);
}

// The response was there in time, and took effect when the other branch had computed.
TEST_F(late_parts, are_in_time_beside_a_branch_that_computes) {
    scratch.file("m.heddle", late_tasks + std::string(R"(
        (define (main) (first (parallel
          (timeout 0.6 (content (s "m")))
          (let loop ((i 0)) (if (< i 40000000) (loop (+ i 1)) i))))))"));
    model_thread model(rules_with_delay(100));
    const child_result ended = run(model, false);
    EXPECT_EQ(ended.out, "late\n") << ended.err;
}

// Each retry started over, with the program that a model had called.
TEST_F(late_parts, do_not_repeat_programs_that_a_model_called) {
    scratch.file("m.heddle", late_tasks + std::string(R"(
        (defatom r (params x) (instructions "script {{x}}") (tools (system:run_script)))
        (define (main)
          (content (r "m"))
          (let ((u (spawn (content (s "m")))))
            (try (timeout 0.3 (await u)) (catch (x) (error "too late"))))))"));
    model_thread model(R"json({"rules": [
        {"match": {"user": "^script", "tool": "^$"}, "tool_calls": [
            {"name": "system_run_script", "arguments": {"command": "echo ran >> runs.txt"}}]},
        {"match": {"user": "^script"}, "text": "done"},
        {"match": "^slow", "text": "late", "delay_ms": 20000}]})json");
    EXPECT_EQ(run(model, false).code, 1);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(run(model, true).code, 1);
    EXPECT_EQ(scratch.text_of("runs.txt"), "ran\n");
}

TEST_F(late_parts, do_not_repeat_programs_that_a_model_called_in_time) {
    const auto rules = [](const std::string& delay) {
        return R"json({"rules": [
            {"match": {"user": "^use", "tool": "^$"}, "tool_calls": [
                {"name": "system_run_script", "arguments": {"command": "echo ran >> runs.txt"}}]},
            {"match": {"user": "^use"}, "text": "done", "delay_ms": )json" +
               delay + "}]}";
    };
    EXPECT_EQ(retried_with(R"(
        (defatom r (params x) (instructions "use {{x}}") (tools (system:run_script)))
        (define (main) (timeout 0.8 (content (r "m")))))",
                           {rules("20000"), rules("0")}, "done"),
              1U);
    EXPECT_EQ(scratch.text_of("runs.txt"), "ran\n");
}

} // namespace
} // namespace heddle::cli_test
