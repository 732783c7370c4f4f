// Batches whose requests wait for the batch endpoints of services.
#include "batch_fixture.hpp"
#include "batch_service.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class parked_batches : public batch_fixture {
protected:
    void SetUp() override { scratch.file("w.heddle", asking_workflow); }
    [[nodiscard]] child_options options() const {
        child_options chosen;
        chosen.variables = service.variables();
        return chosen;
    }
    [[nodiscard]] child_result park(std::vector<std::string> more = {},
                                    const std::string& model = "openai:gpt-4o") const {
        std::vector<std::string> all{"--model", model, "--park"};
        all.insert(all.end(), more.begin(), more.end());
        return run_heddle(command(all), options());
    }
    void expect_performed_once(int count) {
        const auto performed = service.performed();
        EXPECT_EQ(performed.size(), static_cast<std::size_t>(count));
        for (const auto& [prompt, times] : performed) EXPECT_EQ(times, 1) << prompt;
    }
    batch_service service;
    const std::vector<std::string> wait{"--park-wait", "--park-interval", "0.1", "--park-settling",
                                        "1"};
};

// It uploaded the requests again and again.
TEST_F(parked_batches, do_not_wait_for_a_service_that_takes_none) {
    rows_file(2);
    service.refuse();
    const auto ended = park(wait);
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("no batches for you"),
                                 HasSubstr("2 rows left: batches could not be submitted")));
    EXPECT_EQ(service.batches(), 0U);
    const auto summary = boost::json::parse(park({"--json"}).out).as_object();
    EXPECT_EQ(summary.at("exit_code").as_int64(), 4);
    EXPECT_EQ(summary.at("stopped_by").as_string(), "batches");
    ASSERT_EQ(summary.at("problems").as_array().size(), 1U);
    EXPECT_THAT(std::string(summary.at("problems").as_array().front().as_string()),
                HasSubstr("no batches for you"));
    EXPECT_THAT(std::string(summary.at("next").as_string()), HasSubstr("the same command"));
}

TEST_F(parked_batches, submit_exit_and_continue_later) {
    rows_file(5);
    auto ended = park();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("5 waiting"), HasSubstr("5 calls wait for a batch"),
                                 HasSubstr("the same command")));
    EXPECT_EQ(scratch.text_of("out.jsonl"), "");
    EXPECT_EQ(service.batches(), 1U);

    ended = park();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_EQ(service.batches(), 1U) << "what waits is not submitted again";

    const auto shown = run_heddle({"runs", "show", path("out.jsonl")});
    EXPECT_THAT(shown.out, AllOf(HasSubstr("batch 1: openai:gpt-4o, 5 calls, running"),
                                 HasSubstr("waiting: 5 calls in batches")));

    service.end();
    ended = park();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("5 calls answered"));
    expect_each_row_once(5);
    expect_performed_once(5);
    EXPECT_EQ(service.direct_calls(), 0);
    for (const auto& line : lines_of("out.jsonl")) {
        const std::string id(line.at("id").as_string());
        EXPECT_EQ(line.at("value").as_string(), "T" + id.substr(1));
        EXPECT_DOUBLE_EQ(line.at("cost_usd").to_number<double>(), 0.00175) << "half the price";
        EXPECT_EQ(line.at("usage").at("input_tokens").as_int64(), 1000);
    }
    ended = park();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(service.batches(), 1U);
}

// What waited for the pieces counted as work, so that the rows were never parked.
TEST_F(parked_batches, have_streams) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (let ((heard nil))\n"
                 "    (stream (ask text) (lambda (piece) (set! heard piece)))\n"
                 "    heard))\n");
    rows_file(3);
    auto ended = park();
    EXPECT_EQ(ended.code, 5) << ended.err;
    service.end();
    ended = park();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
    expect_performed_once(3);
}

TEST_F(parked_batches, stay_until_all_steps_are_done) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (ask text)\n"
                 "  (ask (string-append text \" again\")))\n");
    rows_file(4);
    service.end_after_polls(2);
    const auto ended = park(wait);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(4);
    expect_performed_once(8);
    EXPECT_EQ(service.batches(), 2U);
    EXPECT_EQ(service.direct_calls(), 0);
    for (const auto& line : lines_of("out.jsonl"))
        EXPECT_THAT(std::string(line.at("value").as_string()), HasSubstr("AGAIN"));
}

TEST_F(parked_batches, collect_the_calls_of_all_branches) {
    scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n"
        "(define (main text)\n"
        "  (map ask (list text (string-append text \" b\") (string-append text \" c\"))))\n");
    rows_file(3);
    auto ended = park();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("9 calls wait"));
    service.end();
    ended = park();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
    expect_performed_once(9);
}

