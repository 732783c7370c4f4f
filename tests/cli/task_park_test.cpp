// Tasks that say whether their requests wait for the batch endpoints of services.
#include "batch_fixture.hpp"
#include "batch_service.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A question that is answered at once, and one that has time.
constexpr const char* two_tasks =
    "(defatom quick (params q) (instructions \"{{q}} now\"))\n"
    "(defatom slow (params q) (instructions \"{{q}}\") (park true))\n"
    "(define (main text) (quick text) (slow text))\n";

class parking_tasks : public batch_fixture {
protected:
    void SetUp() override { scratch.file("w.heddle", two_tasks); }
    [[nodiscard]] child_options options() const {
        child_options chosen;
        chosen.variables = service.variables();
        chosen.variables["HOME"] = path("home");
        return chosen;
    }
    [[nodiscard]] child_result batch(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"--model", "openai:gpt-4o"};
        all.insert(all.end(), more.begin(), more.end());
        return run_heddle(command(all), options());
    }
    /// `heddle run`, of the same file.
    [[nodiscard]] std::vector<std::string> running(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"run",           path("w.heddle"), "--model",
                                     "openai:gpt-4o", "--input",        "text=one"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] child_result run(std::vector<std::string> more = {}) const {
        return run_heddle(running(std::move(more)), options());
    }
    [[nodiscard]] child_result kept_run(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--run", path("kept")});
        return run(std::move(more));
    }
    void expect_performed_once(std::size_t count) {
        const auto performed = service.performed();
        EXPECT_EQ(performed.size(), count);
        for (const auto& [prompt, times] : performed) EXPECT_EQ(times, 1) << prompt;
    }
    /// The warning, once.
    static void expect_warning(const child_result& ended, const std::string& why) {
        const std::string text = "the setting park has no effect: " + why;
        const std::size_t at = ended.err.find(text);
        ASSERT_NE(at, std::string::npos) << ended.err;
        EXPECT_EQ(ended.err.find("the setting park", at + 1), std::string::npos) << ended.err;
    }

    batch_service service;
    const std::vector<std::string> wait{"--park-wait", "--park-interval", "0.1", "--park-settling",
                                        "1"};
};

TEST_F(parking_tasks, wait_for_batches_without_the_option) {
    rows_file(3);
    auto ended = batch();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("3 calls wait for a batch"), Not(HasSubstr("no effect"))));
    EXPECT_EQ(service.direct_calls(), 3) << "of the other task";
    EXPECT_EQ(service.batches(), 1U);
    EXPECT_EQ(batch().code, 5);
    EXPECT_EQ(service.batches(), 1U) << "what waits is not submitted again";
    const auto shown = run_heddle({"runs", "show", path("out.jsonl")});
    EXPECT_THAT(shown.out, HasSubstr("waiting: 3 calls in batches"));
    service.end();
    ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
    expect_performed_once(6);
    EXPECT_EQ(service.direct_calls(), 3);
    for (const auto& line : lines_of("out.jsonl")) {
        const std::string id(line.at("id").as_string());
        EXPECT_EQ(line.at("value").as_string(), "T" + id.substr(1));
        EXPECT_DOUBLE_EQ(line.at("cost_usd").to_number<double>(), 0.0035 + 0.00175)
            << "half the price of one";
    }
    EXPECT_EQ(batch().code, 0);
    EXPECT_EQ(service.batches(), 1U);
}

TEST_F(parking_tasks, may_stay_out_of_the_batches_of_the_others) {
    scratch.file("w.heddle",
                 "(defatom quick (params q) (instructions \"{{q}} now\") (park false))\n"
                 "(defatom slow (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text) (quick text) (slow text))\n");
    rows_file(3);
    service.end_after_polls(1);
    const auto ended = batch(wait);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(3);
    expect_performed_once(6);
    EXPECT_EQ(service.direct_calls(), 3);
    EXPECT_EQ(service.batches(), 1U);
}

