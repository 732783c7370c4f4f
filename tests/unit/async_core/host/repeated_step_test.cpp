// Steps in which functions of the program ran: they are performed again by each execution.
#include "host/step_path.hpp"
#include "row_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace heddle::host {
namespace {

const std::vector<std::string>& programs() {
    static const std::vector<std::string> all = {
        "(list (agent (lambda () (fetch 'in)) 3) (fetch 'after))",
        "(map (lambda (n) (agent (lambda () (fetch n)) 2)) (range 4))",
        // Losers of races.
        "(list (race (agent (lambda () 1) 3) (fetch 'b)) (fetch 'after))",
        "(let ((n 0)) (list (race (agent (lambda () (set! n (+ n 1)) n) 5) (fetch 'x)) (fetch n)))",
        "(map (lambda (n) (race (agent (lambda () (list (fetch n))) 2) (agent (lambda () n) 3))) "
        "(range 3))",
        "(list (race (fetch 'a) (agent (lambda () 1) 2 3)) (fetch 'after))",
        "(map (lambda (n) (race (agent (lambda () (fetch n)) 3 2) (fetch (list n)))) (range 3))",
        // Deadlines.
        "(list (timeout 0.02 (within (lambda () (fetch 'f1))) 'late) (fetch 'end))",
        "(let ((n 0)) (list (timeout 0.05 (agent (lambda () (set! n (+ n 1)) n) 9) 'late) (fetch "
        "n)))",
        "(let ((n 0)) (list (map (lambda (i) (timeout 0.06 (agent (lambda () (set! n (+ n 1)) "
        "(fetch n)) 5 2) 'late)) (range 3)) (fetch n)))",
        "(list (timeout 0.04 (agent (lambda () (fetch 'in)) 4) 'late) (fetch 'after))",
        "(map (lambda (n) (timeout 0.05 (agent (lambda () (fetch n)) 3) 'late)) (range 4))",
        "(list (timeout 0.06 (agent (lambda () 1) 3 2) 'late) (fetch 'after))",
        // Parts side by side.
        "(list (team (lambda (m t r) (list r (random 1000000))) 3 3) (fetch 'after))",
        "(list (try (team (lambda (m t r) (list m t (fetch r))) 3 3 6) (catch (e) 'failed)) (fetch "
        "'after))",
        "(let ((n 0)) (list (team (lambda (m t r) (set! n (+ n 1)) (list m t n (fetch n))) 3 2) "
        "(fetch n)))",
        "(list (timeout 0.08 (team (lambda (m t r) (fetch (list m t))) 3 3) 'late) (fetch 'after))",
        "(list (race (team (lambda (m t r) (fetch m)) 2 3) (sleep 0.1)) (fetch 'after))",
        "(let ((f (spawn (sleep 0.07)))) (list (timeout 0.1 (team (lambda (m t r) (if (= m 1) "
        "(await f) (fetch t))) 2 3) 'late) (fetch 'after)))",
        // Functions that wait for what does not come in time.
        "(let ((f (spawn (sleep 1)))) (list (timeout 0.02 (within (lambda () (await f))) 'late) "
        "(fetch 'end)))",
        "(let ((f (spawn (sleep 1))) (n 0)) (list (timeout 0.1 (agent (lambda () (set! n (+ n 1)) "
        "(if (> n 2) (await f) n)) 6) 'late) (fetch 'end)))",
    };
    return all;
}

/// Branches that compute until a deadline, some while something arrives: each takes a second.
const std::vector<std::string>& computing_programs() {
    static const std::vector<std::string> all = {
        "(list (timeout 0.2 (agent (lambda () (let loop ((i 0)) (loop (+ i 1)))) 1) 'cut) "
        "(fetch 'after))",
        "(let ((n 0)) (list (timeout 0.1 (agent (lambda () (set! n (+ n 1)) (let loop ((i 0)) (if "
        "(< i 200000) (loop (+ i 1)) i))) 9) 'cut) (fetch n)))",
        // Branches that compute while something arrives.
        "(parallel (timeout 0.4 (let loop ((i 0)) (loop (+ i 1))) 'cut) (fetch 1))",
        "(parallel (timeout 0.4 (let loop ((i 0)) (loop (+ i 1))) 'cut) (agent (lambda () 1) 2))",
        "(parallel (timeout 1 (let loop ((i 0)) (if (< i 3000000) (loop (+ i 1)) i)) 'cut) (fetch "
        "1) (progn (fetch 2) (timeout 0.3 (let loop ((i 0)) (loop (+ i 1))) 'cut)))",
        // Branches that end before they know that their time is over.
        "(parallel (timeout 0.01 (let loop ((i 0)) (if (< i 1500000) (loop (+ i 1)) 'computed)) "
        "'late) (fetch 1))",
        "(parallel (timeout 0.01 (let loop ((i 0)) (if (< i 2000000) (loop (+ i 1)) 'computed)) "
        "'late) (fetch 1) (map (lambda (n) (fetch n)) (range 4)))",
    };
    return all;
}

/// Functions that are cut while what has arrived waits until they do not compute any more.
const std::vector<std::string>& cut_programs() {
    static const std::vector<std::string> all = {
        "(parallel (try (within (lambda () (let loop ((i 0)) (loop (+ i 1)))) 200) (catch (e) "
        "'cut)) (fetch 1) (progn (fetch 2) (fetch 3)))",
        "(let ((n 0)) (list (parallel (try (within (lambda () (let loop ((i 0)) (set! n (+ n 1)) (loop (+ i 1)))) "
        "200) (catch (e) 'cut)) (map (lambda (i) (fetch i)) (range 4))) (fetch n)))",
    };
    return all;
}

bool is_soak() { return std::getenv("HEDDLE_SOAK") != nullptr; }

void expect_the_same_value(const std::string& body, std::uint64_t schedules) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        row_process first(seed);
        const std::string value = first.run(body);
        ASSERT_EQ(value.find("ended"), std::string::npos) << body << " seed " << seed;
        row_process second(seed + 1000, first.log->all);
        ASSERT_EQ(second.run(body), value) << body << " seed " << seed;
        ASSERT_EQ(second.calls(), 0) << body << " seed " << seed;
        // A branch that computes until its deadline has to pass what is recorded.
        ASSERT_LE(second.log->all.size(), first.log->all.size() + 1) << body;
        row_process replay(seed + 2000, first.log->all);
        replay.log->replays = true;
        ASSERT_EQ(replay.run(body), value) << body << " seed " << seed;
    }
}

