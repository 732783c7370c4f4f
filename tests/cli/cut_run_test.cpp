// Runs that a kill ended after a certain record go on as they would have, and are replayed.
#include "cut_run.hpp"
#include "batch_fixture.hpp"
#include "model_thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace heddle::cli_test {
namespace {

using ports::step_kind;

bool is_soak() { return std::getenv("HEDDLE_SOAK") != nullptr; }

class cut_runs : public batch_fixture {
protected:
    void begin(const std::string& rules, const std::string& workflow) {
        model = std::make_unique<model_thread>(rules);
        scratch.file("m.heddle", std::string(computing_for) + workflow);
    }
    [[nodiscard]] child_result run(const std::string& folder) const {
        return run_heddle({"run", path("m.heddle"), "--run", path(folder), "--model",
                           "openai:gpt-4o", "--base-url", model->url(), "-i", "n:=1"});
    }
    /// `folder`, cut after the record `last`, goes on in `copy`: to one of `values`, which its
    /// replay has as well.
    void expect_to_go_on(const std::string& folder, std::int64_t last, const std::string& copy,
                         const std::vector<std::string>& values) const {
        cut_run(path(folder), path(copy), last);
        const child_result ended = run(copy);
        EXPECT_EQ(ended.code, 0) << "after " << last << ": " << ended.err;
        EXPECT_TRUE(std::find(values.begin(), values.end(), ended.out) != values.end())
            << "after " << last << ": " << ended.out;
        const child_result replayed = run_heddle({"runs", "replay", path(copy)});
        EXPECT_EQ(replayed.code, 0) << "after " << last << ": " << replayed.out << replayed.err;
    }
    /// The numbers of records after `first` of what arrived.
    [[nodiscard]] std::vector<std::int64_t> arrivals(const std::string& folder,
                                                     std::int64_t first) const {
        std::vector<std::int64_t> found;
        for (const run_record& each : records_of(path(folder))) {
            if (each.number > first && each.kind != step_kind::sent) found.push_back(each.number);
        }
        return found;
    }
    /// Of these, the functions of the program before something took effect between slices.
    [[nodiscard]] std::vector<std::int64_t> first_functions(const std::string& folder,
                                                            std::int64_t first) const {
        std::vector<std::int64_t> found;
        for (const run_record& each : records_of(path(folder))) {
            if (each.number <= first) continue;
            if (each.is_between_slices) break;
            if (each.kind == step_kind::nested) found.push_back(each.number);
        }
        EXPECT_FALSE(found.empty()) << folder;
        return found;
    }

    /// (compute n): a loop of n million turns, some milliseconds each.
    static constexpr const char* computing_for =
        "(define (compute n) (let loop ((i (* n 1000000))) (when (> i 0) (loop (- i 1)))))\n";
    std::unique_ptr<model_thread> model;
};

// The last branch that came to the place where something takes effect went on before it; in a
// repetition it waited there, and what took effect came first. So they read what was computed a
// slice too early, or asked for something else.
TEST_F(cut_runs, read_what_another_branch_had_computed_until_then) {
    begin(R"json({"rules": [
        {"match": {"user": "^use", "tool": "^$"}, "delay_ms": 20,
         "tool_calls": [{"name": "look", "arguments": {"w": "m"}}]},
        {"match": {"tool": "."}, "text": "done", "delay_ms": 5}],
        "default": {"text": "said", "delay_ms": 20}})json",
          R"(
        (define at 0)
        (define seen nil)
        (defatom leaf (params q) (instructions "leaf {{q}}"))
        (deftool look (params (w string)) (description "looks") (progn (set! seen at) "x"))
        (defatom user (params q) (instructions "use {{q}}") (tools (look)))
        (define (compute-visibly)
          (let loop ((i 0)) (when (< i 3000000) (set! at i) (loop (+ i 1)))))
        (define (main n)
          (parallel (compute-visibly) (content (user "it")))
          (parallel (compute-visibly)
                    (with ((conversation true)) (leaf "1") (content (leaf (number->string at)))))
          (list seen)))");
    const child_result whole = run("whole");
    ASSERT_EQ(whole.code, 0) << whole.err;
    ASSERT_GT(whole.out.size(), 3U);
    const std::string value = "value: [" + whole.out.substr(1, whole.out.size() - 3) + "]";
    const child_result replayed = run_heddle({"runs", "replay", path("whole")});
    EXPECT_EQ(replayed.code, 0) << replayed.out << replayed.err;
    EXPECT_NE(replayed.out.find(value), std::string::npos) << value << "\n" << replayed.out;
    for (const std::int64_t last : arrivals("whole", 0)) {
        if (!is_soak() && last % 3 != 0) continue;
        cut_run(path("whole"), path("cut"), last);
        const child_result ended = run("cut");
        EXPECT_EQ(ended.code, 0) << "after " << last << ": " << ended.err;
        const child_result again = run_heddle({"runs", "replay", path("cut")});
        EXPECT_EQ(again.code, 0) << "after " << last << ": " << again.out << again.err;
    }
}

