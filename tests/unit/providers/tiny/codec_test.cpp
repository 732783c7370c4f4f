// The adapter that docs/contributing/adding-a-provider.md builds: it works, and the page shows it.
#include "codec.hpp"

#include "../provider_testing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::testing {
namespace {

using ports::llm_errc;

struct fixture {
    test_loop on;
    fake_http http;
    std::unique_ptr<providers::http_chat_provider> port;
    ports::chat_request request = user_request("hello", "small");
    std::string pieces;

    fixture() {
        providers::tiny::options options;
        options.api_key = secret("a-key-for-tests");
        options.retry.first_wait = std::chrono::milliseconds(1);
        port = providers::make_tiny_provider(http, std::move(options), null_log()).value();
    }
    result<ports::chat_response> complete() {
        return on.run(port->complete(request, on.context()));
    }
    result<ports::chat_response> stream() {
        const ports::chat_delta_sink sink = [this](std::string_view text) -> result<void> {
            pieces += text;
            return {};
        };
        return on.run(port->stream(request, sink, on.context()));
    }
};

TEST(tiny_codec, a_call_there_and_back) {
    fixture with;
    with.http.reply(503, R"({"fault":{"kind":"busy","text":"later"}})");
    with.http.reply(200, R"({"answer":"hi","tokens":{"in":2,"out":1}})");
    const auto response = with.complete();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "hi");
    EXPECT_EQ(response->attempts, 2U);
    EXPECT_EQ(response->usage.value().input, 2);
    EXPECT_EQ(with.http.requests[0].target, "/v1/ask");
    EXPECT_EQ(with.http.requests[0].body, R"({"model":"small","prompt":"hello"})");
    EXPECT_TRUE(with.http.requests[0].headers[0].sensitive);
}

TEST(tiny_codec, a_stream_whole_cut_and_broken) {
    const std::vector<std::pair<std::string, std::string>> type = {
        {"content-type", "text/event-stream"}};
    fixture with;
    with.http.reply(200,
                    "data: {\"piece\":\"h\"}\n\ndata: {\"piece\":\"i\"}\n\n"
                    "data: {\"over\":true,\"tokens\":{\"in\":2,\"out\":1}}\n\n",
                    type);
    with.http.responses.back().piece = 3;
    const auto response = with.stream();
    ASSERT_TRUE(response) << response.error().message();
    EXPECT_EQ(response->text, "hi");
    EXPECT_EQ(with.pieces, "hi");

    with.http.reply(200, "data: {\"piece\":\"h\"}\n\n", type);
    const auto cut = with.stream();
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().code(), make_error_code(llm_errc::connection));
    with.http.reply(
        200, "data: {\"piece\":\"h\"}\n\ndata: {\"fault\":{\"kind\":\"x\",\"text\":\"no\"}}\n\n",
        type);
    const auto broken = with.stream();
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code(), make_error_code(llm_errc::server));
}

TEST(tiny_codec, errors_models_and_what_it_cannot_take) {
    fixture with;
    with.http.reply(401, R"({"fault":{"kind":"key","text":"wrong key a-key-for-tests"}})");
    const auto refused = with.complete();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(),
              "tiny: authentication failed (HTTP 401, key): wrong key [hidden]");
    with.request.tools.push_back({"t", "", "", true});
    EXPECT_EQ(with.complete().error().code(), make_error_code(llm_errc::invalid_request));
    with.http.reply(200, R"({"models":[{"name":"b"},{"name":"a"}]})");
    const auto models = with.on.run(with.port->list_models(with.on.context()));
    ASSERT_TRUE(models);
    EXPECT_EQ(*models, (std::vector<std::string>{"a", "b"}));
}

TEST(tiny_adapter, makes_a_provider_of_common_settings) {
    const providers::service_adapter& adapter = providers::tiny_adapter();
    providers::service_settings settings;
    settings.name = "mine";
    settings.base_url = adapter.base_url;
    settings.api_key = secret("a-key-for-tests");
    settings.retry.max_retries = 0;
    fixture with;
    with.port = adapter.make(with.http, std::move(settings), null_log()).value();
    EXPECT_EQ(with.port->provider_name(), "mine");
    with.http.reply(503, R"({"fault":{"kind":"busy","text":"later"}})");
    EXPECT_FALSE(with.complete());
    ASSERT_EQ(with.http.requests.size(), 1U) << "the settings allow no retry";
    EXPECT_EQ(with.http.requests[0].target, "/v1/ask");
}

TEST(service_adapters, are_those_of_all_folders) {
    std::vector<std::string_view> types;
    for (const providers::service_adapter* each : providers::service_adapters()) {
        types.push_back(each->type);
        EXPECT_TRUE(each->make) << each->type;
        EXPECT_FALSE(each->base_url.empty()) << each->type;
    }
    EXPECT_EQ(types,
              (std::vector<std::string_view>{"anthropic", "gemini", "ollama", "openai-responses"}));
}

/// Each ```cpp block of the page is a part of the sources that were tested above.
TEST(tiny_codec, is_what_the_page_shows) {
    const std::string page = read_file(source_file("docs/contributing/adding-a-provider.md"));
    std::string sources;
    for (const char* name : {"codec.hpp", "codec.cpp", "adapter.cpp"})
        sources += read_file(source_file("tests/unit/providers/tiny") / name);
    constexpr std::string_view opening = "```cpp\n";
    int blocks = 0;
    for (std::size_t at = page.find(opening); at != std::string::npos;
         at = page.find(opening, at)) {
        at += opening.size();
        const std::size_t end = page.find("```", at);
        ASSERT_NE(end, std::string::npos);
        const std::string block = page.substr(at, end - at);
        EXPECT_NE(sources.find(block), std::string::npos) << block;
        ++blocks;
    }
    EXPECT_GE(blocks, 4);
}

} // namespace
} // namespace heddle::testing
