// Calls through proxies: forwarded, tunnelled, over TLS, refused.
#include "client_fixture.hpp"

namespace heddle::http {
namespace {

using loopback::ok_response;
using loopback::server;
using loopback::server_options;

std::string first_line(const std::string& request) {
    return request.substr(0, request.find("\r\n"));
}

bool has_line(const std::string& request, std::string_view line) {
    return request.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
}

class client_proxy : public client_test {
protected:
    [[nodiscard]] server_options with(const loopback::certificate_wish& wish = {}) const {
        server_options options;
        options.tls = authority.issue(wish);
        return options;
    }
    /// A proxy that lets everything through to `target` and notes what it was asked.
    [[nodiscard]] server::script tunnel_to(const server& target) {
        return [this, &target](loopback::connection& peer, int) {
            const std::string asked = peer.read_request();
            if (asked.empty()) return;
            note(asked);
            (void)peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
            peer.relay(target.port());
        };
    }
    void note(std::string request) {
        const std::lock_guard lock(mutex);
        asked.push_back(std::move(request));
    }
    void through(const std::string& url, http_client_options options = {}) {
        options.http_proxy = options.https_proxy = secret(url);
        options.ca_file = authority.file();
        make(std::move(options));
    }
    static std::string with_user(const server& proxy) {
        std::string url = proxy.url();
        return url.insert(url.find("://") + 3, "joe:sec%20ret@");
    }
    /// An https call whose proxy answers CONNECT with `bytes` and waits.
    [[nodiscard]] result<http_response> refused_with(std::string bytes, bool user = false) {
        server proxy([&](loopback::connection& peer, int) {
            if (peer.read_request().empty()) return;
            (void)peer.send(bytes);
            (void)peer.wait_closed();
        });
        through(user ? with_user(proxy) : proxy.url());
        auto outcome = call("https://api.example.test");
        EXPECT_EQ(client->counters().open_connections, 0U);
        if (!outcome) {
            EXPECT_EQ(outcome.error().message().find("joe"), std::string::npos);
            EXPECT_NE(outcome.error().message().find("the proxy " + proxy.url()), std::string::npos)
                << outcome.error().message();
            EXPECT_NE(outcome.error().message().find("https://api.example.test:443"),
                      std::string::npos);
        }
        return outcome;
    }

    loopback::authority authority;
    loopback::certificate_wish api{{"api.example.test", "b.example.test"}, {}, false};
    std::mutex mutex;
    std::vector<std::string> asked;
};

TEST_F(client_proxy, plain_http_is_forwarded_in_absolute_form) {
    server proxy([this](loopback::connection& peer, int) {
        for (std::string request = peer.read_request(); !request.empty();
             request = peer.read_request()) {
            note(request);
            (void)peer.send(ok_response("x"));
        }
    });
    through(with_user(proxy));
    for (int i = 0; i < 2; ++i) {
        const auto outcome = call("http://api.example.test:8080");
        ASSERT_TRUE(outcome) << outcome.error().message();
    }
    ASSERT_TRUE(call("http://b.example.test"));
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_EQ(first_line(asked[0]), "POST http://api.example.test:8080/v1 HTTP/1.1");
    EXPECT_TRUE(has_line(asked[0], "Host: api.example.test:8080"));
    EXPECT_TRUE(has_line(asked[0], "Proxy-Authorization: Basic am9lOnNlYyByZXQ=")); // joe:sec ret
    EXPECT_EQ(first_line(asked[2]), "POST http://b.example.test/v1 HTTP/1.1");
    EXPECT_EQ(proxy.accepted(), 2); // a pool for each origin
}

TEST_F(client_proxy, https_goes_through_a_tunnel_that_is_kept) {
    std::string seen;
    server far(
        [&](loopback::connection& peer, int) {
            for (std::string request = peer.read_request(); !request.empty();
                 request = peer.read_request()) {
                seen = request;
                (void)peer.send(ok_response("x"));
            }
        },
        with(api));
    server proxy(tunnel_to(far));
    through(with_user(proxy));
    for (int i = 0; i < 3; ++i) {
        const auto outcome = call("https://api.example.test:8443");
        ASSERT_TRUE(outcome) << outcome.error().message();
    }
    EXPECT_EQ(proxy.accepted(), 1);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0],
              "CONNECT api.example.test:8443 HTTP/1.1\r\nHost: api.example.test:8443\r\n"
              "Proxy-Authorization: Basic am9lOnNlYyByZXQ=\r\n\r\n");
    EXPECT_EQ(first_line(seen), "POST /v1 HTTP/1.1");
    EXPECT_EQ(seen.find("Proxy-"), std::string::npos); // the server never sees it
    ASSERT_TRUE(call("https://b.example.test:8443"));
    EXPECT_EQ(proxy.accepted(), 2); // a tunnel leads to one origin only
}