/// A row that was stopped is looked at: it ends where its records do.
void expect_to_end_with_the_records(const std::string& body, std::size_t step) {
    row_process first(7);
    (void)first.run(body);
    for (std::size_t kept = 0; kept <= first.log->all.size(); kept += step) {
        row_process replay(55, {first.log->all.begin(),
                                first.log->all.begin() + static_cast<std::ptrdiff_t>(kept)});
        replay.log->replays = true;
        const std::string seen = replay.run(body);
        ASSERT_EQ(seen.find("does not fit"), std::string::npos) << seen << kept << " of " << body;
        ASSERT_NE(seen, "not ended") << kept << " of " << body;
    }
}

/// Stopped after each `step`th record.
void expect_to_go_on(const std::string& body, std::uint64_t schedules, std::size_t step) {
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
        row_process first(seed);
        (void)first.run(body);
        for (std::size_t kept = 0; kept <= first.log->all.size(); kept += step) {
            const std::vector<step_record> earlier(
                first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
            const std::string where =
                " after " + std::to_string(kept) + " of " + body + " seed " + std::to_string(seed);
            row_process second(seed + 77, earlier);
            const std::string value = second.run(body);
            ASSERT_EQ(value.find("journal"), std::string::npos) << value << where;
            ASSERT_NE(value, "not ended") << where;
            row_process third(seed + 99, second.log->all);
            ASSERT_EQ(third.run(body), value) << where;
            ASSERT_EQ(third.calls(), 0) << where;
        }
    }
}

