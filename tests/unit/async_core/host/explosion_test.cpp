// Programs that start ever more branches end at their limits, in time and in memory.
#include "evaluation.hpp"

#include <heddle/host/session.hpp>

#include <gtest/gtest.h>
#include <malloc.h>
#include <boost/asio/io_context.hpp>
#include <hang_guard.hpp>
#include <sanitizers.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace heddle::host {
namespace {

using std::chrono::milliseconds;
constexpr std::size_t mebibyte = 1024 * 1024;

#ifdef HEDDLE_SANITIZED
constexpr bool counts_allocations = false;
#else
constexpr bool counts_allocations = true;
#endif

std::size_t allocated() {
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

/// Called back after each slice of a run, when its fibers are all there.
class allocation_watch final : public slice_observer {
public:
    /// `limit`: of the memory of the run.
    explicit allocation_watch(const lang::heap& memory, std::size_t limit = SIZE_MAX)
        : memory_(memory), charged_before_(memory.used()), allocated_before_(allocated()),
          limit_(limit) {}
    void after_slice(std::uint64_t steps) noexcept override {
        const std::size_t charged = memory_.used() - charged_before_;
        steps_ = steps;
        if (!reached_at_ && charged >= limit_ - limit_ / 16) reached_at_ = steps;
        if (charged <= peak_charged) return;
        peak_charged = charged;
        taken = allocated() - allocated_before_;
    }
    std::size_t peak_charged = 0;
    std::size_t taken = 0; ///< at that time
    /// Of the run since it came near to its limit.
    [[nodiscard]] std::uint64_t steps_at_the_limit() const {
        return steps_ - reached_at_.value_or(steps_);
    }

private:
    const lang::heap& memory_;
    std::size_t charged_before_;
    std::size_t allocated_before_;
    std::size_t limit_;
    std::uint64_t steps_ = 0;
    std::optional<std::uint64_t> reached_at_;
};

/// Counts the steps of a run after its deadline.
class end_watch final : public slice_observer {
public:
    end_watch(const coro::event_loop& loop, coro::deadline until) : loop_(loop), until_(until) {}
    void after_slice(std::uint64_t steps) noexcept override {
        steps_ = steps;
        if (!over_at_ && until_.passed(loop_.now())) over_at_ = steps;
    }
    [[nodiscard]] std::uint64_t steps_to_the_end() const {
        return steps_ - over_at_.value_or(steps_);
    }

private:
    const coro::event_loop& loop_;
    coro::deadline until_;
    std::uint64_t steps_ = 0;
    std::optional<std::uint64_t> over_at_;
};

/// The most that is charged between two slices.
class growth_watch final : public slice_observer {
public:
    explicit growth_watch(const lang::heap& memory) : memory_(memory), before_(memory.used()) {}
    void after_slice(std::uint64_t) noexcept override {
        const std::size_t now = memory_.used();
        if (now > before_) most = std::max(most, now - before_);
        before_ = now;
    }
    std::size_t most = 0;

private:
    const lang::heap& memory_;
    std::size_t before_;
};

/// Cancels a run when it has gone on for `steps` since so much memory was in use.
class cancel_when final : public slice_observer {
public:
    cancel_when(const lang::heap& memory, std::size_t bytes, std::uint64_t steps = 0)
        : memory_(memory), bytes_(bytes), steps_(steps) {}
    void after_slice(std::uint64_t steps) noexcept override {
        now_ = steps;
        if (source.requested()) return;
        if (!reached_at_) {
            if (memory_.used() < bytes_) return;
            reached_at_ = steps;
        }
        if (steps - *reached_at_ < steps_) return;
        cancelled_at_ = steps;
        source.request(cancel_reason::shutdown);
    }
    /// Of the run since then.
    [[nodiscard]] std::uint64_t steps_to_the_end() const { return now_ - cancelled_at_; }
    coro::cancel_source source;

private:
    const lang::heap& memory_;
    std::size_t bytes_;
    std::uint64_t steps_;
    std::uint64_t now_ = 0;
    std::optional<std::uint64_t> reached_at_;
    std::uint64_t cancelled_at_ = 0;
};

class branches_test : public ::testing::Test {
protected:
    /// The written value, or "Kind: message".
    std::string run(const std::string& text, const run_options& options) {
        const evaluation_end ended = evaluate_to_the_end(context_, loop_, *session_, text, options);
        EXPECT_EQ(session_->counters().fibers, 0U) << text;
        return shown(ended);
    }

    boost::asio::io_context context_{1};
    coro::event_loop loop_{context_};
    engine engine_{loop_, engine_parts{}};
    std::unique_ptr<session> session_ = *engine_.new_session();
};

/// What an end takes, and more; where others are ahead of it, it takes many millions.
constexpr std::uint64_t max_steps_of_an_end = 500'000;

class explosion_test : public branches_test, public ::testing::WithParamInterface<const char*> {};

constexpr const char* explosions[] = {
    "(letrec ((f (lambda () (parallel (f) (f))))) (f))",
    "(letrec ((f (lambda () (map (lambda (x) (f)) '(1 2))))) (f))",
    "(letrec ((f (lambda (x) (map f (list 1 2))))) (f 1))",
    "(letrec ((f (lambda () (progn (spawn (f)) (spawn (f)) (sleep 0) (f))))) (f))",
    "(letrec ((f (lambda () (parallel (progn (sleep 0) (f)) (progn (sleep 0) (f)))))) (f))",
    "(letrec ((f (lambda () (+ 1 (await (spawn (f))))))) (f))",
};

TEST_P(explosion_test, ends_at_its_time) {
    for (const std::string& program :
         {std::string(GetParam()),
          "(sandbox ((timeout 0.2) (allow (sleep))) " + std::string(GetParam()) + ")",
          "(timeout 0.2 " + std::string(GetParam()) + ")"}) {
        run_options options;
        options.memory_limit = 4096 * mebibyte; // time is over first
        options.until = coro::deadline(loop_.now() + milliseconds(300));
        end_watch watch(loop_, options.until);
        options.observer = &watch;
        const std::string ended = run(program, options);
        EXPECT_EQ(ended.find("TimeoutError: the time"), 0U) << program << "\n" << ended;
        EXPECT_LT(watch.steps_to_the_end(), max_steps_of_an_end) << program;
    }
}

TEST_P(explosion_test, ends_at_its_memory) {
    const std::string program = GetParam();
    run_options options;
    options.memory_limit = 32 * mebibyte;
    // Where nothing awaits the futures that have met the limit, what began them goes on.
    const bool for_ever = program.find("spawn (f)) (spawn") != std::string::npos;
    if (for_ever) options.until = coro::deadline(loop_.now() + milliseconds(1000));
    allocation_watch watch(session_->memory(), options.memory_limit);
    options.observer = &watch;
    const std::string ended = run(program, options);
    EXPECT_TRUE((for_ever && ended.starts_with("TimeoutError")) ||
                ended.starts_with("LimitError: the memory limit of this run (32 MiB) is used up"))
        << program << "\n"
        << ended;
    if (!for_ever) {
        EXPECT_LT(watch.steps_at_the_limit(), max_steps_of_an_end) << program; // for minutes
    }
    RecordProperty("peak_charged", static_cast<int>(watch.peak_charged));
    RecordProperty("taken", static_cast<int>(watch.taken));
    EXPECT_LT(watch.peak_charged, options.memory_limit + options.memory_limit / 4);
    if (counts_allocations) {
        EXPECT_LT(watch.taken, options.memory_limit + options.memory_limit / 2);
    }
}

// What caught the error went on deeper by a slice each time: gigabytes.
TEST_F(branches_test, that_catch_the_error_of_their_memory_limit_keep_to_it) {
    for (const char* program : {"(letrec ((f (lambda () (race (f) (f))))) (f))",
                                "(letrec ((f (lambda () (+ 1 (try (f) (catch (e) (f))))))) (f))"}) {
        SCOPED_TRACE(program);
        run_options options;
        options.memory_limit = 32 * mebibyte;
        options.until = coro::deadline(loop_.now() + hang_guard::limit);
        allocation_watch watch(session_->memory());
        options.observer = &watch;
        const std::string ended = run(program, options);
        EXPECT_TRUE(ended.starts_with("LimitError: the memory limit of this run (32 MiB)"))
            << ended;
        EXPECT_LT(watch.peak_charged, options.memory_limit + options.memory_limit / 2);
        if (counts_allocations) {
            EXPECT_LT(watch.taken, 2 * options.memory_limit);
        }
    }
}

// What the branches that had ended gave back, others took: for 16 s, or minutes.
TEST_P(explosion_test, ends_soon_at_the_usual_memory_limit) {
    const std::string program = GetParam();
    // Where nothing awaits the futures that have met the limit, what began them goes on.
    const bool for_ever = program.find("spawn (f)) (spawn") != std::string::npos;
    run_options options;
    options.memory_limit = 256 * mebibyte;
    if (for_ever) options.until = coro::deadline(loop_.now() + milliseconds(4000));
    allocation_watch watch(session_->memory(), options.memory_limit);
    options.observer = &watch;
    const std::string ended = run(program, options);
    EXPECT_TRUE((for_ever && ended.starts_with("TimeoutError")) ||
                ended.starts_with("LimitError: the memory limit of this run (256 MiB) is used up"))
        << program << "\n"
        << ended;
    if (!for_ever) {
        EXPECT_LT(watch.steps_at_the_limit(), max_steps_of_an_end) << program;
    }
    EXPECT_LT(watch.peak_charged, options.memory_limit + options.memory_limit / 4);
}

// Branches of what had been cancelled were parted from it, and began others.
TEST_P(explosion_test, ends_soon_when_it_is_cancelled_at_its_memory_limit) {
    const std::string program = GetParam();
    run_options options;
    options.memory_limit = 256 * mebibyte;
    // No limit that the program meets ends it: it begins anew.
    const std::string again =
        "(letrec ((again (lambda () (try " + program + " (catch (e) nil)) (again)))) (again))";
    cancel_when cancel(session_->memory(), options.memory_limit - 16 * mebibyte);
    options.observer = &cancel;
    options.cancel = &cancel.source;
    EXPECT_EQ(run(again, options).find("CancelledError"), 0U) << program;
    EXPECT_LT(cancel.steps_to_the_end(), max_steps_of_an_end) << program;
}

std::string name_of(const ::testing::TestParamInfo<const char*>& shape) {
    constexpr const char* names[] = {"parallel", "map",     "map_of_itself",
                                     "futures",  "waiting", "awaited"};
    return names[shape.index];
}

INSTANTIATE_TEST_SUITE_P(branches, explosion_test, ::testing::ValuesIn(explosions), name_of);

class caught_explosion_test : public branches_test,
                              public ::testing::WithParamInterface<const char*> {};

constexpr const char* caught_explosions[] = {
    "(letrec ((f (lambda () (map (lambda (x) (retry 3 (f))) (range 3))))) (f))",
    "(letrec ((f (lambda () (race (f) (f))))) (f))",
    "(letrec ((f (lambda () (map-settled (lambda (x) (f)) (range 2))))) (f))",
    "(letrec ((f (lambda () (hedge 0 (f))))) (f))",
    "(letrec ((f (lambda () (map (lambda (x) (try (f) (catch (e) (f)))) (range 3))))) (f))",
    "(letrec ((f (lambda () (map (lambda (x) (sleep 0) (retry 3 (f))) (range 3))))) (f))",
};

// While one of its groups ended at the limit, a fiber did not ask the branches around that group to
// end: they went on, and began others, for minutes.
TEST_P(caught_explosion_test, ends_soon_when_it_is_cancelled_at_its_memory_limit) {
    const std::string program = GetParam();
    run_options options;
    options.memory_limit = 64 * mebibyte;
    const std::string again =
        "(letrec ((again (lambda () (try " + program + " (catch (e) nil)) (again)))) (again))";
    cancel_when cancel(session_->memory(), options.memory_limit - 8 * mebibyte, 3'000'000);
    options.observer = &cancel;
    options.cancel = &cancel.source;
    const std::string ended = run(again, options);
    if (ended.starts_with("LimitError")) { // it caught the error so often that it may not any more
        const bool catches_often = program.find("race") != std::string::npos ||
                                   program.find("settled") != std::string::npos;
        EXPECT_TRUE(catches_often) << program;
        return;
    }
    EXPECT_EQ(ended.find("CancelledError"), 0U) << program;
    // It was up to ten million; 243,000 have been seen since, by chance.
    EXPECT_LT(cancel.steps_to_the_end(), 1'000'000U) << program;
}

std::string name_of_caught(const ::testing::TestParamInfo<const char*>& shape) {
    constexpr const char* names[] = {"retry", "race", "settled", "hedge", "caught", "waiting"};
    return names[shape.index];
}

INSTANTIATE_TEST_SUITE_P(branches, caught_explosion_test, ::testing::ValuesIn(caught_explosions),
                         name_of_caught);

// An end that came from outside and went down one level a turn was never ahead of what went down
// too.
TEST_F(branches_test, that_open_others_are_not_ahead_of_their_end) {
    for (const std::string program :
         {"(letrec ((f (lambda () (progn (sleep 0) (spawn (f)) (sleep 100))))) (f))",
          "(letrec ((f (lambda () (progn (sleep 0) (await (spawn (f))))))) (f))",
          "(letrec ((f (lambda () (race (progn (sleep 100) 1) (f))))) (f))",
          "(letrec ((f (lambda () (hedge 0 (f))))) (f))"}) {
        run_options options;
        options.memory_limit = 4096 * mebibyte;
        options.until = coro::deadline(loop_.now() + milliseconds(300));
        end_watch watch(loop_, options.until);
        options.observer = &watch;
        EXPECT_EQ(run(program, options).find("TimeoutError: the time"), 0U) << program;
        EXPECT_LT(watch.steps_to_the_end(), max_steps_of_an_end) << program;
        options.until = coro::deadline(loop_.now() + hang_guard::far_beyond);
        end_watch raced(loop_, coro::deadline(loop_.now() + milliseconds(300)));
        options.observer = &raced;
        EXPECT_EQ(run("(race (progn (sleep 0.3) 'first) " + program + ")", options), "first");
        EXPECT_LT(raced.steps_to_the_end(), max_steps_of_an_end) << program;
    }
}

TEST_F(branches_test, a_cleanup_may_open_others_at_an_end_from_outside) {
    run_options options;
    options.until = coro::deadline(loop_.now() + milliseconds(200));
    std::string ended =
        run("(define kept '()) "
            "(define (save) (try (await (spawn (sleep 100)))"
            "  (finally (set! kept (list (await (spawn (progn (sleep 0.05) 'new))))))))"
            "(save)",
            options);
    EXPECT_EQ(ended.find("TimeoutError"), 0U) << ended;
    EXPECT_EQ(run("kept", {}), "(new)");
}

// It grew by half: 20 to 50 ms of writing at once.
TEST_F(branches_test, a_stack_of_a_million_calls_grows_in_portions) {
    growth_watch watch(session_->memory());
    run_options options;
    options.observer = &watch;
    EXPECT_EQ(
        run("(letrec ((f (lambda (n) (if (= n 0) 0 (+ 1 (f (- n 1))))))) (f 1000000))", options),
        "1000000");
    EXPECT_LT(watch.most, 10 * mebibyte); // of stack and frames
}

TEST_F(branches_test, await_costs_the_same_at_any_depth) {
    run_options options;
    options.memory_limit = 4096 * mebibyte;
    const auto chain = [](int depth) {
        return "(letrec ((f (lambda (n) (if (= n 0) 0 (+ 1 (await (spawn (f (- n 1)))))))))"
               " (f " +
               std::to_string(depth) + "))";
    };
    EXPECT_EQ(run(chain(20'000), options), "20000"); // it took hours
}

TEST_F(branches_test, what_a_fiber_takes_is_charged) {
    if (!counts_allocations) GTEST_SKIP() << "the allocator of a sanitizer keeps no such count";
    for (const char* program :
         {"(with ((concurrency 20000)) (length (map (lambda (i) (sleep 0.3) i) (range 10000))))",
          "(with ((concurrency 20000)) (length (map (lambda (i) (first (parallel (sleep 0.3)))) "
          "(range 5000))))",
          "(let ((l '())) (loop 5000 (set! l (cons (spawn (sleep 0.3)) l))) (length (map await "
          "l)))"}) {
        ASSERT_EQ(run(program, {}).find("Error"), std::string::npos); // what stays is there
        allocation_watch watch(session_->memory());
        run_options options;
        options.observer = &watch;
        ASSERT_EQ(run(program, options).find("Error"), std::string::npos);
        const double share =
            static_cast<double>(watch.peak_charged) / static_cast<double>(watch.taken);
        EXPECT_GT(share, 0.8) << program << "\n"
                              << watch.peak_charged << " of " << watch.taken << " bytes";
        EXPECT_LT(share, 1.5) << program << "\n"
                              << watch.peak_charged << " of " << watch.taken << " bytes";
    }
}

} // namespace
} // namespace heddle::host
