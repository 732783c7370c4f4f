// A stream that falls silent, over real sockets: the idle limit ends it, and what came is kept.
#include "../provider_testing.hpp"

#include <heddle/http/client.hpp>
#include <heddle/providers/openai/provider.hpp>
#include <heddle/scripted/engine.hpp>
#include <heddle/scripted/server.hpp>

#include <gtest/gtest.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;
namespace scripted = scripted;

// Both stay: the test waits for the end.
coro::task<void> serve(scripted::server& server, coro::call_context context,
                       std::optional<result<void>>& ended) {
    ended = co_await server.serve(context);
}
coro::task<bool> close(ports::http_port& http) {
    co_await http.close();
    co_return true;
}

TEST(silence_in_a_stream, ends_it_by_the_idle_limit_and_keeps_the_text) {
    test_loop on;
    auto rules = scripted::engine::parse(
        R"({"default":{"text":"one two three four five six seven eight","piece_ms":60000}})",
        "rules.json");
    ASSERT_TRUE(rules) << rules.error().message();
    scripted::server_options served;
    served.drain = 50ms;
    auto server = scripted::server::listen(*rules, std::move(served), on.loop, null_log());
    ASSERT_TRUE(server);
    std::optional<result<void>> ended;
    coro::spawn(on.loop, serve(**server, on.context(), ended), [](std::exception_ptr) {});
    const auto http = http::make_http_client(on.loop, {});

    providers::openai::options options;
    options.base_url = (*server)->base_url();
    options.limits.idle = 100ms;
    options.retry.first_wait = 1ms;
    auto port = providers::make_openai_provider(*http, std::move(options), null_log());
    ASSERT_TRUE(port);
    std::string handed_out;
    const ports::chat_delta_sink sink = [&](std::string_view text) -> result<void> {
        handed_out += text;
        return {};
    };
    const ports::chat_request request = user_request("x");
    const auto response = on.run((*port)->stream(request, sink, on.context()));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code(), make_error_code(ports::llm_errc::request_timeout));
    ASSERT_TRUE(response.error().info().cause);
    EXPECT_EQ(response.error().info().cause->code(),
              make_error_code(ports::http_errc::idle_timeout));
    const auto kept =
        std::dynamic_pointer_cast<const ports::partial_response>(response.error().info().payload);
    ASSERT_TRUE(kept);
    EXPECT_FALSE(handed_out.empty());
    EXPECT_EQ(kept->so_far.text, handed_out);
    EXPECT_EQ((*server)->counters().requests, 1U) << "a stream was begun again after its text";
    EXPECT_EQ(http->counters().open_connections, 0U) << "a silent connection was kept";

    on.run(close(*http));
    (*server)->stop();
    while (!ended && on.io.run_one() != 0) {}
    EXPECT_TRUE(ended);
}

} // namespace
} // namespace heddle::testing
