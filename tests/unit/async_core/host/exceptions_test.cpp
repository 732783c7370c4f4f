// Exceptions of parts of the host: the failure of the branch that met them, never a hang or a lost
// run.
#include "evaluation.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <failing_allocations.ipp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace heddle::host {
namespace {

using heddle::testing::failing_allocations;
using lang::value;

/// (visit n): waits n ms, counts, and throws when its turn has come: before or after its wait.
class visit final : public effect_handler {
public:
    const lang::builtin& row() const noexcept override { return row_; }

    coro::task<result<value>> run(effect_call call) override {
        const std::size_t turn = visits++;
        ++running;
        struct leaving {
            std::size_t& count;
            ~leaving() { --count; }
        } guard{running};
        if (turn == throws_at && !late) fail();
        const auto ms = std::chrono::milliseconds(call.request.arguments[0].as_integer());
        const result<void> slept =
            co_await coro::sleep_until(call.context, call.context.loop->now() + ms);
        if (turn == throws_at && late) fail();
        if (!slept) co_return slept.error();
        co_return call.request.arguments[0];
    }

    static constexpr std::size_t never = SIZE_MAX;
    std::size_t throws_at = never;
    bool late = false;
    bool no_memory = false;
    std::size_t visits = 0;
    std::size_t running = 0;

private:
    void fail() const {
        if (no_memory) throw std::bad_alloc();
        throw std::runtime_error("the embedder's bug");
    }
    lang::builtin row_{"visit", "n", 1, 1, lang::builtin_kind::effect, nullptr, "Waits.", "", ""};
};

/// Files in memory. The n-th load throws.
class files_that_throw final : public import_port {
public:
    coro::task<result<imported_source>> load(std::string path, std::string,
                                             coro::call_context context) override {
        const std::size_t turn = loads++;
        const result<void> slept =
            co_await coro::sleep_until(context, context.loop->now() + std::chrono::milliseconds(1));
        if (turn == throws_at) throw std::runtime_error("the disk is on fire");
        if (!slept) co_return slept.error();
        co_return imported_source{path, "(define (lib-add a b) (+ a b (visit 0))) 'loaded"};
    }
    std::size_t loads = 0;
    std::size_t throws_at = SIZE_MAX;
};

class exceptions : public ::testing::Test {
protected:
    exceptions() {
        engine_parts parts;
        parts.effects.push_back(visits_);
        parts.imports = &files_;
        parts.random_seed = 7;
        parts.print = [this](std::string_view text) {
            if (print_throws_) throw std::runtime_error("the pipe is broken");
            printed_ += text;
        };
        engine_ = std::make_unique<engine>(loop_, std::move(parts));
        session_ = *engine_->new_session();
    }

    struct run_end {
        evaluation_end ended;
        bool thrown = false;
    };

    static coro::task<void> evaluate(session* on, std::string text, run_options options,
                                     run_end* out) {
        result<value> ended = co_await on->evaluate("test", std::move(text), options);
        out->ended.emplace(std::move(ended));
    }

    run_end drive(const std::string& text, run_options options = {}, bool without_memory = false) {
        run_end out;
        coro::spawn(loop_, evaluate(session_.get(), text, options, &out),
                    [&](std::exception_ptr thrown) { out.thrown = thrown != nullptr; });
        {
            const failing_allocations::scope here(without_memory);
            loop_.run();
        }
        return out;
    }

