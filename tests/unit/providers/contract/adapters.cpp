#include "adapters.hpp"

#include <heddle/http/client.hpp>
#include <heddle/providers/anthropic/provider.hpp>
#include <heddle/providers/gemini/provider.hpp>
#include <heddle/providers/ollama/provider.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/provider.hpp>
#include <heddle/scripted/provider.hpp>
#include <heddle/scripted/server.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace heddle::testing {

namespace {

namespace scripted = scripted;
using namespace std::chrono_literals;

std::shared_ptr<scripted::engine> load(std::string_view rules) {
    auto parsed = scripted::engine::parse(rules, "rules.json");
    if (!parsed) throw std::runtime_error(parsed.error().message());
    return *parsed;
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
        : port_(scripted::make_provider(load(rules), {"model", retries_of(retries)}, log)) {}
    ports::llm_port& port() override { return *port_; }
    void finish() override {}

private:
    std::unique_ptr<ports::llm_port> port_;
};

/// Makes a provider whose options have the usual members.
template <class Options, class Make>
std::unique_ptr<ports::llm_port> connect(ports::http_port& http, std::string base_url,
                                         std::string key, unsigned retries, adapter_run& run,
                                         Options options, Make make) {
    options.name = "model";
    options.base_url = std::move(base_url);
    options.api_key = secret(std::move(key));
    options.retry = retries_of(retries);
    auto port = make(http, std::move(options), run.log);
    if (!port) throw std::runtime_error(port.error().message());
    return *std::move(port);
}

using connector = std::function<std::unique_ptr<ports::llm_port>(
    ports::http_port& http, const scripted::server& server, std::string key, unsigned retries,
    adapter_run& run)>;

/// The same rules behind the HTTP server, called through the real client and a provider.
class served_run final : public adapter_run {
public:
    served_run(std::string_view rules, unsigned retries, const connector& make) {
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

        port_ = make(*http_, *server_, std::string(key) + "\n", retries, *this);
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

adapter served(std::string name, connector make, adapter_traits traits) {
    adapter result;
    result.name = std::move(name);
    result.start = [make = std::move(make)](std::string_view rules, unsigned retries) {
        return std::unique_ptr<adapter_run>(std::make_unique<served_run>(rules, retries, make));
    };
    result.traits = traits;
    return result;
}

/// The address that comes before the version.
std::string bare_url(const scripted::server& server) {
    return "http://127.0.0.1:" + std::to_string(server.port());
}

adapter openai_adapter() {
    return served("openai",
                  [](ports::http_port& http, const scripted::server& server, std::string key,
                     unsigned retries, adapter_run& run) {
                      return connect(http, server.base_url() + "/", std::move(key), retries, run,
                                     providers::openai::options{}, providers::make_openai_provider);
                  },
                  {});
}

adapter responses_adapter() {
    return served("responses",
                  [](ports::http_port& http, const scripted::server& server, std::string key,
                     unsigned retries, adapter_run& run) {
                      return connect(http, server.base_url(), std::move(key), retries, run,
                                     providers::responses::options{},
                                     providers::make_responses_provider);
                  },
                  {});
}

adapter anthropic_adapter(providers::anthropic::api_version version, std::string name) {
    adapter_traits traits;
    traits.filter_is_refusal = true;
    traits.keeps_everything = false;
    return served(
        std::move(name),
        [version](ports::http_port& http, const scripted::server& server, std::string key,
                  unsigned retries, adapter_run& run) {
            providers::anthropic::options options;
            options.version = version;
            return connect(http, bare_url(server), std::move(key), retries, run, std::move(options),
                           providers::make_anthropic_provider);
        },
        traits);
}

adapter gemini_adapter(providers::gemini::api_version version, std::string name) {
    adapter_traits traits;
    traits.refusal_is_filter = true;
    traits.keeps_everything = false;
    return served(
        std::move(name),
        [version](ports::http_port& http, const scripted::server& server, std::string key,
                  unsigned retries, adapter_run& run) {
            providers::gemini::options options;
            options.version = version;
            return connect(http, bare_url(server), std::move(key), retries, run, std::move(options),
                           providers::make_gemini_provider);
        },
        traits);
}

adapter ollama_adapter() {
    adapter_traits traits;
    traits.gives_ids = traits.reports_quota = traits.reports_refusals = traits.keeps_everything =
        false;
    return served(
        "ollama",
        [](ports::http_port& http, const scripted::server& server, std::string key,
           unsigned retries, adapter_run& run) {
            // As OLLAMA_HOST has it.
            return connect(http, "127.0.0.1:" + std::to_string(server.port()), std::move(key),
                           retries, run, providers::ollama::options{},
                           providers::make_ollama_provider);
        },
        traits);
}

} // namespace

std::vector<adapter> all_adapters() {
    using providers::anthropic::api_version;
    return {
        {"scripted",
         [](std::string_view rules, unsigned retries) {
             return std::unique_ptr<adapter_run>(std::make_unique<scripted_run>(rules, retries));
         },
         {}},
        openai_adapter(),
        responses_adapter(),
        anthropic_adapter(api_version::v2026_10_21, "anthropic"),
        anthropic_adapter(api_version::v2023_06_01, "anthropic_2023"),
        gemini_adapter(providers::gemini::api_version::v1, "gemini"),
        gemini_adapter(providers::gemini::api_version::v1beta, "gemini_beta"),
        ollama_adapter()};
}

} // namespace heddle::testing
