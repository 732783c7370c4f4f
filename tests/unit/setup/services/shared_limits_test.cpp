// The limits that heddle.toml states hold for an account: for all services that share it, and all
// models.

#include <heddle/http/client.hpp>
#include <heddle/providers/common/call_gate.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/services/configured_services.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include <unistd.h>

namespace heddle::setup {
namespace {

/// A file of the user's, and the services that come of it.
class shared_limits : public ::testing::Test {
protected:
    shared_limits() {
        std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder = std::filesystem::canonical(name);
        variables.openai_api_key = secret("sk-0123456789");
        variables.openai_base_url = "http://127.0.0.1:9/v1";
    }
    ~shared_limits() override { std::filesystem::remove_all(folder); }

    void configure(const std::string& text) {
        const std::string file = (folder / "heddle.toml").string();
        std::ofstream(file) << text;
        auto found = find_config({file, folder.string(), std::nullopt, nullptr});
        ASSERT_TRUE(found) << found.error().message();
        settings = *std::move(found);
        services = configured_services(
            settings, std::nullopt,
            {*http, loop, null_log(), limiters, variables, settings, 0, nullptr});
        for (const auto& each : services) EXPECT_TRUE(each.provider) << each.name;
    }
    std::size_t accounts() const {
        std::size_t count = 0;
        limiters.for_each([&](std::string_view, const auto&) { ++count; });
        return count;
    }
    /// How many calls of some models go at once.
    std::size_t at_once() {
        const auto gate = limiters.gate_for("http://127.0.0.1:9", secret("sk-0123456789"), {});
        ports::chat_request request;
        providers::call_demand demand;
        demand.request = &request;
        demand.input_tokens = 10;
        std::vector<providers::call_permit> held;
        for (int i = 0; i < 200; ++i) {
            request.model = "m" + std::to_string(i % 5);
            if (auto permit = gate->try_acquire(demand)) held.push_back(std::move(permit));
        }
        return held.size();
    }

    std::filesystem::path folder;
    environment variables;
    configuration settings;
    boost::asio::io_context io{1};
    coro::event_loop loop{io};
    std::shared_ptr<ports::http_port> http = http::make_http_client(loop);
    providers::limiter_set limiters{loop};
    std::vector<configured_service> services;
};

TEST_F(shared_limits, the_service_that_needs_no_configuration_has_those_of_its_account) {
    configure("[providers.mine]\ntype = \"openai\"\nmax_in_flight = 2\n");
    EXPECT_EQ(services.size(), 2U); // openai itself as well
    EXPECT_EQ(accounts(), 1U);
    EXPECT_EQ(at_once(), 2U);
}

TEST_F(shared_limits, the_stricter_of_two_services_holds_whichever_is_first) {
    const std::string one = "[providers.aa]\ntype = \"openai\"\n";
    const std::string other = "[providers.zz]\ntype = \"openai\"\n";
    configure(one + "max_in_flight = 7\n" + other + "max_in_flight = 3\n");
    EXPECT_EQ(at_once(), 3U);
}

TEST_F(shared_limits, of_each_measure) {
    configure(
        "[providers.aa]\ntype = \"openai\"\nrequests_per_minute = 60\ninput_tokens_per_minute = "
        "300\n"
        "[providers.zz]\ntype = \"openai\"\nrequests_per_minute = 600\n"
        "input_tokens_per_minute = 6000\n");
    EXPECT_EQ(at_once(), 5U); // 50 tokens in ten seconds
}

TEST_F(shared_limits, an_address_is_the_same_however_it_is_written) {
    for (const char* url :
         {"http://127.0.0.1:9/v1/", "HTTP://127.0.0.1:9/v1", "http://127.0.0.1:9"}) {
        configure(
            std::string("[providers.zz]\ntype = \"openai\"\nmax_in_flight = 4\nbase_url = \"") +
            url + "\"\n");
        EXPECT_EQ(accounts(), 1U) << url;
        EXPECT_EQ(at_once(), 4U) << url;
    }
}

} // namespace
} // namespace heddle::setup
