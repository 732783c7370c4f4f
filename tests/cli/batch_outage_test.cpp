// Batches whose service or input fails for a while.
#include "batch_fixture.hpp"
#include "loopback_server.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class interrupted_batches : public batch_fixture {
protected:
    [[nodiscard]] std::vector<std::string> asking(const model_thread& model,
                                                  std::vector<std::string> more = {}) const {
        scratch.file("w.heddle", asking_workflow);
        return asking_once(model.url(), std::move(more));
    }
    /// The first `times` requests fail as those of a service that is down.
    [[nodiscard]] static std::string down_for(int times) {
        return R"({"rules": [{"match": ".*", "text": "x",
            "error": {"status": 503, "message": "down", "times": )" +
               std::to_string(times) + "}}]}";
    }
    [[nodiscard]] static std::string good_response() {
        return loopback::ok_response(
            R"({"id": "1", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
                "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}]})",
            "Content-Type: application/json\r\n");
    }
};

TEST_F(interrupted_batches, probe_with_a_row_that_asks_the_service) {
    // Behind the rows that open the breaker are some that are rejected without a request.
    std::string rows;
    for (int i = 0; i < 5; ++i)
        rows += R"({"id": "r)" + std::to_string(i) + "\", \"text\": \"t\"}\n";
    for (int i = 5; i < 9; ++i) rows += R"({"id": "r)" + std::to_string(i) + "\"}\n";
    scratch.file("rows.jsonl", rows);
    model_thread model(down_for(5));
    const auto ended = run_heddle(asking(model, {"-c", "1"}));
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("the service is back"), HasSubstr("4 rejected")));
    expect_each_row_once(5);
}

// A service that takes requests and does not respond was none that is down: all rows failed.
TEST_F(interrupted_batches, pause_for_a_service_that_hangs) {
    rows_file(12);
    scratch.file("w.heddle", asking_workflow);
    const std::string config =
        scratch.file("hangs.toml", "[providers.openai]\nmax_retries = 0\nidle_timeout = 0.3\n");
    std::atomic<int> asked = 0;
    const loopback::server server([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            if (asked++ < 5) {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{");
                (void)peer.read_request(); // until it is closed
                return;
            }
            peer.send(good_response());
        }
    });
    const auto ended = run_heddle(
        batch_fixture::asking(server.url() + "/v1", {"--config", config, "-c", "1", "-v"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr("paused: 5"), HasSubstr("the service is back")));
    expect_each_row_once(12);
    EXPECT_EQ(asked, 17);
}

// A row whose request was still under way when the service was back failed for good.
TEST_F(interrupted_batches, run_rows_again_that_have_asked_before_the_service_was_back) {
    rows_file(12);
    scratch.file("w.heddle", asking_workflow);
    std::atomic<int> asked = 0;
    std::atomic<int> late = 0;
    const loopback::server server([&](loopback::connection& peer, int) {
        for (;;) {
            const std::string request = peer.read_request();
            if (request.empty()) return;
            const bool is_slow = request.find("\"t5\"") != std::string::npos && late++ == 0;
            const bool is_down = is_slow || asked++ < 5;
            if (is_slow) std::this_thread::sleep_for(milliseconds(5700));
            if (request.find("\"t11\"") != std::string::npos)
                std::this_thread::sleep_for(milliseconds(1500));
            peer.send(is_down ? "HTTP/1.1 503 Down\r\nContent-Length: 2\r\n\r\n{}"
                              : good_response());
        }
    });
    const auto ended = run_heddle(asking_once(server.url() + "/v1", {"-c", "6", "-v"}));
    EXPECT_EQ(ended.code, 0) << ended.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(ended.err, HasSubstr("the service is back"));
    expect_each_row_once(12);
    EXPECT_EQ(late, 2);
}

// The failure of another branch was replayed: the row ended with it, although the service was back.
TEST_F(interrupted_batches, run_rows_again_whose_branches_failed_together) {
    rows_file(5);
    scratch.file("w.heddle",
                 "(defatom part (params q) (instructions \"part {{q}}.\"))\n"
                 "(define (main text) (map (lambda (n) (content (part n))) (range 3)))\n");
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 100,
        "error": {"status": 503, "message": "down", "times": 15}}]})");
    const auto ended = run_heddle(asking_once(model.url(), {"-c", "1"}));
    EXPECT_EQ(ended.code, 0) << ended.err << scratch.text_of("out.jsonl.failed.jsonl");
    EXPECT_THAT(ended.err, HasSubstr("the service is back"));
    EXPECT_EQ(model.counters().requests, 30U);
    expect_each_row_once(5);
}

/// Rows that ask nobody end between those that the service fails: they do not show that it is back.
TEST_F(interrupted_batches, take_no_row_without_a_request_for_a_service_that_is_back) {
    rows_file(14);
    model_thread model(down_for(5));
    auto whole = asking(model, {"-c", "1"});
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define asked (list \"t0\" \"t2\" \"t4\" \"t6\" \"t8\"))\n"
                 "(define (main text) (if (contains? asked text) (ask text) \"none\"))\n");
    const auto ended = run_heddle(whole);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(14);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
    const auto first = ended.err.find("the service is back");
    ASSERT_NE(first, std::string::npos) << ended.err;
    EXPECT_EQ(ended.err.find("the service is back", first + 1), std::string::npos) << ended.err;
}

