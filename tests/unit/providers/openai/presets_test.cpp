#include "../provider_testing.hpp"

#include <heddle/base/url.hpp>
#include <heddle/providers/openai/presets.hpp>

#include "common/base_url.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

namespace openai = providers::openai;

TEST(openai_presets, are_found_by_any_spelling) {
    for (const char* name : {"llama.cpp", "llamacpp", "Llama-CPP", "llama_cpp"}) {
        const openai::preset* found = openai::find_preset(name);
        ASSERT_TRUE(found) << name;
        EXPECT_EQ(found->base_url, "http://127.0.0.1:8080/v1");
    }
    for (const char* name : {"", "llama", "llama.cpp2", "gpt", "-"}) {
        EXPECT_FALSE(openai::find_preset(name)) << name;
    }
}

TEST(openai_presets, every_one_makes_a_provider) {
    test_loop on;
    fake_http http;
    std::string_view before;
    for (const openai::preset& one : openai::presets()) {
        SCOPED_TRACE(one.name);
        EXPECT_LT(before, one.name); // sorted, none twice
        before = one.name;
        EXPECT_EQ(openai::find_preset(one.name), &one);
        const auto url = providers::parse_base_url(one.base_url);
        ASSERT_TRUE(url);
        EXPECT_EQ(url->secure, !one.local);
        EXPECT_EQ(is_loopback_host(url->host), one.local);
        EXPECT_EQ(one.key_variable.empty(), one.local);

        openai::options options = openai::options_of(one);
        if (!one.local) options.api_key = secret("a-key-for-tests");
        recording_log log;
        const auto opened = providers::make_openai_provider(http, std::move(options), log);
        ASSERT_TRUE(opened) << opened.error().message();
        EXPECT_EQ((*opened)->provider_name(), one.name);
        EXPECT_EQ(log.text, "");
        http.reply(200, R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]})");
        EXPECT_TRUE(on.run((*opened)->complete(user_request("x"), on.context())));
        EXPECT_TRUE(http.requests.back().target.ends_with("/chat/completions"));
    }
}

TEST(openai_presets, are_all_in_the_reference) {
    const std::string page = read_file(source_file("docs/reference/providers.md"));
    for (const openai::preset& one : openai::presets()) {
        std::string row = "| `" + std::string(one.name) + "` | `" + std::string(one.base_url);
        row +=
            one.key_variable.empty() ? "` |  |" : "` | `" + std::string(one.key_variable) + "` |";
        EXPECT_NE(page.find(row), std::string::npos) << row;
    }
}

TEST(openai_presets, mistral_speaks_a_dialect_of_its_own) {
    test_loop on;
    fake_http http;
    openai::options options = openai::options_of(*openai::find_preset("mistral"));
    options.api_key = secret("a-key-for-tests");
    const auto opened =
        providers::make_openai_provider(http, std::move(options), null_log()).value();
    ports::chat_request request = user_request("x");
    request.seed = 7;
    request.max_output_tokens = 9;
    http.reply(200, "data: [DONE]\n\n", {{"content-type", "text/event-stream"}});
    EXPECT_TRUE(on.run(opened->stream(request, nullptr, on.context())));
    const boost::json::value body = boost::json::parse(http.requests[0].body);
    EXPECT_EQ(body.at("random_seed"), 7);
    EXPECT_EQ(body.at("max_tokens"), 9);
    EXPECT_FALSE(body.as_object().contains("seed"));
    EXPECT_FALSE(body.as_object().contains("stream_options")); // it refuses what it does not know
}

} // namespace
} // namespace heddle::testing
