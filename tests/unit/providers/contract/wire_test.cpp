// Every recorded request is reproduced, every response is read as its index expects, by every
// codec.
#include "wire_samples.hpp"

#include <gtest/gtest.h>
#include <boost/json/serialize.hpp>

#include <cstdio>
#include <random>
#include <set>

namespace heddle::testing {
namespace {

namespace json = boost::json;
using ports::chat_response;
using ports::llm_errc;

/// What the suite has seen, reported at the end.
class wire_totals final : public ::testing::Environment {
public:
    void TearDown() override {
        if (adapters.empty()) return;
        std::printf(
            "wire contract: %zu adapters, %zu requests reproduced (%zu left out), "
            "%zu samples read in %zu ways, %zu damaged ones\n",
            adapters.size(), requests, left_out, samples, readings, damaged);
    }
    std::set<std::string> adapters;
    std::size_t requests = 0, left_out = 0, samples = 0, readings = 0, damaged = 0;
};

// The framework owns it.
auto* const totals =
    static_cast<wire_totals*>(::testing::AddGlobalTestEnvironment(new wire_totals));

class wire_contract : public ::testing::TestWithParam<wire_adapter> {
protected:
    void SetUp() override { totals->adapters.insert(adapter.name); }
    const wire_adapter& adapter = GetParam();
};

/// The headers as the samples write them: names in lower case, the key left out.
json::object shown_headers(const ports::http_headers& headers) {
    json::object seen;
    for (const auto& header : headers) {
        std::string value = header.value;
        if (const auto at = value.find(wire_key); at != std::string::npos) {
            EXPECT_TRUE(header.sensitive) << header.name << " shows the key in logs";
            value.replace(at, wire_key.size(), "<REDACTED>");
        }
        EXPECT_FALSE(seen.contains(header.name)) << header.name << " is sent twice";
        seen[header.name] = value;
    }
    return seen;
}

/// The request that a provider sends for a case. The responses are failures that may pass, until
/// the attempt that is wanted.
ports::http_request sent_for(const wire_adapter& adapter, const std::string& name,
                             const wire_case& wanted) {
    test_loop on;
    fake_http http;
    auto provider = adapter.make_provider(http, null_log(), name);
    for (std::uint32_t attempt = 1; attempt <= wanted.attempt; ++attempt) {
        fake_http::response broken;
        broken.ends_with = error(make_error_code(ports::http_errc::connection_reset), "reset")
                               .with_retryable(attempt < wanted.attempt);
        http.responses.push_back(std::move(broken));
    }
    if (wanted.ping) {
        EXPECT_FALSE(on.run(provider->list_models(on.context())));
    } else {
        const auto response = wanted.mode == providers::response_mode::whole
                                  ? on.run(provider->complete(wanted.request, on.context()))
                                  : on.run(provider->stream(wanted.request, nullptr, on.context()));
        EXPECT_FALSE(response);
        if (!response) {
            EXPECT_EQ(response.error().code(), make_error_code(llm_errc::connection))
                << response.error().message();
        }
    }
    EXPECT_EQ(http.requests.size(), wanted.attempt);
    return http.requests.empty() ? ports::http_request{} : std::move(http.requests.back());
}

TEST_P(wire_contract, every_recorded_request_is_reproduced) {
    std::set<std::string> left;
    const auto folder = wire_folder(adapter.requests) / "request";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        left.insert(entry.path().stem().string());
    }
    for (const auto& [name, why] : adapter.left_out) {
        EXPECT_EQ(left.erase(name), 1U) << name;
        EXPECT_FALSE(why.empty()) << name;
        ++totals->left_out;
    }
    for (const auto& [name, wanted] : adapter.cases) {
        SCOPED_TRACE(name);
        ASSERT_EQ(left.erase(name), 1U) << "there is no such recorded request";
        const json::value sample = json::parse(read_file(folder / (name + ".json")));
        const ports::http_request sent = sent_for(adapter, name, wanted);
        ASSERT_TRUE(sent.origin);
        EXPECT_EQ(sent.origin->name(), adapter.origin);
        EXPECT_EQ(sent.method, sample.at("method").as_string());
        EXPECT_EQ(sent.target, sample.at("path").as_string());
        EXPECT_EQ(shown_headers(sent.headers), sample.at("headers").as_object());
        const json::value& body = sample.at("body");
        if (body.is_string()) {
            EXPECT_EQ(sent.body, body.as_string());
        } else {
            EXPECT_EQ(json::parse(sent.body), body) << sent.body;
        }
        ++totals->requests;
    }
    EXPECT_TRUE(left.empty()) << "no case for " << *left.begin();
}

/// Whole, byte by byte, in pieces of random sizes, and cut in two at each place.
void read_in_all_ways(const wire_adapter& adapter, const wire_sample& sample) {
    const auto codec = adapter.make_codec();
    ++totals->samples;
    if (!codec->is_stream(sample.response)) {
        expect_as_said(adapter, sample, codec->decode(sample.response, wire_now));
        // Once more with the same codec: nothing may be left of the first response.
        expect_as_said(adapter, sample, codec->decode(sample.response, wire_now));
        totals->readings += 2;
        return;
    }
    const std::string& body = sample.response.body;
    const auto reads = [&](const std::function<std::size_t(std::size_t)>& next_cut) {
        expect_as_said(adapter, sample, read_pieces(*codec, body, next_cut));
        ++totals->readings;
    };
    reads([&](std::size_t) { return body.size(); });
    reads([](std::size_t at) { return at + 1; });
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        const std::size_t longest = 1 + random() % 400;
        reads([&](std::size_t at) { return at + 1 + random() % longest; });
    }
    const std::size_t step = 1 + body.size() / 2'000;
    for (std::size_t cut = 1; cut < body.size() && !::testing::Test::HasFailure(); cut += step) {
        reads([&](std::size_t at) { return at < cut ? cut : body.size(); });
    }
}