// The branches that waited kept the places of the others, so that they took a round for each 64.
TEST_F(parked_batches, collect_the_calls_of_many_branches_at_once) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (length (map (lambda (i) (ask (format \"{} {}\" text i))) (range 150))))\n");
    rows_file(1);
    auto ended = park();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("150 calls wait for a batch"));
    service.end();
    ended = park();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(service.batches(), 1U);
    expect_performed_once(150);
}

TEST_F(parked_batches, work_with_each_service) {
    rows_file(3);
    service.end_after_polls(1);
    for (const std::string model : {"anthropic:claude-x", "gemini:gemini-x"}) {
        scratch.file("out.jsonl", "");
        auto more = wait;
        more.insert(more.end(), {"--run", path(model.substr(0, 6)), "--force"});
        const auto ended = park(more, model);
        EXPECT_EQ(ended.code, 0) << ended.err;
        expect_each_row_once(3);
    }
    for (const auto& [prompt, times] : service.performed()) EXPECT_EQ(times, 2) << prompt;
    EXPECT_EQ(service.direct_calls(), 0);
}

// It was taken for the address of `openai`, whatever service the model named.
TEST_F(parked_batches, take_the_address_of_the_service_that_the_model_names) {
    rows_file(2);
    service.end_after_polls(1);
    child_options elsewhere = options();
    elsewhere.variables["GOOGLE_GEMINI_BASE_URL"] = "http://127.0.0.1:9";
    std::vector<std::string> more{"--model", "gemini:gemini-x", "--base-url", service.url()};
    more.insert(more.end(), wait.begin(), wait.end());
    const auto ended = run_heddle(command(more), elsewhere);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(2);
}

TEST_F(parked_batches, fail_rows_whose_requests_are_refused) {
    rows_file(4);
    service.fail("t2");
    service.end_after_polls(1);
    auto ended = park(wait);
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_EQ(ids_in("out.jsonl").size(), 3U);
    EXPECT_THAT(scratch.text_of("out.jsonl.failed.jsonl"), HasSubstr("it is wrong"));
    // Asked anew, and it is right now.
    service.fail("");
    auto more = wait;
    more.emplace_back("--retry-failed");
    ended = park(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(4);
    EXPECT_EQ(service.performed().at("t2"), 2);
    EXPECT_EQ(service.performed().at("t1"), 1);
}

TEST_F(parked_batches, submit_again_what_expired) {
    rows_file(3);
    service.expire(2);
    service.end_after_polls(1);
    const auto ended = park(wait);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
    expect_performed_once(3);
    EXPECT_EQ(service.batches(), 3U);
}

TEST_F(parked_batches, go_on_without_the_option) {
    rows_file(3);
    EXPECT_EQ(park().code, 5);
    rows_file(5);
    const std::vector<std::string> plain{"--model", "openai:gpt-4o"};
    auto ended = run_heddle(command(plain), options());
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_EQ(service.direct_calls(), 2) << "new rows need no batch, old ones have theirs";
    service.end();
    ended = run_heddle(command(plain), options());
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(5);
    expect_performed_once(5);
}

TEST_F(parked_batches, keep_within_the_calls_of_the_run) {
    rows_file(6);
    const auto ended = park({"--max-calls", "4", "-c", "1"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    service.end();
    EXPECT_EQ(service.performed().size(), 4U);
}

// The responses were there, and no row ran with them.
TEST_F(parked_batches, use_their_responses_when_the_calls_of_the_run_are_used) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (ask text)\n"
                 "  (if (equal? text \"t2\") (ask \"more\") text))\n");
    rows_file(4);
    auto ended = park({"--max-calls", "4"});
    EXPECT_EQ(ended.code, 5) << ended.err;
    service.end();
    ended = park({"--max-calls", "4", "--json"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    const auto summary = boost::json::parse(ended.out).as_object();
    EXPECT_EQ(summary.at("rows").at("done").as_int64(), 3) << ended.out;
    EXPECT_EQ(summary.at("stopped_by").as_string(), "max-calls");
    EXPECT_EQ(summary.at("parked_calls").as_int64(), 0);
    expect_performed_once(4);
    EXPECT_EQ(park({"--max-calls", "5"}).code, 5);
    service.end();
    EXPECT_EQ(park({"--max-calls", "5"}).code, 0);
    expect_each_row_once(4);
    expect_performed_once(5);
}

/// Killed at any moment, also between a submission and its response: no call is performed twice.
TEST_F(parked_batches, survive_kills) {
    rows_file(12);
    service.end_after_polls(2);
    auto all = command({"--model", "openai:gpt-4o"});
    all.insert(all.end(), wait.begin(), wait.end());
    for (int i = 0; i < 8; ++i) {
        if (i % 3 == 1) service.lose_responses(1);
        child_process child(heddle_command(all), options());
        std::this_thread::sleep_for(milliseconds(60 + 50 * i));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    service.lose_responses(0);
    const auto ended = run_heddle(all, options());
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(12);
    expect_performed_once(12);
    EXPECT_EQ(service.direct_calls(), 0);
    EXPECT_THAT(ended.err, Not(HasSubstr("paid for without")));
}

// It was submitted again as soon as the time between two looks was over.
TEST_F(parked_batches, look_for_a_batch_that_its_service_lists_late) {
    rows_file(2);
    service.end_after_polls(1);
    service.lose_responses(1);
    service.list_after(milliseconds(2500));
    const auto ended = park({"--park-wait", "--park-interval", "0.1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(2);
    expect_performed_once(2);
    EXPECT_EQ(service.batches(), 1U);
}

// Batches went on at the services, and were paid for.
TEST_F(parked_batches, are_cancelled_while_no_process_works_on_the_run) {
    rows_file(4);
    child_options there = options();
    there.variables["HOME"] = path("home");
    ASSERT_EQ(park().code, 5);
    service.perform_until_cancelled(1);
    // An edit is none of the cancellation.
    scratch.file("w.heddle", std::string(asking_workflow) + "(define unused 1)\n");
    const auto ended = run_heddle({"runs", "cancel", path("out.jsonl")}, there);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("1 call answered, 3 calls to be submitted again"),
                                 HasSubstr("a batch of the services was cancelled"),
                                 Not(HasSubstr("have changed since"))));
    expect_performed_once(1);
    EXPECT_EQ(service.batches(), 1U);
    scratch.file("w.heddle", asking_workflow);
    service.end_after_polls(1);
    const auto again = park(wait);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, Not(HasSubstr("have changed since")));
    expect_each_row_once(4);
    expect_performed_once(4);
}

// It was 'stopped (cancelled)' from then on, with rows left.
TEST_F(parked_batches, that_are_done_are_not_cancelled) {
    rows_file(3);
    service.end_after_polls(1);
    child_options there = options();
    there.variables["HOME"] = path("home");
    auto all = command({"--model", "openai:gpt-4o", "--park"});
    all.insert(all.end(), wait.begin(), wait.end());
    ASSERT_EQ(run_heddle(all, there).code, 0);
    const auto expect_done = [&] {
        EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}, there).out,
                    AllOf(HasSubstr("w.heddle, done\n"), HasSubstr("3 in all")));
    };
    expect_done();
    const auto refused = run_heddle({"runs", "cancel", path("out.jsonl")}, there);
    EXPECT_EQ(refused.code, 1) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("is not going"));
    const auto paused = run_heddle({"runs", "pause", path("out.jsonl")}, there);
    EXPECT_EQ(paused.code, refused.code);
    EXPECT_EQ(paused.err, refused.err);
    expect_done();
    // Nor by what the command starts for open batches.
    all.emplace_back("--cancel-batches");
    (void)run_heddle(all, there);
    expect_done();
    expect_performed_once(3);
    EXPECT_EQ(service.batches(), 1U);
}

/// Batches of many rounds, whose command is stopped between two of them.
class rounds_of_batches : public parked_batches {
protected:
    rounds_of_batches() {
        there_ = options();
        there_.variables["HOME"] = path("home");
        service.end_after_polls(1);
    }
    void SetUp() override {
        std::string program =
            "(defatom ask (params q) (instructions \"{{q}}\"))\n"
            "(define (main text)\n";
        for (int i = 0; i < steps; ++i)
            program += "  (ask (string-append text \" " + std::to_string(i) + "\"))\n";
        scratch.file("w.heddle", program + "  text)\n");
        rows_file(2);
    }
    [[nodiscard]] std::vector<std::string> waiting() const {
        auto all = command({"--model", "openai:gpt-4o", "--park"});
        all.insert(all.end(), wait.begin(), wait.end());
        return all;
    }
    /// Whether the process has the journal open: it may have locked it, too.
    [[nodiscard]] bool has_journal(pid_t process) const {
        std::error_code failed;
        std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/fd", failed);
        for (const std::filesystem::directory_iterator end; !failed && at != end;
             at.increment(failed)) {
            std::error_code closed;
            const auto file = std::filesystem::read_symlink(at->path(), closed);
            if (file.string().find("/run.db") != std::string::npos) return true;
        }
        return static_cast<bool>(failed);
    }
    /// Nobody answers for the run, its journal is closed, and it has no end.
    [[nodiscard]] bool is_between(const child_process& child) const {
        return !std::filesystem::exists(path("out.jsonl.run/control.sock")) &&
               !has_journal(child.pid()) &&
               scratch.text_of("out.jsonl.run/run.json").find("\"end\":null") != std::string::npos;
    }
    [[nodiscard]] bool stop_between_rounds(const child_process& child) const {
        return hang_guard::comes_true([&] {
            if (!is_between(child)) return false;
            child.send_signal(SIGSTOP);
            const std::string about = "/proc/" + std::to_string(child.pid()) + "/stat";
            const bool is_stopped = hang_guard::comes_true([&] {
                std::string text;
                std::getline(std::ifstream(about), text);
                return text.find(") T ") != std::string::npos;
            });
            if (is_stopped && is_between(child)) return true;
            child.send_signal(SIGCONT);
            return false;
        });
    }

    static constexpr int steps = 12;
    child_options there_;
};

// The lock of the run was free: others took it, and readers took the run for one that was over.
TEST_F(rounds_of_batches, keep_their_run_between_them) {
    child_process child(heddle_command(waiting()), there_);
    ASSERT_TRUE(stop_between_rounds(child));
    const auto shown = run_heddle({"runs", "show", path("out.jsonl"), "--json"}, there_);
    const auto members = boost::json::parse(shown.out).as_object();
    EXPECT_EQ(members.at("state").as_string(), "going") << shown.out;
    EXPECT_TRUE(members.at("going").as_bool());
    EXPECT_THAT(run_heddle({"runs", "list", scratch.path()}, there_).out, HasSubstr("going"));
    const auto second = run_heddle(waiting(), there_);
    EXPECT_EQ(second.code, 2);
    EXPECT_THAT(second.err, HasSubstr("is open in another process"));
    child_process tail(heddle_command({"runs", "tail", "-f", path("out.jsonl")}), there_);
    std::this_thread::sleep_for(milliseconds(1200)); // it looks twice a second
    EXPECT_FALSE(tail.has_ended());

    child_process pause(heddle_command({"runs", "pause", path("out.jsonl")}), there_);
    child.send_signal(SIGCONT);
    const auto paused = pause.wait();
    EXPECT_EQ(paused.code, 0) << paused.err;
    EXPECT_FALSE(child.has_ended());
    EXPECT_EQ(run_heddle({"runs", "resume", path("out.jsonl")}, there_).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(2);
    expect_performed_once(2 * steps);
    const auto followed = tail.wait();
    EXPECT_EQ(followed.code, 0) << followed.err;
    EXPECT_THAT(followed.out, AllOf(HasSubstr("r0  done"), HasSubstr("r1  done")));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}, there_).out,
                HasSubstr("w.heddle, done\n"));
}

