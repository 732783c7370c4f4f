// With --json every command reports an error as one JSON object that is UTF-8 and holds the exit
// code.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <filesystem>

namespace heddle::cli_test {
namespace {

class json_errors : public ::testing::Test {
protected:
    json_errors() {
        options.directory = scratch.path() + "/here";
        options.variables = {{"HOME", scratch.path() + "/home"}};
        scratch.file("here/good.heddle", "(define (main) 1)\n");
        scratch.file("here/bad.heddle", "(+ 1\n");
        scratch.file("here/fails.heddle", "(+ 1 x)\n");
        scratch.file("here/bad.toml", "modle = 1\n");
        scratch.file("here/bad.xml", "<task type=\"atomic\"><nothing/></task>\n");
        scratch.file("here/one.xml",
                     "<task type=\"atomic\" subtype=\"one\"><description>d</description></task>\n");
        scratch.file("here/bad.json", "{\"rules\": [1]}");
        std::filesystem::create_directories(scratch.path() + "/here/empty");
    }

    void expect_json(std::vector<std::string> arguments, bool fails = true) {
        std::string shown;
        for (const auto& each : arguments) shown += " " + each;
        SCOPED_TRACE(shown);
        arguments.emplace_back("--json");
        const auto ended = run_heddle(arguments, options);
        EXPECT_TRUE(utf8::is_valid(ended.out)) << ended.out;
        EXPECT_TRUE(utf8::is_valid(ended.err)) << ended.err;
        if (!fails) return;
        EXPECT_NE(ended.code, 0);
        EXPECT_EQ(ended.out, "");
        boost::system::error_code failed;
        const auto reported = boost::json::parse(ended.err, failed);
        ASSERT_FALSE(failed) << ended.err;
        EXPECT_EQ(ended.err.find('\n'), ended.err.size() - 1) << ended.err;
        const auto* code =
            reported.is_object() ? reported.get_object().if_contains("exit_code") : nullptr;
        ASSERT_TRUE(code) << ended.err;
        EXPECT_EQ(*code, ended.code) << ended.err;
    }

    scratch_directory scratch;
    child_options options;
};

TEST_F(json_errors, of_what_is_not_there_or_cannot_be_read) {
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"run", "nosuch"},
             {"run", "bad.heddle"},
             {"run", "fails.heddle"},
             {"run", "good.heddle", "--input-json", "nosuch"},
             {"run", "good.heddle", "--input-json", "bad.toml"},
             {"run", "good.heddle", "--input", "x=1"},
             {"run", "good.heddle", "--config", "bad.toml"},
             {"run", "good.heddle", "--config", "nosuch"},
             {"run", "good.heddle", "--tasks", "bad.xml"},
             {"run", "good.heddle", "--tasks", "nosuch"},
             {"run", "good.heddle", "--workspace", "nosuch"},
             {"run", "good.heddle", "--index", "nosuch"},
             {"run", "good.heddle", "--model", "nobody:x"},
             {"run", "good.heddle", "--model", "scripted:bad.json"},
             {"run", "good.heddle", "--model", "scripted:nosuch", "--record", "no/such"},
             {"run", "good.heddle", "--replay", "nosuch"},
             {"run", "-", "--input-json", "-"},
             {"run", "one.xml"},
             {"eval", "(+ 1"},
             {"eval", "(+ 1 x)"},
             {"eval", "(lambda (x) x)"},
             {"call", "nosuch", "--tasks", "bad.xml"},
             {"tasks"},
             {"tasks", "--tasks", "nosuch"},
             {"tasks", "show", "nosuch", "--tasks", "one.xml"},
             {"tasks", "match", "x", "--tasks", "bad.xml"},
             {"tasks", "check", "nosuch"},
             {"tasks", "new", "a/b"},
             {"tasks", "new", "x", "--output", "good.heddle"},
             {"check", "nosuch"},
             {"check", "good.heddle", "--tasks", "bad.xml"},
             {"dump", "ast", "nosuch"},
             {"dump", "ast", "bad.heddle"},
             {"index", "nosuch"},
             {"index", "empty", "--index-file", "good.heddle/x"},
             {"models", "--config", "nosuch"},
             {"models", "--config", "bad.toml"},
             {"cache", "stats", "--cache-file", "good.heddle"},
             {"cache", "clear", "--cache-file", "good.heddle"},
             {"cache", "stats", "--config", "nosuch"},
             {"trust", "nosuch"},
             {"trust", "--allow", "nosuch"},
             {"trust", "--revoke", "nosuch"},
             {"model", "serve", "--rules", "nosuch"},
             {"model", "serve", "--rules", "bad.json"},
             {"repl"},
         }) {
        expect_json(each);
    }
}

