// Whole exchanges over real sockets: framing, reuse, stale connections, the pool's limits.
#include "client_fixture.hpp"

#include <heddle/http/exchange_fsm.hpp>

#include <new>
#include <vector>

namespace heddle::http {
namespace {

using loopback::ok_response;
using loopback::server;

class client_exchange : public client_test {};

TEST_F(client_exchange, the_request_arrives_as_it_was_meant) {
    std::string seen;
    server far([&](loopback::connection& peer, int) {
        seen = peer.read_request();
        (void)peer.send(ok_response("hello", "X-Reply: yes\r\n"));
    });
    const auto outcome = call(request_to(far.url(), R"({"a":1})"));
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->status, 200);
    EXPECT_EQ(outcome->body, "hello");
    EXPECT_EQ(outcome->header("x-reply"), "yes");
    EXPECT_EQ(seen,
              "POST /v1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(far.port()) +
                  "\r\nAuthorization: Bearer sk-secret\r\nContent-Length: 7\r\n\r\n{\"a\":1}");
}

TEST_F(client_exchange, a_kept_connection_is_used_again) {
    server far(always(ok_response("x")));
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(call(far.url()));
    EXPECT_EQ(far.accepted(), 1);
    const auto counters = client->counters();
    EXPECT_EQ(counters.connections_made, 1U);
    EXPECT_EQ(counters.reused, 4U);
    EXPECT_EQ(counters.finished, 5U);
    EXPECT_EQ(counters.in_flight, 0U);
    EXPECT_EQ(counters.open_connections, 1U);
    EXPECT_EQ(counters.idle_connections, 1U);
}

TEST_F(client_exchange, connection_close_is_obeyed) {
    server far(always(ok_response("x", "Connection: close\r\n")));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(call(far.url()));
    EXPECT_EQ(far.accepted(), 3);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_exchange, bytes_after_the_response_end_the_connection) {
    server far(always(ok_response("x") + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(call(far.url())->body, "x");
    EXPECT_EQ(far.accepted(), 3);
}

TEST_F(client_exchange, big_bodies_go_both_ways) {
    const std::string big(3'000'000, 'b');
    std::size_t received = 0;
    server far([&](loopback::connection& peer, int) {
        for (std::string request = peer.read_request(); !request.empty();
             request = peer.read_request()) {
            received = request.size();
            (void)peer.send(ok_response(big));
        }
    });
    for (int i = 0; i < 2; ++i) {
        const auto outcome = call(request_to(far.url(), big));
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(outcome->body, big);
        EXPECT_GT(received, big.size());
    }
    EXPECT_EQ(far.accepted(), 1);
}

TEST_F(client_exchange, a_trickled_response_with_interim_ones_and_chunks) {
    server far([](loopback::connection& peer, int) {
        if (peer.read_request().empty()) return;
        (void)peer.trickle(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
            5, 1ms);
        (void)peer.read_request();
    });
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->body, "abcde");
    EXPECT_EQ(client->counters().idle_connections, 1U);
}

TEST_F(client_exchange, a_body_may_be_framed_by_the_end) {
    server far([](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
        peer.half_close();
        (void)peer.wait_closed();
    });
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->body, "until the end");
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_exchange, streams_hand_over_head_and_pieces) {
    server far([](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            (void)peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n");
            for (int i = 0; i < 5; ++i) (void)peer.trickle("4\r\ndata\r\n", 9, 1ms);
            (void)peer.send("0\r\n\r\n");
        }
    });
    http_request request = request_to(far.url());
    std::string log;
    const ports::http_head_sink on_head = [&](const http_response& head) -> result<void> {
        log += std::to_string(head.status) + std::string(*head.header("x-a")) + ":";
        return {};
    };
    const ports::http_body_sink on_piece = [&](std::string_view piece) -> result<void> {
        log += piece;
        return {};
    };
    for (int i = 0; i < 2; ++i) {
        log.clear();
        const auto outcome = test.run(client->stream(request, on_head, on_piece, test.context()));
        ASSERT_TRUE(outcome);
        EXPECT_EQ(log, "200b:datadatadatadatadata");
        EXPECT_EQ(outcome->body, "");
    }
    EXPECT_EQ(far.accepted(), 1);
}

