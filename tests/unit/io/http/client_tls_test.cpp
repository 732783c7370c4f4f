// TLS over real sockets, with an authority of our own.
#include "client_fixture.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::http {
namespace {

using loopback::ok_response;
using loopback::server;
using loopback::server_options;

class client_tls : public client_test {
protected:
    [[nodiscard]] server_options with(const loopback::certificate_wish& wish = {}) const {
        server_options options;
        options.tls = authority.issue(wish);
        return options;
    }
    void trust(http_client_options options = {}) {
        options.ca_file = authority.file();
        make(std::move(options));
    }
    /// The error of a call that must fail in the handshake.
    [[nodiscard]] std::string refused(const server& far, std::string_view host = "127.0.0.1") {
        const auto outcome = call(far.url(host));
        expect_failure(outcome, http_errc::tls_failed);
        if (outcome) return {};
        EXPECT_FALSE(outcome.error().info().hint.empty());
        EXPECT_EQ(outcome.error().info().retryable, false);
        EXPECT_EQ(client->counters().open_connections, client->counters().idle_connections);
        return outcome.error().message();
    }

    [[nodiscard]] static bool has_ipv6() {
        const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in6 here{};
        here.sin6_family = AF_INET6;
        here.sin6_addr = in6addr_loopback;
        const bool bound = ::bind(probe, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0;
        ::close(probe);
        return bound;
    }

    loopback::authority authority;
};

TEST_F(client_tls, names_and_addresses_of_the_certificate_are_accepted) {
    server far(always(ok_response("x")), with());
    trust();
    EXPECT_TRUE(call(far.url("127.0.0.1")));
    EXPECT_TRUE(call(far.url("localhost")));
    EXPECT_TRUE(call(far.url("localhost")));
    EXPECT_EQ(far.accepted(), 2); // one per origin
}

TEST_F(client_tls, an_untrusted_authority_is_refused) {
    server far(always(ok_response("x")), with());
    make(); // trusts the system's authorities only
    EXPECT_NE(refused(far).find("certificate"), std::string::npos);
}

TEST_F(client_tls, a_wrong_name_is_refused) {
    server far(always(ok_response("x")), with({{"other.test"}, {}, false}));
    trust();
    EXPECT_NE(refused(far, "localhost").find("ostname mismatch"), std::string::npos);
    EXPECT_NE(refused(far, "127.0.0.1").find("IP address mismatch"), std::string::npos);
}

TEST_F(client_tls, an_address_with_a_zone_is_checked_like_any_other) {
    if (!has_ipv6()) GTEST_SKIP() << "this machine has no ::1";
    std::string request;
    const auto reads = [&request](loopback::connection& peer, int) {
        request = peer.read_request();
        (void)peer.send(ok_response("x"));
    };
    server_options wrong = with({{"wrong.example"}, {}, false});
    wrong.address = "::1";
    server_options right = with({{"wrong.example"}, {"::1"}, false});
    right.address = "::1";
    {
        server far(reads, wrong);
        trust();
        EXPECT_NE(refused(far, "[::1]").find("IP address mismatch"), std::string::npos);
        EXPECT_NE(refused(far, "[::1%lo]").find("IP address mismatch"), std::string::npos);
        EXPECT_NE(refused(far, "[::1%25lo]").find("IP address mismatch"), std::string::npos);
    }
    EXPECT_TRUE(request.empty()) << request;
    server far(reads, right);
    ASSERT_TRUE(call(far.url("[::1%25lo]")));
    EXPECT_NE(request.find("Host: [::1]:" + std::to_string(far.port()) + "\r\n"), std::string::npos)
        << request;
}

TEST_F(client_tls, wildcards_cover_one_label) {
    http_client_options options;
    options.fixed_hosts.push_back({"a.example.test", {"127.0.0.1"}});
    options.fixed_hosts.push_back({"a.b.example.test", {"127.0.0.1"}});
    server far(always(ok_response("x")), with({{"*.example.test"}, {}, false}));
    trust(options);
    EXPECT_TRUE(call(far.url("a.example.test")));
    EXPECT_NE(refused(far, "a.b.example.test").find("mismatch"), std::string::npos);
}

TEST_F(client_tls, an_expired_certificate_is_refused) {
    server far(always(ok_response("x")), with({{"localhost"}, {"127.0.0.1"}, true}));
    trust();
    EXPECT_NE(refused(far).find("expired"), std::string::npos);
}

TEST_F(client_tls, checking_can_be_switched_off_by_name) {
    http_client_options options;
    options.check = peer_check::none_insecure;
    make(options);
    server far(always(ok_response("x")), with({{"other.test"}, {}, true}));
    EXPECT_TRUE(call(far.url()));
}

TEST_F(client_tls, a_certificate_file_that_cannot_be_read_is_named) {
    http_client_options options;
    options.ca_file = "/nowhere/ca.pem";
    make(options);
    EXPECT_TRUE(client->origin("http://localhost"));
    const auto origin = client->origin("https://localhost");
    ASSERT_FALSE(origin);
    EXPECT_EQ(origin.error().code(), make_error_code(http_errc::tls_failed));
    EXPECT_NE(origin.error().message().find("/nowhere/ca.pem: No such file"), std::string::npos)
        << origin.error().message();
}

TEST_F(client_tls, a_server_that_speaks_plain_http_is_recognised) {
    server far([](loopback::connection& peer, int) {
        (void)peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        (void)peer.wait_closed();
    });
    trust();
    const auto outcome = call("https://127.0.0.1:" + std::to_string(far.port()));
    expect_failure(outcome, http_errc::tls_failed);
    EXPECT_NE(outcome.error().info().hint.find("http://"), std::string::npos);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_tls, sessions_are_resumed) {
    for (const int version : {0, 0x0303 /* TLS 1.2 */}) {
        server_options options = with();
        options.tls_version_max = version;
        server far(
            [](loopback::connection& peer, int) {
                (void)peer.read_request();
                (void)peer.send(ok_response("x", "Connection: close\r\n"));
                (void)peer.read_request(); // so that the tickets are read before the end
            },
            options);
        trust();
        for (int i = 0; i < 4; ++i) ASSERT_TRUE(call(far.url()));
        EXPECT_EQ(far.accepted(), 4);
        EXPECT_EQ(far.resumed(), 3) << version;
    }
}

TEST_F(client_tls, versions_before_1_2_are_refused) {
    server_options options = with();
    options.tls_version_max = 0x0302; // TLS 1.1
    server far(always(ok_response("x")), options);
    trust();
    const std::string message = refused(far);
    EXPECT_NE(message.find("handshake failed"), std::string::npos) << message;
}

TEST_F(client_tls, a_session_outlives_an_exchange_that_was_broken_off) {
    server far(
        [](loopback::connection& peer, int index) {
            (void)peer.read_request();
            if (index == 1) return (void)peer.wait_closed();
            (void)peer.send(ok_response("x", "Connection: close\r\n"));
            (void)peer.read_request();
        },
        with());
    trust();
    ASSERT_TRUE(call(far.url()));
    http_request request = request_to(far.url());
    request.limits.first_byte = 50ms;
    expect_failure(call(request), http_errc::first_byte_timeout);
    ASSERT_TRUE(call(far.url()));
    EXPECT_EQ(far.resumed(), 2);
}

TEST_F(client_tls, a_certificate_directory_that_is_not_there_is_named) {
    http_client_options options;
    options.ca_directory = "/nowhere/certificates";
    make(options);
    const auto origin = client->origin("https://localhost");
    ASSERT_FALSE(origin);
    EXPECT_NE(origin.error().message().find("/nowhere/certificates"), std::string::npos);
}

TEST_F(client_tls, an_idle_connection_survives_tickets_and_is_used_again) {
    server far(always(ok_response("x")), with());
    trust();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(call(far.url()));
        test.turn(2ms);
    }
    EXPECT_EQ(far.accepted(), 1);
    EXPECT_EQ(client->counters().reused, 4U);
}

TEST_F(client_tls, big_bodies_go_both_ways) {
    const std::string big(2'000'000, 'b');
    server far(
        [&](loopback::connection& peer, int) {
            while (!peer.read_request().empty()) (void)peer.send(ok_response(big));
        },
        with());
    trust();
    for (int i = 0; i < 2; ++i) {
        const auto outcome = call(request_to(far.url(), big));
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(outcome->body.size(), big.size());
    }
    EXPECT_EQ(far.accepted(), 1);
}

TEST_F(client_tls, an_end_without_close_notify_does_not_frame_a_body) {
    for (const bool orderly : {true, false}) {
        server far(
            [orderly](loopback::connection& peer, int) {
                (void)peer.read_request();
                (void)peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
                if (orderly) peer.half_close();
                else peer.cut();
                (void)peer.wait_closed();
            },
            with());
        trust();
        const auto outcome = call(far.url());
        if (orderly) EXPECT_TRUE(outcome) << outcome.error().message();
        else expect_failure(outcome, http_errc::connection_closed);
    }
}

TEST_F(client_tls, a_stale_connection_is_replaced) {
    server far(answer_once_and_cut, with());
    trust();
    ASSERT_TRUE(call(far.url()));
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(far.accepted(), 2);
}

TEST_F(client_tls, resets_truncation_and_cancelling) {
    server far(
        [](loopback::connection& peer, int index) {
            (void)peer.read_request();
            (void)peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
            if (index == 0) return;
            std::this_thread::sleep_for(5ms);
            if (index == 1) peer.reset();
            else (void)peer.wait_closed();
        },
        with());
    trust();
    expect_failure(call(far.url()), http_errc::connection_closed);
    expect_failure(call(far.url()), http_errc::connection_reset);
    expect_cancelled(call(request_to(far.url()), nullptr, loopback::runner::in(20ms)),
                     cancel_reason::deadline);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

TEST_F(client_tls, a_handshake_that_never_comes_is_bound_by_the_connect_limit) {
    loopback::silent_server far;
    trust();
    http_request request = request_to("https" + far.url().substr(4));
    request.limits.connect = 20ms;
    expect_failure(call(request), http_errc::connect_timeout);
    EXPECT_TRUE(far.wait_open(0));
    coro::cancel_source cancel;
    request.limits.connect = 10s;
    test.later([&] { cancel.request(cancel_reason::user); }, 50);
    expect_cancelled(call(request, &cancel), cancel_reason::user);
    EXPECT_TRUE(far.wait_open(0));
}

TEST_F(client_tls, a_peer_that_hangs_up_in_the_handshake_can_be_tried_again) {
    server far([](loopback::connection&, int) {}); // plain, and closes at once
    trust();
    const auto outcome = call("https://127.0.0.1:" + std::to_string(far.port()));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().info().retryable, true) << outcome.error().message();
}

} // namespace
} // namespace heddle::http
