// Endpoints for batches over an HTTP client that is scripted to reply, and recorded exchanges.
#pragma once

#include "../provider_testing.hpp"

#include <heddle/providers/anthropic/batches.hpp>
#include <heddle/providers/gemini/batches.hpp>
#include <heddle/providers/openai/batches.hpp>
#include <heddle/providers/responses/batches.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::testing::batches {

using namespace std::chrono_literals;
using providers::batch_call;
using providers::batch_endpoint;
using providers::batch_receipt;
using providers::batch_response;
using providers::batch_state;
using providers::batch_status;
using providers::batch_submission;
namespace json = boost::json;

inline constexpr std::string_view key = "sk-0123456789abcdef";

inline std::string wire(const std::string& name) {
    return read_file(std::filesystem::path(heddle::test_paths::data_folder()) / "wire" / "batch" /
                     name);
}
inline json::object wire_object(const std::string& name) {
    return json::parse(wire(name)).as_object();
}

template <class Options>
Options with_key(std::string_view base = {}) {
    Options options;
    options.api_key = secret(std::string(key));
    options.retry.first_wait = 1ms;
    options.retry.max_retries = options.retry.max_rate_limit_retries = 2;
    options.retry.seed = 1;
    if (!base.empty()) options.base_url = base;
    return options;
}

/// By the name of the folder with its exchanges.
inline std::unique_ptr<batch_endpoint> make_endpoint(const std::string& service,
                                                     ports::http_port& http, log_port& log,
                                                     std::string_view base = {}) {
    using namespace providers;
    if (service == "openai")
        return make_openai_batches(http, with_key<openai::options>(base), log).value();
    if (service == "responses")
        return make_responses_batches(http, with_key<responses::options>(base), log).value();
    if (service == "anthropic")
        return make_anthropic_batches(http, with_key<anthropic::options>(base), log).value();
    return make_gemini_batches(http, with_key<gemini::options>(base), log).value();
}

struct fixture {
    explicit fixture(const std::string& service) : endpoint(make_endpoint(service, http, log)) {}

    result<batch_status> poll(std::string id) {
        return on.run(endpoint->poll(std::move(id), on.context()));
    }
    batch_receipt submit(batch_submission what) {
        return on.run(endpoint->submit(std::move(what), on.context()));
    }
    result<void> fetch(const batch_status& of) {
        return on.run(endpoint->fetch(
            of,
            [this](batch_response received) -> result<void> {
                responses.push_back(std::move(received));
                return {};
            },
            on.context()));
    }

    test_loop on;
    fake_http http;
    recording_log log;
    std::unique_ptr<batch_endpoint> endpoint;
    std::vector<batch_response> responses;
};

inline ports::chat_request question(std::string text, std::string model) {
    ports::chat_request request = user_request(std::move(text), std::move(model));
    request.max_output_tokens = 16;
    return request;
}

inline std::string header_of(const ports::http_request& request, std::string_view name) {
    for (const auto& each : request.headers)
        if (each.name == name) return each.value;
    return {};
}

/// Fails the test unless the head of `request` is the recorded one.
void expect_head(const ports::http_request& request, const json::object& recorded);

} // namespace heddle::testing::batches