// A second process cancelled nothing, and the command went on and paid.
TEST_F(rounds_of_batches, are_cancelled_between_them) {
    child_process child(heddle_command(waiting()), there_);
    ASSERT_TRUE(stop_between_rounds(child));
    child_process cancel(heddle_command({"runs", "cancel", path("out.jsonl")}), there_);
    child.send_signal(SIGCONT);
    const auto cancelled = cancel.wait();
    EXPECT_EQ(cancelled.code, 0) << cancelled.err;
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("cancelled by 'heddle runs cancel'"));
    EXPECT_LT(service.batches(), static_cast<std::size_t>(steps));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}, there_).out,
                HasSubstr("w.heddle, stopped (cancelled)"));
    const auto again = run_heddle(waiting(), there_);
    EXPECT_EQ(again.code, 0) << again.err;
    expect_each_row_once(2);
    expect_performed_once(2 * steps);
}

TEST_F(parked_batches, are_cancelled_while_a_process_waits_for_them) {
    rows_file(3);
    service.perform_until_cancelled(2);
    child_options there = options();
    there.variables["HOME"] = path("home");
    child_process child(heddle_command(command({"--model", "openai:gpt-4o", "--park-wait"})),
                        there);
    ASSERT_TRUE(hang_guard::comes_true([&] { return service.batches() != 0; }));
    EXPECT_TRUE(hang_guard::comes_true([&] {
        return run_heddle({"runs", "cancel", path("out.jsonl")}, there).code == 0;
    }));
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("cancelled by 'heddle runs cancel'"));
    expect_performed_once(2);
    service.end_after_polls(1);
    const auto again = park(wait);
    EXPECT_EQ(again.code, 0) << again.err;
    expect_each_row_once(3);
    expect_performed_once(3);
}

