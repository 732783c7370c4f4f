// What `heddle runs list` and `show` report of the last process of a run.
#include "batch_fixture.hpp"
#include "batch_service.hpp"
#include "model_thread.hpp"

#include <gmock/gmock.h>
#include <hang_guard.hpp>

#include <csignal>

namespace heddle::cli_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class states_of_runs : public batch_fixture {};

// A run that was finished looked like one that was stopped.
TEST_F(states_of_runs, show_how_their_last_process_ended) {
    rows_file(50);
    scratch.file("w.heddle", asking_workflow);
    model_thread model(R"({"rules": [{"match": ".*", "text": "x", "delay_ms": 100}]})");
    const auto shown = [&] { return run_heddle({"runs", "show", path("out.jsonl")}).out; };
    const auto listed = [&] { return run_heddle({"runs", "list", scratch.path()}).out; };
    ASSERT_EQ(run_heddle(asking(model.url(), {"--max-calls", "3", "-c", "1"})).code, 4);
    EXPECT_THAT(shown(), ContainsRegex("w.heddle, stopped \\(max-calls\\), (about )?[0-9]+ left"));
    EXPECT_THAT(listed(), HasSubstr("stopped (max-calls)"));

    child_process killed(heddle_command(asking(model.url(), {"-c", "1"})), at_home());
    ASSERT_TRUE(model.wait_until([](const auto& seen) { return seen.requests >= 6; }));
    EXPECT_THAT(shown(), HasSubstr("w.heddle, going"));
    const auto going =
        boost::json::parse(run_heddle({"runs", "show", path("out.jsonl"), "--json"}).out)
            .as_object();
    EXPECT_EQ(going.at("state").as_string(), "going");
    EXPECT_THAT(std::string(going.at("now").as_string()), HasSubstr("rows"));
    killed.send_signal(SIGKILL);
    (void)killed.wait();
    EXPECT_THAT(shown(), HasSubstr("w.heddle, killed"));
    const auto cost_in = [](const boost::json::value& of) {
        return of.at("rows").at("cost_usd").to_number<double>();
    };
    const auto all =
        boost::json::parse(run_heddle({"runs", "list", scratch.path(), "--json"}).out).as_array();
    const auto one =
        boost::json::parse(run_heddle({"runs", "show", path("out.jsonl"), "--json"}).out);
    EXPECT_EQ(all.at(0).at("state").as_string(), "killed");
    EXPECT_DOUBLE_EQ(cost_in(all.at(0)), cost_in(one)) << "with what may have been paid for";

    ASSERT_EQ(run_heddle(asking(model.url())).code, 0);
    EXPECT_THAT(shown(), AllOf(HasSubstr("w.heddle, done\n"), HasSubstr("50 in all")));
    const auto done =
        boost::json::parse(run_heddle({"runs", "show", path("out.jsonl"), "--json"}).out);
    EXPECT_EQ(done.at("state").as_string(), "done");
    EXPECT_EQ(done.at("total").to_number<int>(), 50);
    EXPECT_EQ(done.at("left").to_number<int>(), 0);

    // As an earlier heddle has left it.
    const std::string file = "out.jsonl.run/run.json";
    auto manifest = boost::json::parse(scratch.text_of(file)).as_object();
    manifest.erase("end");
    scratch.file(file, boost::json::serialize(manifest));
    EXPECT_THAT(shown(), HasSubstr("w.heddle, not going"));
}

// It was called killed.
TEST_F(states_of_runs, name_an_error_between_rounds) {
    rows_file(2);
    scratch.file("w.heddle", asking_workflow);
    batch_service service;
    child_options options = at_home();
    options.variables.merge(service.variables());
    child_process child(heddle_command(command({"--model", "openai:gpt-4o", "--park-wait",
                                                "--park-interval", "0.1", "--park-settling", "1"})),
                        options);
    ASSERT_TRUE(hang_guard::comes_true([&] { return service.batches() != 0; }));
    scratch.file("w.heddle", "(define (main text)");
    service.end();
    const auto ended = child.wait();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                HasSubstr("w.heddle, stopped (error)"));
}

// "10 done, 4 in all"
TEST_F(states_of_runs, count_rows_of_an_earlier_version_apart_from_the_total) {
    rows_file(10);
    ASSERT_EQ(batch().code, 0);
    rows_file(4);
    scratch.file("w.heddle", "(define (main text) (string-append text \"!\"))");
    ASSERT_EQ(batch().code, 0);
    EXPECT_THAT(run_heddle({"runs", "show", path("out.jsonl")}).out,
                HasSubstr("rows: 10 done, 0 failed, 0 rejected, 0 begun, 4 in all besides 6 of an "
                          "earlier version\n"));
}

} // namespace
} // namespace heddle::cli_test
