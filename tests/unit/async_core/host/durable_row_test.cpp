// Rows that are executed again from their records.
#include "row_process.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/host/session.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/step_memory.hpp>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <set>

namespace heddle::host {
namespace {

using namespace std::chrono_literals;
using ports::step_kind;
using ports::step_record;

const std::vector<std::string>& programs() {
    static const std::vector<std::string> all = {
        "(+ (fetch 1) (fetch 2))",
        "(map (lambda (n) (+ (fetch n) (fetch (* 10 n)))) (range 6))",
        // The order of completions decides.
        "(let ((order '())) (for-each-branch (lambda (n) (fetch n) (set! order (append order (list "
        "n)))) (range 8)) order)",
        "(race (fetch 'a) (fetch 'b) (fetch 'c))",
        "(map (lambda (n) (race (fetch (list 'a n)) (progn (fetch (list 'b n)) (fetch (list 'c "
        "n))))) (range 5))",
        "(let ((log '())) (parallel (progn (set! log (append log (list (race (fetch 1) (fetch "
        "2))))) "
        "(fetch 3)) (progn (fetch 4) (set! log (append log (list 'four))))) log)",
        // Deadlines of effects, of waits and of computations.
        "(map (lambda (n) (timeout 0.02 (fetch n) 'late)) (range 10))",
        "(let ((f (spawn (progn (sleep 1) 1)))) (list (timeout 0.1 (await f) 'late) (fetch 'x)))",
        "(list (timeout 0.5 (let loop ((i 0)) (loop (+ i 1))) 'cut) (fetch 'after))",
        "(map (lambda (n) (let ((f (spawn (fetch n)))) (list (fetch (list n)) (await f)))) (range "
        "4))",
        "(list (random 1000000) (uuid) (map (lambda (i) (random 1000)) (range 5)) (fetch 1))",
        "(let ((n 0)) (list (retry ((attempts 5) (backoff 0.01)) (progn (set! n (+ n 1)) (if (< "
        "(fetch n) 3) (error \"again\") n))) n))",
        "(try (progn (fetch 1) (error \"no\" '(1 x \"s\"))) (catch (e) (list (get e 'message) "
        "(fetch 2))))",
        "(map (lambda (n) (try (timeout 0.01 (fetch n)) (catch (e) (get e 'kind)))) (range 6))",
        "(let ((s (semaphore 2)) (order '())) (map (lambda (n) (with-permit s (fetch n) (set! "
        "order (append order (list n))))) (range 6)) order)",
        "(progn (print (fetch 'p)) (print 'q) (fetch 'r))",
        "(let ((began (now))) (sleep 2) (>= (- (now) began) 2))",
    };
    return all;
}

/// Branches that compute for long beside others: what has arrived takes effect between slices.
const std::vector<std::string>& computing_programs() {
    static const std::vector<std::string> all = {
        "(let ((log '())) (parallel (busy 60) (for-each-branch (lambda (n) (fetch n) (set! log "
        "(append log (list n)))) (range 4))) log)",
        "(list (map (lambda (n) (fetch n) (busy (* 20 (+ n 1))) n) (range 3)) (timeout 0.06 "
        "(fetch 'a) 'late))",
        "(parallel (busy 100) (timeout 0.12 (list (fetch 1) (fetch 2)) 'late))",
        "(race (progn (busy 40) 'computed) (progn (fetch 1) (busy 10) 'fetched))",
        "(let ((f (spawn (sleep 1)))) (parallel (progn (busy 80) (timeout 0.06 (list (fetch 1) "
        "(busy 20)) 'late)) (timeout 0.03 (await f) 'waited)))",
        "(within (lambda () (parallel (busy 40) (map (lambda (n) (fetch n) (fetch (list n))) "
        "(range 3)))) 90)",
        "(map (lambda (n) (try (timeout 0.05 (progn (busy 30) (fetch n) (busy 30) n)) (catch (e) "
        "(get e 'kind)) (finally (fetch (list 'f n))))) (range 3))",
    };
    return all;
}

std::string program_text(const std::string& body) {
    // (busy n): computes for about n milliseconds of the clock of these processes.
    return "(define (for-each-branch f l) (map f l))\n"
           "(define (busy n) (let loop ((i (* n 95000))) (when (> i 0) (loop (- i 1)))))\n" +
           body;
}

void expect_same_when_executed_again(const std::string& body, std::uint64_t schedules) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        row_process first(seed);
        const std::string value = first.run(program_text(body));
        row_process second(seed + 1000, first.log->all);
        ASSERT_EQ(second.run(program_text(body)), value) << body << " seed " << seed;
        ASSERT_EQ(second.calls(), 0) << body << " seed " << seed;
        ASSERT_EQ(second.log->all.size(), first.log->all.size()) << body << " seed " << seed;
        row_process replayed(seed + 2000, first.log->all);
        replayed.log->replays = true;
        ASSERT_EQ(replayed.run(program_text(body)), value) << body << " seed " << seed;
    }
}