TEST_F(parked_batches, are_cancelled_while_a_later_round_loads_the_program) {
    rows_file(2);
    child_options there = options();
    there.variables["HOME"] = path("home");
    auto all = command({"--model", "openai:gpt-4o"});
    all.insert(all.end(), wait.begin(), wait.end());
    child_process child(heddle_command(all), there);
    ASSERT_TRUE(hang_guard::comes_true([&] { return service.batches() != 0; }));
    // The top level of another program is evaluated anew, and takes its time.
    scratch.file("w.heddle", std::string("(sleep 3)\n") + asking_workflow);
    service.end();
    ASSERT_TRUE(hang_guard::comes_true([&] { // or it is over already
        const auto shown = run_heddle({"runs", "show", path("out.jsonl")}, there);
        return shown.out.find("now: loading") != std::string::npos || service.batches() != 1;
    }));
    EXPECT_EQ(run_heddle({"runs", "cancel", path("out.jsonl")}, there).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("cancelled by 'heddle runs cancel'"));
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}, there).out,
                HasSubstr("w.heddle, stopped (cancelled)"));
}

// The second round, with the responses, ran all rows with the edited prompt.
TEST_F(parked_batches, that_are_retried_after_an_edit_leave_finished_rows) {
    rows_file(4);
    service.fail("t2");
    service.end_after_polls(1);
    ASSERT_EQ(park(wait).code, 3);
    service.fail("");
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"Now: {{q}}\"))\n"
                 "(define (main text) (ask text))\n");
    auto more = wait;
    more.emplace_back("--retry-failed");
    const auto ended = park(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(4);
    const auto performed = service.performed();
    EXPECT_EQ(performed.size(), 5U);
    EXPECT_EQ(performed.count("Now: t2"), 1U);
}

