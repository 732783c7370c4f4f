// Where a redirect leads, and calls that follow one.
#include "client_fixture.hpp"

#include <heddle/http/redirect.hpp>

#include <functional>

namespace heddle::http {
namespace {

using loopback::ok_response;
using loopback::server;

std::string led_to(std::string_view location, std::string_view from = "/v1/chat?x=1",
                   std::string_view origin = "https://api.test") {
    const auto target = resolve_redirect(*parse_origin(origin), from, location);
    if (target) return *target;
    EXPECT_EQ(target.error().code(), make_error_code(http_errc::redirect_refused));
    EXPECT_EQ(target.error().message().find("secret"), std::string::npos)
        << target.error().message();
    return "! " + target.error().message();
}

TEST(redirect, references_are_resolved) {
    struct row {
        const char* location;
        const char* target;
    };
    for (const row& r : {
             row{"/v2", "/v2"},
             row{"/v2?y=2#part", "/v2?y=2"},
             row{"other", "/v1/other"},
             row{"./other/", "/v1/other/"},
             row{"../other", "/other"},
             row{"../../../x", "/x"},
             row{"/a/./b/../c", "/a/c"},
             row{"/a/..", "/"},
             row{"/a//b", "/a//b"},
             row{"?y=2", "/v1/chat?y=2"},
             row{"", "/v1/chat?x=1"},
             row{"#part", "/v1/chat?x=1"},
             row{"https://api.test/v2", "/v2"},
             row{"HTTPS://API.test:443", "/"},
             row{"https://api.test?q=1", "/?q=1"},
             row{"//api.test/v2", "/v2"},
             row{"a:b/c", "!"}, // that is a scheme
             row{"./a:b", "/v1/a:b"},
         }) {
        const std::string target = led_to(r.location);
        if (r.target[0] == '!') {
            EXPECT_EQ(target.front(), '!') << r.location;
        } else {
            EXPECT_EQ(target, r.target) << r.location;
        }
    }
}

TEST(redirect, another_origin_is_named_without_secrets) {
    struct row {
        const char* location;
        const char* named;
    };
    for (const row& r : {
             row{"https://evil.test/login?key=secret", "https://evil.test/login"},
             row{"https://me:secret@evil.test/", "https://evil.test/"},
             row{"//evil.test:8443/x", "https://evil.test:8443/x"},
             row{"http://api.test/v1", "http://api.test/v1"},
             row{"https://api.test:8443/v1", "https://api.test:8443/v1"},
             row{"https://api.test.evil.test", "https://api.test.evil.test"},
             row{"https://api.test@evil.test/", "https://evil.test/"},
             row{"https://api.test:secret@api.test/", "https://api.test/"},
             row{"https:///x", "https:///x"},
         }) {
        const std::string said = led_to(r.location);
        EXPECT_NE(said.find(std::string("another origin, ") + r.named + ","), std::string::npos)
            << said;
    }
    EXPECT_NE(led_to("mailto:secret").find("mailto:"), std::string::npos);
    EXPECT_EQ(led_to("https:v2").front(), '!');
    for (const char* odd : {"/a b", "/a\r\nX: y", "/\xc3\xa4"})
        EXPECT_EQ(led_to(odd).front(), '!') << odd;
    EXPECT_LT(led_to("https://evil.test/" + std::string(5000, 'x')).size(), 400U);
    EXPECT_EQ(led_to("/" + std::string(10'000, 'x')).front(), '!');
    const auto upgrade =
        resolve_redirect(*parse_origin("http://api.test"), "/", "https://api.test/");
    EXPECT_NE(upgrade.error().info().hint.find("https://"), std::string::npos);
}

TEST(redirect, a_key_that_a_server_returns_is_not_shown) {
    const std::string key = "sk-0123456789abcdefghijklmnop";
    for (const std::string& location :
         {"http://127.0.0.1:9/x/" + key, "http://" + key + ".evil.test/", key + ":x",
          "https://evil.test/" + std::string(160, 'x') + "/" + key, "//evil.test/Bearer%20" + key,
          "https://evil.test/" + key + "/" + key}) {
        http_request request;
        request.target = "/v1";
        request.headers = {{"X-Other", "y", false}, {"Authorization", "Bearer " + key, true}};
        http_response response;
        response.status = 307;
        response.headers = {{"location", location}};
        const auto verdict = follow_redirect(request, *parse_origin("https://api.test"), response);
        ASSERT_FALSE(verdict) << location;
        const std::string& said = verdict.error().message();
        EXPECT_EQ(said.find(key.substr(0, 12)), std::string::npos) << said;
    }
    // What is nobody's secret stays.
    http_request request;
    request.headers = {{"X-Key", key, true}};
    http_response response;
    response.status = 307;
    response.headers = {{"location", "https://evil.test/login/" + key + "?x"}};
    const auto verdict = follow_redirect(request, *parse_origin("https://api.test"), response);
    ASSERT_FALSE(verdict);
    EXPECT_NE(verdict.error().message().find("https://evil.test/login/[hidden],"),
              std::string::npos)
        << verdict.error().message();
}

http_request post() {
    http_request request;
    request.target = "/v1";
    request.body = "{}";
    request.headers = {{"Content-Type", "application/json", false}, {"X-Key", "k", true}};
    return request;
}

TEST(redirect, methods_change_as_the_standard_has_it) {
    struct row {
        int status;
        const char* method;
        const char* becomes;
    };
    for (const row& r :
         {row{301, "POST", "GET"}, row{302, "POST", "GET"}, row{303, "POST", "GET"},
          row{307, "POST", "POST"}, row{308, "POST", "POST"}, row{301, "PUT", "PUT"},
          row{303, "PUT", "GET"}, row{303, "HEAD", "HEAD"}, row{302, "GET", "GET"}}) {
        http_request request = post();
        request.method = r.method;
        http_response response;
        response.status = r.status;
        response.headers = {{"location", "/v2"}};
        ASSERT_TRUE(follow_redirect(request, *parse_origin("https://api.test"), response));
        EXPECT_EQ(request.method, r.becomes) << r.status;
        EXPECT_EQ(request.target, "/v2");
        const bool kept = request.method == r.method && request.method != std::string("GET");
        if (r.method == std::string("POST")) {
            EXPECT_EQ(request.body.empty(), !kept) << r.status;
            EXPECT_EQ(request.headers.size(), kept ? 2U : 1U);
        }
    }
}

class client_redirect : public client_test {
protected:
    static std::string to(std::string_view where, int status = 307, std::string_view more = {}) {
        return "HTTP/1.1 " + std::to_string(status) + " x\r\nLocation: " + std::string(where) +
               "\r\nContent-Length: 5\r\n" + std::string(more) + "\r\nmoved";
    }
    /// Sends requests for /v1 to `where`, and answers those for /v2.
    server::script moved(std::string redirect) {
        return [this, redirect = std::move(redirect)](loopback::connection& peer, int) {
            for (std::string request = peer.read_request(); !request.empty();
                 request = peer.read_request()) {
                last = request;
                (void)peer.send(request.find(" /v1 ") != std::string::npos ? redirect
                                                                           : ok_response("here"));
            }
        };
    }
    std::string last;
};

TEST_F(client_redirect, a_redirect_within_the_origin_is_followed) {
    for (const int status : {301, 302, 303, 307, 308}) {
        server far(moved(to("/v2?a=b", status)));
        const auto outcome = call(far.url());
        ASSERT_TRUE(outcome) << outcome.error().message();
        EXPECT_EQ(outcome->body, "here");
        const bool kept = status >= 307;
        EXPECT_EQ(last.substr(0, 9), kept ? "POST /v2?" : "GET /v2?a") << status;
        EXPECT_NE(last.find("Authorization: Bearer sk-secret"), std::string::npos);
        EXPECT_EQ(last.ends_with("{}"), kept);
        EXPECT_EQ(far.accepted(), 1);
    }
}

TEST_F(client_redirect, a_stream_sees_the_last_response_only) {
    server far(moved(to("/v2")));
    http_request request = request_to(far.url());
    std::string seen;
    const ports::http_head_sink on_head = [&](const http_response& head) -> result<void> {
        seen += std::to_string(head.status) + ":";
        return {};
    };
    const ports::http_body_sink on_piece = [&](std::string_view piece) -> result<void> {
        seen += piece;
        return {};
    };
    const auto outcome =
        test.run(client->stream(std::move(request), on_head, on_piece, test.context()));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(seen, "200:here");
    EXPECT_EQ(outcome->status, 200);
}

TEST_F(client_redirect, another_origin_is_refused_and_gets_nothing) {
    server other(always(ok_response("evil")));
    server far(moved(to(other.url() + "/v2?token=secret")));
    const auto outcome = call(far.url());
    expect_failure(outcome, http_errc::redirect_refused);
    EXPECT_NE(outcome.error().message().find(other.url() + "/v2"), std::string::npos);
    EXPECT_EQ(outcome.error().info().retryable, false);
    EXPECT_EQ(other.accepted(), 0);
    EXPECT_EQ(client->counters().idle_connections, 1U);
}

TEST_F(client_redirect, a_circle_ends) {
    std::atomic<int> requests{0};
    server far([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            ++requests;
            (void)peer.send(to("/v1"));
        }
    });
    expect_failure(call(far.url()), http_errc::redirect_refused);
    EXPECT_EQ(requests, 6);
}

TEST_F(client_redirect, following_can_be_switched_off) {
    http_client_options options;
    options.max_redirects = 0;
    make(options);
    server far(moved(to("/v2")));
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 307);
    EXPECT_EQ(outcome->body, "moved");
}

TEST_F(client_redirect, without_a_location_it_is_a_response_like_others) {
    server far(always("HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhm"));
    const auto outcome = call(far.url());
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 302);
    EXPECT_EQ(outcome->body, "hm");
}

TEST_F(client_redirect, the_total_limit_spans_all_of_it) {
    server far([](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            std::this_thread::sleep_for(60ms);
            (void)peer.send(to("/v1"));
        }
    });
    http_request request = request_to(far.url());
    request.limits.total = 150ms;
    expect_failure(call(request), http_errc::total_timeout);
}

TEST_F(client_redirect, cancelling_between_two_requests_sends_no_more) {
    std::atomic<int> requests{0};
    coro::cancel_source cancel;
    server far([&](loopback::connection& peer, int) {
        while (!peer.read_request().empty()) {
            ++requests;
            if (requests == 2) return (void)peer.wait_closed();
            (void)peer.send(to("/v1"));
        }
    });
    std::function<void()> watch = [&] {
        if (requests == 2) cancel.request(cancel_reason::user);
        else test.later([&] { watch(); }, 0);
    };
    test.later([&] { watch(); });
    expect_cancelled(call(request_to(far.url()), &cancel), cancel_reason::user);
    EXPECT_EQ(client->counters().open_connections, 0U);
}

} // namespace
} // namespace heddle::http