TEST_F(client_exchange, a_sink_can_end_cancel_or_throw) {
    server far([](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbeginning");
        (void)peer.wait_closed();
    });
    http_request request = request_to(far.url());
    coro::cancel_source cancel;
    const std::vector<ports::http_body_sink> sinks{
        [](std::string_view) -> result<void> { return error(errc::invalid_argument, "enough"); },
        [&](std::string_view) -> result<void> {
            cancel.request(cancel_reason::user);
            return {};
        },
        [](std::string_view) -> result<void> { throw std::runtime_error("a bug"); },
    };
    std::vector<std::string> messages;
    for (const auto& sink : sinks) {
        const auto outcome = test.run(client->stream(request, {}, sink, test.context(&cancel)));
        ASSERT_FALSE(outcome);
        messages.push_back(outcome.error().message());
        if (messages.size() == 2) new (&cancel) coro::cancel_source; // unused again
    }
    EXPECT_EQ(messages[0], "enough");
    EXPECT_EQ(messages[1], "cancelled by the user");
    EXPECT_EQ(messages[2], "while a response was read: a bug");
    EXPECT_EQ(client->counters().open_connections, 0U);
}

// --- stale connections ---------------------------------------------------------------------------

TEST_F(client_exchange, a_connection_closed_while_idle_is_noticed_before_it_is_used) {
    server far([](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.send(ok_response("x")); // and closes, without having said so
    });
    ASSERT_TRUE(call(far.url()));
    EXPECT_TRUE(soon([&] { return client->counters().open_connections == 0; }));
    ASSERT_TRUE(call(far.url()));
    EXPECT_EQ(client->counters().reused, 0U);
}

/// A server that reads the second request on its first connection and then hangs up.
server::script hangs_up_on_the_second(std::string before, std::atomic<int>& requests) {
    return [before, &requests](loopback::connection& peer, int index) {
        (void)peer.read_request();
        ++requests;
        (void)peer.send(ok_response("x"));
        if (peer.read_request().empty()) return;
        ++requests;
        if (index == 0) {
            (void)peer.send(before);
            return;
        }
        (void)peer.send(ok_response("again"));
    };
}

TEST_F(client_exchange, a_stale_connection_is_replaced_once_and_the_call_succeeds) {
    std::atomic<int> requests{0};
    server far(hangs_up_on_the_second("", requests));
    ASSERT_TRUE(call(far.url()));
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->body, "x"); // the first request of the second connection
    EXPECT_EQ(far.accepted(), 2);
    EXPECT_EQ(requests, 3);
    EXPECT_EQ(client->counters().reused, 1U);
}

struct count_of_sent final : ports::sent_listener {
    void on_sent() noexcept override { ++times; }
    int times = 0;
};

TEST_F(client_exchange, the_caller_learns_how_often_the_client_sent_again) {
    std::atomic<int> requests{0};
    server far(hangs_up_on_the_second("", requests));
    std::uint32_t resent = 0;
    count_of_sent sent;
    http_request request = request_to(far.url());
    request.resent = &resent;
    request.sent = &sent;
    ASSERT_TRUE(call(request));
    EXPECT_EQ(resent, 0U);
    EXPECT_EQ(sent.times, 1);
    ASSERT_TRUE(call(request));
    EXPECT_EQ(resent, 1U);
    EXPECT_EQ(sent.times, 3);
}

TEST_F(client_exchange, the_caller_learns_what_arrived_of_a_body_that_was_cut_off) {
    const std::string good = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    const std::string bad = "HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\n";
    // Blanks keep the connection open until there is a response.
    for (const auto& [head, expected] :
         {std::pair{good + "twelve bytes", std::size_t{12}}, std::pair{bad + "no", std::size_t{0}},
          std::pair{good + "\n\r\n \t", std::size_t{0}},
          std::pair{good + "\n\n{", std::size_t{3}}}) {
        server far([&head = head](loopback::connection& peer, int) {
            (void)peer.read_request();
            (void)peer.send(head);
        });
        std::size_t received = 0;
        http_request request = request_to(far.url());
        request.received = &received;
        expect_failure(call(request), http_errc::connection_closed);
        EXPECT_EQ(received, expected) << head;
    }
}

TEST_F(client_exchange, a_request_is_sent_when_there_is_a_connection_for_it) {
    count_of_sent sent;
    std::string url;
    { url = server(always("")).url(); } // nobody listens there any more
    http_request request = request_to(url);
    request.sent = &sent;
    EXPECT_FALSE(call(request));
    EXPECT_EQ(sent.times, 0);
}

