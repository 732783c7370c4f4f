// A receiver of deltas that is busy holds back the service, over real sockets.
#include "../provider_testing.hpp"

#include <heddle/http/client.hpp>
#include <heddle/providers/openai/provider.hpp>

#include <loopback_runner.hpp>
#include <loopback_server.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <atomic>

#include <sys/socket.h>

namespace heddle::testing {
namespace {

using namespace std::chrono_literals;

constexpr int pieces = 12'000;
constexpr std::size_t piece_size = 1000; // of text

/// As `(stream …)` has it: closed while much waits for its receiver.
class full_buffer final : public ports::flow_gate {
public:
    [[nodiscard]] bool open() const noexcept override { return waiting_.size() < 64 * 1024; }
    void add(std::string_view text) { waiting_ += text; }
    [[nodiscard]] std::size_t size() const noexcept { return waiting_.size(); }
    [[nodiscard]] std::string take() {
        std::string taken = std::exchange(waiting_, {});
        report_open();
        return taken;
    }

private:
    std::string waiting_;
};

std::string text_of(int number) {
    std::string text = std::to_string(number) + " ";
    text.resize(piece_size, '.');
    return text;
}

void serve(loopback::connection& peer, std::atomic<int>& sent) {
    const int small = 64 * 1024;
    ::setsockopt(peer.descriptor(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    while (!peer.read_request().empty()) {
        (void)peer.send(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            "connection: close\r\n\r\n");
        for (int i = 0; i < pieces; ++i) {
            if (!peer.send(R"(data: {"choices":[{"index":0,"delta":{"content":")" + text_of(i) +
                           "\"}}]}\n\n"))
                return;
            sent = i + 1;
        }
        (void)peer.send(
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
            "\n\ndata: [DONE]\n\n");
        peer.half_close();
    }
}

struct stand {
    stand() : server([this](loopback::connection& peer, int) { serve(peer, sent); }) {
        http = http::make_http_client(on.loop, {});
        providers::openai::options options;
        options.base_url = server.url();
        options.limits.idle = 400ms;
        options.retry.max_retries = 0;
        port = providers::make_openai_provider(*http, std::move(options), null_log()).value();
        request.gate = &buffer;
    }
    ~stand() { on.run(http->close()); }

    static coro::task<void> run(stand* all) {
        ports::chat_delta_sink sink = [all](std::string_view text) -> result<void> {
            all->buffer.add(text);
            return {};
        };
        result<ports::chat_response> ended = co_await all->port->stream(
            all->request, std::move(sink), all->on.context(&all->cancel));
        all->response.emplace(std::move(ended));
    }
    void begin() {
        coro::spawn(on.loop, run(this), [](std::exception_ptr) {});
    }
    template <class Condition>
    bool wait_for(Condition condition) {
        return hang_guard::comes_true([&] {
            on.turn();
            return condition();
        });
    }

    loopback::runner on;
    std::atomic<int> sent{0};
    coro::cancel_source cancel;
    full_buffer buffer;
    ports::chat_request request = user_request("x");
    std::optional<result<ports::chat_response>> response;
    loopback::server server;
    std::shared_ptr<ports::http_port> http;
    std::unique_ptr<ports::llm_port> port;
};

TEST(stream_back_pressure, reaches_the_service_and_loses_nothing) {
    stand with;
    with.begin();
    ASSERT_TRUE(with.wait_for([&] { return !with.buffer.open(); }));
    const auto longer_than_idle = coro::clock::now() + 900ms;
    ASSERT_TRUE(with.wait_for([&] { return coro::clock::now() > longer_than_idle; }));
    EXPECT_FALSE(with.response);
    EXPECT_LE(with.buffer.size(), 128U * 1024U); // one read above the mark at most
    EXPECT_LT(with.sent, pieces / 2);
    std::string text;
    ASSERT_TRUE(with.wait_for([&] {
        if (!with.buffer.open() || with.response) text += with.buffer.take();
        return with.response.has_value();
    }));
    ASSERT_TRUE(*with.response) << with.response->error().message();
    text += with.buffer.take();
    std::string wanted;
    for (int i = 0; i < pieces; ++i) wanted += text_of(i);
    EXPECT_TRUE(text == wanted) << text.size();
    EXPECT_TRUE((*with.response)->text == wanted);
}

TEST(stream_back_pressure, ends_with_cancellation) {
    stand with;
    with.begin();
    ASSERT_TRUE(with.wait_for([&] { return !with.buffer.open(); }));
    with.cancel.request(cancel_reason::user);
    ASSERT_TRUE(with.wait_for([&] { return with.response.has_value(); }));
    ASSERT_FALSE(*with.response);
    EXPECT_EQ(with.response->error().cancelled_because(), cancel_reason::user);
    EXPECT_EQ(with.http->counters().open_connections, 0U);
}

TEST(stream_back_pressure, is_asked_for_by_streams_only) {
    test_loop on;
    fake_http http;
    recording_log log;
    providers::openai::options options;
    options.api_key = secret("sk-0123456789abcdef");
    options.retry.max_retries = 1;
    options.retry.first_wait = 1ms;
    const auto port = providers::make_openai_provider(http, options, log).value();
    full_buffer buffer;
    ports::chat_request request = user_request("x");
    request.gate = &buffer;
    http.reply(503, "{}");
    http.reply(400, "{}");
    const ports::chat_delta_sink sink = [](std::string_view) { return result<void>(); };
    EXPECT_FALSE(on.run(port->stream(request, sink, on.context())));
    http.reply(400, "{}");
    EXPECT_FALSE(on.run(port->complete(request, on.context())));
    ASSERT_EQ(http.requests.size(), 3U);
    EXPECT_EQ(http.requests[0].gate, &buffer);
    EXPECT_EQ(http.requests[1].gate, &buffer); // each try
    EXPECT_EQ(http.requests[2].gate, nullptr);
}

} // namespace
} // namespace heddle::testing
