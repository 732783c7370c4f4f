// The forms of concurrency on a loop in virtual time; beside builtins that take long, in real time.
#include "evaluation.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/host/session.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <hang_guard.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>

namespace heddle::host {
namespace {

using std::chrono::milliseconds;

class concurrency_test : public ::testing::Test {
protected:
    explicit concurrency_test(coro::event_loop::time passes = coro::event_loop::time::virtual_)
        : loop_(context_, passes) {
        engine_parts parts;
        parts.print = [this](std::string_view text) { printed_ += text; };
        parts.random_seed = 7;
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    /// The written value, or "Kind: message". The loop runs dry: no timer or coroutine is left.
    std::string run(const std::string& text, run_options options = {}) {
        const auto began = loop_.now();
        const evaluation_end ended = evaluate_to_the_end(context_, loop_, *session_, text, options);
        took_ = loop_.now() - began;
        EXPECT_EQ(session_->counters().fibers, 0U) << text;
        return shown(ended);
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_;
    std::string printed_;
    coro::clock::duration took_{}; ///< by the clock of the loop: waits and steps
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

/// Where work of builtins has to end or to take turns in real time.
class real_time_test : public concurrency_test {
protected:
    real_time_test() : concurrency_test(coro::event_loop::time::real) {}
};

constexpr auto soon = milliseconds(500); // for what would otherwise take 100 seconds

TEST_F(concurrency_test, timeout_ends_sleeping_computing_and_hostile_code) {
    for (const char* program :
         {"(timeout 0.01 (sleep 100) 'late)", "(timeout 0.01 (while true 1) 'late)",
          "(timeout 0.01 (try (sleep 100) (catch (e) (sleep 100))) 'late)",
          "(define (f) (try (f) (catch (e) (f)))) (timeout 0.01 (f) 'late)",
          "(timeout 0.01 (map (lambda (i) (try (sleep 100) (catch (e) 1))) (range 100)) 'late)",
          "(timeout 0.01 (map-settled (lambda (i) (sleep 100)) (range 10)) 'late)",
          "(define s (semaphore 1)) (spawn (with-permit s (sleep 100))) (let ((f (spawn "
          "(with-permit s 1)))) (timeout 0.01 (await f) 'late))",
          "(define s (semaphore 1)) (spawn (with-permit s (sleep 100))) (timeout 0.01 (first "
          "(parallel (with-permit s 1))) 'late)"}) {
        EXPECT_EQ(run(program), "late") << program;
        EXPECT_LT(took_, soon) << program;
    }
}

TEST_F(real_time_test, timeout_reaches_into_builtins) {
    const std::string text = "(string-join (map (lambda (i) \"aaaaaaaaaa\") (range 25000)) \"\")";
    const std::string shared =
        "(let next ((i 0) (x (list))) (if (< i 60) (next (+ i 1) (list x x)) x))";
    const std::string table = "(map (lambda (i) (dict \"a\" 1 \"b\" i)) (range 20000))";
    for (const std::string& slow :
         {std::string("(let ((l (reverse (range 100000)))) (loop 100000 (sort l)))"),
          "(let ((s " + text + ")) (length (regex-match-all \"a*b|a\" s)))",
          "(let ((s " + text + ")) (regex-match \"(a?){1000}(a){1000}b\" s))",
          "(let ((s " + text + ")) (loop 100000 (regex-replace \"a\" s \"b\")))",
          "(let ((l " + table + ")) (loop 100000 (unique l)))",
          "(let ((l " + table + ")) (loop 100000 (json-parse (json-string l))))",
          "(let ((x " + shared + ")) (print x))", "(let ((x " + shared + ")) (json-string x))",
          "(let ((x " + shared + ")) (flatten (list x)) (loop 10000000000 1))"}) {
        EXPECT_EQ(run("(try (timeout 0.5 (progn " + slow +
                      " 'ended) 'late) (catch (e 'LimitError) "
                      "'late))"),
                  "late")
            << slow;
        EXPECT_LT(took_, hang_guard::limit) << slow;
    }
}

TEST_F(real_time_test, timers_fire_beside_long_builtins) {
    // A coarse bound: the bench of the language measures the lateness itself.
    for (const char* slow :
         {"(loop 20 (sort (reverse (range 200000))))", "(json-parse (json-string (range 1000000)))",
          "(regex-match \"(a?){500}(a){500}b\" (string-join (map (lambda (i) \"aaaaaaaaaa\") "
          "(range 6000)) \"\"))"}) {
        EXPECT_EQ(run("(race (progn (sleep 0.02) 'timer) (progn " + std::string(slow) + " 'slow))"),
                  "timer")
            << slow;
    }
}

TEST_F(concurrency_test, finally_may_wait_after_a_timeout) {
    EXPECT_EQ(run("(timeout 0.01 (try (sleep 100) (finally (sleep 0.02) (print 'cleaned))) 'late)"),
              "late");
    EXPECT_EQ(printed_, "cleaned\n");
    EXPECT_EQ(run("(timeout 0.01 (try (sleep 100) (finally (map (lambda (i) (sleep 0.01)) '(1 2)) "
                  "(timeout 0.01 (sleep 100) nil) (print 'twice))) 'late)"),
              "late");
    EXPECT_EQ(printed_, "cleaned\ntwice\n");
    EXPECT_LT(took_, soon);
}

TEST_F(concurrency_test, each_end_has_time_for_its_cleanups) {
    const std::string ends =
        "(define n 0) (loop 1100 (race (try (sleep 60) (finally (progn (sleep 0) (set! n (+ n 1))))) "
        "(sleep 0))) ";
    EXPECT_EQ(run(ends + "n"), "1100");
    EXPECT_EQ(run(ends + "(timeout 0.01 (try (sleep 60) (finally (progn (sleep 0) 1))) n)"),
              "1100");
    EXPECT_EQ(run("(define n 0) (loop 12 (race (try (sleep 60) (finally (progn (loop 1000000 1) "
                  "(set! n (+ n 1))))) (sleep 0))) n"),
              "12");
    EXPECT_EQ(run("(define n 0) (define begun 0) (with ((concurrency 2000)) (race (map (lambda (i) "
                  "(try (progn (set! begun (+ begun 1)) (sleep 60)) (finally (progn (sleep 0.001) "
                  "(set! n (+ n 1)))))) (range 1500)) (while (< begun 1500) (sleep 0.001)))) n"),
              "1500");
}

TEST_F(concurrency_test, branches_that_compute_begin_all_at_once) {
    const std::string many =
        "(map (lambda (x) (set! begun (+ begun 1)) (while true 1)) (range 800))";
    EXPECT_EQ(run("(define begun 0) (with ((concurrency 1000)) (race " + many +
                  " (progn (while (< begun 800) (sleep 0.001)) 'begun)))"),
              "begun");
    EXPECT_LT(took_, milliseconds(1000)); // the square of their number takes six seconds
    EXPECT_EQ(run("(with ((concurrency 1000)) (timeout 1.5 (parallel " + many +
                  " (timeout 0.1 (sleep 60) (print 'timer))) 'over))"),
              "over");
    EXPECT_EQ(printed_, "timer\n");
}

TEST_F(concurrency_test, branches_that_await_one_future_end_in_linear_time) {
    const auto time_for = [&](int count) { // of the processor
        const std::string n = std::to_string(count);
        run_options options;
        options.memory_limit = std::size_t{4} * 1024 * 1024 * 1024;
        const std::clock_t began = std::clock();
        EXPECT_EQ(run("(let ((f (spawn (sleep 60))) (begun 0)) (with ((concurrency 200000)) (race "
                      "(map (lambda (i) (set! begun (+ begun 1)) (await f)) (range " +
                          n + ")) (progn (while (< begun " + n + ") (sleep 0.01)) 'begun))))",
                      options),
                  "begun");
        return std::clock() - began;
    };
    // Once of three times, because of caches. Each was looked for among all: 50 times as much,
    // every time.
    bool is_linear = false;
    for (int tries = 0; tries < 3 && !is_linear; ++tries)
        is_linear = time_for(80'000) < 20 * time_for(10'000);
    EXPECT_TRUE(is_linear);
}

TEST_F(concurrency_test, race_ends_the_losers) {
    EXPECT_EQ(run("(race (sleep 100) (progn (sleep 0.01) 'quick) (while true 1))"), "quick");
    EXPECT_LT(took_, soon);
}

TEST_F(concurrency_test, hedge_starts_again_when_it_takes_long) {
    EXPECT_EQ(
        run("(define runs 0) (hedge 0.01 (progn (set! runs (+ runs 1)) (when (= runs 1) (sleep "
            "100)) runs))"),
        "2");
    EXPECT_LT(took_, soon);
}

TEST_F(concurrency_test, futures_end_with_their_scope) {
    EXPECT_EQ(
        run("(define (f) (spawn (try (sleep 100) (finally (print 'ended)))) (sleep 0.01) 'left) "
            "(f)"),
        "left");
    EXPECT_EQ(printed_, "ended\n");
    EXPECT_EQ(
        run("(let ((a (spawn (sleep 100))) (b (spawn (progn (sleep 0.01) 2)))) (list (await b) "
            "(cancel a)))"),
        "(2 true)");
    EXPECT_LT(took_, soon);
}

TEST_F(concurrency_test, retry_waits_between_attempts) {
    EXPECT_EQ(
        run("(define runs 0) (retry ((attempts 3) (backoff 0.01)) (progn (set! runs (+ runs 1)) "
            "(if (< runs 3) (error \"no\") runs)))"),
        "3");
}

coro::task<result<void>> cancel_after(coro::cancel_source* target, coro::call_context context,
                                      milliseconds delay) {
    const auto at = context.loop->now() + delay;
    const result<void> slept = co_await coro::sleep_until(context, at);
    (void)slept;
    target->request(cancel_reason::user);
    co_return result<void>();
}

TEST_F(concurrency_test, a_cancelled_run_leaves_every_kind_of_wait) {
    for (const char* program :
         {"(await (spawn (sleep 100)))",
          "(let ((s (semaphore 1))) (spawn (with-permit s (sleep 100))) (with-permit s 1))",
          "(race (sleep 100) (while true 1))", "(hedge 0.001 (sleep 100))",
          "(retry 5 (progn (sleep 0.001) (error \"no\")))", "(timeout 100 (sleep 100))",
          "(map (lambda (i) (await (spawn (map (lambda (j) (sleep 100)) (range 9))))) (range "
          "9))"}) {
        coro::cancel_source cancel;
        run_options options;
        options.cancel = &cancel;
        coro::nursery timers(coro::call_context{&loop_, nullptr, {}});
        timers.start(cancel_after(&cancel, timers.context(), milliseconds(20)));
        EXPECT_EQ(run(program, options), "CancelledError: cancelled by the user") << program;
        EXPECT_LT(took_, soon) << program;
    }
}

TEST_F(concurrency_test, sleeping_branches_wake_in_time_beside_one_that_computes) {
    // Each of 100 branches reports by how many seconds it woke too late.
    const std::string late =
        run("(with ((concurrency 101)) (reduce max 0.0 (rest (map (lambda (i) (if (= i 0) (let "
            "loop "
            "((n 0)) (if (< n 30000000) (loop (+ n 1)) 0.0)) (let ((began (now))) (sleep (* i "
            "0.002)) "
            "(- (now) began (* i 0.002))))) (range 101)))))");
    EXPECT_GE(took_, milliseconds(250)) << "it computed for longer than they slept";
    EXPECT_LT(std::stod(late), 0.01);
}

} // namespace
} // namespace heddle::host