TEST_F(parking_tasks, are_templates_settings_of_with_and_defaults_of_a_service) {
    std::filesystem::create_directory(path("tasks"));
    scratch.file("tasks/t.xml",
                 "<task name=\"slow\" type=\"atomic\"><description>d</description>"
                 "<instructions>{{q}}</instructions>"
                 "<inputs><input name=\"q\"/></inputs><park>true</park></task>");
    scratch.file("w.heddle",
                 "(defatom quick (params q) (instructions \"{{q}} now\"))\n"
                 "(define (main text) (with ((park true)) (quick text)) (slow text))\n");
    rows_file(2);
    EXPECT_EQ(batch().code, 5);
    EXPECT_EQ(service.direct_calls(), 0);
    service.end();
    EXPECT_EQ(batch().code, 5) << "the second step";
    service.end();
    EXPECT_EQ(batch().code, 0);
    EXPECT_EQ(service.batches(), 2U);
    expect_performed_once(4);

    // A default does not make a request another one.
    const std::string config =
        scratch.file("parked.toml", "[providers.openai.request]\npark = true\n");
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}} too\"))\n"
                 "(defatom quick (params q) (instructions \"{{q}} again\") (park false))\n"
                 "(define (main text) (quick text) (ask text))\n");
    const std::vector<std::string> more{"--run", path("second"), "--force", "--config", config};
    EXPECT_EQ(batch(more).code, 5);
    EXPECT_EQ(service.direct_calls(), 2);
    service.end();
    EXPECT_EQ(batch(more).code, 0);
    const auto plain = batch({"--run", path("second")});
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_THAT(plain.err, Not(HasSubstr("have changed since")));
    expect_performed_once(8);
}

// The branches that waited kept the places of the others.
TEST_F(parking_tasks, of_many_branches_wait_for_one_batch) {
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\") (park true))\n"
                 "(define (main text)\n"
                 "  (length (map (lambda (i) (ask (format \"{} {}\" text i))) (range 150))))\n");
    rows_file(1);
    auto ended = batch();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("150 calls wait for a batch"));
    service.end();
    ended = batch();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(service.batches(), 1U);
    expect_performed_once(150);
    const auto replayed = run_heddle({"runs", "replay", path("out.jsonl"), "r0"}, options());
    EXPECT_EQ(replayed.code, 0) << replayed.err;
}

TEST_F(parking_tasks, survive_kills) {
    rows_file(12);
    service.end_after_polls(1);
    const auto all = command({"--model", "openai:gpt-4o", "--park-settling", "1"});
    for (int i = 0; i < 8; ++i) {
        if (i % 3 == 1) service.lose_responses(1);
        child_process child(heddle_command(all), options());
        std::this_thread::sleep_for(milliseconds(60 + 50 * i));
        child.send_signal(SIGKILL);
        (void)child.wait();
    }
    service.lose_responses(0);
    int code = 5;
    for (int i = 0; i < 40 && code == 5; ++i) {
        code = run_heddle(all, options()).code;
        if (code == 5) std::this_thread::sleep_for(milliseconds(200));
    }
    EXPECT_EQ(code, 0);
    expect_each_row_once(12);
    for (const auto& [prompt, times] : service.performed()) {
        if (prompt.ends_with("now")) continue; // one may have been under way at a kill
        EXPECT_EQ(times, 1) << prompt;
    }
}

TEST_F(parking_tasks, are_asked_at_once_where_nothing_is_kept) {
    const auto ended = run();
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_warning(ended, "requests wait for a batch only in a run with a journal");
    rows_file(2);
    const auto without = batch({"--no-journal"});
    EXPECT_EQ(without.code, 0) << without.err;
    expect_warning(without, "requests wait for a batch only in a run with a journal");
    const auto threads = batch({"--force", "--threads", "2"});
    EXPECT_EQ(threads.code, 0) << threads.err;
    expect_warning(threads, "no request waits for a batch with --threads");
    EXPECT_EQ(service.batches(), 0U);
    // One that does not have it so is not warned of.
    scratch.file("w.heddle", asking_workflow);
    EXPECT_THAT(run().err, Not(HasSubstr("park")));
}

TEST_F(parking_tasks, of_a_single_run_continue_in_a_later_process) {
    auto ended = kept_run();
    EXPECT_EQ(ended.code, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("1 call waits for a batch; the same command continues"));
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(service.batches(), 1U);
    EXPECT_EQ(service.direct_calls(), 1);
    ended = kept_run({"--json"});
    EXPECT_EQ(ended.code, 5);
    const auto reported = boost::json::parse(ended.err).as_object();
    EXPECT_EQ(reported.at("parked_calls").as_int64(), 1);
    EXPECT_EQ(reported.at("batches").as_int64(), 1);
    const auto shown = run_heddle({"runs", "show", path("kept")});
    EXPECT_THAT(shown.out, HasSubstr("waiting: 1 call in batches"));
    service.end();
    ended = kept_run();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "ONE\n");
    EXPECT_EQ(kept_run().out, "ONE\n");
    expect_performed_once(2);
    EXPECT_EQ(service.batches(), 1U);
    const auto replayed = run_heddle({"runs", "replay", path("kept")}, options());
    EXPECT_EQ(replayed.code, 0) << replayed.err;
}