TEST_P(wire_contract, every_documented_response_is_read_as_its_index_specifies) {
    if (adapter.responses.empty()) GTEST_SKIP() << "no responses of its own";
    const auto samples = documented_samples(adapter.responses);
    EXPECT_FALSE(samples.empty());
    for (const wire_sample& sample : samples) {
        SCOPED_TRACE(sample.name);
        read_in_all_ways(adapter, sample);
    }
}

TEST_P(wire_contract, every_response_of_the_mock_is_read) {
    if (adapter.responses.empty()) GTEST_SKIP() << "no responses of its own";
    for (const wire_sample& sample : mock_samples(adapter.responses)) {
        SCOPED_TRACE(sample.name);
        const std::string stem = sample.name.substr(0, sample.name.rfind('.'));
        const auto known = adapter.cases.find(stem);
        const auto codec = adapter.make_codec();
        if (known != adapter.cases.end() && known->second.ping) {
            const auto models = codec->decode_ping(sample.response, wire_now);
            ASSERT_TRUE(models) << models.error().message();
            EXPECT_FALSE(models->empty());
            EXPECT_TRUE(std::is_sorted(models->begin(), models->end()));
            EXPECT_FALSE(
                codec->decode(sample.response, wire_now)); // a list is not a response to a chat
            ++totals->samples;
            ++totals->readings;
            continue;
        }
        if (adapter.left_out.contains(stem)) continue; // the response to no chat
        read_in_all_ways(adapter, sample);
    }
}

/// As a program sees it: through the provider, in the stream too, where a response that is not one
/// comes in pieces.
TEST_P(wire_contract, the_provider_passes_every_documented_response_on) {
    if (adapter.responses.empty()) GTEST_SKIP() << "no responses of its own";
    const ports::chat_request request = adapter.cases.begin()->second.request;
    for (wire_sample sample : documented_samples(adapter.responses)) {
        SCOPED_TRACE(sample.name);
        sample.expect.erase("wait_ms"); // a date is read in another year
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{17}, sample.response.body.size()}) {
            test_loop on;
            fake_http http;
            recording_log log;
            auto provider = adapter.make_provider(http, log, "");
            for (int attempt = 0; attempt < 2; ++attempt) {
                fake_http::response next;
                next.head_and_body = sample.response;
                next.piece = piece;
                if (sample.cut) {
                    next.ends_with =
                        error(make_error_code(ports::http_errc::connection_closed), "closed")
                            .with_retryable(true);
                }
                http.responses.push_back(std::move(next));
            }
            const coro::deadline soon(coro::clock::now() + std::chrono::milliseconds(500));
            const auto response =
                on.run(provider->stream(request, nullptr, on.context(nullptr, soon)));
            expect_as_said(adapter, sample, response);
            EXPECT_EQ(log.text.find(wire_key), std::string::npos);
            ++totals->readings;
        }
    }
}

/// Responses damaged at random end in a response or in an error of ours, and soon.
TEST_P(wire_contract, damaged_responses_are_survived) {
    if (adapter.responses.empty()) GTEST_SKIP() << "no responses of its own";
    std::mt19937 random(11);
    const auto codec = adapter.make_codec();
    for (wire_sample sample : documented_samples(adapter.responses)) {
        const std::string body = sample.response.body;
        const bool streamed = codec->is_stream(sample.response);
        for (int round = 0; round < 60; ++round) {
            std::string damaged = body;
            for (unsigned n = 1 + random() % 4; n > 0 && !damaged.empty(); --n) {
                const std::size_t at = random() % damaged.size();
                switch (random() % 4) {
                case 0: damaged[at] = static_cast<char>(random()); break;
                case 1: damaged.erase(at, random() % 40); break;
                case 2: damaged.insert(at, damaged.substr(random() % damaged.size(), 30)); break;
                default: damaged.resize(at); break;
                }
            }
            sample.response.body = damaged;
            const auto read =
                streamed ? read_pieces(*codec, damaged,
                                       [&](std::size_t at) { return at + 1 + random() % 64; })
                         : codec->decode(sample.response, wire_now);
            if (!read) {
                EXPECT_EQ(read.error().code().category(), ports::llm_category())
                    << read.error().message();
                EXPECT_LT(read.error().message().size(), 1'000U);
            }
            ++totals->damaged;
        }
    }
}

TEST_P(wire_contract, no_error_shows_the_key) {
    const auto codec = adapter.make_codec();
    const std::string key(wire_key);
    for (const int status :
         {200, 302, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529}) {
        for (const std::string& body :
             {key, "{\"error\":\"" + key + "\"}",
              R"({"type":"error","error":{"message":"you sent )" + key + R"(","type":")" + key +
                  R"(","code":")" + key + R"(","status":")" + key + "\"}}",
              "<html><title>" + key + "</title></html>"}) {
            ports::http_response response;
            response.status = status;
            response.headers = {
                {"content-type", "application/json"}, {"x-request-id", key}, {"request-id", key}};
            response.body = body;
            const auto read = codec->decode(response, wire_now);
            ASSERT_FALSE(read) << status << body;
            EXPECT_EQ(read.error().message().find(key), std::string::npos)
                << read.error().message();
            EXPECT_TRUE(read.error().message().starts_with(codec->provider_name()));
            const auto models = codec->decode_ping(response, wire_now);
            ASSERT_FALSE(models) << status << body;
            EXPECT_EQ(models.error().message().find(key), std::string::npos);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(providers, wire_contract, ::testing::ValuesIn(wire_adapters()),
                         [](const auto& one) { return one.param.name; });

} // namespace
} // namespace heddle::testing