TEST_F(client_proxy, the_server_behind_a_tunnel_is_verified) {
    server far(always(ok_response("x")), with(api));
    server proxy(tunnel_to(far));
    through(proxy.url());
    const auto outcome = call("https://other.example.test");
    expect_failure(outcome, http_errc::tls_failed);
    EXPECT_NE(outcome.error().message().find("ostname mismatch"), std::string::npos);
    EXPECT_EQ(outcome.error().message().find("proxy"), std::string::npos);
}

TEST_F(client_proxy, tls_to_the_proxy_and_tls_inside) {
    const std::string big(1'000'000, 'b');
    server far(always(ok_response(big)), with(api));
    server proxy(tunnel_to(far), with());
    through(with_user(proxy));
    for (int i = 0; i < 3; ++i) {
        const auto outcome = call(request_to("https://api.example.test", big));
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(outcome->body.size(), big.size());
    }
    EXPECT_EQ(proxy.accepted(), 1);
    EXPECT_TRUE(call("https://b.example.test"));
    EXPECT_EQ(proxy.resumed(), 0); // each origin keeps its own session with the proxy
}

TEST_F(client_proxy, sessions_are_resumed_on_both_levels) {
    server far(
        [](loopback::connection& peer, int) {
            (void)peer.read_request();
            (void)peer.send(ok_response("x", "Connection: close\r\n"));
            (void)peer.wait_closed();
        },
        with(api));
    server proxy(tunnel_to(far), with());
    through(proxy.url());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(call("https://api.example.test"));
    EXPECT_EQ(proxy.accepted(), 3);
    EXPECT_EQ(proxy.resumed(), 2);
    EXPECT_EQ(far.resumed(), 2);
}

TEST_F(client_proxy, plain_http_over_a_proxy_with_tls) {
    server proxy(
        [this](loopback::connection& peer, int) {
            note(peer.read_request());
            (void)peer.send(ok_response("x"));
        },
        with());
    through(proxy.url());
    ASSERT_TRUE(call("http://api.example.test"));
    EXPECT_EQ(first_line(asked.at(0)), "POST http://api.example.test/v1 HTTP/1.1");
}

TEST_F(client_proxy, a_proxy_with_a_wrong_certificate_is_refused) {
    server proxy(always(ok_response("x")), with({{"other.test"}, {}, false}));
    through(with_user(proxy));
    for (const char* url : {"https://api.example.test", "http://api.example.test"}) {
        const auto outcome = call(url);
        expect_failure(outcome, http_errc::tls_failed);
        EXPECT_NE(outcome.error().message().find("proxy " + proxy.url()), std::string::npos)
            << outcome.error().message();
    }
}

TEST_F(client_proxy, refusals_name_what_to_do) {
    const auto unknown = refused_with("HTTP/1.1 407 x\r\nProxy-Authenticate: Basic\r\n\r\n");
    expect_failure(unknown, http_errc::proxy_refused);
    EXPECT_NE(unknown.error().info().hint.find("user:password@"), std::string::npos);
    const auto wrong = refused_with("HTTP/1.1 407 x\r\nContent-Length: 5\r\n\r\nsorry", true);
    expect_failure(wrong, http_errc::proxy_refused);
    EXPECT_NE(wrong.error().message().find("does not accept"), std::string::npos);
    EXPECT_EQ(wrong.error().info().retryable, false);
    const auto forbidden = refused_with("HTTP/1.1 403 no\r\n\r\n");
    expect_failure(forbidden, http_errc::proxy_refused);
    EXPECT_NE(forbidden.error().message().find("403"), std::string::npos);
    EXPECT_EQ(forbidden.error().info().retryable, false);
    for (const char* status : {"502", "503", "504", "429"}) {
        const auto later = refused_with(std::string("HTTP/1.1 ") + status + " x\r\n\r\n");
        expect_failure(later, http_errc::proxy_refused);
        EXPECT_EQ(later.error().info().retryable, true) << status;
    }
    expect_failure(refused_with("HTTP/1.1 302 x\r\nLocation: https://evil.test/\r\n\r\n"),
                   http_errc::proxy_refused);
}

