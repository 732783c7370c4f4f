// Engine and session on a real loop.
#include "evaluation.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/spawn.hpp>
#include <heddle/host/session.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <algorithm>

namespace heddle::host {
namespace {

struct recording_log final : log_port {
    bool enabled(log_level) const noexcept override { return true; }
    void write(log_level, std::string_view, std::string_view message) noexcept override {
        lines.emplace_back(message);
    }
    std::vector<std::string> lines;
};

class session_test : public ::testing::Test {
protected:
    explicit session_test(coro::event_loop::time passes = coro::event_loop::time::real)
        : loop_(context_, passes) {
        engine_parts parts;
        parts.log = &log_;
        parts.print = [this](std::string_view text) { printed_ += text; };
        parts.readable_environment = {"HEDDLE_TEST_READABLE"};
        parts.random_seed = 7;
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    /// The written value, or "Kind: message". The loop runs dry: no timer or coroutine is left.
    std::string run(const std::string& text, run_options options = {}) {
        return shown(evaluate_to_the_end(context_, loop_, *session_, text, options));
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_;
    recording_log log_;
    std::string printed_;
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

coro::task<result<void>> cancel_after(coro::cancel_source* target, coro::call_context context,
                                      int milliseconds) {
    const auto at = context.loop->now() + std::chrono::milliseconds(milliseconds);
    const result<void> slept = co_await coro::sleep_until(context, at);
    (void)slept;
    target->request(cancel_reason::user);
    co_return result<void>();
}

TEST_F(session_test, globals_last_from_one_evaluation_to_the_next) {
    EXPECT_EQ(run("(define (square x) (* x x))"), "#<function square>");
    EXPECT_EQ(run("(map square (list 1 2 3))"), "(1 4 9)");
}

TEST_F(session_test, effects_reach_the_host) {
    EXPECT_EQ(run("(print \"a\" 1 'b)"), "nil");
    EXPECT_EQ(printed_, "a 1 b\n");
    EXPECT_EQ(run("(log-message \"x\" 2)"), "\"x 2\"");
    EXPECT_EQ(log_.lines, std::vector<std::string>{"x 2"});
    EXPECT_EQ(run("(log-message)"), "()");
}

TEST_F(session_test, environment_is_read_only_where_the_host_allows_it) {
    ::setenv("HEDDLE_TEST_READABLE", "yes", 1);
    EXPECT_EQ(run("(getenv \"HEDDLE_TEST_READABLE\")"), "\"yes\"");
    EXPECT_EQ(run("(getenv \"HOME\")"),
              "PermissionError: getenv: this host does not allow reading 'HOME'");
}

TEST_F(session_test, files_are_refused_without_a_file_port) {
    EXPECT_EQ(run("(read-file \"x\")"),
              "PermissionError: read-file: this host does not give access to files");
}

TEST_F(session_test, a_seed_fixes_random_and_uuid) {
    const std::string first = run("(list (random 1000) (random) (uuid))");
    session_ = nullptr;
    engine_parts parts;
    parts.random_seed = 7;
    engine again(loop_, std::move(parts));
    session_ = *again.new_session();
    EXPECT_EQ(run("(list (random 1000) (random) (uuid))"), first);
    session_ = nullptr;
}

class virtual_session_test : public session_test {
protected:
    virtual_session_test() : session_test(coro::event_loop::time::virtual_) {}
};

TEST_F(virtual_session_test, branches_wait_side_by_side) {
    const auto began = loop_.now();
    EXPECT_EQ(run("(length (map (lambda (i) (sleep 0.05)) (range 64)))"), "64");
    EXPECT_LT(loop_.now() - began, std::chrono::milliseconds(52));
    EXPECT_EQ(session_->counters().fibers, 0U);
    EXPECT_EQ(session_->counters().peak_fibers, 65U);
}

TEST_F(session_test, a_computing_branch_lets_sleeping_ones_wake) {
    EXPECT_EQ(run("(parallel (let loop ((i 0)) (if (< i 3000000) (loop (+ i 1)) (print 'computed)))"
                  "          (progn (sleep 0.002) (print 'woke)))"),
              "(nil nil)");
    EXPECT_EQ(printed_, "woke\ncomputed\n");
}

TEST_F(session_test, cancellation_ends_waiting_and_computing_branches) {
    for (const char* program :
         {"(map (lambda (i) (sleep 100)) (range 200))", "(while true 1)",
          "(parallel (sleep 100) (while true 1) (map (lambda (i) (sleep 100)) (range 5)))"}) {
        coro::cancel_source cancel;
        run_options options;
        options.cancel = &cancel;
        coro::nursery timers(coro::call_context{&loop_, nullptr, {}});
        timers.start(cancel_after(&cancel, timers.context(), 10));
        EXPECT_EQ(run(program, options), "CancelledError: cancelled by the user") << program;
        EXPECT_EQ(timers.living(), 0U);
        EXPECT_EQ(session_->counters().fibers, 0U);
    }
}

TEST_F(session_test, finally_runs_when_a_run_is_cancelled) {
    coro::cancel_source cancel;
    run_options options;
    options.cancel = &cancel;
    coro::nursery timers(coro::call_context{&loop_, nullptr, {}});
    timers.start(cancel_after(&cancel, timers.context(), 5));
    EXPECT_EQ(
        run("(map (lambda (i) (try (sleep 100) (finally (sleep 0.001) (print i)))) (range 3))",
            options),
        "CancelledError: cancelled by the user");
    std::sort(printed_.begin(), printed_.end()); // in which order they end is open
    EXPECT_EQ(printed_, "\n\n\n012");
}

TEST_F(session_test, a_run_that_was_cancelled_before_it_began_does_nothing) {
    coro::cancel_source cancel;
    cancel.request(cancel_reason::shutdown);
    run_options options;
    options.cancel = &cancel;
    EXPECT_EQ(run("(print 'never)", options), "CancelledError: shutting down");
    EXPECT_EQ(printed_, "");
}

TEST_F(session_test, the_deadline_of_a_run_is_a_timeout) {
    for (const char* program :
         {"(sleep 100)", "(while true 1)", "(try (sleep 100) (catch (e) 'caught))",
          "(map (lambda (i) (sleep 100)) (range 100))"}) {
        run_options options;
        options.until = coro::deadline(loop_.now() + std::chrono::milliseconds(10));
        EXPECT_EQ(run(program, options), "TimeoutError: the time limit of this run has passed")
            << program;
    }
}

TEST_F(session_test, a_timeout_of_with_can_be_caught) {
    EXPECT_EQ(run("(try (with ((timeout 0.01)) (sleep 100)) (catch (e 'TimeoutError) 'late))"),
              "late");
    EXPECT_EQ(run("(try (with ((timeout 0.01)) (while true 1)) (catch (e 'TimeoutError) 'late))"),
              "late");
    EXPECT_EQ(run("(try (with ((timeout 0.01)) (map (lambda (i) (sleep 100)) (range 10))) (catch "
                  "(e 'TimeoutError) 'late))"),
              "late");
    EXPECT_EQ(run("(with ((timeout 10)) (sleep 0.001) 'done)"), "done");
}

TEST_F(session_test, a_second_evaluation_at_the_same_time_is_refused) {
    std::optional<result<lang::value>> first;
    std::optional<result<lang::value>> second;
    context_.restart();
    const auto done = [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); };
    coro::spawn(loop_, evaluate(session_.get(), "(sleep 0.01) 1", {}, &first), done);
    coro::spawn(loop_, evaluate(session_.get(), "2", {}, &second), done);
    context_.run();
    EXPECT_EQ(shown(first), "1");
    EXPECT_EQ(shown(second), "InvalidArgumentError: this session is already evaluating a program");
}

TEST_F(session_test, sessions_run_side_by_side_on_one_loop) {
    auto other = *engine_->new_session();
    std::optional<result<lang::value>> first;
    std::optional<result<lang::value>> second;
    context_.restart();
    const auto done = [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); };
    coro::spawn(loop_, evaluate(session_.get(), "(define x 1) (sleep 0.01) x", {}, &first), done);
    coro::spawn(loop_, evaluate(other.get(), "(define x 2) (sleep 0.01) x", {}, &second), done);
    context_.run();
    EXPECT_EQ(shown(first), "1");
    EXPECT_EQ(shown(second), "2");
}

TEST_F(session_test, a_value_may_outlive_its_session) {
    std::optional<result<lang::value>> ended;
    context_.restart();
    coro::spawn(
        loop_, evaluate(session_.get(), "(list 1 \"two\" (dict \"k\" (lambda (x) x)))", {}, &ended),
        [](std::exception_ptr) {});
    context_.run();
    session_ = nullptr;
    ASSERT_TRUE(ended && *ended);
    EXPECT_EQ((**ended).length(), 3U);
}

TEST_F(session_test, limits_of_a_run_hold_and_the_session_stays_usable) {
    run_options options;
    options.memory_limit = 4 * 1024 * 1024;
    EXPECT_EQ(run("(define (grow xs) (grow (append xs xs))) (grow (list 1 2 3))", options)
                  .rfind("LimitError", 0),
              0U);
    options = {};
    options.step_limit = 1000;
    EXPECT_EQ(run("(while true 1)", options), "LimitError: the step limit of this run is used up");
    EXPECT_EQ(run("(+ 1 1)"), "2");
}

/// Its macro computes for ever when it is expanded.
const std::string endless_macro = "(defmacro m (x) (progn (while true 1) x)) (m 1)";
/// The forms that its macros expand to are without number, and each expansion takes few steps.
std::string multiplying_macros() {
    std::string text = "(defmacro m0 (x) x)";
    for (int i = 1; i <= 40; ++i) {
        const std::string inner = "(m" + std::to_string(i - 1) + " ,x)";
        text += "(defmacro m" + std::to_string(i) + " (x) `(progn " + inner + " " + inner + "))";
    }
    return text + "(m40 1)";
}

TEST_F(session_test, limits_of_a_run_hold_while_it_is_compiled) {
    run_options options;
    options.step_limit = 5000;
    const std::string used_up = "LimitError: the step limit of this run is used up";
    EXPECT_EQ(run(endless_macro, options), used_up);
    EXPECT_EQ(run(multiplying_macros(), options), used_up);
    options.step_limit = 1; // what is compiled in one go counts too
    EXPECT_EQ(run("(list 1 2 3)", options), used_up);
    options = {};
    options.memory_limit = 2 * 1024 * 1024;
    const std::string ended = run(multiplying_macros(), options);
    EXPECT_EQ(ended.rfind("LimitError: ", 0), 0U) << ended;
    EXPECT_EQ(ended.find("million"), std::string::npos) << ended; // steps, which bound all macros
    EXPECT_EQ(run("(m0 2)"), "2");
}

TEST_F(session_test, a_run_is_ended_while_it_is_compiled) {
    for (const std::string& text : {endless_macro, multiplying_macros()}) {
        run_options options;
        options.until = coro::deadline(loop_.now());
        EXPECT_EQ(run(text, options), "TimeoutError: the time limit of this run has passed");
        // Once it has begun: the loop must have its turn beside it.
        options = {};
        coro::cancel_source stop;
        options.cancel = &stop;
        coro::nursery timers(coro::call_context{&loop_, nullptr, {}});
        timers.start(cancel_after(&stop, timers.context(), 1));
        EXPECT_EQ(run(text, options), "CancelledError: cancelled by the user");
        EXPECT_EQ(timers.living(), 0U);
    }
    EXPECT_EQ(run("(+ 1 1)"), "2");
}

TEST_F(session_test, an_error_of_compiling_has_its_place_and_no_calls) {
    std::optional<result<lang::value>> ended;
    context_.restart();
    coro::spawn(loop_, evaluate(session_.get(), "1\n(if)", {}, &ended), [](std::exception_ptr) {});
    context_.run();
    ASSERT_TRUE(ended && !*ended);
    EXPECT_TRUE(ended->error().info().span.known());
    EXPECT_TRUE(ended->error().info().trace.empty());
}

TEST_F(session_test, unknown_effects_and_tasks_are_clear) {
    EXPECT_EQ(run("(defatom t (params x) (instructions \"{{x}}\"))"),
              "SexpEvaluationError: defatom: this host has no task system");
    EXPECT_EQ(run("(slep 1)"), "UnboundSymbolError: unbound symbol 'slep'");
}

// What the session held already was a part of the number.
TEST_F(session_test, name_the_memory_limit_that_was_asked_for) {
    run_options options;
    options.memory_limit = 10U << 20U;
    EXPECT_NE(run("(range 100000000)", options).find("memory limit of 10485760 bytes"),
              std::string::npos);
}

} // namespace
} // namespace heddle::host
