// What goes wrong on the way: broken responses, limits of time and size, cancellation, closing.
#include "client_fixture.hpp"

#include <hang_guard.hpp>

#include <functional>

namespace heddle::http {
namespace {

using loopback::ok_response;
using loopback::server;

class client_failure : public client_test {
protected:
    /// One call to a server that does `what` after it has read the request.
    result<http_response> call_to(std::function<void(loopback::connection&)> what,
                                  ports::http_limits limits = {}) {
        server far([&](loopback::connection& peer, int) {
            if (peer.read_request().empty()) return;
            what(peer);
        });
        http_request request = request_to(far.url());
        request.limits = limits;
        auto outcome = call(std::move(request));
        if (!outcome) {
            EXPECT_EQ(client->counters().open_connections, 0U);
        }
        return outcome;
    }
};

auto sends(std::string bytes) {
    return [bytes = std::move(bytes)](loopback::connection& peer) { (void)peer.send(bytes); };
}
auto sends_and_waits(std::string bytes) {
    return [bytes = std::move(bytes)](loopback::connection& peer) {
        (void)peer.send(bytes);
        (void)peer.wait_closed();
    };
}
auto sends_and_resets(std::string bytes) {
    return [bytes = std::move(bytes)](loopback::connection& peer) {
        (void)peer.send(bytes);
        std::this_thread::sleep_for(5ms); // let it arrive: a reset overtakes what was not read
        peer.reset();
    };
}

const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";

TEST_F(client_failure, truncated_responses) {
    expect_failure(call_to(sends("")), http_errc::connection_closed);
    expect_failure(call_to(sends("HTTP/1.1 200 OK\r\nCont")), http_errc::connection_closed);
    expect_failure(call_to(sends(head + "half")), http_errc::connection_closed);
    expect_failure(
        call_to(sends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")),
        http_errc::connection_closed);
}

TEST_F(client_failure, resets_in_each_phase) {
    for (const std::string& sent :
         {std::string(), std::string("HTTP/1.1 20"), head, head + "half"}) {
        const auto outcome = call_to(sends_and_resets(sent));
        expect_failure(outcome, http_errc::connection_reset);
        EXPECT_EQ(outcome.error().info().retryable, true);
    }
}

TEST_F(client_failure, garbage_and_what_is_too_large) {
    expect_failure(call_to(sends_and_waits("\x15\x03\x01\x00\x02\x02\x46")),
                   http_errc::protocol_error);
    expect_failure(call_to(sends_and_waits(std::string(1'000'000, 'x'))),
                   http_errc::protocol_error);
    ports::http_limits limits;
    limits.max_body_bytes = 1000;
    limits.max_header_bytes = 1000;
    expect_failure(
        call_to(sends_and_waits("HTTP/1.1 200 OK\r\nX: " + std::string(5000, 'x')), limits),
        http_errc::header_too_large);
    expect_failure(
        call_to(sends_and_waits("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n"), limits),
        http_errc::body_too_large);
    const auto endless = [](loopback::connection& peer) {
        const std::string piece = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
        (void)peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while (peer.send(piece)) {}
    };
    limits.max_body_bytes = 5'000'000;
    expect_failure(call_to(endless, limits), http_errc::body_too_large);
}

TEST_F(client_failure, an_endless_body_does_not_starve_others) {
    std::atomic<bool> enough{false};
    server fire_hose([&](loopback::connection& peer, int) {
        const std::string piece = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
        (void)peer.read_request();
        (void)peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while (!enough && peer.send(piece)) {}
        (void)peer.send("0\r\n\r\n");
    });
    server calm(always(ok_response("x")));
    std::size_t taken = 0;
    bool ended = false;
    struct local {
        static coro::task<void> drink(ports::http_port* client, http_request request,
                                      coro::call_context context, std::size_t* taken) {
            const ports::http_body_sink sink = [taken](std::string_view piece) -> result<void> {
                *taken += piece.size();
                return {};
            };
            auto outcome = co_await client->stream(std::move(request), {}, sink, context);
            EXPECT_TRUE(outcome);
        }
    };
    http_request wide = request_to(fire_hose.url());
    wide.limits.max_body_bytes = std::size_t{1} << 40;
    coro::spawn(test.loop, local::drink(client.get(), std::move(wide), test.context(), &taken),
                [&](std::exception_ptr) { ended = true; });
    ASSERT_TRUE(soon([&] { return taken > 0; }));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(call(calm.url()));
    enough = true;
    EXPECT_TRUE(soon([&] { return ended; }));
}

TEST_F(client_failure, limits_of_time_in_each_phase) {
    const auto silent = [](loopback::connection& peer) { (void)peer.wait_closed(); };
    ports::http_limits limits;
    limits.first_byte = 10ms;
    const auto late = call_to(silent, limits);
    expect_failure(late, http_errc::first_byte_timeout);
    EXPECT_NE(late.error().message().find("10 ms"), std::string::npos);
    limits = {};
    limits.idle = 10ms;
    expect_failure(call_to(sends_and_waits("HTTP/1.1 200"), limits), http_errc::idle_timeout);
    expect_failure(call_to(sends_and_waits(head + "half"), limits), http_errc::idle_timeout);
    limits = {};
    limits.total = 15ms;
    expect_failure(call_to(silent, limits), http_errc::total_timeout);
    const auto trickles = [](loopback::connection& peer) {
        (void)peer.trickle(head + std::string(100, 'x'), 1, 1ms);
    };
    expect_failure(call_to(trickles, limits), http_errc::total_timeout);
    limits = {};
    limits.idle = 60ms; // never reached: something comes every few milliseconds
    EXPECT_TRUE(call_to(trickles, limits));
}

TEST_F(client_failure, a_request_that_nobody_reads_times_out) {
    std::atomic<bool> given_up = false;
    server far([&](loopback::connection&, int) {
        EXPECT_TRUE(hang_guard::comes_true([&] { return given_up.load(); }));
    });
    http_request request = request_to(far.url(), std::string(50'000'000, 'x'));
    request.limits.idle = 20ms;
    expect_failure(call(std::move(request)), http_errc::idle_timeout);
    given_up = true;
}

TEST_F(client_failure, connecting_has_its_own_limit) {
    http_request request = request_to("http://192.0.2.1:9"); // leads nowhere
    request.limits.connect = 20ms;
    const auto outcome = call(std::move(request));
    ASSERT_FALSE(outcome);
    // A machine without any route fails at once.
    const bool no_route = outcome.error().code() == make_error_code(http_errc::connect_failed);
    EXPECT_TRUE(no_route || outcome.error().code() == make_error_code(http_errc::connect_timeout));
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_failure, a_refused_connection_names_the_address_and_what_to_do) {
    std::string url;
    { url = server(always("")).url(); }
    const auto outcome = call(url);
    expect_failure(outcome, http_errc::connect_failed);
    EXPECT_NE(outcome.error().message().find(url), std::string::npos);
    EXPECT_FALSE(outcome.error().info().hint.empty());
    EXPECT_EQ(outcome.error().info().retryable, true);
}

TEST_F(client_failure, an_unknown_name_is_reported) {
    // ".invalid" never resolves; a machine without a name server may take a moment to say so.
    http_request request = request_to("http://no-such-host.invalid");
    request.limits.connect = 3000ms;
    const auto outcome = call(std::move(request));
    ASSERT_FALSE(outcome);
    if (outcome.error().code() != make_error_code(http_errc::connect_timeout)) {
        expect_failure(outcome, http_errc::resolve_failed);
        EXPECT_NE(outcome.error().message().find("no-such-host.invalid"), std::string::npos);
    }
}

TEST_F(client_failure, waiting_for_a_connection_counts_in_the_total) {
    http_client_options options;
    options.max_connections = 1;
    make(options);
    loopback::silent_server far;
    coro::cancel_source hold;
    bool ended = false;
    struct local {
        static coro::task<void> run(ports::http_port* client, http_request request,
                                    coro::call_context context) {
            auto outcome = co_await client->exchange(std::move(request), context);
            EXPECT_FALSE(outcome);
        }
    };
    coro::spawn(test.loop, local::run(client.get(), request_to(far.url()), test.context(&hold)),
                [&](std::exception_ptr) { ended = true; });
    http_request second = request_to(far.url());
    second.limits.total = 10ms;
    expect_failure(call(second), http_errc::total_timeout);
    expect_cancelled(call(second, nullptr, loopback::runner::in(5ms)), cancel_reason::deadline);
    coro::cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::sibling); });
    expect_cancelled(call(request_to(far.url()), &cancel), cancel_reason::sibling);
    EXPECT_EQ(client->counters().in_flight, 1U);
    hold.request(cancel_reason::user);
    EXPECT_EQ(client->counters().open_connections, 0U); // closed inside request()
    EXPECT_TRUE(soon([&] { return ended; }));
}