TEST(repeated_steps, have_the_same_value_and_ask_nothing) {
    for (const std::string& body : programs()) expect_the_same_value(body, is_soak() ? 200 : 12);
    for (const auto* bodies : {&computing_programs(), &cut_programs()}) {
        for (const std::string& body : *bodies) expect_the_same_value(body, is_soak() ? 12 : 1);
    }
}

TEST(repeated_steps, of_rows_that_are_stopped_go_on_and_are_replayed) {
    for (const std::string& body : programs())
        expect_to_go_on(body, is_soak() ? 20 : 2, is_soak() ? 1 : 2);
    for (const std::string& body : computing_programs())
        expect_to_go_on(body, 1, is_soak() ? 1 : 7);
    // Killed while the function computes, and while what has arrived waits for it.
    for (const std::string& body : cut_programs())
        expect_to_go_on(body, is_soak() ? 2 : 1, is_soak() ? 1 : 2);
}

TEST(repeated_steps, of_rows_that_are_stopped_are_looked_at) {
    for (const std::string& body : programs()) expect_to_end_with_the_records(body, 1);
}

// The row waited for ever: the function was to begin before the end of the step in which it does.
TEST(repeated_steps, begin_no_function_after_the_last_that_is_recorded) {
    const std::string body = "(list (timeout 0.04 (agent (lambda () (fetch 'in)) 9) 'late) 1)";
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        row_process first(seed);
        const std::string value = first.run(body);
        std::vector<step_record> earlier;
        for (step_record& each : first.log->all) {
            if (each.kind == step_kind::nested || each.name == "fetch") continue;
            earlier.push_back(std::move(each));
        }
        row_process second(seed, earlier);
        ASSERT_EQ(second.run(body), value) << seed;
        ASSERT_EQ(second.calls(), 0) << seed;
    }
}

// The clock began where the last part had arrived, and the time of what came before it was over.
TEST(repeated_steps, have_their_time_again_however_late_their_parts_arrived) {
    const std::string body =
        "(let ((x (timeout 0.1 (let loop ((i 0)) (if (< i 1000000) (loop (+ i 1)) 'computed)) "
        "'late))) (list x (agent (lambda () 1) 15)))";
    row_process first(3);
    const std::string value = first.run(body);
    ASSERT_EQ(value.find("late"), std::string::npos);
    for (std::size_t kept = 0; kept <= first.log->all.size(); kept += 3) {
        const std::vector<step_record> earlier(
            first.log->all.begin(), first.log->all.begin() + static_cast<std::ptrdiff_t>(kept));
        row_process second(3, earlier);
        EXPECT_EQ(second.run(body).find("late"), std::string::npos) << kept;
    }
}

// As journals up to layout 4 have them: numbered in the order in which they began.
TEST(repeated_steps, whose_functions_have_numbers_are_repeated) {
    for (const std::string body :
         {"(list (agent (lambda () (fetch 'in)) 3) (fetch 'after))",
          "(list (team (lambda (m t r) (list m t)) 3 2) (fetch 'after))"}) {
        row_process first(5);
        const std::string value = first.run(body);
        std::vector<step_record> earlier = first.log->all;
        std::uint64_t number = 0;
        for (step_record& each : earlier) {
            if (each.kind != step_kind::nested) continue;
            each.path = step_path::inside(each.content, step_path::part::nested, number++);
            each.content = {};
        }
        ASSERT_GT(number, 1U);
        row_process second(6, earlier);
        EXPECT_EQ(second.run(body), value);
        EXPECT_EQ(second.calls(), 0);
        earlier.resize(earlier.size() / 2);
        row_process third(7, earlier);
        const std::string went_on = third.run(body);
        EXPECT_EQ(went_on.find("journal"), std::string::npos) << went_on;
        row_process fourth(8, third.log->all);
        EXPECT_EQ(fourth.run(body), went_on);
        EXPECT_EQ(fourth.calls(), 0);
    }
}

