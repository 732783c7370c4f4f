// Batches whose settings in heddle.toml change what a step asks.
#include "batch_fixture.hpp"
#include "model_thread.hpp"
#include "scripted_rules.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <functional>
#include <thread>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* changed = "have changed since the run began";

class batch_settings : public batch_fixture {
protected:
    /// heddle.toml with a service "mine" that has the models of the test's server.
    void configure(const std::string& more, const std::string& of_service = "") const {
        scratch.file("heddle.toml", more + "\n[providers.mine]\ntype = \"openai\"\nbase_url = \"" +
                                        model.url() + "\"\n" + of_service);
    }
    [[nodiscard]] child_result start(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--config", path("heddle.toml")});
        child_options with_key;
        with_key.variables["OPENAI_API_KEY"] = "k";
        return run_heddle(command(std::move(more)), with_key);
    }
    /// Runs three rows, then again after the change; the number of requests that it makes.
    std::uint64_t requests_after(const std::function<void()>& change, bool is_edit = true) {
        rows_file(3);
        EXPECT_EQ(start().code, 0);
        EXPECT_EQ(model.counters().requests, 3U);
        change();
        const auto again = start();
        EXPECT_EQ(again.code, 0) << again.err;
        if (is_edit) EXPECT_THAT(again.err, HasSubstr(changed));
        else EXPECT_THAT(again.err, Not(HasSubstr(changed)));
        expect_each_row_once(3);
        return model.counters().requests - 3;
    }

    model_thread model{always_answering("x")};
    std::string workflow = scratch.file("w.heddle", asking_workflow);
};

TEST_F(batch_settings, of_the_model_are_an_edit) {
    configure("model = \"mine:a\"");
    EXPECT_EQ(requests_after([&] { configure("model = \"mine:b\""); }), 3U);
    configure("model = \"mine:a\"");
    EXPECT_EQ(start().code, 0);
    EXPECT_EQ(model.counters().requests, 6U) << "the way back has its responses";
}

TEST_F(batch_settings, of_requests_are_an_edit) {
    configure("model = \"mine:a\"");
    EXPECT_EQ(requests_after([&] {
                  configure("model = \"mine:a\"", "[providers.mine.request]\ntemperature = 0.9\n");
              }),
              3U);
    configure("model = \"mine:a\"", "[providers.mine.request]\ntemperature = 0.1\n");
    EXPECT_EQ(start().code, 0);
    EXPECT_EQ(model.counters().requests, 9U);
}

TEST_F(batch_settings, of_routes_are_an_edit) {
    configure("model = \"best\"\n[routes.best]\nmodels = [\"mine:a\", \"mine:b\"]");
    EXPECT_EQ(requests_after([&] {
                  configure("model = \"best\"\n[routes.best]\nmodels = [\"mine:a\", \"mine:c\"]");
              }),
              3U);
}

TEST_F(batch_settings, of_aliases_are_an_edit) {
    configure("model = \"best\"\n[aliases]\nbest = \"mine:a\"");
    EXPECT_EQ(requests_after([&] { configure("model = \"best\"\n[aliases]\nbest = \"mine:b\""); }),
              3U);
}

TEST_F(batch_settings, of_limits_are_none) {
    configure("model = \"mine:a\"");
    const auto slower = [&] {
        configure("model = \"mine:a\"\nconcurrency = 7",
                  "max_in_flight = 2\nmax_retries = 1\nidle_timeout = 7\n");
    };
    EXPECT_EQ(requests_after(slower, false), 0U);
}

TEST_F(batch_settings, of_other_services_ask_nothing_again) {
    configure("model = \"mine:a\"");
    EXPECT_EQ(requests_after([&] {
                  configure(
                      "model = \"mine:a\"\n[providers.other]\ntype = \"openai\"\n"
                      "base_url = \"http://127.0.0.1:9/v1\"\n");
              }),
              0U);
}

TEST_F(batch_settings, of_directories_of_templates_are_an_edit) {
    const auto greet = [this](const std::string& words) {
        scratch.file("lib/greet.xml",
                     "<tasks>\n<template name=\"greet\" params=\"text\"><task>"
                     "<description>" +
                         words +
                         " {{text}}</description></task>"
                         "</template>\n</tasks>\n");
    };
    scratch.file("w.heddle", "(define (main text) (content (greet text)))");
    greet("hello");
    const std::string tasks = "model = \"mine:a\"\ntasks = [\"" + path("lib") + "\"]";
    configure(tasks);
    EXPECT_EQ(requests_after([&] { greet("good morning"); }), 3U);
}

/// Branches that answer first are recorded first, and cannot come first where few run at once.
TEST_F(batch_settings, of_concurrency_do_not_end_a_row_that_continues) {
    model_thread slow(R"({"rules": [{"match": "t0-2[0-9]", "text": "x"},
                                    {"match": ".*", "text": "x", "delay_ms": 1000}]})");
    const auto many = [&](const std::string& branches) {
        scratch.file("heddle.toml", "model = \"mine:a\"\nconcurrency = " + branches +
                                        "\n[providers.mine]\ntype = \"openai\"\nbase_url = \"" +
                                        slow.url() + "\"\n");
    };
    rows_file(1);
    scratch.file("w.heddle",
                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                 "(define (main text)\n"
                 "  (map (lambda (n) (content (ask (string-append text \"-\" n))))\n"
                 "       (range 30)))\n");
    many("64");
    child_options with_key;
    with_key.variables["OPENAI_API_KEY"] = "k";
    child_process child(heddle_command(command({"--config", path("heddle.toml")})), with_key);
    ASSERT_TRUE(slow.wait_until(
        [](const auto& seen) { return seen.requests == 30 && seen.in_flight == 20; }));
    std::this_thread::sleep_for(milliseconds(300)); // the ten responses are recorded
    child.send_signal(SIGKILL);
    (void)child.wait();
    many("2");
    const auto ended = start();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("starts over"));
    EXPECT_EQ(slow.counters().requests, 50U) << "the ten responses are used again";
    EXPECT_EQ(lines_of("out.jsonl").at(0).at("value").as_array().size(), 30U);
}

} // namespace
} // namespace heddle::cli_test