TEST_F(client_exchange, a_connection_that_dies_while_the_server_works_is_not_replaced) {
    std::atomic<int> requests{0};
    server far([&requests](loopback::connection& peer, int) {
        (void)peer.read_request();
        ++requests;
        (void)peer.send(ok_response("x"));
        if (peer.read_request().empty()) return;
        ++requests;
        std::this_thread::sleep_for(exchange_fsm::stale_within + 200ms);
    });
    ASSERT_TRUE(call(far.url()));
    const auto outcome = call(far.url());
    expect_failure(outcome, http_errc::connection_closed);
    EXPECT_EQ(outcome.error().info().retryable, true);
    EXPECT_EQ(requests, 2);
    EXPECT_EQ(far.accepted(), 1);
}

TEST_F(client_exchange, nothing_is_sent_again_once_a_byte_of_the_response_has_come) {
    std::atomic<int> requests{0};
    server far(hangs_up_on_the_second("H", requests));
    ASSERT_TRUE(call(far.url()));
    expect_failure(call(far.url()), http_errc::connection_closed);
    EXPECT_EQ(far.accepted(), 1);
    EXPECT_EQ(requests, 2);
}

TEST_F(client_exchange, the_replacement_is_not_replaced) {
    server far([](loopback::connection& peer, int index) {
        (void)peer.read_request();
        if (index != 0) return;
        (void)peer.send(ok_response("x"));
        (void)peer.read_request();
    });
    ASSERT_TRUE(call(far.url()));
    expect_failure(call(far.url()), http_errc::connection_closed);
    EXPECT_EQ(far.accepted(), 2);
}

TEST_F(client_exchange, a_fresh_connection_is_replaced_only_for_idempotent_requests) {
    server far([](loopback::connection& peer, int index) {
        if (!peer.read_request().empty() && index % 2 == 1)
            (void)peer.send(ok_response("x", "Connection: close\r\n"));
    });
    http_request request = request_to(far.url());
    request.idempotent = true;
    EXPECT_TRUE(call(request));
    EXPECT_EQ(far.accepted(), 2);
    request.idempotent = false;
    const auto outcome = call(request);
    expect_failure(outcome, http_errc::connection_closed);
    EXPECT_EQ(outcome.error().info().retryable, true);
    EXPECT_EQ(far.accepted(), 3);
}

TEST_F(client_exchange, an_early_response_to_a_big_request_is_taken) {
    server far([](loopback::connection& peer, int) {
        (void)peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
        // Closing at once would reset what the client has to read.
        (void)peer.wait_hung_up();
    });
    const auto outcome = call(request_to(far.url(), std::string(30'000'000, 'x')));
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(outcome->status, 413);
    EXPECT_EQ(outcome->body, "big");
    EXPECT_EQ(client->counters().open_connections, 0U);
}

// --- pool ----------------------------------------------------------------------------------------

coro::task<result<void>> count_call(ports::http_port* client, http_request request,
                                    coro::call_context context, int* good) {
    auto outcome = co_await client->exchange(std::move(request), context);
    if (outcome) ++*good;
    co_return result<void>();
}

coro::task<result<void>> many_calls(ports::http_port* client, http_request request,
                                    coro::call_context context, int count, int* good) {
    coro::nursery calls(context);
    for (int i = 0; i < count; ++i) calls.start(count_call(client, request, calls.context(), good));
    auto outcome = co_await calls.join();
    co_return outcome;
}

TEST_F(client_exchange, no_more_connections_than_allowed_and_all_are_served) {
    http_client_options options;
    options.max_connections = 3;
    make(options);
    server far(always(ok_response("x")));
    int good = 0;
    EXPECT_TRUE(
        test.run(many_calls(client.get(), request_to(far.url()), test.context(), 50, &good)));
    EXPECT_EQ(good, 50);
    EXPECT_LE(far.accepted(), 3);
}