/// Nor do rows whose requests have the responses that they had before an edit.
TEST_F(interrupted_batches, take_no_recorded_response_for_a_service_that_is_back) {
    rows_file(10);
    model_thread model(R"({"rules": [
        {"match": "another", "text": "x", "error": {"status": 503, "message": "down", "times": 5}},
        {"match": ".*", "text": "x"}]})");
    const auto write = [&](const std::string& word) {
        scratch.file(
            "w.heddle",
            "(defatom first (params q) (instructions \"first {{q}}\"))\n"
            "(defatom other (params q) (instructions \"" +
                word +
                " {{q}}\"))\n"
                "(define others (list \"t1\" \"t3\" \"t5\" \"t7\" \"t9\"))\n"
                "(define (main text) (if (contains? others text) (other text) (first text)))\n");
    };
    auto whole = asking(model, {"-c", "1"});
    write("other");
    ASSERT_EQ(run_heddle(whole).code, 0);
    write("another");
    const auto ended = run_heddle(whole);
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(10);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

TEST_F(interrupted_batches, wait_for_the_service_when_rows_in_order_have_no_room) {
    rows_file(9);
    model_thread model(down_for(4)); // one failure less than opens the breaker
    const auto ended = run_heddle(asking(model, {"--ordered", "--window", "4", "-c", "4"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    expect_each_row_once(9);
    EXPECT_EQ(scratch.text_of("out.jsonl.failed.jsonl"), "");
}

// They started one by one, and none while a row of the service that was down was the next.
TEST_F(interrupted_batches, go_on_with_the_rows_of_another_service) {
    rows_file(40);
    model_thread down(down_for(1000));
    model_thread up(R"({"rules": [{"match": ".*", "text": "x"}]})");
    scratch.file("w.heddle",
                 "(defatom first (params q) (instructions \"{{q}}\"))\n"
                 "(defatom other (params q) (model \"other:m\") (instructions \"{{q}}\"))\n"
                 "(define (main id text)\n"
                 "  (if (= 0 (modulo (string->number (substring id 1)) 2))\n"
                 "      (first text) (other text)))\n");
    const std::string config =
        scratch.file("two.toml", std::string(no_retries) +
                                     "[providers.other]\ntype = \"openai\"\nmax_retries = 0\n"
                                     "base_url = \"" +
                                     up.url() + "\"\n");
    child_process child(
        heddle_command(batch_fixture::asking(down.url(), {"--config", config, "-c", "2"})));
    EXPECT_TRUE(up.wait_until([](const auto& seen) { return seen.requests == 20; }))
        << up.counters().requests << " rows of the other service";
    EXPECT_LT(down.counters().requests, 30U);
    child.send_signal(SIGKILL);
    (void)child.wait();
}

TEST_F(interrupted_batches, run_the_rows_before_the_damage_of_their_input) {
    rows_file(3000);
    scratch.file("w.heddle", "(define (main text) (sleep 0.01) text)");
    ASSERT_EQ(child_process({"gzip", path("rows.jsonl")}).wait().code, 0);
    const std::string packed = path("rows.jsonl.gz");
    std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
    std::size_t before = 0;
    for (int process = 0; process < 2; ++process) {
        const auto ended = run_heddle({"batch", path("w.heddle"), "--rows", packed, "--out",
                                       path("out.jsonl"), "--id", "id"});
        EXPECT_EQ(ended.code, process == 0 ? 4 : 2) << ended.err; // 2: no row was left to run
        EXPECT_THAT(ended.err, HasSubstr("the input ends early: "));
        const std::size_t lines = lines_of("out.jsonl").size();
        EXPECT_GE(lines, 500U);
        if (process == 1) {
            EXPECT_EQ(lines, before);
        }
        before = lines;
    }
    for (const auto& [id, times] : ids_in("out.jsonl")) EXPECT_EQ(times, 1) << id;
}

TEST_F(interrupted_batches, stop_where_no_row_of_this_process_is_done) {
    rows_file(300);
    scratch.file("w.heddle",
                 "(define (main text) (if (string=? text \"t0\") text (error \"no key\")))");
    EXPECT_EQ(batch({"--limit", "1"}).code, 0);
    const auto ended = batch({"-c", "1"});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_EQ(lines_of("out.jsonl.failed.jsonl").size(), 100U);
}

TEST_F(interrupted_batches, sample_within_their_bounds) {
    rows_file(20);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x"}]})");
    const auto ended =
        run_heddle(asking(model, {"--dry-run", "--sample-rows", "8", "--max-calls", "2"}));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out + ended.err, HasSubstr("the sample stopped at --max-calls"));
    EXPECT_EQ(model.counters().requests, 2U);
}

} // namespace
} // namespace heddle::cli_test
