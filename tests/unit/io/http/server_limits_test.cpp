// The server against clients that are slow, greedy or hostile, and its end.
#include "server_fixture.hpp"

#include <hang_guard.hpp>
#include <sanitizers.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>

namespace heddle::http {
namespace {

coro::task<void> serve_alone(server& of) { // NOLINT(*-avoid-reference-coroutine-parameters)
    const result<void> ended = co_await of.serve({});
    EXPECT_TRUE(ended);
}

TEST_F(http_server, refuses_what_is_malformed_or_too_large) {
    server_options options;
    options.max_header_bytes = 1000;
    options.max_target_bytes = 200;
    options.max_fields = 10;
    options.max_body_bytes = 100;
    start(options);
    const auto expect = [&](int status, const std::string& text) {
        const std::string seen = exchange(text);
        EXPECT_EQ(status_of(seen), status) << text << seen;
        EXPECT_NE(seen.find("Connection: close\r\n"), seen.npos) << text;
        EXPECT_TRUE(body_of(seen).starts_with("{\"error\":{\"status\":" + std::to_string(status)))
            << seen;
    };
    expect(400, "hello\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\n\r\n");
    expect(400, "GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n");
    expect(400, post("/echo", "a", "Transfer-Encoding: chunked\r\n"));
    expect(400, std::string("\x16\x03\x01\x02", 4) + "\r\n\r\n"); // TLS to a plain port
    expect(413, post("/echo", std::string(101, 'x')));
    expect(413, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx");
    expect(414, get("/" + std::string(300, 'x')));
    expect(414, get("/" + std::string(200, 'x')));
    expect(431, get("/", "A: " + std::string(2000, 'x') + "\r\n"));
    std::string many;
    for (int i = 0; i < 11; ++i) many += "A: b\r\n";
    expect(431, get("/", many));
    expect(417, get("/", "Expect: a miracle\r\n"));
    expect(501, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n");
    expect(505, "GET / HTTP/2.0\r\nHost: x\r\n\r\n");
    EXPECT_EQ(counters().refused, 14U);
    EXPECT_EQ(counters().requests, 0U);
    EXPECT_EQ(status_of(exchange(get("/" + std::string(199, 'x'), "Connection: close\r\n"))), 404);
}

TEST_F(http_server, a_client_that_still_sends_sees_why_it_was_refused) {
    server_options options;
    options.max_body_bytes = 100;
    start(options);
    const raw_client client(port);
    client.send(post("/echo", std::string(600'000, 'x')));
    EXPECT_EQ(status_of(client.read_all()), 413);
}

TEST_F(http_server, slow_requests_end) {
    server_options options;
    options.header_time = 60ms;
    options.body_time = 60ms;
    options.idle = 60ms;
    start(options);
    const raw_client header(port);
    const raw_client body(port);
    const raw_client idle(port);
    const raw_client drips(port);
    header.send("GET /hello HTTP/1.1\r\n");
    body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
    idle.send(get("/hello", ""));
    // A byte now and then does not keep it going, however long.
    drips.send("GET / HTTP/1.1\r\nHost: ");
    EXPECT_TRUE(soon([&] { return !drips.send("x"); }));
    EXPECT_EQ(status_of(drips.read_all()), 408);
    const std::string late = header.read_all();
    EXPECT_EQ(status_of(late), 408);
    EXPECT_NE(late.find("the header came too slowly"), late.npos);
    EXPECT_NE(body.read_all().find("the body came too slowly"), std::string::npos);
    EXPECT_EQ(body_of(idle.read_all()), "hi");  // and then the end
    EXPECT_EQ(raw_client(port).read_all(), ""); // one that never sends anything
}

TEST_F(http_server, a_reader_that_stops_is_cut_off) {
    server_options options;
    options.write_time = 80ms;
    start(options);
    const raw_client client(port, 16 * 1024);
    client.send(get("/endless"));
    ASSERT_TRUE(soon([&] { return cancelled == 1; }));
    EXPECT_EQ(reason, cancel_reason::user);
}

TEST_F(http_server, connections_of_one_client_are_bounded) {
    server_options options;
    options.max_connections_per_client = 2;
    start(options);
    raw_client one(port);
    raw_client two(port);
    ASSERT_TRUE(soon([&] { return counters().open_connections == 2; }));
    EXPECT_EQ(status_of(raw_client(port).read_all()), 429);
    EXPECT_EQ(counters().refused, 1U);
    one.close();
    ASSERT_TRUE(soon([&] { return counters().open_connections == 1; }));
    EXPECT_EQ(counters().max_open_connections, 2U);
    EXPECT_EQ(status_of(exchange(get("/hello"))), 200);
}

TEST(http_server_port, takes_the_clients_that_wait_in_a_few_turns_of_the_loop) {
    boost::asio::io_context io(1);
    coro::event_loop loop(io);
    const auto none = [](const server_request&, response_writer&,
                         coro::call_context) -> coro::task<void> { co_return; };
    const auto served = server::listen({}, none, loop, null_log()).value();
    constexpr std::size_t clients = 50;
    std::vector<std::unique_ptr<raw_client>> connected;
    while (connected.size() < clients)
        connected.push_back(std::make_unique<raw_client>(served->port()));
    coro::spawn(loop, serve_alone(*served), [](std::exception_ptr) {});
    int turns = 0;
    std::function<void()> turn = [&] {
        const bool all = served->counters().open_connections == clients;
        if (all || ++turns == 1'000) served->stop();
        else boost::asio::post(io, turn);
    };
    boost::asio::post(io, turn);
    io.run();
    EXPECT_EQ(served->counters().connections, clients);
    EXPECT_LT(turns, 20);
}

// NOLINTNEXTLINE(*-avoid-reference-coroutine-parameters)
coro::task<void> respond_at_once(const server_request&, response_writer& response,
                                 coro::call_context) {
    response_head head;
    std::string body = "hi";
    [[maybe_unused]] const auto sent = co_await response.send(std::move(head), std::move(body));
}

TEST(http_server_port, pipelined_requests_let_other_connections_have_their_turn) {
    boost::asio::io_context io(1);
    coro::event_loop loop(io);
    const auto served = server::listen({}, respond_at_once, loop, null_log()).value();
    constexpr std::uint64_t requests = 1'000;
    const raw_client client(served->port());
    std::string all;
    for (std::uint64_t i = 0; i < requests; ++i) all += get("/", "");
    ASSERT_TRUE(client.send(all));
    coro::spawn(loop, serve_alone(*served), [](std::exception_ptr) {});
    std::uint64_t handled = 0;
    std::uint64_t most = 0;
    int turns = 0;
    std::function<void()> turn = [&] {
        const std::uint64_t now = served->counters().requests;
        most = std::max(most, now - std::exchange(handled, now));
        if (now == requests || ++turns == 100'000) served->stop();
        else boost::asio::post(io, turn);
    };
    boost::asio::post(io, turn);
    io.run();
    EXPECT_EQ(handled, requests);
    EXPECT_LE(most, 32U);
}

TEST_F(http_server, what_is_received_at_the_same_time_is_bounded) {
    server_options options;
    options.max_received_bytes = 200'000;
    start(options);
    const auto head = [](std::size_t size) {
        return "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
               std::to_string(size) + "\r\n\r\n";
    };
    const raw_client first(port);
    first.send(head(70'000) + std::string(60'000, 'x'));
    ASSERT_TRUE(soon([&] { return counters().received_bytes >= 60'000; }));
    const raw_client second(port);
    second.send(head(300'000) + std::string(200'000, 'x'));
    const std::string refused = second.read_all();
    EXPECT_EQ(status_of(refused), 503);
    EXPECT_NE(refused.find("Retry-After: 1\r\n"), refused.npos) << refused;
    EXPECT_EQ(status_of(exchange(post("/echo", "small"))), 200);
    first.send(std::string(10'000, 'x'));
    EXPECT_EQ(status_of(first.read_all()), 200);
    EXPECT_TRUE(soon([&] { return counters().received_bytes == 0; }));
}

TEST_F(http_server, above_the_bound_of_what_is_received_only_small_requests_begin) {
    server_options options;
    options.max_received_bytes = 0;
    start(options);
    const raw_client small(port);
    small.send("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\na");
    ASSERT_TRUE(soon([&] { return counters().received_bytes != 0; }));
    const std::string large = exchange(
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(status_of(large), 503); // before the body
    small.send("b");
    EXPECT_EQ(body_of(small.read_all()), "/echo|ab|127.0.0.1");
}

TEST_F(http_server, logs_a_lack_of_file_descriptors_once) {
#ifdef HEDDLE_SANITIZED
    GTEST_SKIP() << "the sanitizers need file descriptors to look at objects";
#endif
    start();
    std::promise<void> begun;
    std::promise<void> goes_on;
    on_loop([&] {
        begun.set_value();
        goes_on.get_future().wait();
    });
    begun.get_future().wait();
    const raw_client client(port); // waits in the kernel
    client.send(get("/hello"));
    rlimit usual{};
    ::getrlimit(RLIMIT_NOFILE, &usual);
    const int unused = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
    ASSERT_GE(unused, 0);
    ::close(unused);
    const rlimit none_left{static_cast<rlim_t>(unused), usual.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none_left);
    goes_on.set_value();
    EXPECT_TRUE(soon([&] { return !log.text().empty(); }));
    std::this_thread::sleep_for(100ms); // several pauses
    ::setrlimit(RLIMIT_NOFILE, &usual);
    EXPECT_EQ(body_of(client.read_all()), "hi");
    const std::string logged = log.text();
    EXPECT_TRUE(logged.starts_with("accepting pauses: ")) << logged;
    EXPECT_EQ(std::count(logged.begin(), logged.end(), '\n'), 1) << logged;
}

TEST_F(http_server, a_new_connection_takes_the_place_of_an_idle_one) {
    server_options options;
    options.max_connections = 3;
    start(options);
    const raw_client first(port);
    first.send(get("/hello", ""));
    EXPECT_EQ(status_of(first.read_until("hi")), 200);
    raw_client busy_one(port);
    raw_client busy_two(port);
    busy_one.send(get("/wait", ""));
    busy_two.send(get("/wait", ""));
    ASSERT_TRUE(soon([&] { return waiting == 2; }));
    const raw_client next(port);
    next.send(get("/hello", ""));
    EXPECT_EQ(status_of(next.read_until("hi")), 200);
    EXPECT_EQ(first.read_all(), "");
    EXPECT_EQ(cancelled, 0);
    // Nothing is idle: the next one waits until there is room.
    next.send(get("/wait", ""));
    ASSERT_TRUE(soon([&] { return waiting == 3; }));
    const raw_client last(port);
    last.send(get("/hello"));
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(counters().connections, 4U);
    busy_one.close();
    EXPECT_EQ(status_of(last.read_all()), 200);
}

TEST_F(http_server, bytes_of_all_kinds_never_break_it) {
    server_options options;
    options.max_body_bytes = 10'000;
    options.header_time = 20ms;
    options.body_time = 20ms;
    options.idle = 20ms;
    start(options);
    std::mt19937 random(5);
    const std::string good = post("/echo", "some body", "") + get("/hello", "") +
                             get("/stream", "") +
                             "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "3\r\nabc\r\n0\r\n\r\n";
    for (int round = 0; round < 300; ++round) {
        std::string text = good;
        for (int change = 0; change < 3; ++change) {
            const std::size_t at = random() % text.size();
            if (random() % 2 == 0) text.erase(at, 1 + random() % 8);
            else text[at] = static_cast<char>(random() % 256);
        }
        raw_client client(port);
        client.send(text.substr(0, random() % text.size()));
        if (random() % 4 == 0) client.reset();
        else if (random() % 4 == 0) client.end_sending();
        else if (round % 20 == 0) (void)client.read_all();
    }
    EXPECT_EQ(status_of(exchange(get("/hello"))), 200);
}

TEST_F(http_server, drains) {
    server_options options;
    options.drain = hang_guard::far_beyond;
    start(options);
    const raw_client idle(port);
    idle.send(get("/hello", ""));
    EXPECT_EQ(status_of(idle.read_until("hi")), 200);
    const raw_client busy(port);
    busy.send(get("/stubborn", ""));
    ASSERT_TRUE(soon([&] { return waiting == 1; }));
    end(); // before the time to drain is over
    EXPECT_EQ(idle.read_all(), "");
    const std::string seen = busy.read_all();
    EXPECT_EQ(body_of(seen), "done");
    EXPECT_NE(seen.find("Connection: close\r\n"), seen.npos);
}

TEST_F(http_server, cancels_what_does_not_end_in_time) {
    server_options options;
    options.drain = 50ms;
    start(options);
    const raw_client busy(port);
    busy.send(get("/wait", ""));
    ASSERT_TRUE(soon([&] { return waiting == 1; }));
    end();
    EXPECT_EQ(reason, cancel_reason::shutdown);
    EXPECT_EQ(status_of(busy.read_all()), 503); // the last words of the handler
}

TEST_F(http_server, refuses_what_is_not_complete_when_the_time_to_drain_is_over) {
    server_options options;
    options.drain = 100ms;
    options.header_time = options.body_time = hang_guard::far_beyond;
    start(options);
    const raw_client header(port);
    const raw_client body(port);
    constexpr std::string_view half = "GET /hello HTTP/1.1\r\n";
    header.send(half);
    body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
    ASSERT_TRUE(soon([&] { return counters().received_bytes > half.size(); })); // both
    end();
    for (const raw_client* each : {&header, &body}) {
        const std::string seen = each->read_all();
        EXPECT_EQ(status_of(seen), 503) << seen;
        EXPECT_NE(seen.find("Retry-After: 1\r\n"), seen.npos) << seen;
        EXPECT_NE(seen.find("the server is shutting down"), seen.npos) << seen;
    }
}

TEST_F(http_server, a_cancelled_server_cancels_its_handlers_at_once) {
    server_options options;
    options.drain = 60s;
    options.close_time = 50ms;
    start(options);
    const raw_client busy(port);
    const raw_client endless(port, 16 * 1024);
    busy.send(get("/wait", ""));
    endless.send(get("/endless", ""));
    ASSERT_TRUE(soon([&] { return waiting == 2; }));
    on_loop([this] { broken_off.request(cancel_reason::deadline); });
    ASSERT_TRUE(soon([&] { return ended.load(); }));
    EXPECT_EQ(cancelled, 2);
    EXPECT_EQ(status_of(busy.read_all()), 503);
}

} // namespace
} // namespace heddle::http