TEST_F(client_proxy, a_407_of_a_forwarding_proxy_is_an_error_too) {
    server proxy(always("HTTP/1.1 407 x\r\nContent-Length: 3\r\n\r\nno!"));
    through(with_user(proxy));
    bool seen = false;
    const ports::http_head_sink on_head = [&](const http_response&) -> result<void> {
        seen = true;
        return {};
    };
    http_request request = request_to("http://api.example.test");
    const auto streamed = test.run(client->stream(std::move(request), on_head, {}, test.context()));
    expect_failure(streamed, http_errc::proxy_refused);
    EXPECT_FALSE(seen);
    const auto outcome = call("http://api.example.test");
    expect_failure(outcome, http_errc::proxy_refused);
    EXPECT_NE(outcome.error().message().find(proxy.url()), std::string::npos);
}

TEST_F(client_proxy, responses_to_connect_that_are_none) {
    expect_failure(refused_with("HELLO\r\n\r\n"), http_errc::protocol_error);
    expect_failure(refused_with("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
                   http_errc::protocol_error);
    expect_failure(refused_with("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x')),
                   http_errc::header_too_large);
    server hangs_up([](loopback::connection& peer, int) { (void)peer.read_request(); });
    through(hangs_up.url());
    const auto outcome = call("https://api.example.test");
    expect_failure(outcome, http_errc::connection_closed);
    EXPECT_EQ(outcome.error().info().retryable, true);
}

TEST_F(client_proxy, a_successful_connect_may_carry_headers_that_mean_nothing) {
    server far(always(ok_response("x")), with(api));
    server proxy([&](loopback::connection& peer, int) {
        (void)peer.read_request();
        (void)peer.trickle("HTTP/1.0 200 OK\r\nContent-Length: 50\r\nVia: x\r\n\r\n", 7, 1ms);
        peer.relay(far.port());
    });
    through(proxy.url());
    const auto outcome = call("https://api.example.test");
    EXPECT_TRUE(outcome) << outcome.error().message();
}

TEST_F(client_proxy, a_silent_proxy_is_bound_by_the_connect_limit_and_can_be_cancelled) {
    loopback::silent_server proxy;
    through(proxy.url());
    http_request request = request_to("https://api.example.test");
    request.limits.connect = 20ms;
    expect_failure(call(request), http_errc::connect_timeout);
    EXPECT_TRUE(proxy.wait_open(0));
    request.limits.connect = 10s;
    coro::cancel_source cancel;
    test.later([&] { cancel.request(cancel_reason::user); }, 50);
    expect_cancelled(call(request, &cancel), cancel_reason::user);
    EXPECT_TRUE(proxy.wait_open(0));
}

TEST_F(client_proxy, a_proxy_that_is_not_there_is_named) {
    std::string url;
    { url = server(always("")).url(); }
    through(url);
    const auto outcome = call("https://api.example.test");
    expect_failure(outcome, http_errc::connect_failed);
    EXPECT_NE(outcome.error().message().find("to the proxy " + url), std::string::npos);
}

TEST_F(client_proxy, this_machine_and_the_exceptions_are_reached_directly) {
    server far(always(ok_response("direct")));
    server proxy(always(ok_response("proxied")));
    http_client_options options;
    options.no_proxy = "direct.test";
    options.fixed_hosts.push_back({"direct.test", {"127.0.0.1"}});
    through(proxy.url(), options);
    EXPECT_EQ(call(far.url("127.0.0.1"))->body, "direct");
    EXPECT_EQ(call(far.url("localhost"))->body, "direct");
    EXPECT_EQ(call(far.url("direct.test"))->body, "direct");
    EXPECT_EQ(call(far.url("elsewhere.test"))->body, "proxied");
    options.proxy_loopback = true;
    through(proxy.url(), options);
    EXPECT_EQ(call(far.url("localhost"))->body, "proxied");
}

TEST_F(client_proxy, a_setting_that_cannot_be_read_shows_with_the_first_origin) {
    through("http://joe:secret@proxy:x");
    for (int i = 0; i < 2; ++i) {
        const auto origin = client->origin("https://api.example.test");
        ASSERT_FALSE(origin);
        EXPECT_EQ(origin.error().code(), make_error_code(http_errc::invalid_url));
        EXPECT_EQ(origin.error().message().find("secret"), std::string::npos);
    }
}

TEST_F(client_proxy, a_request_may_not_bring_credentials_for_a_proxy) {
    make();
    http_request request = request_to("http://api.example.test");
    request.headers.push_back({"Proxy-Authorization", "Basic secret", true});
    EXPECT_EQ(call(request).error().code(), make_error_code(errc::invalid_argument));
}

TEST_F(client_proxy, a_stale_tunnel_is_replaced) {
    server far(answer_once_and_cut, with(api));
    server proxy(tunnel_to(far));
    through(proxy.url());
    ASSERT_TRUE(call("https://api.example.test"));
    const auto outcome = call("https://api.example.test");
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(proxy.accepted(), 2);
}

} // namespace
} // namespace heddle::http