    std::string run(const std::string& text, run_options options = {}) {
        const run_end out = drive(text, options);
        EXPECT_FALSE(out.thrown);
        EXPECT_EQ(visits_->running, 0U) << text;
        EXPECT_EQ(session_->counters().fibers, 0U) << text;
        return shown(out.ended);
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_, coro::event_loop::time::virtual_};
    std::shared_ptr<visit> visits_ = std::make_shared<visit>();
    files_that_throw files_;
    bool print_throws_ = false;
    std::string printed_;
    std::unique_ptr<engine> engine_;
    std::unique_ptr<session> session_;
};

TEST_F(exceptions, of_an_effect_are_errors_of_the_program) {
    visits_->throws_at = 0;
    EXPECT_EQ(run("(visit 1)"), "InternalError: visit threw an exception: the embedder's bug");
    visits_->throws_at = visits_->visits;
    visits_->no_memory = true;
    EXPECT_EQ(run("(visit 1)"), "LimitError: out of memory");
    visits_->throws_at = visits_->visits + 1;
    EXPECT_EQ(run("(map-settled (lambda (i) (try (visit i) (catch (e) (get e 'kind)))) '(1 2 3))"),
              "((dict \"ok\" true \"value\" 1) (dict \"ok\" true \"value\" \"LimitError\") (dict "
              "\"ok\" true \"value\" 3))");
    visits_->throws_at = visits_->visits + 1;
    EXPECT_EQ(run("(map visit '(1 2 3))"), "LimitError: out of memory");
    visits_->throws_at = visits_->visits;
    EXPECT_EQ(run("(race (visit 1) (visit 2))"), "2");
}

TEST_F(exceptions, of_a_print_callback_are_errors_of_the_program) {
    print_throws_ = true;
    EXPECT_EQ(run("(try (print 1) (catch (e) (get e 'message)))"),
              "\"print threw an exception: the pipe is broken\"");
    EXPECT_EQ(run("(map (lambda (i) (visit i) (print i)) '(3 1 2))").substr(0, 13),
              "InternalError");
    print_throws_ = false;
    EXPECT_EQ(run("(print 'again)"), "nil");
}

TEST_F(exceptions, of_an_import_leave_the_file_to_the_next_branch) {
    files_.throws_at = 0;
    EXPECT_EQ(run("(map-settled (lambda (f) (import \"a\")) '(1))").substr(0, 18),
              "((dict \"ok\" false ");
    files_.throws_at = files_.loads;
    EXPECT_EQ(run("(list (try (import \"a\") (catch (e) 'no)) (import \"a\") (lib-add 1 2))"),
              "(no loaded 3)");
}

/// What of everything a workflow has.
constexpr const char* rich =
    "(define s (semaphore 1))"
    "(list (map (lambda (i) (visit i) (* i i)) (range 3))"
    " (map-settled (lambda (i) (visit 1)) (range 2))"
    " (try (race (visit 3) (progn (visit 1) 'quick)) (catch (e) 'none))"
    " (hedge 0.001 (visit 3))"
    " (retry ((attempts 3) (backoff 0.01)) (visit 2))"
    " (map (lambda (i) (with-permit s (visit 1))) (range 2))"
    " (let ((a (spawn (visit 2))) (b (spawn (visit 90)))) (list (await a) (cancel b)))"
    " (timeout 0.002 (try (visit 50) (finally (visit 1))) 'late)"
    " (parallel (import \"a\") (import \"a\") (import \"b\"))"
    " (with ((concurrency 1)) (parallel (visit 1) (race (visit 2) (visit 1)))))";

TEST_F(exceptions, at_each_effect_in_turn_end_nothing_but_their_branch) {
    (void)run(rich); // what stays for good, such as imports
    const std::string expected = run(rich);
    EXPECT_EQ(expected.substr(0, 9), "((0 1 4) ");
    const std::size_t visits = visits_->visits;
    for (const bool late : {false, true}) {
        for (std::size_t turn = 0; turn < visits; ++turn) {
            visits_->late = late;
            visits_->throws_at = visits_->visits + turn;
            const std::string ended = run(rich);
            ASSERT_NE(ended, "not ended") << turn;
            visits_->throws_at = visit::never;
            ASSERT_EQ(run(rich), expected) << turn;
        }
    }
}

TEST_F(exceptions, no_allocation_that_fails_loses_a_run) {
    (void)run(rich); // what stays for good, such as imports
    const std::string expected = run(rich);
    ASSERT_EQ(expected.substr(0, 9), "((0 1 4) ");
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1;; n += n < 2000 ? 1 : 7) {
        ASSERT_LT(n, 1'000'000U) << "it never ends";
        failing_allocations::plan(n);
        const run_end out = drive(rich, {}, true);
        const bool failed = failing_allocations::failed() != 0;
        failing_allocations::plan(0);
        ASSERT_TRUE(out.ended || out.thrown) << "allocation " << n;
        ASSERT_EQ(visits_->running, 0U) << "allocation " << n;
        failures += out.ended && !*out.ended ? 1 : 0;
        if (out.ended && *out.ended && !failed) break;
        ASSERT_EQ(run(rich), expected) << "after allocation " << n;
    }
    EXPECT_GT(failures, 100U);
}

TEST_F(exceptions, no_allocation_that_fails_loses_what_is_replaced_in_place) {
    // Each round writes into the map that the variable held alone, or into a larger copy.
    const std::string rounds =
        "(let next ((i 0)) (if (= i 40) 'done (progn (set! m (put m (number->string i) i)) "
        "(set! m (merge m (dict \"b\" i (number->string i) 0))) (next (+ i 1)))))";
    for (std::uint64_t n = 1;; ++n) {
        ASSERT_LT(n, 100'000U) << "it never ends";
        ASSERT_EQ(run("(define m (dict \"kept\" 1)) (length m)"), "1");
        failing_allocations::plan(n);
        (void)drive(rounds, {}, true);
        const bool failed = failing_allocations::failed() != 0;
        failing_allocations::plan(0);
        ASSERT_EQ(run("(get m \"kept\" nil)"), "1") << "allocation " << n;
        if (!failed) break;
    }
    EXPECT_EQ(run("(length m)"), "42");
}

TEST_F(exceptions, a_session_can_be_made_after_one_that_found_no_memory) {
    for (std::uint64_t n = 1; n < 20'000; n += n < 100 ? 1 : 101) {
        failing_allocations::plan(n);
        bool failed = false;
        {
            const failing_allocations::scope here(true);
            const auto result = engine_->new_session();
            failed = !result;
        }
        failing_allocations::plan(0);
        if (failed) continue;
        EXPECT_EQ(run("(+ 1 2)"), "3");
    }
}

} // namespace
} // namespace heddle::host