TEST_F(client_failure, cancelling_in_each_phase_closes_the_socket_at_once) {
    for (const std::string& sent :
         {std::string(), std::string("HTTP/1.1 20"), head, head + "half"}) {
        std::atomic<bool> reached{false};
        std::atomic<bool> closed{false};
        server far([&](loopback::connection& peer, int) {
            (void)peer.read_request();
            (void)peer.send(sent);
            reached = true;
            closed = peer.wait_closed();
        });
        coro::cancel_source cancel;
        std::size_t open_after_request = 99;
        std::function<void()> watch = [&] {
            if (!reached) {
                test.later([&] { watch(); }, 0);
                return;
            }
            cancel.request(cancel_reason::user);
            open_after_request = client->counters().open_connections;
        };
        test.later([&] { watch(); });
        expect_cancelled(call(request_to(far.url()), &cancel), cancel_reason::user);
        EXPECT_EQ(open_after_request, 0U);
        EXPECT_TRUE(soon([&] { return closed.load(); }));
    }
}

TEST_F(client_failure, cancelling_while_connecting_and_before) {
    coro::cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); });
    http_request request = request_to("http://192.0.2.1:9");
    const auto outcome = call(request, &cancel);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(client->counters().open_connections, 0U);
    expect_cancelled(call(request, &cancel), cancel_reason::user); // not even started
    coro::cancel_source during_lookup;
    test.later([&] { during_lookup.request(cancel_reason::user); }, 0);
    const auto looked_up = call(request_to("http://localhost:1"), &during_lookup);
    EXPECT_FALSE(looked_up);
}