// The record of the slice after which a function had begun, or its fetch had ended, was lost with
// the process: that waited until no branch computed, and was cut then.
TEST(repeated_steps, go_on_beside_a_branch_that_computes_after_a_kill_as_well) {
    const std::string computing = "(let loop ((i 30000000)) (when (> i 0) (loop (- i 1))))";
    const std::string beside =
        "(parallel " + computing + " (try (within (lambda () (fetch 2)) 300) (catch (e) 'cut)))";
    struct row {
        std::string body;
        const char* end; ///< of its value, however it is stopped
    };
    const std::vector<row> rows = {
        {beside, "(nil 2)"},
        // Times that begin meanwhile.
        {"(parallel (let loop ((i 0)) (when (< i 15) (timeout 30 (let loop ((i 2400000)) (when (> "
         "i 0) (loop (- i 1))))) (loop (+ i 1)))) (map (lambda (n) (fetch n) (try (within (lambda "
         "() (fetch n)) 300) (catch (e) 'cut))) (range 6)))",
         "(nil (0 1 2 3 4 5))"},
        // Steps that another branch asked for before the function had its turn.
        {"(let ((ran 0)) (parallel " + computing +
             " (within (lambda () (set! ran 1) (fetch 1)) 300) (progn (let loop ((i 300000)) (when "
             "(> i 0) (loop (- i 1)))) (map (lambda (i) (fetch (list ran i)) i) (range 8)))))",
         "(0 1 2 3 4 5 6 7))"},
    };
    const auto ends_well = [](const std::string& value, const row& each) {
        return value.ends_with(each.end) && value.find("journal") == std::string::npos;
    };
    for (std::uint64_t seed = 1; seed <= (is_soak() ? 20 : 1); ++seed) {
        for (const row& each : rows) {
            row_process first(seed);
            ASSERT_PRED2(ends_well, first.run(each.body), each);
            const std::vector<step_record>& all = first.log->all;
            const auto arrives = [](const step_record& one) {
                return one.kind == step_kind::nested || one.kind == step_kind::answer;
            };
            // Where something has arrived last, or a time has begun since.
            std::vector<std::size_t> stops;
            for (std::size_t n = 1; n < all.size(); ++n) {
                const bool begins = all[n].kind == step_kind::clock && all[n].path.high > 1;
                if (begins && arrives(all[n - 1])) stops.insert(stops.begin(), n + 1);
                else if (arrives(all[n])) stops.push_back(n + 1);
            }
            ASSERT_FALSE(stops.empty());
            if (!is_soak()) stops.resize(std::min<std::size_t>(3, stops.size()));
            for (const std::size_t kept : stops) {
                row_process second(seed + 77,
                                   {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)});
                const std::string value = second.run(each.body);
                EXPECT_PRED2(ends_well, value, each) << kept << " of " << each.body;
                row_process third(seed + 99, second.log->all);
                EXPECT_EQ(third.run(each.body), value) << kept << " of " << each.body;
                EXPECT_EQ(third.calls(), 0) << kept << " of " << each.body;
                row_process replayed(seed + 99, second.log->all);
                replayed.log->replays = true;
                EXPECT_EQ(replayed.run(each.body), value) << kept << " of " << each.body;
            }
        }
    }
}

// What a process has left that waited so.
TEST(repeated_steps, know_that_functions_recorded_after_their_end_never_began) {
    const std::string body = "(list (timeout 0.04 (agent (lambda () 1) 9) 'late) (fetch 'after))";
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        row_process first(seed);
        const std::string value = first.run(body);
        std::vector<step_record> earlier;
        std::vector<step_record> late;
        for (step_record& each : first.log->all) {
            if (each.kind == step_kind::nested) late.push_back(std::move(each));
            else earlier.push_back(std::move(each));
        }
        earlier.insert(earlier.end(), late.begin(), late.end());
        row_process second(seed, earlier);
        ASSERT_EQ(second.run(body), value) << seed;
        ASSERT_EQ(second.calls(), 0) << seed;
    }
}

} // namespace
} // namespace heddle::host
