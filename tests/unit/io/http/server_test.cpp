// The server over real sockets: what it responds.
#include "server_fixture.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <regex>

namespace heddle::http {
namespace {

TEST_F(http_server, responds_whole) {
    start();
    const std::string seen = exchange(get("/hello"));
    EXPECT_TRUE(std::regex_match(
        seen, std::regex("HTTP/1\\.1 200 OK\r\n"
                         "Date: (Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d\\d [A-Z][a-z][a-z] \\d{4} "
                         "\\d\\d:\\d\\d:\\d\\d GMT\r\n"
                         "Content-Type: text/plain\r\nContent-Length: 2\r\n"
                         "Connection: close\r\n\r\nhi")))
        << seen;
    EXPECT_EQ(body_of(exchange(post("/echo?x=1", "abc"))), "/echo|abc|127.0.0.1");
    EXPECT_EQ(log.text(), "");
    EXPECT_EQ(counters().requests, 2U);
}

TEST_F(http_server, keeps_connections_and_reads_pipelined_requests_one_after_the_other) {
    start();
    const raw_client client(port);
    for (int i = 0; i < 3; ++i) {
        client.send(get("/hello", ""));
        EXPECT_TRUE(client.read_until("\r\n\r\nhi").ends_with("\r\n\r\nhi")) << i;
    }
    client.send(post("/echo", "1", "") + post("/echo", "2", "") + get("/stream", "") +
                post("/echo", "3"));
    const std::string seen = client.read_all();
    const std::size_t one = seen.find("|1|");
    const std::size_t two = seen.find("|2|");
    const std::size_t streamed = seen.find("data: 2");
    const std::size_t three = seen.find("|3|");
    EXPECT_TRUE(one < two && two < streamed && streamed < three && three != seen.npos) << seen;
    EXPECT_EQ(counters().connections, 1U);
}

TEST_F(http_server, streams_in_chunks) {
    start();
    for (const char* path : {"/stream", "/stream?explicit"}) {
        const std::string seen = exchange(get(path));
        EXPECT_NE(seen.find("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"),
                  seen.npos);
        EXPECT_EQ(body_of(seen),
                  "9\r\ndata: 0\n\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n");
    }
    // HTTP/1.0 knows no chunks: the end is that of the connection.
    const std::string old = exchange("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(old.find("chunked"), old.npos);
    EXPECT_NE(old.find("Connection: close\r\n"), old.npos);
    EXPECT_EQ(body_of(old), "data: 0\n\ndata: 1\n\ndata: 2\n\n");
    EXPECT_EQ(body_of(exchange(get("/unfinished"))), "0\r\n\r\n");
}

TEST_F(http_server, methods_and_paths_without_a_handler) {
    start();
    const std::string none = exchange(get("/none"));
    EXPECT_EQ(status_of(none), 404);
    EXPECT_EQ(body_of(none),
              R"({"error":{"status":404,"message":"there is nothing at this path"}})");
    const std::string other = exchange(post("/hello", ""));
    EXPECT_EQ(status_of(other), 405);
    EXPECT_NE(other.find("Allow: GET, HEAD, OPTIONS\r\n"), other.npos) << other;
    const std::string options =
        exchange("OPTIONS /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(status_of(options), 204);
    EXPECT_NE(options.find("Allow: POST, OPTIONS\r\n"), options.npos);
    EXPECT_EQ(options.find("Content-Length"), options.npos);
    EXPECT_EQ(status_of(exchange(get("/files/a/b"))), 200);
    EXPECT_EQ(status_of(exchange(get("/files"))), 404);
}

TEST_F(http_server, a_head_has_no_body) {
    start();
    for (const char* path : {"/hello", "/stream", "/none", "/nothing"}) {
        const std::string seen = exchange("HEAD " + std::string(path) +
                                          " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        EXPECT_NE(status_of(seen), 0) << path;
        EXPECT_EQ(body_of(seen), "") << path;
    }
    const std::string seen =
        exchange("HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_NE(seen.find("Content-Length: 2\r\n"), seen.npos);
}

TEST_F(http_server, asks_for_the_body_that_a_client_holds_back) {
    start();
    const raw_client client(port);
    client.send(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
        "Connection: close\r\n\r\n");
    EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ab");
    EXPECT_EQ(body_of(client.read_all()), "/echo|ab|127.0.0.1");
}

TEST_F(http_server, handlers_that_fail) {
    start();
    for (const char* path : {"/nothing", "/throws"}) {
        const std::string seen = exchange(get(path, ""));
        EXPECT_EQ(status_of(seen), 500);
        EXPECT_NE(seen.find("Connection: close\r\n"), seen.npos);
        EXPECT_EQ(body_of(seen), R"({"error":{"status":500,"message":"internal error"}})");
    }
    EXPECT_EQ(log.text(),
              "a handler failed: it sent no response\n"
              "a handler failed: a secret of the server\n");
    // The end is missing, and the client can see so.
    EXPECT_EQ(body_of(exchange(get("/breaks", ""))), "4\r\nhalf\r\n");
    EXPECT_EQ(status_of(exchange(get("/hello"))), 200);
}

TEST_F(http_server, pieces_that_are_put_go_out_together) {
    start();
    const raw_client client(port);
    client.send(get("/together", ""));
    // One write of the server is one read here.
    const std::string seen = client.read_some();
    EXPECT_EQ(body_of(seen), "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    client.send(get("/hello"));
    EXPECT_EQ(body_of(client.read_all()), "hi");
    EXPECT_EQ(log.text(), "");
}

TEST_F(http_server, a_handler_can_abandon_its_response) {
    start();
    EXPECT_EQ(body_of(exchange(get("/cut", ""))), "4\r\nhalf\r\n");
    // The client may see the end before the handler has noted the reason.
    EXPECT_TRUE(soon([&] { return reason == cancel_reason::user; }));
    EXPECT_EQ(exchange(get("/silent", "")), "");
    EXPECT_EQ(exchange(get("/silent", "") + get("/hello")), "");
    EXPECT_EQ(log.text(), "");
    EXPECT_EQ(status_of(exchange(get("/hello"))), 200);
}

TEST_F(http_server, an_api_has_its_own_format_for_what_the_server_refuses) {
    server_options options;
    options.refusal_body = [](std::string_view path, int status, std::string_view message) {
        return std::string(path) + "[" + std::to_string(status) + ",\"" + std::string(message) +
               "\"]";
    };
    options.before_body = [](const server_request& request) {
        return request.path() == "/echo" ? early_refusal{403, "not here"} : early_refusal{};
    };
    options.max_connections_per_client = 1;
    start(std::move(options));
    const auto body = [&](std::string_view request) {
        const std::string seen = exchange(request);
        EXPECT_TRUE(soon([&] { return counters().open_connections == 0; }));
        return body_of(seen);
    };
    EXPECT_EQ(body("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), "[505,\"the HTTP version is not 1.1\"]");
    EXPECT_EQ(body("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"),
              "/echo[403,\"not here\"]");
    EXPECT_EQ(body(get("/nothing")), "/nothing[500,\"internal error\"]");
    const raw_client first(port);
    ASSERT_TRUE(soon([&] { return counters().open_connections == 1; }));
    EXPECT_EQ(body_of(raw_client(port).read_all()),
              "[429,\"there are too many connections from your address\"]");
}

TEST_F(http_server, a_field_cannot_begin_another_one) {
    start();
    const std::string seen = exchange(get("/injects"));
    EXPECT_NE(seen.find("X-Note: a  Set-Cookie: b\r\n"), seen.npos) << seen;
}

TEST_F(http_server, a_network_of_ipv6_is_one_client) {
    namespace asio = boost::asio;
    boost::system::error_code none;
    asio::io_context here;
    asio::ip::tcp::acceptor probe(here);
    const asio::ip::tcp::endpoint loopback(asio::ip::address_v6::loopback(), 0);
    probe.open(loopback.protocol(), none);
    if (!none) probe.bind(loopback, none);
    if (none) GTEST_SKIP() << "this machine has no IPv6";
    server_options options;
    options.address = "::1";
    start(options);
    asio::ip::tcp::socket client(here);
    client.connect({loopback.address(), port});
    asio::write(client, asio::buffer(get("/client")));
    std::string seen;
    asio::read(client, asio::dynamic_buffer(seen), none);
    EXPECT_EQ(body_of(seen), "::/64");
    client.close();
    end();
}

TEST_F(http_server, an_address_of_ipv4_is_one_client) {
    start();
    EXPECT_EQ(body_of(exchange(get("/client"))), "127.0.0.1");
}

TEST_F(http_server, cancels_the_handler_of_a_client_that_hangs_up) {
    start();
    for (int i = 0; i < 3; ++i) {
        raw_client client(port);
        client.send(get("/wait", ""));
        ASSERT_TRUE(soon([&] { return waiting == i + 1; }));
        if (i == 0) client.close();
        else if (i == 1) client.reset();
        else client.end_sending();
        ASSERT_TRUE(soon([&] { return cancelled == i + 1; }));
        EXPECT_EQ(reason, cancel_reason::user);
    }
}

// The end that came together with the request was seen before its handler began.
TEST_F(http_server, responds_to_a_client_that_has_ended_its_side) {
    start();
    for (const int requests : {1, 2}) {
        raw_client client(port);
        std::string all;
        for (int i = 0; i < requests; ++i) all += get("/hello", "");
        client.send(all);
        client.end_sending();
        const std::string text = client.read_all();
        std::size_t found = 0;
        for (std::size_t at = text.find("HTTP/1.1 200"); at != text.npos;
             at = text.find("HTTP/1.1 200", at + 1))
            ++found;
        EXPECT_EQ(found, static_cast<std::size_t>(requests)) << text;
    }
}

TEST_F(http_server, notices_the_end_behind_a_request_that_was_sent_ahead) {
    start();
    raw_client client(port);
    client.send(get("/wait", "") + get("/hello", ""));
    ASSERT_TRUE(soon([&] { return waiting == 1; }));
    client.send(post("/echo", std::string(20'000, 'x'), ""));
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(cancelled, 0);
    client.close();
    EXPECT_TRUE(soon([&] { return cancelled == 1; }));
}

TEST_F(http_server, takes_a_client_that_sends_far_ahead_as_gone) {
    start();
    raw_client client(port);
    client.send(get("/wait", ""));
    ASSERT_TRUE(soon([&] { return waiting == 1; }));
    client.send(post("/echo", std::string(120'000, 'x'), ""));
    EXPECT_TRUE(soon([&] { return cancelled == 1; }));
}

TEST_F(http_server, asks_whether_a_body_is_welcome_before_it_comes) {
    server_options options;
    std::atomic<int> asked{0};
    options.before_body = [&](const server_request& request) {
        ++asked;
        EXPECT_EQ(request.path(), "/echo");
        EXPECT_TRUE(request.body.empty());
        if (request.field("x-key") == "often") return early_refusal{429, "wait", 7s};
        return request.field("x-key") == "yes" ? early_refusal{} : early_refusal{401, "no key"};
    };
    start(std::move(options));
    const std::string header = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n";
    const std::string refused = exchange(header + "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(refused.substr(0, 12), "HTTP/1.1 401");
    EXPECT_NE(refused.find("no key"), refused.npos);
    EXPECT_EQ(refused.find("100 Continue"), refused.npos);
    EXPECT_NE(refused.find("WWW-Authenticate: Bearer\r\n"), refused.npos);
    EXPECT_EQ(refused.find("Retry-After"), refused.npos);
    EXPECT_EQ(asked, 1);
    const std::string later = exchange(header + "X-Key: often\r\n\r\n");
    EXPECT_NE(later.find("Retry-After: 7\r\n"), later.npos) << later;
    EXPECT_EQ(asked, 2);
    raw_client welcome(port);
    welcome.send(header + "X-Key: yes\r\nConnection: close\r\n\r\n");
    ASSERT_TRUE(soon([&] { return asked == 3; }));
    welcome.send("abcde");
    EXPECT_TRUE(soon([&] { return counters().requests == 1; }));
}

TEST_F(http_server, many_clients_that_hang_up_at_once) {
    start();
    constexpr int count = 200;
    std::vector<std::unique_ptr<raw_client>> clients;
    for (int i = 0; i < count; ++i) {
        clients.push_back(std::make_unique<raw_client>(port));
        clients.back()->send(get("/wait", ""));
    }
    ASSERT_TRUE(soon([&] { return waiting == count; }));
    EXPECT_EQ(counters().in_progress, static_cast<std::size_t>(count));
    clients.clear();
    EXPECT_TRUE(soon([&] { return cancelled == count; }));
    EXPECT_TRUE(soon([&] { return counters().open_connections == 0; }));
}

TEST_F(http_server, a_slow_reader_holds_the_handler_back) {
    server_options options;
    options.write_time = 60s;
    start(options);
    raw_client client(port, 16 * 1024);
    client.send(get("/endless"));
    ASSERT_TRUE(soon([&] { return written > 0; }));
    // The buffers of the system fill, and then nothing is written any more.
    std::size_t before = 0;
    ASSERT_TRUE(soon([&] {
        const std::size_t now = written;
        std::this_thread::sleep_for(50ms);
        before = now;
        return written == before;
    }));
    EXPECT_LT(before, 64U * 1024 * 1024);
    EXPECT_EQ(cancelled, 0);
    for (int i = 0; i < 1000 && written == before; ++i) EXPECT_FALSE(client.read_some().empty());
    EXPECT_GT(written, before);
    client.close();
    EXPECT_TRUE(soon([&] { return cancelled == 1; }));
    EXPECT_EQ(reason, cancel_reason::user);
}

TEST(http_server_options, what_cannot_be_opened) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    const auto listen = [&](server_options options) {
        return server::listen(std::move(options), {}, loop, null_log());
    };
    server_options options;
    options.address = "localhost";
    EXPECT_EQ(listen(options).error().code(), make_error_code(errc::invalid_argument));
    options.address = "127.0.0.1";
    auto first = listen(options);
    ASSERT_TRUE(first);
    EXPECT_EQ((*first)->url(), "http://127.0.0.1:" + std::to_string((*first)->port()));
    options.port = (*first)->port();
    const auto second = listen(options);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code(), make_error_code(errc::io_error));
    EXPECT_NE(second.error().message().find("cannot listen on 127.0.0.1:"), std::string::npos);
}

} // namespace
} // namespace heddle::http
