// The server over real sockets, spoken to byte by byte.
#include "../provider_testing.hpp"

#include <heddle/scripted/server.hpp>

#include <gtest/gtest.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <hang_guard.hpp>

namespace heddle::testing {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
namespace scripted = scripted;
using namespace std::chrono_literals;
using boost::system::error_code;
using socket_type = asio::basic_stream_socket<asio::ip::tcp, coro::executor>;

constexpr std::string_view rules = R"json({"models":["one","two"],"rules":[
    {"match":"slow (\\d+)","template":"slow {{1}}","delay_ms":40},
    {"match":"forever","text":"x","delay_ms":600000},
    {"match":"busy","error":{"status":429,"code":"rate_limit_exceeded","message":"Slow \"down\".","retry_after":1.2}}],
    "default":{"template":"You said: {{user}}"}})json";

std::shared_ptr<scripted::engine> load() {
    auto parsed = scripted::engine::parse(rules, "rules.json");
    if (!parsed) throw std::runtime_error(parsed.error().message());
    return *parsed;
}

/// A client that knows nothing of HTTP.
class client {
public:
    client(test_loop& on, std::uint16_t port) : on_(on), socket_(on.io.get_executor()) {
        socket_.connect({asio::ip::address_v4::loopback(), port});
    }
    void send(std::string text) { on_.run(write(*this, std::move(text))); }
    /// Reads until `done` returns true or the server ends the connection.
    std::string read(std::function<bool(const std::string&)> done) {
        return on_.run(read_until(*this, std::move(done)));
    }
    std::string read_all() {
        return read([](const std::string&) { return false; });
    }
    void close() { socket_.close(); }

private:
    // The client stays until each has ended: run() waits.
    static coro::task<bool> write(client& self, std::string text) {
        error_code ec;
        co_await asio::async_write(self.socket_, asio::buffer(text),
                                   asio::redirect_error(coro::use_task, ec));
        co_return !ec;
    }
    static coro::task<std::string> read_until(client& self,
                                              std::function<bool(const std::string&)> done) {
        std::string seen;
        std::vector<char> block(64 * 1024);
        while (!done(seen)) {
            error_code ec;
            const std::size_t count = co_await self.socket_.async_read_some(
                asio::buffer(block), asio::redirect_error(coro::use_task, ec));
            seen.append(block.data(), count);
            if (ec) break;
        }
        co_return seen;
    }

    test_loop& on_;
    socket_type socket_;
};

class scripted_server : public ::testing::Test {
protected:
    void start(scripted::server_options options = {}) {
        auto result = scripted::server::listen(load(), std::move(options), on.loop, log);
        ASSERT_TRUE(result) << result.error().message();
        server = *std::move(result);
        coro::spawn(on.loop, serve(*server, on.context(&stop), ended), [](std::exception_ptr) {});
    }
    void TearDown() override {
        if (!server) return;
        stop.request(cancel_reason::shutdown);
        wait_for_end();
        EXPECT_EQ(server->counters().open_connections, 0U);
        EXPECT_EQ(server->counters().in_flight, 0U);
    }
    void wait_for_end() {
        ASSERT_TRUE(wait_until([&] { return ended.has_value(); }));
        EXPECT_TRUE(*ended);
    }
    /// Lets the server work until `done`.
    bool wait_until(const std::function<bool()>& done) {
        return hang_guard::comes_true([&] {
            on.io.run_one_for(10ms);
            return done();
        });
    }
    std::string exchange(std::string request) {
        client one(on, server->port());
        one.send(std::move(request));
        return one.read_all();
    }

    static coro::task<void> serve(scripted::server& server, coro::call_context context,
                                  std::optional<result<void>>& ended) {
        ended = co_await server.serve(context);
    }

    test_loop on;
    recording_log log;
    coro::cancel_source stop;
    std::unique_ptr<scripted::server> server;
    std::optional<result<void>> ended;
};

std::string chat(std::string_view prompt, std::string_view more = "",
                 std::string_view fields = "") {
    const std::string body = R"({"model":"m","messages":[{"role":"user","content":")" +
                             std::string(prompt) + "\"}]" + std::string(more) + "}";
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + std::string(fields) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string closing(std::string_view prompt, std::string_view more = "") {
    return chat(prompt, more, "Connection: close\r\n");
}

json::value body_of(const std::string& response) {
    const std::size_t end = response.find("\r\n\r\n");
    return json::parse(response.substr(end == std::string::npos ? 0 : end + 4));
}