/// Of each row two requests, one after the other.
constexpr const char* two_steps =
    "(defatom ask (params q) (instructions \"{{q}}\"))\n"
    "(define (main text) (ask text) (ask (string-append \"more of \" text)))\n";

// Each look at the batches began the time anew.
TEST_F(parked_batches, keep_their_deadline_while_they_wait) {
    scratch.file("w.heddle", two_steps);
    rows_file(2);
    service.end_after_polls(10);
    auto more = wait;
    more.insert(more.end(), {"--deadline", "0.5"});
    const auto ended = park(more);
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the time of --deadline has passed"));
    EXPECT_EQ(service.batches(), 1U);
}

TEST_F(parked_batches, stay_paused_when_batches_have_ended) {
    scratch.file("w.heddle", two_steps);
    rows_file(2);
    auto all = command({"--model", "openai:gpt-4o"});
    all.insert(all.end(), wait.begin(), wait.end());
    child_options there = options();
    there.variables["HOME"] = path("home");
    child_process child(heddle_command(all), there);
    ASSERT_TRUE(hang_guard::comes_true([&] { return service.batches() != 0; }));
    EXPECT_EQ(run_heddle({"runs", "pause", path("out.jsonl")}, there).code, 0);
    service.end();
    std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_EQ(service.batches(), 1U);
    service.end_after_polls(1);
    EXPECT_EQ(run_heddle({"runs", "resume", path("out.jsonl")}, there).code, 0);
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(2);
    EXPECT_EQ(service.batches(), 2U);
}

TEST_F(parked_batches, need_a_journal) {
    rows_file(1);
    auto ended = park({"--no-journal"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("--park"));
}

// The summary was that of the last round: no reason, no request, and 0 s.
TEST_F(parked_batches, sum_up_all_rounds_of_a_command_that_waits) {
    rows_file(5);
    service.fail("t3");
    service.end_after_polls(2);
    auto all = wait;
    all.emplace_back("--json");
    const auto ended = park(all);
    EXPECT_EQ(ended.code, 3) << ended.err;
    const auto summary = boost::json::parse(ended.out).as_object();
    EXPECT_EQ(summary.at("rows").at("kept").to_number<int>(), 0);
    EXPECT_EQ(summary.at("rows").at("continued").to_number<int>(), 0);
    EXPECT_EQ(summary.at("spent_now"), summary.at("spent"));
    EXPECT_GE(summary.at("spent_now").at("requests").to_number<int>(), 4);
    EXPECT_GE(summary.at("seconds").to_number<double>(), 0.1);
    ASSERT_EQ(summary.at("failures").as_array().size(), 1U) << ended.out;
    EXPECT_EQ(summary.at("failures").at(0).at("rows").to_number<int>(), 1);
}

} // namespace
} // namespace heddle::cli_test