TEST(durable_rows, executed_again_ask_nothing_and_have_the_same_value) {
    const bool soak = std::getenv("HEDDLE_SOAK") != nullptr;
    for (const std::string& body : programs())
        expect_same_when_executed_again(body, soak ? 200 : 30);
    for (const std::string& body : computing_programs())
        expect_same_when_executed_again(body, soak ? 50 : 3);
}

void expect_continued_after_any_record(const std::string& body, std::uint64_t schedules) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        row_process first(seed);
        (void)first.run(program_text(body));
        for (std::size_t kept = 0; kept <= first.log->all.size(); ++kept) {
            const std::vector<step_record> earlier(
                first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
            row_process second(seed + 77, earlier);
            const std::string value = second.run(program_text(body));
            ASSERT_EQ(value.find("journal"), std::string::npos)
                << value << " after " << kept << " of " << body;
            // No path twice: nothing that is recorded was asked for again.
            std::set<std::pair<std::uint64_t, std::uint64_t>> paths;
            for (const step_record& each : second.log->all) {
                if (each.kind != step_kind::answer) continue;
                ASSERT_TRUE(paths.emplace(each.path.high, each.path.low).second) << body;
            }
            // And that execution can be repeated as well.
            row_process third(seed + 99, second.log->all);
            ASSERT_EQ(third.run(program_text(body)), value) << body << " after " << kept;
            ASSERT_EQ(third.calls(), 0) << body << " after " << kept;
        }
    }
}

TEST(durable_rows, stopped_after_any_record_ask_only_for_what_is_not_recorded) {
    for (const std::string& body : programs()) expect_continued_after_any_record(body, 5);
    const bool soak = std::getenv("HEDDLE_SOAK") != nullptr;
    for (const std::string& body : computing_programs())
        expect_continued_after_any_record(body, soak ? 10 : 1);
}

TEST(durable_rows, take_what_has_arrived_beside_a_branch_that_computes) {
    const auto value_of = [](const std::string& body) {
        row_process process(1);
        return process.run(program_text(body));
    };
    const double took = std::stod(value_of("(let ((t (now))) (busy 200) (- (now) t))"));
    EXPECT_NEAR(took, 0.2, 0.05);
    // Each of these takes less than 60 ms beside a branch that computes for 200.
    EXPECT_EQ(value_of("(parallel (busy 200) (timeout 0.18 (list (fetch 1) (fetch 2)) 'late))"),
              "(nil (1 2))");
    EXPECT_EQ(value_of("(race (progn (busy 200) 'computed) (progn (fetch 1) (fetch 2)))"), "2");
    EXPECT_EQ(value_of("(let ((f (spawn (sleep 1)))) (race (progn (busy 200) 'computed) (timeout "
                       "0.03 (await f) 'waited)))"),
              "waited");
    EXPECT_EQ(value_of("(parallel (busy 200) (let ((s (semaphore 1))) (with-permit s (timeout 0.12 "
                       "(map fetch '(1 2 3)) 'late))))"),
              "(nil (1 2 3))");
}