// Each step of it, also of its top level.
TEST_F(parking_tasks, of_a_single_run_take_a_round_for_each_step) {
    scratch.file("w.heddle",
                 "(defatom slow (params q) (instructions \"{{q}}\") (park true))\n"
                 "(define first (content (slow \"zero\")))\n"
                 "(define (main text)\n"
                 "  (string-join (map (lambda (i) (content (slow (format \"{}{}\" text i))))\n"
                 "                    (range 100)) first))\n");
    EXPECT_EQ(kept_run().code, 5);
    service.end();
    EXPECT_EQ(kept_run().code, 5);
    EXPECT_EQ(service.batches(), 2U);
    service.end();
    const auto ended = kept_run();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("ONE0ZEROONE1"));
    expect_performed_once(101);
    EXPECT_EQ(service.direct_calls(), 0);
}

TEST_F(parking_tasks, of_a_single_run_survive_kills) {
    scratch.file("w.heddle",
                 "(defatom slow (params q) (instructions \"{{q}}\") (park true))\n"
                 "(define (main text)\n"
                 "  (let ((first (map (lambda (i) (content (slow (format \"{}{}\" text i))))\n"
                 "                    (range 20))))\n"
                 "    (length (map (lambda (t) (content (slow (string-append t \" more\"))))\n"
                 "                 first))))\n");
    service.end_after_polls(2);
    const auto command = running({"--run", path("kept")});
    int code = 5;
    for (int i = 0; i < 60 && code != 0; ++i) {
        if (i % 4 == 1) service.lose_responses(1);
        child_process child(heddle_command(command), options());
        if (i < 16) {
            std::this_thread::sleep_for(milliseconds(20 + 15 * i));
            child.send_signal(SIGKILL);
        }
        const auto ended = child.wait();
        ASSERT_TRUE(ended.signalled || ended.code == 5 || ended.code == 0) << ended.err;
        if (!ended.signalled) code = ended.code;
        if (i >= 16) std::this_thread::sleep_for(milliseconds(1000)); // a lost batch is looked for
    }
    EXPECT_EQ(code, 0);
    expect_performed_once(40);
    EXPECT_EQ(service.direct_calls(), 0);
}

TEST_F(parking_tasks, of_a_single_run_are_submitted_again_when_they_expired) {
    service.expire(1);
    EXPECT_EQ(kept_run().code, 5);
    service.end();
    EXPECT_EQ(kept_run().code, 5);
    EXPECT_EQ(service.batches(), 2U);
    service.end();
    EXPECT_EQ(kept_run().code, 0);
    expect_performed_once(2);
}

TEST_F(parking_tasks, of_a_single_run_fail_as_their_requests) {
    service.fail("one");
    scratch.file("w.heddle",
                 "(defatom slow (params q) (instructions \"{{q}}\") (park true))\n"
                 "(define (main text) (slow text))\n");
    EXPECT_EQ(kept_run().code, 5);
    service.end();
    const auto failed = kept_run();
    EXPECT_EQ(failed.code, 1);
    EXPECT_THAT(failed.err, HasSubstr("it is wrong"));
    service.fail("");
    EXPECT_EQ(kept_run({"--retry-failed"}).code, 5);
    service.end();
    const auto ended = kept_run({"--retry-failed"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.out, "ONE\n");
}

TEST_F(parking_tasks, of_a_single_run_tell_of_a_service_that_takes_no_batch) {
    service.refuse();
    const auto ended = kept_run();
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr("no batch could be submitted"), HasSubstr("no batches for you")));
}

TEST_F(parking_tasks, of_a_single_run_are_cancelled) {
    EXPECT_EQ(kept_run().code, 5);
    service.perform_until_cancelled(0);
    const auto cancelled = run_heddle({"runs", "cancel", path("kept")}, options());
    EXPECT_EQ(cancelled.code, 0) << cancelled.err;
    EXPECT_THAT(cancelled.err, HasSubstr("a batch of the services was cancelled"));
    EXPECT_EQ(kept_run().code, 5);
    EXPECT_EQ(service.batches(), 2U);
    service.end();
    EXPECT_EQ(kept_run().code, 0);
    expect_performed_once(2);
}

} // namespace
} // namespace heddle::cli_test