TEST_F(client_exchange, the_line_moves_on_when_connections_fail) {
    http_client_options options;
    options.max_connections = 2;
    make(options);
    server far([](loopback::connection& peer, int index) {
        (void)peer.read_request();
        if (index % 2 == 0) peer.reset();
        else (void)peer.send(ok_response("x", "Connection: close\r\n"));
    });
    int good = 0;
    EXPECT_TRUE(
        test.run(many_calls(client.get(), request_to(far.url()), test.context(), 20, &good)));
    EXPECT_GE(good, 8);
    EXPECT_EQ(client->counters().failed + client->counters().finished, 20U);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_exchange, a_long_line_before_a_dead_port_fails_without_recursion) {
    http_client_options options;
    options.max_connections = 1;
    make(options);
    std::string url;
    { url = server(always("")).url(); } // nobody listens there any more
    int good = 0;
    EXPECT_TRUE(test.run(many_calls(client.get(), request_to(url), test.context(), 20'000, &good)));
    EXPECT_EQ(good, 0);
    EXPECT_EQ(client->counters().failed, 20'000U);
}

TEST_F(client_exchange, idle_connections_are_closed_at_their_age) {
    http_client_options options;
    options.idle_age = 5ms;
    make(options);
    server far(always(ok_response("x")));
    ASSERT_TRUE(call(far.url()));
    EXPECT_EQ(client->counters().idle_connections, 1U);
    EXPECT_TRUE(soon([&] { return client->counters().open_connections == 0; }));
    EXPECT_TRUE(soon([&] { return far.running() == 0; }));
}

// --- whom it talks to
// ------------------------------------------------------------------------------

TEST_F(client_exchange, an_origin_is_the_same_object_each_time) {
    make();
    EXPECT_EQ(*client->origin("http://Host"), *client->origin("http://host:80/"));
    EXPECT_EQ((*client->origin("http://host"))->name(), "http://host:80");
    EXPECT_EQ(client->origin("http://host/v1").error().code(),
              make_error_code(http_errc::invalid_url));
}

TEST_F(client_exchange, names_are_looked_up_and_addresses_tried_in_turn) {
    http_client_options options;
    options.fixed_hosts.push_back(
        {"somewhere.test", {"127.0.0.2", "127.0.0.1"}}); // the first one refuses
    make(options);
    server far(always(ok_response("x")));
    EXPECT_TRUE(call(far.url("localhost")));
    EXPECT_TRUE(call(far.url("somewhere.test")));
}

TEST_F(client_exchange, localhost_and_what_is_below_is_this_machine) {
    server far(always(ok_response("x")));
    for (const char* name : {"localhost", "localhost.", "LOCALHOST", "a.b.localhost"}) {
        const auto outcome = call(far.url(name));
        EXPECT_TRUE(outcome) << name << ": " << outcome.error().message();
    }
    http_client_options options;
    options.fixed_hosts.push_back({"localhost", {"127.0.0.9"}}); // where configured, it is that
    options.fixed_hosts.push_back({"b.localhost", {"127.0.0.1"}});
    make(options);
    EXPECT_FALSE(call(far.url("localhost")));
    EXPECT_TRUE(call(far.url("b.localhost")));
}

TEST_F(client_exchange, of_several_errors_the_telling_one_is_reported) {
    std::string url;
    { url = server(always("")).url("somewhere.test"); }
    // To the broadcast address no connection can be made; on the other nobody listens.
    for (const std::vector<std::string>& addresses :
         {std::vector<std::string>{"127.0.0.1", "255.255.255.255"},
          std::vector<std::string>{"255.255.255.255", "127.0.0.1"}}) {
        http_client_options options;
        options.fixed_hosts.push_back({"somewhere.test", addresses});
        make(options);
        const auto outcome = call(url);
        expect_failure(outcome, http_errc::connect_failed);
        EXPECT_NE(outcome.error().message().find("refused"), std::string::npos)
            << outcome.error().message();
    }
}

TEST_F(client_exchange, a_silent_address_is_overtaken_by_the_next) {
    // A listener whose line is full drops what comes: a connect to it hangs.
    http_client_options options;
    options.connect_stagger = 10ms;
    options.fixed_hosts.push_back(
        {"somewhere.test", {"192.0.2.1", "127.0.0.1"}}); // 192.0.2.0/24 leads nowhere
    make(options);
    server far(always(ok_response("x")));
    const auto outcome = call(far.url("somewhere.test"));
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(client->counters().open_connections, 1U); // the loser is closed
}

TEST_F(client_exchange, requests_that_cannot_be_sent_are_refused) {
    server far(always(ok_response("x")));
    http_request request = request_to(far.url());
    request.headers.push_back({"X-Key", "a\r\nb", true});
    EXPECT_EQ(call(request).error().code(), make_error_code(errc::invalid_argument));
    EXPECT_EQ(call(http_request{}).error().code(), make_error_code(errc::invalid_argument));
    auto other = make_http_client(test.loop);
    http_request foreign = request_to(far.url());
    foreign.origin = *other->origin(far.url());
    EXPECT_EQ(call(foreign).error().code(), make_error_code(errc::invalid_argument));
    EXPECT_EQ(far.accepted(), 0);
    EXPECT_EQ(client->counters().in_flight, 0U);
}

} // namespace
} // namespace heddle::http
