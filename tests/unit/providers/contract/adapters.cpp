#include "adapters.hpp"

#include <heddle/http/client.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/scripted/provider.hpp>
#include <heddle/providers/scripted/server.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace heddle::testing {

namespace {

namespace scripted = providers::scripted;
using namespace std::chrono_literals;

std::shared_ptr<scripted::engine> load(std::string_view rules) {
    auto made = scripted::engine::parse(rules, "rules.json");
    if (!made) throw std::runtime_error(made.error().message());
    return *made;
}

providers::retry_options retries_of(unsigned retries) {
    providers::retry_options options;
    options.max_retries = options.max_rate_limit_retries = retries;
    options.first_wait = 2ms;
    options.seed = 1;
    return options;
}

/// The rules in the same process.
class scripted_run final : public adapter_run {
public:
    scripted_run(std::string_view rules, unsigned retries)
        : port_(providers::make_scripted_provider(load(rules), {"model", retries_of(retries)},
                                                  on.loop, log)) {}
    ports::llm_port& port() override { return *port_; }
    void finish() override {}

private:
    std::unique_ptr<ports::llm_port> port_;
};

/// The same rules behind the HTTP server, called through the real client and the openai provider.
class openai_run final : public adapter_run {
public:
    openai_run(std::string_view rules, unsigned retries) {
        scripted::server_options served;
        served.required_key = secret(std::string(key));
        served.drain = 100ms;
        auto server = scripted::server::listen(load(rules), std::move(served), on.loop, log);
        if (!server) throw std::runtime_error(server.error().message());
        server_ = *std::move(server);
        coro::spawn(on.loop, serve(*server_, on.context(), served_), [](std::exception_ptr) {});
        http::http_client_options client;
        client.log = &log;
        http_ = http::make_http_client(on.loop, client);

        providers::openai::options options;
        options.name = "model";
        options.base_url = server_->base_url() + "/";
        options.api_key = secret(std::string(key) + "\n");
        options.retry = retries_of(retries);
        auto port = providers::make_openai_provider(*http_, std::move(options), on.loop, log);
        if (!port) throw std::runtime_error(port.error().message());
        port_ = *std::move(port);
    }

    ports::llm_port& port() override { return *port_; }

    void finish() override {
        EXPECT_EQ(http_->counters().in_flight, 0U);
        on.run(close(*http_));
        EXPECT_EQ(http_->counters().open_connections, 0U);
        server_->stop();
        while (!served_ && on.io.run_one() != 0) {}
        ASSERT_TRUE(served_);
        EXPECT_TRUE(*served_);
        EXPECT_EQ(server_->counters().open_connections, 0U);
        EXPECT_EQ(log.text.find(key), std::string::npos) << "the key was logged";
    }

private:
    static constexpr std::string_view key = "key-that-nobody-may-see";

    // Both stay: finish() waits for the end.
    static coro::task<void> serve(scripted::server& server, coro::call_context context,
                                  std::optional<result<void>>& ended) {
        ended = co_await server.serve(context);
    }
    static coro::task<bool> close(ports::http_port& http) {
        co_await http.close();
        co_return true;
    }

    std::unique_ptr<scripted::server> server_;
    std::optional<result<void>> served_;
    std::shared_ptr<ports::http_port> http_;
    std::unique_ptr<ports::llm_port> port_;
};

} // namespace

std::vector<adapter> all_adapters() {
    return {
        {"scripted",
         [](std::string_view rules, unsigned retries) {
             return std::unique_ptr<adapter_run>(std::make_unique<scripted_run>(rules, retries));
         }},
        {"openai", [](std::string_view rules, unsigned retries) {
             return std::unique_ptr<adapter_run>(std::make_unique<openai_run>(rules, retries));
         }}};
}

} // namespace heddle::testing