TEST_F(client_failure, a_deadline_that_has_passed_opens_nothing) {
    server far(always(ok_response("x")));
    expect_cancelled(call(request_to(far.url()), nullptr, loopback::runner::in(-1ms)),
                     cancel_reason::deadline);
    EXPECT_EQ(client->counters().connections_made, 0U);
}

coro::task<result<void>> expect_cancel(ports::http_port* client, http_request request,
                                       coro::call_context context, int* cancelled) {
    auto outcome = co_await client->exchange(std::move(request), context);
    if (!outcome && outcome.error().is_cancelled()) ++*cancelled;
    co_return result<void>();
}

coro::task<void> expect_many_cancels(ports::http_port* client, http_request request,
                                     coro::call_context context, int count, int* cancelled) {
    coro::nursery calls(context);
    for (int i = 0; i < count; ++i)
        calls.start(expect_cancel(client, request, calls.context(), cancelled));
    auto outcome = co_await calls.join();
    EXPECT_TRUE(outcome);
}

TEST_F(client_failure, a_thousand_cancelled_calls_leave_no_socket) {
    loopback::silent_server far;
    coro::cancel_source cancel;
    int cancelled = 0;
    bool ended = false;
    make();
    const http_request request = request_to(far.url());
    coro::spawn(test.loop,
                expect_many_cancels(client.get(), request, test.context(&cancel), 1000, &cancelled),
                [&](std::exception_ptr) { ended = true; });
    ASSERT_TRUE(soon([&] { return far.open() == 1000; }));
    EXPECT_EQ(client->counters().open_connections, 1000U);
    cancel.request(cancel_reason::user);
    EXPECT_EQ(client->counters().open_connections, 0U) << "at once: the loop has not run";
    EXPECT_TRUE(soon([&] { return ended; }));
    EXPECT_EQ(cancelled, 1000);
    EXPECT_EQ(client->counters().in_flight, 0U);
    EXPECT_TRUE(far.wait_open(0));
}

TEST_F(client_failure, close_ends_everything_and_refuses_what_comes_after) {
    loopback::silent_server far;
    server good(always(ok_response("x")));
    make();
    ASSERT_TRUE(call(good.url()));
    bool ended = false;
    int cancelled = 0;
    coro::spawn(
        test.loop,
        expect_many_cancels(client.get(), request_to(far.url()), test.context(), 20, &cancelled),
        [&](std::exception_ptr) { ended = true; });
    ASSERT_TRUE(soon([&] { return far.open() == 20; }));
    test.run(client->close());
    EXPECT_EQ(client->counters().open_connections, 0U);
    EXPECT_EQ(client->counters().in_flight, 0U);
    EXPECT_TRUE(soon([&] { return ended; }));
    EXPECT_EQ(cancelled, 20);
    EXPECT_TRUE(far.wait_open(0));
    expect_failure(call(good.url()), http_errc::shut_down);
    test.run(client->close()); // twice is fine
    test.io.restart();
    EXPECT_EQ(test.io.poll(), 0U);
}

TEST_F(client_failure, a_client_that_is_let_go_closes_its_sockets) {
    loopback::silent_server far;
    make();
    bool ended = false;
    int cancelled = 0;
    coro::spawn(
        test.loop,
        expect_many_cancels(client.get(), request_to(far.url()), test.context(), 20, &cancelled),
        [&](std::exception_ptr) { ended = true; });
    ASSERT_TRUE(soon([&] { return far.open() == 20; }));
    client.reset();
    EXPECT_TRUE(far.wait_open(0));
    EXPECT_TRUE(soon([&] { return ended; }));
    EXPECT_EQ(cancelled, 20);
}

} // namespace
} // namespace heddle::http