std::size_t count(const std::string& text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

/// Two responses to the same request may be of different seconds.
std::string without_date(std::string response) {
    const std::size_t at = response.find("Date: ");
    if (at != std::string::npos) response.erase(at, response.find("\r\n", at) + 2 - at);
    return response;
}

TEST_F(scripted_server, answers_in_the_format_of_openai) {
    start();
    const std::string response = exchange(closing("hi"));
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_NE(response.find("Connection: close\r\n"), std::string::npos);
    const json::value body = body_of(response);
    EXPECT_EQ(body.at("object"), "chat.completion");
    EXPECT_EQ(body.at("model"), "m");
    EXPECT_EQ(body.at("choices").at(0).at("message").at("content"), "You said: hi");
    EXPECT_EQ(body.at("usage").at("total_tokens"), 4);
    EXPECT_TRUE(log.text.empty());
}

TEST_F(scripted_server, errors_have_the_shape_and_the_headers_of_openai) {
    start();
    const std::string busy = exchange(closing("busy"));
    EXPECT_TRUE(busy.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
    EXPECT_NE(busy.find("Retry-After: 2\r\nRetry-After-Ms: 1200\r\n"), std::string::npos);
    EXPECT_EQ(body_of(busy).at("error"), (json::value{{"message", "Slow \"down\"."},
                                                      {"type", "rate_limit_error"},
                                                      {"param", nullptr},
                                                      {"code", "rate_limit_exceeded"}}));
    for (const char* body :
         {"", "{", "[]", "{}", R"({"model":"m"})", R"({"model":"m","messages":[]})",
          R"({"model":"m","messages":[1]})", R"({"model":"m","messages":[{"role":"x"}]})",
          R"({"model":"m","messages":[{"role":"user","content":5}]})"}) {
        const std::string response = exchange(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: "
            "close\r\nContent-Length: " +
            std::to_string(std::string_view(body).size()) + "\r\n\r\n" + body);
        EXPECT_TRUE(response.starts_with("HTTP/1.1 400 ")) << body;
        EXPECT_EQ(body_of(response).at("error").at("type"), "invalid_request_error") << body;
        const json::value shown = body_of(response);
        const std::string message(shown.at("error").at("message").as_string());
        EXPECT_EQ(message.find("answer"), std::string::npos) << message; // it is none
    }
    const std::string wrong = exchange(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        "Content-Length: 4\r\n\r\nnone");
    EXPECT_EQ(body_of(wrong).at("error").at("message"), "the request: the body is not JSON: none");
}

TEST_F(scripted_server, other_paths) {
    start();
    const auto get = [&](const std::string& target, const std::string& method = "GET") {
        return exchange(method + " " + target +
                        " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    };
    EXPECT_EQ(body_of(get("/v1/models")).at("data").at(1).at("id"), "two");
    EXPECT_EQ(body_of(get("/models/one")).at("id"), "one");
    EXPECT_TRUE(get("/v1/models/three").starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(get("/health").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(get("/v1/embeddings").starts_with("HTTP/1.1 404 "));
    EXPECT_TRUE(get("/v1/chat/completions").starts_with("HTTP/1.1 405 "));
    EXPECT_TRUE(get("/v1/models", "DELETE").starts_with("HTTP/1.1 405 "));
}

TEST_F(scripted_server, a_response_to_head_has_no_body) {
    start();
    for (const char* target : {"/health", "/v1/models", "/models/one", "/v1/chat/completions",
                               "/v1/models/three", "/v1/embeddings"}) {
        SCOPED_TRACE(target);
        const std::string rest = std::string(" ") + target + " HTTP/1.1\r\nHost: x\r\n";
        const std::string got = exchange("GET" + rest + "Connection: close\r\n\r\n");
        // What comes behind it on the connection is the next response.
        const std::string both =
            exchange("HEAD" + rest + "\r\nGET" + rest + "Connection: close\r\n\r\n");
        const std::size_t end = both.find("\r\n\r\n");
        ASSERT_NE(end, std::string::npos);
        EXPECT_EQ(without_date(both.substr(end + 4)), without_date(got));
        // With the fields that GET has.
        std::string head = both.substr(0, end + 4);
        const std::size_t close = got.find("Connection: close");
        ASSERT_NE(close, std::string::npos);
        head.insert(close, "Connection: close\r\n");
        EXPECT_EQ(without_date(head), without_date(got.substr(0, got.find("\r\n\r\n") + 4)));
    }
    // Also where the request is refused before it is whole.
    const std::string refused = exchange("HEAD /health HTTP/1.1\r\nExpect: more\r\n\r\n");
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 417 "));
    EXPECT_TRUE(refused.ends_with("\r\n\r\n"));
    EXPECT_EQ(count(refused, "\r\n\r\n"), 1U);
    // And where nothing of it is parsed.
    const std::vector<std::pair<std::string, std::string>> unread{
        {"HEAD /" + std::string(100'000, 'x'), "414"},
        {"HEAD /health HTTP/2.0\r\nHost: x\r\n\r\n", "505"},
        {"\r\nHEAD /health HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", "400"}};
    for (const auto& [request, status] : unread) {
        const std::string got = exchange(request);
        EXPECT_TRUE(got.starts_with("HTTP/1.1 " + status + " ")) << got;
        EXPECT_TRUE(got.ends_with("\r\n\r\n")) << got;
        EXPECT_EQ(count(got, "\r\n\r\n"), 1U) << got;
    }
}

TEST_F(scripted_server, a_required_key_is_asked_for) {
    scripted::server_options options;
    options.required_key = secret("the-key");
    start(std::move(options));
    EXPECT_TRUE(exchange(closing("hi")).starts_with("HTTP/1.1 401 "));
    EXPECT_TRUE(exchange(chat("hi", "", "Connection: close\r\nAuthorization: Bearer the-kez\r\n"))
                    .starts_with("HTTP/1.1 401 "));
    EXPECT_TRUE(exchange(chat("hi", "", "Connection: close\r\nAuthorization: Bearer the-key\r\n"))
                    .starts_with("HTTP/1.1 200 "));
}

TEST_F(scripted_server, pipelined_requests_are_answered_in_their_order) {
    start();
    client one(on, server->port());
    one.send(chat("slow 1") + chat("2") + chat("busy") + chat("slow 4") + closing("5") +
             chat("never answered"));
    const std::string responses = one.read_all();
    std::size_t at = 0;
    for (const char* wanted : {"slow 1", "You said: 2", "Slow \\\"down", "slow 4", "You said: 5"}) {
        at = responses.find(wanted, at);
        EXPECT_NE(at, std::string::npos) << wanted;
    }
    EXPECT_EQ(count(responses, "HTTP/1.1 "), 5U);
    EXPECT_EQ(server->counters().requests, 5U);
    EXPECT_EQ(server->counters().connections, 1U);
}

TEST_F(scripted_server, a_request_may_come_byte_by_byte) {
    start();
    client one(on, server->port());
    for (int round = 0; round < 2; ++round) {
        for (const char c : chat("tiny")) one.send(std::string(1, c));
        EXPECT_NE(one.read([](const std::string& seen) { return seen.ends_with("}}}"); })
                      .find("You said: tiny"),
                  std::string::npos);
    }
}

TEST_F(scripted_server, big_and_chunked_bodies_and_waiting_clients) {
    start();
    const std::string prompt(3'000'000, 'x');
    EXPECT_NE(exchange(closing(prompt)).find("You said: " + prompt), std::string::npos);

    client one(on, server->port());
    one.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: "
        "100-continue\r\n\r\n");
    EXPECT_EQ(one.read([](const std::string& seen) { return seen.ends_with("\r\n\r\n"); }),
              "HTTP/1.1 100 Continue\r\n\r\n");
    one.send("1b\r\n{\"model\":\"m\",\"messages\":[{\"\r\n");
    one.send("21\r\nrole\":\"user\",\"content\":\"parts\"}]}\r\n0\r\n\r\n");
    EXPECT_NE(one.read([](const std::string& seen) { return seen.ends_with("}}}"); })
                  .find("You said: parts"),
              std::string::npos);
}

TEST_F(scripted_server, streams_as_openai_does) {
    start();
    const std::string response = exchange(closing(
        "a b c d e f g h i j", R"(,"stream":true,"stream_options":{"include_usage":true})"));
    EXPECT_NE(response.find("Content-Type: text/event-stream"), std::string::npos);
    EXPECT_NE(response.find("Transfer-Encoding: chunked"), std::string::npos);
    EXPECT_NE(response.find("data: [DONE]\n\n\r\n0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(count(response, "\"usage\":{"), 1U);
    EXPECT_EQ(count(exchange(closing("a", ",\"stream\":true")), "\"usage\":{"), 0U);
    const std::string failed = exchange(closing("busy", ",\"stream\":true"));
    EXPECT_TRUE(failed.starts_with("HTTP/1.1 429 "));
    std::string old = closing("old", ",\"stream\":true");
    old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
    const std::string plain = exchange(old);
    EXPECT_EQ(plain.find("chunked"), std::string::npos);
    EXPECT_TRUE(plain.ends_with("data: [DONE]\n\n"));
}

TEST_F(scripted_server, what_is_wrong_or_too_large_is_refused_and_the_connection_closed) {
    scripted::server_options options;
    options.max_header_bytes = 1000;
    options.max_body_bytes = 100;
    start(std::move(options));
    const std::string nonsense = exchange("nonsense\r\n\r\n");
    EXPECT_TRUE(nonsense.starts_with("HTTP/1.1 400 "));
    EXPECT_EQ(body_of(nonsense).at("error").at("type"), "invalid_request_error");
    EXPECT_TRUE(exchange("GET /" + std::string(2000, 'x')).starts_with("HTTP/1.1 431 "));
    EXPECT_TRUE(exchange(chat(std::string(200, 'x'))).starts_with("HTTP/1.1 413 "));
}

TEST_F(scripted_server, silent_clients_are_let_go) {
    scripted::server_options options;
    options.idle = 30ms;
    options.receive = 30ms;
    start(std::move(options));
    EXPECT_EQ(exchange(""), "");
    EXPECT_TRUE(exchange("GET / HTT").starts_with("HTTP/1.1 408 "));
    EXPECT_TRUE(wait_until([&] { return server->counters().open_connections == 0; }));
}

TEST_F(scripted_server, a_client_that_leaves_ends_its_response) {
    start();
    client one(on, server->port());
    one.send(chat("forever"));
    ASSERT_TRUE(wait_until([&] { return server->counters().in_flight == 1; }));
    one.close();
    EXPECT_TRUE(wait_until([&] { return server->counters().open_connections == 0; }));
}

TEST_F(scripted_server, stop_lets_responses_under_way_finish_and_closes_the_rest) {
    start();
    client idle(on, server->port());
    client busy(on, server->port());
    busy.send(chat("slow 7"));
    ASSERT_TRUE(wait_until([&] {
        return server->counters().in_flight == 1 && server->counters().open_connections == 2;
    }));
    stop.request(cancel_reason::user);
    const std::string response = busy.read_all();
    EXPECT_NE(response.find("slow 7"), std::string::npos);
    EXPECT_NE(response.find("Connection: close"), std::string::npos);
    EXPECT_EQ(idle.read_all(), "");
    wait_for_end();
    EXPECT_EQ(server->counters().open_connections, 0U);
}

TEST_F(scripted_server, stop_waits_no_longer_than_the_time_to_drain) {
    scripted::server_options options;
    options.drain = 20ms;
    start(std::move(options));
    client one(on, server->port());
    one.send(chat("forever"));
    ASSERT_TRUE(wait_until([&] { return server->counters().in_flight == 1; }));
    server->stop();
    wait_for_end();
    EXPECT_EQ(one.read_all(), "");
}

TEST_F(scripted_server, deadline_and_early_stop_end_serving) {
    auto result = scripted::server::listen(load(), {}, on.loop, log);
    ASSERT_TRUE(result);
    EXPECT_TRUE(
        on.run((*result)->serve(on.context(nullptr, coro::deadline(coro::clock::now() + 10ms)))));
    auto second = scripted::server::listen(load(), {}, on.loop, log);
    ASSERT_TRUE(second);
    (*second)->stop();
    EXPECT_TRUE(on.run((*second)->serve(on.context())));
}

TEST_F(scripted_server, more_connections_than_allowed_wait_their_turn) {
    scripted::server_options options;
    options.max_connections = 3;
    start(std::move(options));
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(std::make_unique<client>(on, server->port()));
        clients.back()->send(closing("slow " + std::to_string(i)));
    }
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(
            clients[static_cast<std::size_t>(i)]->read_all().find("slow " + std::to_string(i)),
            std::string::npos);
    }
    EXPECT_EQ(server->counters().max_open_connections, 3U);
    EXPECT_EQ(server->counters().requests, 10U);
}

TEST_F(scripted_server, a_thousand_slow_responses_at_once) {
    start();
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 1000; ++i) {
        clients.push_back(std::make_unique<client>(on, server->port()));
        clients.back()->send(closing("slow " + std::to_string(i)));
    }
    for (int i = 0; i < 1000; ++i) {
        EXPECT_NE(
            clients[static_cast<std::size_t>(i)]->read_all().find("slow " + std::to_string(i)),
            std::string::npos);
    }
    EXPECT_EQ(server->counters().requests, 1000U);
}

TEST_F(scripted_server, only_loopback_unless_set) {
    scripted::server_options options;
    options.address = "0.0.0.0";
    const auto refused = scripted::server::listen(load(), options, on.loop, log);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), make_error_code(errc::invalid_argument));
    options.reach = scripted::exposure::any_address;
    EXPECT_TRUE(scripted::server::listen(load(), options, on.loop, log));
    options.address = "localhost";
    EXPECT_FALSE(scripted::server::listen(load(), options, on.loop, log));
    scripted::server_options fixed;
    const auto first = scripted::server::listen(load(), fixed, on.loop, log);
    ASSERT_TRUE(first);
    EXPECT_EQ((*first)->base_url(), "http://127.0.0.1:" + std::to_string((*first)->port()) + "/v1");
    fixed.port = (*first)->port();
    const auto taken = scripted::server::listen(load(), fixed, on.loop, log);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code(), make_error_code(errc::io_error));
}

} // namespace
} // namespace heddle::testing