TEST_F(json_errors, of_a_command_line_that_cannot_be_read) {
    expect_json({"nosuch"});
    expect_json({});
    for (const std::vector<std::string>& each :
         std::vector<std::vector<std::string>>{{"run"},
                                               {"eval"},
                                               {"call"},
                                               {"tasks"},
                                               {"tasks", "show"},
                                               {"tasks", "match"},
                                               {"tasks", "check"},
                                               {"tasks", "new"},
                                               {"check"},
                                               {"fmt"},
                                               {"dump"},
                                               {"dump", "ast"},
                                               {"dump", "ir"},
                                               {"index"},
                                               {"models"},
                                               {"cache"},
                                               {"cache", "stats"},
                                               {"cache", "clear"},
                                               {"trust"},
                                               {"model"},
                                               {"model", "serve"},
                                               {"repl"}}) {
        std::vector<std::string> unknown = each;
        unknown.emplace_back("--nosuch");
        expect_json(unknown);
    }
    expect_json({"run", "good.heddle", "--timeout", "x"});
    expect_json({"run", "good.heddle", "--timeout", "-1"});
    expect_json({"run", "good.heddle", "--memory-limit", "x"});
    expect_json({"run", "good.heddle", "-q", "-v"});
    expect_json({"eval", "1", "--concurrency", "0"});
}

TEST_F(json_errors, name_the_shortest_time) {
    const auto ended = run_heddle({"run", "good.heddle", "--timeout", "0.0004"}, options);
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("from 0.001"), std::string::npos) << ended.err;
}

TEST_F(json_errors, of_a_store_of_consents_that_is_damaged) {
    scratch.file("home/.local/state/heddle/trusted.json", "{");
    expect_json({"trust"});
    expect_json({"trust", "--allow"});
    expect_json({"trust", "--list"});
    expect_json({"trust", "--revoke", "."});
}

TEST_F(json_errors, and_results_are_utf8_whatever_a_folder_is_called) {
    const std::string odd = scratch.path() +
                            "/w\xff\x9b"
                            "31m";
    std::filesystem::create_directories(odd + "/tasks");
    for (const char* name : {"good.heddle", "bad.heddle", "fails.heddle", "one.xml", "bad.xml"}) {
        std::filesystem::copy_file(scratch.path() + "/here/" + name, odd + "/" + name);
    }
    std::filesystem::copy_file(odd + "/one.xml", odd + "/tasks/w\xff.xml");
    scratch.file(
        "w\xff\x9b"
        "31m/heddle.toml",
        "[providers.x]\ntype = \"openai\"\nbase_url = \"http://x.test/v1\"\n");
    options.directory = odd;
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{
             {"run", odd + "/good.heddle"},
             {"run", odd + "/fails.heddle"},
             {"run", odd + "/bad.heddle"},
             {"run", odd + "/nosuch"},
             {"run", odd + "/good.heddle", "--tasks", odd + "/bad.xml"},
             {"run", odd + "/good.heddle", "--\xff"},
             {"eval", "(list-directory \".\")", "--workspace", odd},
             {"tasks", "--tasks", odd + "/tasks"},
             {"tasks", "show", "one", "--tasks", odd + "/tasks"},
             {"tasks", "check", odd + "/bad.xml"},
             {"check", odd + "/bad.heddle"},
             {"dump", "ast", odd + "/good.heddle"},
             {"dump", "ast", odd + "/bad.heddle"},
             {"index", odd},
             {"index", odd, "--query", "one"},
             {"models"},
             {"cache", "stats", "--cache-file", odd + "/none"},
             {"cache", "clear", "--cache-file", odd + "/good.heddle"},
             {"trust"},
             {"trust", "--allow"},
             {"trust", "--list"},
             {"trust", "--revoke", odd},
             {"trust", "--revoke", odd + "/none"},
         }) {
        expect_json(each, false);
    }
}

} // namespace
} // namespace heddle::cli_test
