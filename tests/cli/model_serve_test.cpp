// `heddle model serve` as a process.
#include "child_process.hpp"
#include "scratch_directory.hpp"
#include "scripted_rules.hpp"

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace heddle::cli_test {
namespace {

class model_serve : public testing::Test {
protected:
    scratch_directory scratch;
    std::string rules = scratch.file("r.json", always_answering("served"));
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
    const auto ended = server.wait();
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
    const auto ended = server.wait();
    EXPECT_EQ(ended.code, 0);
    EXPECT_EQ(ended.err, "");
}

TEST_F(model_serve, ends_with_0_at_each_signal_that_asks_for_an_end) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        child_process server(heddle_command({"model", "serve", "--rules", rules}));
        ASSERT_TRUE(server.wait_for_out("/v1\n"));
        server.send_signal(signal);
        EXPECT_EQ(server.wait().code, 0) << signal;
    }
}

TEST_F(model_serve, writes_its_port_to_a_file) {
    const std::string port = scratch.path() + "/port";
    child_process server(
        heddle_command({"model", "serve", "--rules", rules, "--print-port", port}));
    ASSERT_TRUE(server.wait_for_out("/v1\n"));
    EXPECT_NE(server.out().find(":" + std::to_string(std::stoi(scratch.text_of("port"))) + "/v1"),
              std::string::npos);
}

TEST_F(model_serve, writes_its_port_to_a_pipe_that_stays_one) {
    const std::string pipe = scratch.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    child_process server(
        heddle_command({"model", "serve", "--rules", rules, "--print-port", pipe}));
    std::string port;
    std::ifstream(pipe) >> port; // waits for the writer
    ASSERT_TRUE(server.wait_for_out("/v1\n"));
    EXPECT_NE(server.out().find(":" + port + "/v1"), std::string::npos) << port;
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(model_serve, a_pipe_that_nobody_reads_is_an_error) {
    const std::string pipe = scratch.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto ended = run_heddle({"model", "serve", "--rules", rules, "--print-port", pipe});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("no program reads this pipe"), std::string::npos) << ended.err;
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(model_serve, ends_with_0_while_it_waits_for_a_reader) {
    const std::string pipe = scratch.path() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const int signal : {SIGINT, SIGTERM}) {
        child_process server(
            heddle_command({"model", "serve", "--rules", rules, "--print-port", pipe}));
        std::this_thread::sleep_for(milliseconds(1000)); // it gives up after two seconds, with 1
        server.send_signal(signal);
        const auto ended = server.wait();
        EXPECT_EQ(ended.code, 0) << ended.err;
        EXPECT_EQ(ended.out, "");
        EXPECT_NE(ended.err.find("served 0 requests"), std::string::npos) << ended.err;
    }
}

TEST_F(model_serve, follows_links_to_the_file_for_its_port) {
    namespace fs = std::filesystem;
    for (const bool there : {false, true}) {
        const std::string file = scratch.path() + "/file";
        fs::remove(file);
        if (there) {
            scratch.file("file", "before");
            fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
        }
        const std::string link = scratch.path() + "/link";
        fs::remove(link);
        fs::create_symlink("file", link);
        child_process server(
            heddle_command({"model", "serve", "--rules", rules, "--print-port", link}));
        ASSERT_TRUE(server.wait_for_out("/v1\n")) << server.err();
        EXPECT_TRUE(fs::is_symlink(link));
        EXPECT_GT(std::atoi(scratch.text_of("file").c_str()), 0);
        if (there) {
            EXPECT_EQ(fs::status(file).permissions(),
                      fs::perms::owner_read | fs::perms::owner_write);
        }
    }
}

TEST_F(model_serve, a_device_for_its_port_stays_one) {
    // What takes everything and what takes nothing, by names of the test's own.
    for (const unsigned minor_number : {3U, 7U}) {
        const std::string device = scratch.path() + "/device";
        std::filesystem::remove(device);
        if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(1, minor_number)) != 0) {
            GTEST_SKIP() << "no device can be made here";
        }
        if (std::FILE* const opened = std::fopen(device.c_str(), "w")) {
            std::fclose(opened);
        } else {
            GTEST_SKIP() << "no device can be used here";
        }
        child_process server(
            heddle_command({"model", "serve", "--rules", rules, "--print-port", device}));
        if (minor_number == 3U) {
            EXPECT_TRUE(server.wait_for_out("/v1\n"));
        } else {
            const auto ended = server.wait();
            EXPECT_EQ(ended.code, 1);
            EXPECT_NE(ended.err.find("No space left"), std::string::npos) << ended.err;
        }
        EXPECT_TRUE(std::filesystem::is_character_file(device));
    }
}

TEST_F(model_serve, a_folder_for_its_port_is_an_error) {
    const auto ended =
        run_heddle({"model", "serve", "--rules", rules, "--print-port", scratch.path()});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find(scratch.path() + ": is a directory"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("name a file in it"), std::string::npos) << ended.err;
}

TEST_F(model_serve, reports_its_address_as_json) {
    child_process server(heddle_command({"model", "serve", "--rules", rules, "--json"}));
    ASSERT_TRUE(server.wait_for_out("\n"));
    const auto reported = boost::json::parse(server.out()).as_object();
    EXPECT_EQ(reported.at("pid"), server.pid());
    EXPECT_GT(reported.at("port").as_int64(), 0);
    EXPECT_TRUE(reported.at("url").as_string().starts_with("http://127.0.0.1:"));
}

TEST_F(model_serve, refuses_addresses_that_others_reach_unless_set) {
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

TEST_F(model_serve, reports_the_mistakes_of_its_rules) {
    const auto wrong = scratch.file("wrong.json", "{\"rules\": [{\"match\": 5}]}");
    const auto ended = run_heddle({"model", "serve", "--rules", wrong});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find("rules[0].match"), std::string::npos) << ended.err;
}

} // namespace
} // namespace heddle::cli_test