// The clock of a row did not advance while branches computed beside one that waited for them.
TEST(durable_rows, begin_times_after_what_was_computed_before) {
    for (const char* body :
         {"(list (map (lambda (i) (fetch i) (busy 150)) (range 1)) (timeout 0.1 (fetch 'a) 'late))",
          "(list (await (spawn (busy 150))) (timeout 0.1 (fetch 'a) 'late))",
          "(list (busy 150) (with ((timeout 0.1)) (fetch 'a)))",
          "(list (busy 150) (sandbox ((timeout 0.1)) 'in) (timeout 0.1 (fetch 'a) 'late))"}) {
        row_process process(1);
        const std::string value = process.run(program_text(body));
        EXPECT_EQ(value.substr(value.size() - 3), " a)") << body << value;
        row_process again(2, process.log->all);
        EXPECT_EQ(again.run(program_text(body)), value) << body;
    }
}

/// The steps that records hold, in their order.
std::vector<std::pair<std::uint64_t, std::uint64_t>> paths_of(const std::vector<step_record>& all) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> paths;
    for (const step_record& each : all) {
        if (each.kind == step_kind::answer || each.kind == step_kind::composed)
            paths.emplace_back(each.path.high, each.path.low);
    }
    return paths;
}

TEST(durable_rows, stopped_after_record_n_go_on_with_step_n_plus_1) {
    // One step after the other.
    for (const char* body :
         {"(+ (fetch 1) (fetch 2))", "(list (fetch 1) (fetch 2) (fetch 3) (fetch 4))",
          "(let loop ((i 0)) (if (< i 6) (progn (fetch i) (loop (+ i 1))) 'end))",
          "(list (random 1000000) (uuid) (map (lambda (i) (random 1000)) (range 5)) (fetch 1))",
          "(let ((n 0)) (list (retry ((attempts 5) (backoff 0.01)) (progn (set! n (+ n 1)) (if (< "
          "(fetch n) 3) (error \"again\") n))) n))",
          "(try (progn (fetch 1) (error \"no\" '(1 x \"s\"))) (catch (e) (list (get e 'message) "
          "(fetch 2))))",
          "(progn (print (fetch 'p)) (print 'q) (fetch 'r))"}) {
        row_process first(1);
        const std::string value = first.run(program_text(body));
        const auto steps = paths_of(first.log->all);
        int calls = first.calls();
        for (std::size_t kept = 0; kept <= first.log->all.size(); ++kept) {
            const std::vector<step_record> earlier(
                first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
            row_process second(100, earlier);
            ASSERT_EQ(second.run(program_text(body)), value) << kept << " of " << body;
            ASSERT_EQ(paths_of(second.log->all), steps) << kept << " of " << body;
            // Each record is one step less that is performed.
            ASSERT_LE(second.calls(), calls) << kept << " of " << body;
            ASSERT_GE(second.calls(), calls - 1) << kept << " of " << body;
            calls = second.calls();
        }
        ASSERT_EQ(calls, 0) << body;
    }
}

TEST(durable_rows, stopped_after_any_record_perform_in_branches_what_is_left) {
    // Branches whose order does not matter to what they do.
    for (
        const char* body :
        {"(map (lambda (n) (+ (fetch n) (fetch (* 10 n)))) (range 6))",
         "(map (lambda (n) (let ((f (spawn (fetch n)))) (list (fetch (list n)) (await f)))) (range "
         "4))"}) {
        row_process first(2);
        const std::string value = first.run(program_text(body));
        auto steps = paths_of(first.log->all);
        std::sort(steps.begin(), steps.end());
        for (std::size_t kept = 0; kept <= first.log->all.size(); ++kept) {
            const std::vector<step_record> earlier(
                first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
            row_process second(100, earlier);
            ASSERT_EQ(second.run(program_text(body)), value) << kept << " of " << body;
            auto all = paths_of(second.log->all);
            std::sort(all.begin(), all.end());
            ASSERT_EQ(all, steps) << kept << " of " << body;
            const auto recorded =
                std::count_if(earlier.begin(), earlier.end(), [](const step_record& each) {
                    return each.kind == step_kind::answer && each.name == "fetch";
                });
            ASSERT_EQ(second.calls(), first.calls() - static_cast<int>(recorded))
                << kept << " of " << body;
        }
    }
}

/// Processor time of this process, which others on the machine do not lengthen.
std::chrono::duration<double> processor_time() {
    return std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
}

// A wait that ended was looked for among all that wait, and a record among all that had arrived.
TEST(durable_rows, many_waits_and_records_take_linear_time) {
    const auto timed = [](const std::string& body, const std::string& value,
                          std::vector<step_record> earlier, std::chrono::duration<double>& took) {
        row_process process(1, std::move(earlier));
        run_options options;
        options.memory_limit = std::size_t{4} * 1024 * 1024 * 1024;
        const auto began = processor_time();
        EXPECT_EQ(process.run(body, options), value) << body;
        took = processor_time() - began;
        return process.log->all;
    };
    const auto within = [](const std::string& work, int count) {
        return "(length (with ((concurrency 100000)) (map (lambda (i) " + work + ") (range " +
               std::to_string(count) + "))))";
    };
    for (const std::string& work :
         {std::string("(await f)"), std::string("(timeout 0.5 (await f) 'late)"),
          std::string("(fetch i)")}) {
        const auto program = [&](int count) {
            return "(let ((f (spawn (sleep 1)))) " + within(work, count) + ")";
        };
        // Once of three times: memory that is fresh from the system may cost several times as much
        // as memory that is used again. Twelve times the work takes 144 times as long in quadratic
        // time, every time.
        bool is_linear = false;
        for (int tries = 0; tries < 3 && !is_linear; ++tries) {
            std::chrono::duration<double> few{};
            std::chrono::duration<double> many{};
            std::chrono::duration<double> few_again{};
            std::chrono::duration<double> many_again{};
            auto records = timed(program(5000), "5000", {}, few);
            (void)timed(program(5000), "5000", std::move(records), few_again);
            records = timed(program(60'000), "60000", {}, many);
            (void)timed(program(60'000), "60000", std::move(records), many_again);
            is_linear = many < 90 * few && many_again < 90 * few_again;
        }
        EXPECT_TRUE(is_linear) << work;
    }
}

TEST(durable_rows, that_are_only_replayed_end_where_their_records_do) {
    for (const std::string& body : programs()) {
        row_process first(3);
        const std::string value = first.run(program_text(body));
        for (std::size_t kept = 0; kept <= first.log->all.size(); ++kept) {
            const std::vector<step_record> earlier(
                first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
            row_process second(4, earlier);
            second.log->replays = true;
            const std::string replayed = second.run(program_text(body));
            ASSERT_EQ(second.calls(), 0) << body;
            ASSERT_EQ(second.printed, "") << body;
            // The clock goes on while a row computes.
            std::size_t recorded = 0;
            for (const step_record& each : second.log->all)
                recorded += each.kind != step_kind::clock;
            std::size_t known = 0;
            for (const step_record& each : earlier) known += each.kind != step_kind::clock;
            ASSERT_EQ(recorded, known) << body;
            std::size_t effective = 0;
            for (const auto& [kind, count] : second.log->effective) effective += count;
            ASSERT_EQ(effective, known) << body << " after " << kept << ": " << replayed;
            if (second.log->missing.empty()) {
                ASSERT_EQ(replayed, value) << body << " after " << kept;
            } else {
                ASSERT_NE(replayed.find("the journal ends here: "), std::string::npos) << replayed;
            }
        }
    }
}

TEST(durable_rows, that_are_only_replayed_do_nothing_at_their_end) {
    row_process first(1);
    const std::string body = "(try (progn (fetch 1) (fetch 2)) (finally (fetch 3) (print 'late)))";
    (void)first.run(body);
    row_process second(1, {first.log->all.front()});
    second.log->replays = true;
    EXPECT_EQ(second.run(body),
              "SexpEvaluationError: the journal ends here: 'fetch' is not recorded");
    EXPECT_EQ(second.log->missing, "'fetch'");
    EXPECT_EQ(second.calls(), 0);
    EXPECT_EQ(second.printed, "");
}

TEST(durable_rows, end_when_nothing_but_parked_steps_is_under_way) {
    const std::string body =
        "(list (parallel (timeout 60 (later 'q) 'late) (list (fetch 1) (fetch 2))) (fetch 3))";
    row_process first(1);
    EXPECT_EQ(first.run(body), "SexpEvaluationError: the row waits for an answer");
    EXPECT_TRUE(first.log->is_parked);
    EXPECT_EQ(first.calls(), 2) << "the branch beside it has ended";
    row_process again(2, first.log->all);
    (void)again.run(body);
    EXPECT_TRUE(again.log->is_parked);
    EXPECT_EQ(again.calls(), 0);
    EXPECT_EQ(again.log->all.size(), first.log->all.size());
    std::vector<step_record> answered = first.log->all;
    step_record answer;
    for (const step_record& each : answered) {
        if (each.content == later::question) answer = each;
    }
    answer.content = later::answer;
    answer.body = "yes";
    answered.push_back(answer);
    row_process last(3, answered);
    EXPECT_EQ(last.run(body), "((\"yes\" (1 2)) 3)");
    EXPECT_FALSE(last.log->is_parked);
    EXPECT_EQ(last.calls(), 1);
    row_process replayed(4, last.log->all);
    EXPECT_EQ(replayed.run(body), "((\"yes\" (1 2)) 3)");
}

TEST(durable_rows, end_when_what_runs_inside_of_a_step_is_parked) {
    // (within f): calls f as a part of the step.
    const std::string body = "(list (within (lambda () (list (fetch 1) (later 'q)))) (fetch 3))";
    row_process first(1);
    EXPECT_EQ(first.run(body), "SexpEvaluationError: the row waits for an answer");
    EXPECT_TRUE(first.log->is_parked);
    EXPECT_EQ(first.calls(), 1);
    row_process again(2, first.log->all);
    (void)again.run(body);
    EXPECT_TRUE(again.log->is_parked);
    EXPECT_EQ(again.calls(), 0);
}

TEST(durable_rows, print_again_if_the_log_wants_it) {
    row_process first(1);
    const std::string body = "(progn (print (fetch 'p)) (print (fetch 'q)) (fetch 'r))";
    (void)first.run(body);
    row_process second(2, first.log->all);
    second.log->repeats = true;
    EXPECT_EQ(second.run(body), "r");
    EXPECT_EQ(second.printed, "p\nq\n");
    EXPECT_EQ(second.calls(), 0);
    EXPECT_EQ(second.log->all.size(), first.log->all.size());
}

TEST(durable_rows, print_once) {
    row_process first(1);
    const std::string body = "(progn (print (fetch 'p)) (fetch 'r))";
    (void)first.run(body);
    EXPECT_EQ(first.printed, "p\n");
    row_process second(1, first.log->all);
    (void)second.run(body);
    EXPECT_EQ(second.printed, "");
}

TEST(durable_rows, of_another_program_are_refused_by_name) {
    row_process first(1);
    (void)first.run("(list (fetch 1) (sleep 1))");
    row_process other(1, first.log->all);
    const std::string ended = other.run("(list (sleep 1) (fetch 1))");
    EXPECT_NE(ended.find("the journal does not fit the program: at step 1 of 2"), std::string::npos)
        << ended;
    EXPECT_EQ(other.calls(), 0);
    row_process shorter(1, first.log->all);
    EXPECT_NE(shorter.run("(+ 1 (fetch 1))").find("does not reach 'sleep' any more"),
              std::string::npos);
}

// A step was matched by its place only: a row went on with answers to what it did not ask.
TEST(durable_rows, that_ask_for_something_else_are_refused) {
    row_process first(1);
    (void)first.run("(map fetch '(1 2 3))");
    row_process other(1, first.log->all);
    const std::string ended = other.run("(map fetch '(1 5 3))");
    EXPECT_NE(ended.find("'fetch' was asked for something else"), std::string::npos) << ended;
    EXPECT_EQ(other.calls(), 0);
    // Equal values are the same question, whatever they share.
    row_process shared(1);
    (void)shared.run("(let ((s '(\"x\"))) (fetch (list s s)))");
    row_process apart(1, shared.log->all);
    EXPECT_EQ(apart.run("(let ((s '(\"x\"))) (fetch (list '(\"x\") (list \"x\"))))"),
              "((\"x\") (\"x\"))");
    EXPECT_EQ(apart.calls(), 0);
    // Journals of earlier versions do not have what was asked.
    std::vector<step_record> old = first.log->all;
    for (step_record& each : old) each.content = {};
    row_process continued(1, old);
    EXPECT_EQ(continued.run("(map fetch '(1 2 3))"), "(1 2 3)");
    EXPECT_EQ(continued.calls(), 0);
}

TEST(durable_rows, whose_record_cannot_be_kept_end_with_that_error) {
    row_process row(1);
    row.log->full = true;
    EXPECT_EQ(row.run("(try (fetch 1) (catch (e) 'caught))"), "IoError: the journal is full");
}

TEST(durable_rows, that_are_ended_from_outside_record_no_cancellation) {
    row_process first(1);
    coro::cancel_source cancel;
    run_options options;
    options.until = coro::deadline(first.loop.now() + 30ms);
    (void)first.run("(map (lambda (n) (fetch n) (sleep 5) (fetch (list n))) (range 5))", options);
    for (const step_record& each : first.log->all) EXPECT_EQ(each.name, "fetch");
    row_process second(2, first.log->all);
    EXPECT_EQ(second.run("(map (lambda (n) (fetch n) (sleep 5) (fetch (list n))) (range 5))"),
              "((0) (1) (2) (3) (4))");
    for (const auto& [what, times] : second.asked) EXPECT_EQ(times, 1) << what;
}

TEST(durable_rows, may_not_change_globals_once_they_are_frozen) {
    boost::asio::io_context context(1);
    coro::event_loop loop(context, coro::event_loop::time::virtual_);
    engine host(loop, {});
    auto session = *host.new_session();
    const auto run = [&](const std::string& text) {
        evaluation_end ended;
        coro::spawn(loop, evaluate(session.get(), text, {}, &ended),
                    [](std::exception_ptr thrown) { EXPECT_FALSE(thrown); });
        loop.run();
        return shown(ended);
    };
    EXPECT_EQ(run("(define total 0) (define (add n) (set! total (+ total n)) total) (add 2)"), "2");
    session->freeze_globals();
    EXPECT_NE(run("(add 1)").find("the global 'total' cannot be changed here"), std::string::npos);
    EXPECT_NE(run("(eval '(define other 1))").find("'other' cannot be changed"), std::string::npos);
    EXPECT_EQ(run("total"), "2");
    EXPECT_EQ(run("(import std/lists) (sum '(1 2 3))"), "6");
    EXPECT_EQ(run("(let ((n 1)) (set! n 2) n)"), "2");
}

} // namespace
} // namespace heddle::host
