// `heddle model serve` as a process.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <csignal>
#include <filesystem>

namespace heddle::cli_test {
namespace {

class model_serve : public testing::Test {
protected:
    scratch_directory scratch;
    std::string rules = scratch.file("r.json", R"({"rules": [{"match": ".*", "text": "served"}]})");
    std::string workflow = scratch.file(
        "w.heddle",
        "(defatom ask (params q) (instructions \"{{q}}\"))\n(define (main) (ask \"q\"))");
};

TEST_F(model_serve, prints_its_url_answers_and_ends_with_0) {
    child_process server(heddle_command({"model", "serve", "--rules", rules}));
    ASSERT_TRUE(server.wait_for_out("/v1\n"));
    const std::string url = server.out().substr(0, server.out().find('\n'));
    EXPECT_EQ(run_heddle({"run", workflow, "--base-url", url}).out, "served\n");
    server.send_signal(SIGINT);
    const auto ended = server.wait(milliseconds(5000));
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.err.find("served 1 request over 1 connection"), std::string::npos) << ended.err;
}

TEST_F(model_serve, prints_its_port_alone_when_asked) {
    child_process server(
        heddle_command({"model", "serve", "--rules", rules, "--print-port", "-", "-q"}));
    ASSERT_TRUE(server.wait_for_out("\n"));
    EXPECT_GT(std::stoi(server.out()), 0);
    EXPECT_EQ(server.out().find("http"), std::string::npos);
    server.send_signal(SIGTERM);
    const auto ended = server.wait(milliseconds(5000));
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.err, "");
}

TEST_F(model_serve, writes_its_port_to_a_file) {
    const std::string port = scratch.path() + "/port";
    child_process server(
        heddle_command({"model", "serve", "--rules", rules, "--print-port", port}));
    ASSERT_TRUE(server.wait_for_out("/v1\n"));
    EXPECT_NE(server.out().find(":" + std::to_string(std::stoi(scratch.text_of("port"))) + "/v1"),
              std::string::npos);
}

TEST_F(model_serve, says_where_it_is_as_json) {
    child_process server(heddle_command({"model", "serve", "--rules", rules, "--json"}));
    ASSERT_TRUE(server.wait_for_out("\n"));
    const auto told = boost::json::parse(server.out()).as_object();
    EXPECT_EQ(told.at("pid"), server.pid());
    EXPECT_GT(told.at("port").as_int64(), 0);
    EXPECT_TRUE(told.at("url").as_string().starts_with("http://127.0.0.1:"));
}

TEST_F(model_serve, refuses_addresses_that_others_reach_unless_told) {
    const auto ended = run_heddle({"model", "serve", "--rules", rules, "--host", "0.0.0.0"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("--allow-remote"), std::string::npos) << ended.err;
}

TEST_F(model_serve, fails_when_the_port_is_taken) {
    child_process server(heddle_command({"model", "serve", "--rules", rules, "--print-port", "-"}));
    ASSERT_TRUE(server.wait_for_out("\n"));
    const auto ended = run_heddle(
        {"model", "serve", "--rules", rules, "--port", std::to_string(std::stoi(server.out()))});
    EXPECT_EQ(ended.code, 1);
    EXPECT_FALSE(ended.err.empty());
}

TEST_F(model_serve, tells_the_mistakes_of_its_rules) {
    const auto wrong = scratch.file("wrong.json", "{\"rules\": [{\"match\": 5}]}");
    const auto ended = run_heddle({"model", "serve", "--rules", wrong});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("rules[0].match"), std::string::npos) << ended.err;
}

} // namespace
} // namespace heddle::cli_test
