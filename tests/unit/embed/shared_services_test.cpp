// Services that the threads of a runtime share.
#include "embed_harness.hpp"

#include <counting_service.hpp>
#include <loopback_server.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heddle {
namespace {

using ::testing::HasSubstr;
using testing::loaded;
using testing::wait_for;

constexpr const char* asking = R"((defatom ask (params text) (instructions "Is it {{text}}?"))
(define (go text) (content (ask text))))";

TEST(services_of_a_runtime, keep_their_limits_over_all_threads) {
    loopback::counting_service service;
    const std::string keys =
        std::filesystem::temp_directory_path() / ("heddle-keys-" + std::to_string(::getpid()));
    runtime_options options;
    options.threads = 4;
    options.config_text = service.config("api_key_command = [\"sh\", \"-c\", \"echo run >> " +
                                         keys + "; echo sk-test-0123456789\"]\n");
    {
        runtime rt(options);
        const program flow = loaded(rt, asking);
        std::vector<std::future<result<answer>>> calls;
        for (int i = 0; i < 60; ++i)
            calls.push_back(flow.call("go", std::to_string(i), {}, boost::asio::use_future));
        for (auto& each : calls) {
            const auto ended = wait_for(std::move(each));
            ASSERT_TRUE(ended) << to_text(ended.error());
            EXPECT_EQ(ended->text(), "yes");
        }
        const runtime_stats stats = rt.stats();
        ASSERT_EQ(stats.threads.size(), 4U);
        for (const auto& each : stats.threads) EXPECT_GT(each.done, 0U) << "a thread had no call";
    }
    EXPECT_EQ(service.requests(), 60);
    EXPECT_LE(service.max_running(), 2);
    EXPECT_LE(service.connections(), 4); // a slow one may be replaced; without sharing 8
    std::ifstream noted(keys);
    const std::string runs((std::istreambuf_iterator<char>(noted)), {});
    EXPECT_EQ(runs, "run\n") << "the key is found once for all threads";
    std::filesystem::remove(keys);
}

constexpr const char* counting = "(define (count n) (length (range 1 n)))";

TEST(services_of_a_runtime, have_the_limits_of_their_configuration_unless_others_are_named) {
    runtime_options options;
    options.threads = 2;
    options.config_text = "step_limit = 1000\nmemory_limit = \"4MiB\"\n";
    const auto count = [](const runtime_options& wanted, int to, const call_options& by) {
        runtime rt(wanted);
        return testing::called(loaded(rt, counting), "count", to, by);
    };
    const auto bounded = count(options, 100'000, {});
    ASSERT_FALSE(bounded);
    EXPECT_THAT(to_text(bounded.error()), HasSubstr("step"));
    EXPECT_TRUE(count(options, 10, {}));
    EXPECT_TRUE(count(options, 5'000, {.step_limit = 10'000'000}));
    options.step_limit = 10'000'000;
    EXPECT_TRUE(count(options, 5'000, {}));
}

TEST(services_of_a_runtime, are_not_started_for_options_under_which_no_call_could_run) {
    runtime_options options;
    options.max_running = 0;
    const auto refused = runtime::create(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), errc::invalid_argument);
    EXPECT_THAT(refused.error().message(), HasSubstr("max_running"));
}

TEST(services_of_a_runtime, are_not_asked_for_calls_that_are_cancelled_in_mid_run) {
    std::atomic<int> open{0};
    loopback::server silent([&](loopback::connection& peer, int) {
        ++open;
        while (!peer.read_request().empty()) {} // never answers
        --open;
    });
    runtime_options options;
    options.threads = 3;
    options.config_text = "model = \"near:m\"\n[providers.near]\ntype = \"ollama\"\nbase_url = \"" +
                          silent.url() + "\"\n";
    std::vector<std::future<result<answer>>> calls;
    {
        runtime rt(options);
        const program flow = loaded(rt, asking);
        for (int i = 0; i < 30; ++i)
            calls.push_back(flow.call("go", std::to_string(i), {}, boost::asio::use_future));
        ASSERT_TRUE(testing::comes_true([&] { return open == 30; }));
    } // ends all of them
    for (auto& each : calls) {
        const auto ended = wait_for(std::move(each));
        ASSERT_FALSE(ended);
        EXPECT_TRUE(ended.error().is_cancelled()) << to_text(ended.error());
    }
    EXPECT_TRUE(testing::comes_true([&] { return open == 0; }));
}

} // namespace
} // namespace heddle