// The response of the task that had lost was among what had arrived last. In the next process
// no step asked for it, and what was behind it waited until no branch computed: too late.
TEST_F(cut_runs, go_on_after_a_response_of_a_task_that_a_race_ended) {
    begin(R"json({"rules": [
        {"match": {"user": "^timed", "tool": "^$"}, "delay_ms": 50,
         "tool_calls": [{"name": "doze", "arguments": {"what": "a"}}]},
        {"match": {"user": "^racer", "tool": "^$"}, "delay_ms": 10,
         "tool_calls": [{"name": "nap", "arguments": {"what": "a"}}]},
        {"match": {"tool": "woke"}, "text": "done", "delay_ms": 3000},
        {"match": {"tool": "slept"}, "text": "done", "delay_ms": 50}]})json",
          R"(
        (deftool nap (params (what string)) (description "waits") (progn (sleep 0.1) "woke"))
        (deftool doze (params (what string)) (description "waits") (progn (sleep 0.2) "slept"))
        (defatom timed (params q) (instructions "timed {{q}}") (tools (doze)) (timeout 1))
        (defatom racer (params q) (instructions "racer {{q}}") (tools (nap)) (timeout 20))
        (define (main n)
          (parallel
            (progn (sleep 0.005) 'slept)
            (race (progn (racer "a") 'task) (progn (compute 6) 'computed))
            (get (timed "y") 'status)
            (progn (compute 300) 'done))))");
    const std::string value = "(slept computed \"COMPLETE\" done)\n";
    ASSERT_EQ(run("whole").out, value);
    const auto records = records_of(path("whole"));
    const auto slept = std::find_if(records.begin(), records.end(), [](const run_record& each) {
        return each.kind == step_kind::answer && each.name == "sleep";
    });
    ASSERT_NE(slept, records.end());
    for (int times = is_soak() ? 2 : 1; times > 0; --times) {
        expect_to_go_on("whole", slept->number, "second", {value});
        for (const std::int64_t last : is_soak() ? arrivals("second", slept->number)
                                                 : first_functions("second", slept->number))
            expect_to_go_on("second", last, "third", {value});
    }
}

// The function of the task had a record, but its time had passed before it came to it.
TEST_F(cut_runs, go_on_after_a_function_of_a_task_whose_time_passes_first) {
    begin(R"json({"rules": [
        {"match": {"user": "^timed", "tool": "^$"}, "delay_ms": 600,
         "tool_calls": [{"name": "doze", "arguments": {"what": "a"}}]},
        {"match": {"user": "^boss", "tool": "^$"}, "delay_ms": 100,
         "tool_calls": [{"name": "sub", "arguments": {"q": "1"}},
                        {"name": "sub", "arguments": {"q": "2"}}]},
        {"match": {"tool": "slept"}, "text": "done", "delay_ms": 50},
        {"match": {"user": "^sub 2"}, "text": "subdone", "delay_ms": 900},
        {"match": {"user": "^sub"}, "text": "subdone", "delay_ms": 200},
        {"match": {"tool": "subdone"}, "text": "bossdone"}]})json",
          R"(
        (deftool doze (params (what string)) (description "waits") (progn (sleep 0.2) "slept"))
        (defatom sub (params q) (instructions "sub {{q}}"))
        (defatom timed (params q) (instructions "timed {{q}}") (tools (doze)) (timeout 1.5))
        (defatom boss (params q) (instructions "boss {{q}}") (tools (sub)) (timeout 30))
        (define (main n)
          (parallel (get (boss "b") 'status) (get (timed "y") 'status)
                    (progn (compute 500) 'done))))");
    // Whether its time is over when what is before it has arrived depends on the machine.
    const std::vector<std::string> values = {"(\"COMPLETE\" \"FAILED\" done)\n",
                                             "(\"COMPLETE\" \"COMPLETE\" done)\n"};
    const child_result whole = run("whole");
    ASSERT_EQ(whole.code, 0) << whole.err;
    const auto kept = is_soak() ? arrivals("whole", 0) : first_functions("whole", 0);
    for (const std::int64_t last : kept) expect_to_go_on("whole", last, "cut", values);
}

} // namespace
} // namespace heddle::cli_test
