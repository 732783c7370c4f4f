// The printed error of a failed task has a hint.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loopback_server.hpp>

namespace heddle::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(failure_hints, of_a_certificate_that_nobody_trusts) {
    const loopback::authority own;
    loopback::server_options options;
    options.tls = own.issue();
    const loopback::server service(
        [](loopback::connection& with, int) { (void)with.read_request(); }, options);
    const scratch_directory scratch;
    child_options child;
    child.variables["OPENAI_API_KEY"] = "sk-0123456789abcdef";
    const std::string wanted = "give its certificate as the CA file";
    for (const std::string form : {"(ask \"1\")", "(content (ask \"1\"))"}) {
        SCOPED_TRACE(form);
        std::vector<std::string> command = {
            "run",
            scratch.file("w.heddle", "(defatom ask (params q) (instructions \"{{q}}\"))\n" + form),
            "--base-url", service.url() + "/v1"};
        const auto text = run_heddle(command, child);
        EXPECT_EQ(text.code, 1);
        EXPECT_THAT(text.err, HasSubstr("hint: "));
        EXPECT_THAT(text.err, HasSubstr(wanted));
        command.emplace_back("--json");
        const auto json = run_heddle(command, child);
        EXPECT_THAT(json.err, ::testing::ContainsRegex("\"hint\":\"[^\"]*" + wanted));
    }
}

TEST(failure_hints, explain_how_to_set_a_model_only_where_there_is_no_service) {
    const scratch_directory scratch;
    const std::string program = scratch.file(
        "w.heddle", "(defatom ask (params q) (instructions \"{{q}}\"))\n(content (ask \"1\"))");
    const std::string wanted = "set OPENAI_API_KEY (and";
    const auto run = [&](std::map<std::string, std::string> variables,
                         const std::string& settings = {}) {
        child_options child;
        child.variables = std::move(variables);
        if (!child.variables.empty())
            child.variables["OPENAI_BASE_URL"] = "https://nobody.invalid/v1";
        const auto ended =
            run_heddle({"run", program, "--config", scratch.file("c.toml", settings)}, child);
        EXPECT_EQ(ended.code, 1) << ended.err;
        return ended.err;
    };
    EXPECT_THAT(run({}), HasSubstr(wanted));
    const std::string key = "sk-0123456789abcdef";
    const std::string proxy =
        run({{"OPENAI_API_KEY", key}, {"ALL_PROXY", "socks5://127.0.0.1:1080"}});
    EXPECT_THAT(proxy, HasSubstr("ALL_PROXY"));
    EXPECT_THAT(proxy, HasSubstr("a proxy of the kind socks5:// is not supported"));
    EXPECT_THAT(proxy, Not(HasSubstr(wanted)));
    EXPECT_THAT(run({{"OPENAI_API_KEY", key}, {"SSL_CERT_FILE", "/nope"}}), Not(HasSubstr(wanted)));
    const std::string version =
        run({{"OPENAI_API_KEY", key}}, "[providers.openai]\napi_version = \"v1\"\n");
    EXPECT_THAT(version, HasSubstr("has no api_version"));
    EXPECT_THAT(version, Not(HasSubstr(wanted)));
    const std::string unreadable = run({}, "[providers.openai]\napi_key_file = \"/nope\"\n");
    EXPECT_THAT(unreadable, HasSubstr("the key of provider 'openai'"));
    EXPECT_THAT(unreadable, Not(HasSubstr(wanted)));
}

TEST(failure_hints, of_an_item_that_ends_a_map) {
    const scratch_directory scratch;
    const auto run = [&](const std::string& program) {
        return run_heddle({"run", scratch.file("w.heddle", program)}).err;
    };
    EXPECT_THAT(run("(map (lambda (x) (/ 6 x)) '(1 2 0 3))"),
                HasSubstr("hint: item 3 ended the map; map-settled in place of map keeps"));
    EXPECT_THAT(run("(map (lambda (x) (error \"no\")) '(1))"), HasSubstr("hint: item 1 ended"));
    // What fails for every item is a mistake, and so is what happens outside of a map.
    for (const char* program : {"(map (lambda (x) (get x 'a)) '(1))", "(map (lambda (x) y) '(1))",
                                "(for-each print (/ 1 0))"})
        EXPECT_THAT(run(program), Not(HasSubstr("ended the map"))) << program;

    const std::string rules = scratch.file(
        "r.json", R"({"rules": [{"match": "bad", "error": {"status": 400, "message": "no"}}],
                      "default": {"text": "ok"}})");
    const auto ended =
        run_heddle({"run",
                    scratch.file("t.heddle",
                                 "(defatom ask (params q) (instructions \"{{q}}\"))\n"
                                 "(map (lambda (x) (content (ask x))) '(\"a\" \"bad\"))"),
                    "-m", "scripted:" + rules});
    EXPECT_THAT(ended.err, HasSubstr("hint: item 2 ended the map"));
    EXPECT_THAT(ended.err, HasSubstr("(ok? r) is true for a task result that has content"));
}

} // namespace
} // namespace heddle::cli_test
